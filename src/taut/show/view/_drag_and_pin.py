"""How the pointer acts on a system: dragging is an energy, pinning is a constraint.

Dragging adds V = Σ ½ kᵢ(t) |xᵢ - pᵢ(t)|² with kᵢ = 0 for particles that nobody drags. A step with a
drag is therefore solved to the same tolerance as any other, and since k and p depend on time, the
energy ledger books the work of the pointer. Within a step both change linearly,

    k(t + s h) = (1 - s) k₀ + s k₁,     p(t + s h) = (1 - s) p₀ + s p₁,     0 ≤ s ≤ 1,

where p₁ is the position of the pointer, or as far towards it as two limits allow: p₁ moves no
faster than two body lengths a second, and is no farther from the particle than a largest force asks
for. A pointer across the screen would pull a stiff cloth with hundreds of times its weight, and ask
for steps that take seconds. The elements are all particles from the start: dragging another one
changes numbers, not the sparsity pattern.

A pinned particle follows the constant path b(t) = x, where x is its position when it was pinned.
The constraints of the system on that particle are suspended and return when the pin is removed. A
released particle loses them for good.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.binding.law import Energy
from taut.constraints.constraint import Constraint
from taut.constraints.prescribed import scripted
from taut.laws.pin import pin
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

ENERGY_NAME = "pointer"
_BODY_LENGTHS_PER_SECOND = 2.0  # speed limit of the target; a jump would tear the body apart
_STIFFNESS_PER_MASS = 100.0  # [1/s²], for a system that has no stiffness


class DragEnergy:
    """Soft pins whose stiffness and targets are set from step to step.

    system : whose particles are dragged; the pins are as stiff as its median particle

    >>> import taut
    >>> ball = taut.System([[0, 0, 0]], mass=2.0)
    >>> drag = DragEnergy(ball)
    >>> drag.set_targets(ball.initial_state(), 0.1, {0: np.array([0.2, 0.0, 0.0])})
    >>> drag.k(0.0).tolist(), drag.k(0.1).tolist(), drag.target(0.1).tolist()
    ([0.0], [200.0], [[0.2, 0.0, 0.0]])
    """

    def __init__(self, system: System) -> None:
        self.stiffness = median_stiffness(system)
        size = float(np.ptp(system.pose, axis=0).max())
        self.speed = _BODY_LENGTHS_PER_SECOND * (size if size > 0.0 else 1.0)  # [m/s]
        self._start, self._end = 0.0, 0.0
        self._k = (np.zeros(system.n), np.zeros(system.n))
        self._p = (np.array(system.pose), np.array(system.pose))
        energy = pin(name=ENERGY_NAME, k=self.k, target=self.target)
        assert isinstance(energy, Energy)
        self.energy = energy

    @property
    def is_idle(self) -> bool:
        """Whether nothing is dragged, neither at the start of the step nor at its end."""
        return not (self._k[0].any() or self._k[1].any())

    def set_targets(
        self,
        state: State,
        h: float,
        targets: Mapping[int, Float],
        largest_force: float = math.inf,
    ) -> None:
        """Set the targets at the end of the next step.

        state : at the start of the step; h : its size [s]
        targets : particle → position of the pointer [m], (3,)
        largest_force : of each pull on its particle where that is at the start of the step [N]
        """
        t, k, p = state.t, self.k(state.t), self.target(state.t)
        k1, p1 = np.zeros_like(k), p
        if targets:
            dragged = np.fromiter(targets, dtype=np.int64, count=len(targets))
            new = dragged[k[dragged] == 0.0]
            p = p.copy()
            p[new] = state.q[new]  # a drag starts where the particle is
            way = np.array(list(targets.values())) - p[dragged]
            distance = np.sqrt(np.einsum("ij,ij->i", way, way))[:, None]
            k1[dragged], p1 = self.stiffness, p.copy()
            p1[dragged] += way * np.minimum(1.0, self.speed * h / np.maximum(distance, 1e-300))
            pull = p1[dragged] - state.q[dragged]
            distance = np.sqrt(np.einsum("ij,ij->i", pull, pull))[:, None]
            farthest = largest_force / self.stiffness
            shorter = np.minimum(1.0, farthest / np.maximum(distance, 1e-300))
            p1[dragged] = state.q[dragged] + shorter * pull
        self._k, self._p, self._start, self._end = (k, k1), (p, p1), t, t + h

    def k(self, t: float) -> Float:
        """Stiffness of each pin at time t [s]: [N/m], (n,)."""
        return self._interpolate(self._k, t)

    def target(self, t: float) -> Float:
        """Target of each pin at time t [s]: [m], (n, 3)."""
        return self._interpolate(self._p, t)

    def _interpolate(self, ends: tuple[Float, Float], t: float) -> Float:
        span = self._end - self._start
        s = 1.0
        if span > 0.0:
            s = min(max((t - self._start) / span, 0.0), 1.0)
        # The ends are returned themselves: no rounding, and no copy for a system without a drag.
        if ends[0] is ends[1] or s == 1.0:
            return ends[1]
        if s == 0.0:
            return ends[0]
        return (1.0 - s) * ends[0] + s * ends[1]


def median_stiffness(system: System) -> float:
    """Return the median over the particles of tr(Kᵢᵢ)/3 at the initial state [N/m].

    >>> import taut
    >>> from taut import laws
    >>> spring = laws.zero_length_spring([[0, 1]], k=30.0)
    >>> median_stiffness(taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[spring]))
    30.0
    """
    matrix = workspace_for(system).stiffness(system.initial_state(), project=True)
    stiffness = np.trace(matrix.data[matrix.pattern.diagonal], axis1=1, axis2=2) / 3
    stiffness = stiffness[stiffness > 0.0]
    if len(stiffness):
        return float(np.median(stiffness))
    return _STIFFNESS_PER_MASS * float(system.mass.sum())


def pin_and_release(system: System, pinned: Mapping[int, Float], released: Int) -> dict[str, Any]:
    """Return `fixed` and `constraints` of a system with changes, for `System.with_`.

    pinned : particle → position [m], (3,); released : particles, (k,)

    >>> import taut
    >>> chain = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0])
    >>> pins = {1: np.array([1.0, 0.0, 0.0])}
    >>> chain.with_(**pin_and_release(chain, pins, np.array([0])))._projector.is_fixed.tolist()
    [False, True]
    """
    removed = np.union1d(released, np.fromiter(pinned, dtype=np.int64, count=len(pinned)))
    constraints = [_remove_particles(c, removed, system.pose) for c in system.constraints]
    if pinned:
        positions = np.array(list(pinned.values()))
        constraints.append(scripted(list(pinned), lambda t: positions))
    return {
        "fixed": np.setdiff1d(system.fixed, removed),
        "constraints": [c for c in constraints if c is not None],
    }


def _remove_particles(constraint: Constraint, removed: Int, pose: Float) -> Constraint | None:
    """Return a constraint without some particles, or None if none is left.

    pose : initial positions [m], (n, 3)
    """
    particles = constraint.indices(len(pose))
    kept = ~np.isin(particles, removed)
    if kept.all():
        return constraint
    if not kept.any():
        return None
    placed = constraint.resolve(pose)
    path = placed.path
    if path is None:
        return replace(placed, particles=particles[kept])

    def remaining_path(t: float) -> Float:
        points = np.asarray(path(t), dtype=np.float64)
        return points[kept] if points.ndim == 2 else points

    return replace(placed, particles=particles[kept], path=remaining_path, path_from=None)
