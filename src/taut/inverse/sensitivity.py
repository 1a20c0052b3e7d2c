"""Forward sensitivities: how every state of a trajectory changes with a few parameters.

One linear system a stage serves all parameters. With many parameters and one number to
differentiate, `taut.gradient` is cheaper; with few parameters and many outputs, this is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float, Int, describe
from taut.errors import ModelError
from taut.inverse._directions import (
    list_path_directions,
    list_path_times,
    list_starting_path_times,
    make_direction,
)
from taut.inverse._moment import Moment, PathSums
from taut.inverse._stage_points import Vectors, evaluate_point
from taut.inverse._tangents import Direction, Shift, push_step
from taut.inverse._tape import Record, record_step
from taut.inverse.result import ACCURACY, Gradient
from taut.inverse.tableaux import HISTORY, Evaluation, find_kind
from taut.inverse.targets import change_system, check_targets, read_value
from taut.run.simulate import Simulation
from taut.step.adaptive import Adaptive
from taut.step.integrator import Integrator
from taut.system.system import System
from taut.system.workspace import workspace_for


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The states of a trajectory and their derivatives.

    t : times of the first state and of the one after every step [s], (k,)
    q, v : positions [m] and velocities [m/s], (k, n, 3)
    dq, dv : their derivatives by each parameter, (k, n, 3, *shape of the parameter), by name; by
        "h" (k, n, 3, steps), by "paths" (k, n, 3, times, particles, 3)
    path_times : at which paths were read, if "paths" are differentiated by [s], (times,)
    path_particles : those on paths, (particles,)
    """

    t: Float
    q: Float
    v: Float
    dq: Mapping[str, Float]
    dv: Mapping[str, Float]
    path_times: Float
    path_particles: Int


class _Columns:
    """The directions of all parameters, and the changes of a state along them.

    Paths have more of them with every step, one set for each time at which they are read.

    along, dots : directions, and the changes of vectors along each
    own : which of them belong to a parameter, by name
    shapes : of the parameters, by name
    path_times : at which paths were read so far [s]
    """

    def __init__(self, system: System, names: Sequence[str], steps: int, *, starts: bool) -> None:
        self.system, self._starts = system, starts
        self.along: list[Direction] = []
        self.dots: list[Vectors] = []
        self.own: dict[str, list[int]] = {name: [] for name in names}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.path_times: list[float] = []
        self._shifts = [Shift()] * steps  # by the length of each step
        for name in names:
            if name == "paths":
                continue
            if name == "h":
                none = make_direction(system, "velocity", np.zeros((system.n, 3)))
                self.shapes[name] = (steps,)
                self._add(name, [none] * steps)
                continue
            self.shapes[name] = read_value(system, name).shape
            for k in range(int(np.prod(self.shapes[name], dtype=int))):
                unit = np.zeros(self.shapes[name])
                unit.reshape(-1)[k] = 1.0
                self._add(name, [make_direction(system, name, unit)])
        if starts:
            self.read_paths(list_starting_path_times(system))

    def _add(self, name: str, more: Iterable[tuple[Direction, Vectors]]) -> None:
        for direction, first in more:
            self.own[name].append(len(self.along))
            self.along.append(direction)
            self.dots.append(first)

    def read_paths(self, times: Iterable[float]) -> None:
        """Add the directions of paths at times at which they were not read before."""
        if "paths" not in self.own:
            return
        for t in times:
            if t not in self.path_times:
                self.path_times.append(t)
                self._add("paths", list_path_directions(self.system, t, starts=self._starts))

    def push(self, integrator: Integrator, record: Record, step: int, part: float) -> None:
        """Move to the end of a recorded step, which is a part of the step of this number."""
        moment = Moment(workspace_for(self.system), integrator, record.start, record.h, ACCURACY)
        self.read_paths(list_path_times(moment, record.tableau))
        vectors = record.vectors()
        for stage in record.tableau.stages:
            if isinstance(stage, Evaluation):
                evaluate_point(moment, stage, vectors)
        shifts = [Shift()] * len(self.along)
        for k, column in enumerate(self.own.get("h", ())):
            before, grows = self._shifts[k], part if k == step else 0.0
            shifts[column] = Shift(before.t, grows, before.last)
            self._shifts[k] = Shift(before.t + grows, 0.0, grows)
        ends = push_step(moment, record.tableau, vectors, self.dots, self.along, shifts)
        zero = np.zeros((self.system.n, 3))
        names = ("q", "v", *HISTORY.values())
        self.dots = [{name: end.get(name, zero) for name in names} for end in ends]

    def stack(self, name: str, key: str, changes: Sequence[Sequence[Vectors]]) -> Float:
        """Return the changes of "q" or "v" by a parameter, (k, n, 3, *shape)."""
        own, n = self.own[name], self.system.n
        total = np.zeros((len(changes), n, 3, len(own)))
        for k, dots in enumerate(changes):
            for column, number in enumerate(own):
                if number < len(dots):  # paths that were not read yet have no effect
                    total[k, :, :, column] = dots[number][key]
        if name != "paths":
            return total.reshape(len(changes), n, 3, *self.shapes[name])
        order = np.argsort(self.path_times)
        count = len(PathSums(self.system).scripted)
        return total.reshape(len(changes), n, 3, len(order), count, 3)[:, :, :, order]


