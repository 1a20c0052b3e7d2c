"""Stages that a plain descent is slow to solve: a series of easier ones, from heavy to true masses.

Stiff springs leave a body a narrow, winding valley, in which steps are short. And a cable that is
slack is not seen before a step has made it taut: with many of them near their slack lengths, each
step ends at the next one. With all masses multiplied by c, and constant loads such as gravity too,

    Φ_c(y) = Φ(y) + (c - 1)(½|y|²_M/γ² + G·y),

springs matter less. For large c the minimum is near y = -γ²M⁻¹G, where a body of loose particles
would end, and the valley is wide. There springs are stretched and cables taut, so that models see
all of them. As c falls to 1, the minimum moves to that of Φ, and each descent begins near its own
(an exterior penalty method: Fiacco and McCormick 1968; 1/c is the penalty).

The last descent is one of Φ itself, with its tolerance and its certificate. It begins there only if
Φ is lower than where the plain descent began, and else goes on where that was left.

Only bodies whose matrix is factorised begin so. Large sheets that wrinkle are slow in a few places
at a time; there this lost (40 iterations of the hardest stiff step of `taut bench` became 75).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from taut.arrays import Float, Int
from taut.errors import SingularState
from taut.linalg.blocks import BlockMatrix, dot, row_norms_l1
from taut.linalg.linear import LinearSolver
from taut.optimise.descent import Descent, Point
from taut.optimise.newton import minimise
from taut.optimise.tolerance import Tolerance
from taut.step._objective import ImplicitObjective

# A plain descent is left after this many iterations if a residual is still larger than this
# multiple of the forces at work. Of the steps of random scenes that took more than 60 iterations
# nine in ten were so at the twelfth, of those that took up to 25 one in four.
_MIN_ITERATIONS, _MAX_RESIDUAL = 12, 10.0
_MAX_PLAIN_ITERATIONS = 50  # … and after these in any case
# c begins where the stiffest particle is this many times as stiff as it is heavy, and falls by this
# factor from one descent to the next; with 10 or 200 there were more iterations in all.
_FIRST_STIFFNESS, _LOWERING = 5000.0, 50.0
# Descents before the last one end here. A body that unfolds takes up to 50 iterations.
_LOOSE = Tolerance(relative=0.9)
_MAX_ITERATIONS = 60


def minimise_stage(
    objective: ImplicitObjective,
    start: Point,
    solver: LinearSolver,
    tolerance: Tolerance,
    max_iterations: int | None,
) -> Descent:
    """Minimise the objective of a stage; from heavy masses where a plain descent is slow.

    max_iterations : of a single descent (None: as many as `minimise` allows)
    """
    leave = _is_slow if solver.is_direct else None
    plain = minimise(
        objective, start, solver, tolerance, max_iterations=max_iterations, leave=leave
    )
    if not plain.left:
        return plain
    work = plain
    end = plain.point
    with suppress(SingularState):
        below, work = _lower_masses(objective, solver, plain)
        if objective.change(start, below) < 0.0:
            end = below
    descent = minimise(objective, end, solver, tolerance, max_iterations=max_iterations)
    descent.add_work(work)
    if descent.outcome != "not converged" or end is plain.point or descent.unbounded:
        return descent
    again = minimise(objective, plain.point, solver, tolerance, max_iterations=max_iterations)
    again.add_work(descent)
    return again


def _is_slow(descent: Descent) -> bool:
    """Whether a plain descent is still far from balance after many iterations."""
    if descent.iterations < _MIN_ITERATIONS:
        return False
    if descent.iterations >= _MAX_PLAIN_ITERATIONS:
        return True
    point = descent.point
    return bool((point.residuals > _MAX_RESIDUAL * point.at_work).any())


def _lower_masses(
    objective: ImplicitObjective, solver: LinearSolver, work: Descent
) -> tuple[Point, Descent]:
    """Return where descents with ever smaller masses lead, and the work, with that of `work`."""
    heavy = _HeavyObjective(objective)
    y = heavy.loose_end()
    heavy.factor = _stiffness_ratio(objective, y) / _FIRST_STIFFNESS
    while heavy.factor > 1.0:
        descent = minimise(heavy, heavy.evaluate(y), solver, _LOOSE, leave=_is_long)
        descent.add_work(work)
        work, y = descent, descent.point.y
        heavy.factor /= _LOWERING
    return objective.evaluate(y), work


def _is_long(descent: Descent) -> bool:
    return descent.iterations >= _MAX_ITERATIONS


def _stiffness_ratio(objective: ImplicitObjective, y: Float) -> float:
    """Return the largest ratio of the stiffness of a particle to its m/γ²."""
    metric = objective.metric(y, None)
    own = metric.data[metric.pattern.diagonal]
    return float((np.trace(own, axis1=1, axis2=2) / (3.0 * objective.inertia)).max())


class _HeavyObjective:
    """Φ_c, an `Objective`. factor : c"""

    def __init__(self, objective: ImplicitObjective) -> None:
        self._objective, self.factor = objective, 1.0
        constant = objective.assembly.constant_gradient()
        self._load = objective.system._projector.project(constant)  # G [N]

    def loose_end(self) -> Float:
        """Return y (n, 3) [m] where the stage ends if only constant loads act."""
        return -self._load / self._objective.inertia[:, None]

    def evaluate(self, y: Float) -> Point:
        point, more = self._objective.evaluate(y), self.factor - 1.0
        inertia = self._objective.inertia[:, None] * point.y
        gradient = more * (inertia + self._load)
        value = more * dot(0.5 * inertia + self._load, point.y)
        return replace(
            point,
            value=point.value + value,
            gradient=point.gradient + gradient,
            gross=point.gross + row_norms_l1(gradient),
            magnitude=point.magnitude + abs(value),
        )

    def change(self, start: Point, end: Point) -> float:
        move, middle = end.y - start.y, 0.5 * (start.y + end.y)
        work = dot(self._objective.inertia[:, None] * middle + self._load, move)
        return self._objective.change(start, end) + (self.factor - 1.0) * work

    def hessian(self, y: Float, previous: Float | None) -> BlockMatrix:
        return self._add_masses(self._objective.hessian(y, previous))

    def metric(self, y: Float, previous: Float | None) -> BlockMatrix:
        return self._add_masses(self._objective.metric(y, previous))

    def _add_masses(self, matrix: BlockMatrix) -> BlockMatrix:
        more = (self.factor - 1.0) * self._objective.inertia
        matrix.data[matrix.pattern.diagonal] += more[:, None, None] * np.eye(3)
        return matrix

    def free_part(self, y: Float, move: Float) -> float:
        return self._objective.free_part(y, move)

    def damping_weights(self) -> Float:
        return self.factor * self._objective.inertia

    def relax(self, point: Point, region: Int, sweeps: int) -> Float:
        inertia = self.factor * self._objective.inertia
        return self._objective.relax_with(inertia, point, region, sweeps)

    def rounding_floors(self, point: Point) -> Float:
        return self._objective.rounding_floors(point)
