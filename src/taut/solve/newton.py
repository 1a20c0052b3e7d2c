"""Newton's method for a smooth objective, with a line search and a certificate.

The true Hessian comes first: near the solution it converges quadratically, where an always-projected one stalls. If it is not
positive definite, or its direction does not lead down, negative eigenvalues of the elements are taken away by as much as is
needed: H + b(H⁺ - H) with b = 1/64, 1/16, ¼, 1. The next iteration begins with a quarter of what was needed, so the true Hessian
comes back by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from taut.errors import SingularState
from taut.solve.linear import LinearSolver
from taut.solve.tolerance import EPS, Tolerance, largest, rounding_floor
from taut.system.blocks import BlockMatrix

Float = NDArray[np.float64]
Outcome = Literal["converged", "rounding floor", "not converged"]
ITERATIONS = 200  # a step that needs more is not going to converge; it is reported, never returned as solved
SUFFICIENT = 1e-4  # Armijo's constant
LEAST_BLEND = 1 / 64


@dataclass(frozen=True, eq=False)
class Point:
    """The objective at x: its value [J], gradient [N] in the free directions, gross forces [N], and the scale of rounding [J]."""

    x: Float
    value: float
    gradient: Float
    gross: Float
    magnitude: float

    @property
    def residual(self) -> float:
        return largest(self.gradient)

    @property
    def noise(self) -> float:
        """Differences of the value below this [J] mean nothing."""
        return 8.0 * EPS * (self.magnitude + abs(self.value))


class Objective(Protocol):
    """A function of positions (n, 3) to minimise."""

    def evaluate(self, x: Float) -> Point:
        """Value and gradient; raises SingularState where there are none."""

    def hessian(self, x: Float, *, project: bool) -> tuple[BlockMatrix, Float]:
        """The (constrained) Hessian at x and the trace of each diagonal block before constraints [N/m]."""


@dataclass
class Minimum:
    """Where Newton's method ended and how."""

    point: Point
    outcome: Outcome
    tolerance: float
    floor: float
    iterations: int = 0
    projections: int = 0
    evaluations: int = 1
    linear_iterations: int = 0
    blend: float = 0.0  # of the projected Hessian, for the next iteration
    reason: str = ""

    @property
    def residual(self) -> float:
        return self.point.residual

    def add_work_of(self, other: Minimum) -> None:
        """Count what an earlier attempt cost."""
        self.iterations += other.iterations
        self.projections += other.projections
        self.evaluations += other.evaluations
        self.linear_iterations += other.linear_iterations


def minimise(objective: Objective, start: Float, solver: LinearSolver, tolerance: Tolerance) -> Minimum:
    """Go down from `start` until the residual meets the tolerance, or as far as arithmetic allows."""
    point = objective.evaluate(start)
    m = Minimum(point, "not converged", tolerance.target(point.gross), 0.0)
    initial = max(point.residual, m.tolerance)
    while True:
        point = m.point
        m.tolerance = tolerance.target(point.gross)
        if point.residual <= m.tolerance:
            m.outcome = "converged"
            return m
        if m.iterations == ITERATIONS:
            m.reason = f"{ITERATIONS} Newton iterations were not enough"
            return m
        m.iterations += 1
        forcing = min(0.1, (point.residual / initial) ** 0.5)
        target = max(forcing * point.residual, 0.1 * m.tolerance)
        moved = _descend(objective, solver, target, m)
        if m.outcome == "rounding floor":
            return m
        if moved is None:
            m.reason = "no step along the projected Newton direction lowers the objective"
            return m
        m.point = moved


def _descend(objective: Objective, solver: LinearSolver, target: float, m: Minimum) -> Point | None:
    """A lower point along the Newton direction of the true Hessian, or of one as little projected as will do."""
    point = m.point
    matrix, stiffness = objective.hessian(point.x, project=False)
    m.floor = rounding_floor(point.gross, stiffness, point.x)
    if point.residual <= m.floor:
        m.outcome = "rounding floor"
        return None
    true: Float | None = None
    while True:
        if m.blend > 0.0:
            if true is None:
                true = matrix.data.copy()
                change = objective.hessian(point.x, project=True)[0].data - true
                m.projections += 1
            matrix.data[:] = true + m.blend * change
        direction = _direction(point, matrix, solver, target, m)
        moved = None if direction is None else _line_search(objective, point, direction, m)
        if moved is not None:
            m.blend = m.blend / 4 if m.blend > LEAST_BLEND else 0.0
            return moved
        if m.blend == 1.0:
            return None
        m.blend = min(4 * m.blend, 1.0) if m.blend else LEAST_BLEND


def _direction(point: Point, matrix: BlockMatrix, solver: LinearSolver, target: float, m: Minimum) -> Float | None:
    """The Newton direction, or None where the matrix gives no way down."""
    solver.analyse(matrix.pattern)
    if not solver.factor(matrix):
        return None
    solution = solver.solve(-point.gradient, target)
    m.linear_iterations += solution.iterations
    if not solution.definite or not np.isfinite(solution.x).all() or not np.vdot(solution.x, point.gradient) < 0.0:
        return None
    return solution.x


def _line_search(objective: Objective, point: Point, direction: Float, m: Minimum) -> Point | None:
    """The first of the steps 1, ½, ¼… (placed by interpolation) that lowers the objective enough, or None.

    Where differences of the objective drown in rounding, a step counts if it lowers the residual.
    """
    slope = float(np.vdot(direction, point.gradient))
    length = 1.0
    while length * largest(direction) > EPS * (1e-3 * largest(point.x) + largest(direction) * EPS):
        trial = _try(objective, point.x + length * direction, m)
        if trial is not None:
            change = trial.value - point.value
            if change <= SUFFICIENT * length * slope:
                return trial
            if abs(change) <= trial.noise + point.noise and trial.residual < point.residual:
                return trial
            curvature = change - length * slope
            guess = -0.5 * slope * length * length / curvature if curvature > 0.0 else 0.5 * length
            length = min(max(guess, 0.1 * length), 0.5 * length)
        else:
            length *= 0.5
    return None


def _try(objective: Objective, x: Float, m: Minimum) -> Point | None:
    m.evaluations += 1
    try:
        return objective.evaluate(x)
    except SingularState:
        return None