def sensitivity(subject: Simulation, by: Sequence[str]) -> Sensitivity:
    """Return the states of a simulation and their derivatives by parameters.

    subject : `taut.simulate(…)`, not yet begun
    by : as in `taut.gradient`; each entry of a parameter costs about as much as a linear solve in
        every step. "paths" has three entries for each scripted particle and time at which its path
        is read, "h" one for each step

    >>> import taut
    >>> ball = taut.System([[0, 0, 0]], mass=2.0, energies=[taut.laws.gravity()])
    >>> run = taut.simulate(ball, taut.ImplicitMidpoint(), h=0.1, until=0.2)
    >>> taut.sensitivity(run, ["gravity.g"]).dq["gravity.g"][:, 0, 1, 1].round(6)
    array([0.   , 0.005, 0.02 ])
    """
    if not isinstance(subject, Simulation):
        raise ModelError(f"sensitivity needs a taut.simulate(…), got {describe(subject)}")
    system, integrator = subject.system, subject.integrator
    find_kind(integrator)
    names = check_targets(system, by)
    times, state = subject.plan
    begins = ("pose", "points", "velocity")
    initial = system.initial_state()
    same = np.array_equal(state.q, initial.q)
    if not same and set(begins) & set(names):
        raise ModelError(
            f"sensitivity by {', '.join(begins)} needs a run that begins with the initial state"
        )
    starts = same and np.array_equal(state.v, initial.v) and state.t == 0.0
    columns = _Columns(system, names, times.steps, starts=starts)
    inner = integrator.integrator if isinstance(integrator, Adaptive) else integrator
    states, changes = [state], [columns.dots]
    for index in range(times.steps):
        result = integrator.advance(system, state, times.length(index))
        integrator.warn(result)
        records = record_step(integrator, result).records
        whole = sum(record.h for record in records)
        for record in records:
            columns.push(inner, record, index, record.h / whole)
        state = result.state
        states.append(state)
        changes.append(columns.dots)
    return Sensitivity(
        np.array([s.t for s in states]),
        np.array([s.q for s in states]),
        np.array([s.v for s in states]),
        {name: columns.stack(name, "q", changes) for name in names},
        {name: columns.stack(name, "v", changes) for name in names},
        np.sort(columns.path_times),
        PathSums(system).scripted,
    )


def hessian_product(
    gradient_at: Callable[[System], Gradient],
    system: System,
    direction: Mapping[str, Any],
    *,
    size: float = 1e-4,
) -> dict[str, Any]:
    """Return the product of the Hessian of a loss with a direction, by differences of gradients.

    gradient_at : returns the gradient of the loss for a system, such as
        lambda s: taut.gradient(taut.simulate(s, …), loss, by=["spring.k", "spring.l0"])
    direction : changes of parameters by name
    size : of the change, relative to the parameters; gradients are differentiated centrally

    >>> import numpy as np, taut
    >>> ball = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.pin(k=4.0)],
    ...                    pose=[[1, 0, 0]])
    >>> def gradient_at(system):
    ...     run = taut.simulate(system, taut.ImplicitEuler(), h=0.5, until=0.5)
    ...     return taut.gradient(run, lambda s: (s.q[0, 0] ** 2 / 2, np.array(s.q)), ["pose"])
    >>> product = taut.inverse.hessian_product(gradient_at, ball, {"pose": [[1.0, 0, 0]]})
    >>> product["pose"][0].round(6)
    array([1.25, 0.  , 0.  ])
    """
    values = {name: read_value(system, name) for name in direction}
    largest = max(float(np.abs(np.asarray(d)).max()) for d in direction.values())
    scale = max(float(np.abs(value).max()) for value in values.values())
    step = size * (scale or 1.0) / largest

    def at(sign: float) -> Gradient:
        moved = {
            name: value + sign * step * np.asarray(direction[name])
            for name, value in values.items()
        }
        return gradient_at(change_system(system, moved))

    ahead, behind = at(1.0), at(-1.0)
    return {name: (ahead[name] - behind[name]) / (2.0 * step) for name in ahead}
