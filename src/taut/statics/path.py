"""Equilibrium paths: all equilibria that are reached from one by changing a parameter gradually.

`equilibrium` finds a stable equilibrium under given loads; past a limit point that is a distant
one, after a jump. `path` follows the equilibria through limit points, stable and unstable, by arc
length or by a prescribed displacement (`_path_search`), and finds the critical points on the way
(`_critical_points`). Every point is certified by the residual of each particle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.errors import ModelError
from taut.optimise.tolerance import Tolerance, find_worst_particle
from taut.statics._critical_points import Kind
from taut.statics._parametrised_forces import Along, ParametrisedForces
from taut.statics._path_follower import Follower, Found, Limits, check_control
from taut.statics._path_search import Normal, PathPoint
from taut.statics._static_objective import check_count, check_static, check_tolerance
from taut.system.state import State
from taut.system.system import System

_STEPS_PER_SIZE = 50  # default length of a step: this part of the size of the system
MAX_POINTS = 500  # default


@dataclass(frozen=True, eq=False)
class CriticalPoint:
    """A point of a path at which K has a zero eigenvalue.

    kind : "limit": the parameter turns round. "bifurcation": a branch crosses the path.
        "hilltop": both at once
    parameter : load factor, or time [s]
    state : the equilibrium there, at rest
    modes : the eigenvectors of the zero eigenvalues, (m, n, 3), each of unit length
    after : the index of the point of the path before it
    direction : of the path there: displacements of unit length, (n, 3)
    residual, tolerance : of the particle closest to its limit [N]
    """

    kind: Kind
    parameter: float
    state: State
    modes: Float
    after: int
    direction: Float
    residual: float
    tolerance: float

    def __str__(self) -> str:
        several = f" ({len(self.modes)} modes)" if len(self.modes) > 1 else ""
        name = {"limit": "limit point", "bifurcation": "bifurcation", "hilltop": "hilltop point"}
        return f"{name[self.kind]} at {self.parameter:.6g}{several}"


@dataclass(frozen=True, eq=False)
class EquilibriumPath:
    """The points of an equilibrium path, in order.

    along : "load" or "time"
    parameter : load factor, or time [s], (k,)
    states : the equilibria, at rest
    reactions : force of the constraints on each particle [N], (k, n, 3)
    negative : how many eigenvalues of K are negative at each point, (k,); 0 is stable
    residuals, tolerances : of the particle closest to its limit at each point [N], (k,)
    critical : the critical points, in order
    ended : "until": the path reached its end. "points": it has as many points as were asked for

    A pair of critical points between two neighbouring points that cancel each other, where an
    eigenvalue turns negative and positive again, is not seen; a smaller step shows it.
    """

    along: Along
    parameter: Float
    states: tuple[State, ...]
    reactions: Float
    negative: Int
    residuals: Float
    tolerances: Float
    critical: tuple[CriticalPoint, ...]
    ended: Literal["until", "points"]

    def __len__(self) -> int:
        return len(self.parameter)

    @property
    def positions(self) -> Float:
        """Positions of all particles [m], (k, n, 3)."""
        return np.array([state.q for state in self.states])

    @property
    def stable(self) -> Mask:
        """Whether K has no negative eigenvalue, at each point, (k,)."""
        return np.asarray(self.negative == 0)

    def __str__(self) -> str:
        name = "load factor" if self.along == "load" else "time [s]"
        worst = int(np.argmax(self.residuals / self.tolerances))
        lines = [
            f"{len(self)} points, {int(self.stable.sum())} of them stable; {name} from "
            f"{self.parameter.min():.6g} to {self.parameter.max():.6g}",
            f"largest residual {self.residuals[worst]:.2e} N "
            f"(tolerance {self.tolerances[worst]:.2e} N)",
        ]
        lines += [str(point) for point in self.critical]
        if self.ended == "points":
            lines.append("ended by the number of points, not by its end")
        return "\n".join(lines)


def path(
    system: System,
    state: State | None = None,
    *,
    until: float | None = None,
    along: Along = "load",
    scaled: Iterable[str] | None = None,
    start: float = 0.0,
    control: tuple[int, Sequence[float]] | None = None,
    branch: CriticalPoint | None = None,
    mode: int = 0,
    side: Literal[1, -1] = 1,
    step: float | None = None,
    points: int = MAX_POINTS,
    tolerance: Tolerance | None = None,
) -> EquilibriumPath:
    """Follow the equilibria of a system through limit points, as a parameter changes.

    state : the first equilibrium, or positions near it (default: the initial state)
    until : the path ends where the parameter reaches this value; with `control`, where the
        displacement does [m] (default: after `points` points)
    along : "load": the parameter is the load factor λ, by which the laws in `scaled` are
        multiplied. "time": it is the time t [s], and scripts, handles and parameters that are
        functions of time follow it: so displacements are prescribed
    scaled : names of the energy laws that λ multiplies (default: all that are linear in the
        positions, such as gravity and given forces)
    start : load factor of the first equilibrium; that of a path along the time is the state's t
    control : a particle and a direction, whose displacement increases from step to step
        (displacement control), while the load factor goes up and down (default: steps by arc
        length, which no turn of the path can stop)
    branch : a bifurcation of another path of this system, from which to follow the branch that
        crosses it, along the eigenvector number `mode`, to one `side` or the other
    step : largest displacement of a particle in a step [m] (default: a fiftieth of the size of the
        system). Steps are shortened where the path bends
    points : how many points are computed at most
    tolerance : on the unbalanced force of each particle (default: `Tolerance(relative=1e-8)`)

    Raises `NotConverged` where the path cannot be followed further, with the last equilibrium as
    its `state`, and ModelError where K is singular at the first equilibrium.

    >>> import taut
    >>> from taut import laws
    >>> bars = taut.System(  # two bars, pressed down at their apex: von Mises' truss
    ...     [[-1, 0], [1, 0], [0, 0.2]],
    ...     mass=1.0,
    ...     fixed=[0, 1],
    ...     energies=[laws.spring([[0, 2], [1, 2]], k=1000.0), laws.force([2], f=(0, -1))],
    ...     constraints=[taut.constraints.on_line([2], (0, 1))],
    ... )
    >>> found = taut.path(bars, until=6.0)
    >>> print(*found.critical, sep="; ")
    limit point at 3.01915; limit point at -3.01915
    >>> found.states[-1].q[2].round(4)
    array([ 0.    , -0.2548,  0.    ])
    """
    first = check_static(system, state, "path", contact=False)
    tolerance = check_tolerance(tolerance, "path")
    points = check_count(points, "path")
    _check_numbers(until=until, start=start, step=step)
    if branch is not None:
        if state is not None:
            raise ModelError("path: a branch begins at its critical point; leave out state")
        _check_branch(branch, mode, side, system)
        first, start = branch.state, branch.parameter
    elif mode != 0 or side != 1:
        raise ModelError("path: mode and side are those of a branch, and no branch was given")
    elif along == "time" and start != 0.0:
        raise ModelError(f"path: along the time, the state's t is the start, got start={start!r}")
    forces = ParametrisedForces(system, first, along, scaled, "path")
    begin = first.t if along == "time" else float(start)
    normal: Normal | None = None
    if control is not None:
        normal = check_control(control, forces)
    origin = begin if control is None else 0.0
    if until is not None and until == origin and branch is None:
        raise ModelError(f"path: until must differ from the first value, got {until!r}")
    size = float(np.ptp(first.q, axis=0).max()) or 1.0
    limits = Limits(
        until=None if until is None else float(until),
        step=size / _STEPS_PER_SIZE if step is None else float(step),
        points=points,
    )
    follower = Follower(forces, tolerance, limits, begin, normal)
    if branch is None:
        found = follower.follow_from(np.array(first.q))
    else:
        found = follower.follow_branch(branch.modes[mode], branch.direction, float(side))
    return _make_result(forces, found)


def _check_numbers(**given: Any) -> None:
    for name, value in given.items():
        if value is None:
            continue
        is_number = isinstance(value, (int, float, np.integer, np.floating))
        if isinstance(value, bool) or not is_number or not np.isfinite(value):
            raise ModelError(f"path: {name} must be a finite number, got {value!r}")
        if name == "step" and not value > 0.0:
            raise ModelError(f"path: step must be positive, got {value!r}")


def _check_branch(branch: CriticalPoint, mode: int, side: int, system: System) -> None:
    if not isinstance(branch, CriticalPoint):
        raise ModelError(f"path: branch must be a critical point of a path, got {branch!r}")
    if branch.kind == "limit":
        raise ModelError("path: branch must be a bifurcation, got a limit point: no branch crosses")
    if isinstance(mode, bool) or mode not in range(len(branch.modes)):
        raise ModelError(f"path: mode must be one of 0 to {len(branch.modes) - 1}, got {mode!r}")
    if side not in (1, -1):
        raise ModelError(f"path: side must be 1 or -1, got {side!r}")
    system._check(branch.state)


def _make_result(forces: ParametrisedForces, found: Found) -> EquilibriumPath:
    certificates = [_worst(point) for point in found.points]
    critical = [
        CriticalPoint(
            kind=c.kind,
            parameter=c.point.parameter,
            state=forces.state(c.point.q, c.point.parameter),
            modes=np.array([forces.free.expand(shape) for shape in c.modes.T]),
            after=after,
            direction=direction,
            residual=_worst(c.point)[0],
            tolerance=_worst(c.point)[1],
        )
        for c, after, direction in found.critical
    ]
    reactions = [
        p.balance.gradient - forces.projector.project(p.balance.gradient) for p in found.points
    ]
    return EquilibriumPath(
        along=forces.along,
        parameter=np.array([p.parameter for p in found.points]),
        states=tuple(forces.state(p.q, p.parameter) for p in found.points),
        reactions=np.array(reactions),
        negative=np.array(found.negative),
        residuals=np.array([residual for residual, _ in certificates]),
        tolerances=np.array([limit for _, limit in certificates]),
        critical=tuple(critical),
        ended=found.ended,
    )


def _worst(point: PathPoint) -> tuple[float, float]:
    """Return residual and limit of the particle closest to its limit [N]."""
    worst = find_worst_particle(point.balance.residuals, point.limits, np.zeros(0))
    return worst["residual"], worst["tolerance"]
