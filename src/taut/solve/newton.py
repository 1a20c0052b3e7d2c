"""Newton's method for a smooth objective, with a line search and a certificate.

The true Hessian comes first: near the solution it converges quadratically, where an always-projected one stalls. If it is not
positive definite, or its direction does not lead down, negative eigenvalues of the elements are taken away by as much as is
needed: H + b(H⁺ - H) with b = 1/64, 1/16, ¼, 1. The next iteration begins with a quarter of what was needed, so the true Hessian
comes back by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from taut.errors import SingularState
from taut.solve.linear import LinearSolver
from taut.solve.tolerance import EPS, FLOOR, Tolerance, excess, lengths
from taut.system.blocks import BlockMatrix

Float = NDArray[np.float64]
Outcome = Literal["converged", "rounding floor", "not converged"]
ITERATIONS = 1000  # a step that needs more is reported, never returned as solved
SUFFICIENT = 1e-4  # Armijo's constant
BETTER = 0.9  # by how much a step must lower the residual where the objective cannot tell
FLAT = 1e-10  # changes of the objective below this part of its magnitudes may be rounding inside a formula
LEAST_BLEND = 1 / 64


@dataclass(frozen=True, eq=False)
class Point:
    """The objective at unknowns y: value [J], gradient [N] in the free directions, gross forces [N], and what rounding may do."""

    y: Float  # (n, 3)
    value: float
    gradient: Float  # (n, 3)
    gross: Float  # (n,)
    magnitude: float  # Σ |terms of the value|
    size: Float  # largest coordinate of each particle [m], (n,)

    @cached_property
    def residuals(self) -> Float:
        return lengths(self.gradient)

    @cached_property
    def noise(self) -> float:
        """Differences of the value below this [J] mean nothing."""
        return FLOOR * EPS * (self.magnitude + float(self.gross @ self.size))


class Objective(Protocol):
    """A function of unknowns y (n, 3) to minimise."""

    def evaluate(self, y: Float) -> Point:
        """Value and gradient; raises SingularState where there are none."""

    def hessian(self, y: Float, *, project: bool) -> BlockMatrix:
        """The (constrained) Hessian at y; the next call overwrites it."""

    def floors(self, point: Point) -> Float:
        """The residual that rounding alone can cause on each particle [N], (n,)."""


@dataclass
class Minimum:
    """Where Newton's method ended and how."""

    point: Point
    targets: Float
    outcome: Outcome = "not converged"
    floors: Float = field(default_factory=lambda: np.zeros(0))
    iterations: int = 0
    projections: int = 0
    evaluations: int = 1
    linear_iterations: int = 0
    blend: float = 0.0  # of the projected Hessian, for the next iteration
    reason: str = ""

    def add_work_of(self, other: Minimum) -> None:
        """Count what an earlier attempt cost."""
        self.iterations += other.iterations
        self.projections += other.projections
        self.evaluations += other.evaluations
        self.linear_iterations += other.linear_iterations


def minimise(objective: Objective, start: Float, solver: LinearSolver, tolerance: Tolerance) -> Minimum:
    """Go down from `start` until every residual meets its tolerance, or as far as arithmetic allows."""
    point = objective.evaluate(start)
    m = Minimum(point, tolerance.targets(point.gross))
    first = float(point.residuals.max())
    while True:
        m.targets = tolerance.targets(m.point.gross)
        if (m.point.residuals <= m.targets).all():
            m.outcome = "converged"
            return m
        if m.iterations == ITERATIONS:
            m.reason = f"{ITERATIONS} Newton iterations were not enough"
            return m
        m.iterations += 1
        worst = float(m.point.residuals.max())
        forcing = min(0.1, (worst / first) ** 0.5) * worst
        moved = _descend(objective, solver, np.maximum(forcing, 0.1 * m.targets), m)
        if moved is None:
            return _judged(objective, m)
        m.point = moved


def _judged(objective: Objective, m: Minimum) -> Minimum:
    """The end of a descent that found nothing better: at the rounding floor, or stuck."""
    m.floors = objective.floors(m.point)
    if (m.point.residuals <= np.maximum(m.targets, m.floors)).all():
        m.outcome = "rounding floor"
    else:
        m.reason = "no step along the projected Newton direction lowers the objective"
    return m


def _descend(objective: Objective, solver: LinearSolver, aims: Float, m: Minimum) -> Point | None:
    """A lower point along the Newton direction of the true Hessian, or of one as little projected as will do."""
    point = m.point
    matrix = objective.hessian(point.y, project=False)
    true: Float | None = None
    while True:
        if m.blend > 0.0:
            if true is None:
                true = matrix.data.copy()
                projected = objective.hessian(point.y, project=True).data.copy()
                m.projections += 1
            matrix.data[:] = projected if m.blend == 1.0 else (1.0 - m.blend) * true + m.blend * projected
        direction = _direction(point, matrix, solver, aims, m)
        moved = None if direction is None else _line_search(objective, point, direction, m)
        if moved is not None:
            m.blend = m.blend / 4 if m.blend > LEAST_BLEND else 0.0
            return moved
        if m.blend == 1.0:
            return _root_step(objective, matrix, true, solver, aims, m)
        m.blend = min(4 * m.blend, 1.0) if m.blend else LEAST_BLEND


def _root_step(
    objective: Objective, matrix: BlockMatrix, true: Float | None, solver: LinearSolver, aims: Float, m: Minimum
) -> Point | None:
    """Where the objective is flat to rounding, a step of the true Hessian, definite or not, if it lowers the residual.

    A symmetric body under compression may rest on a saddle: projected directions creep towards it, this one goes there.
    """
    point = m.point
    if true is not None:
        matrix.data[:] = true
    solver.factor(matrix)
    solution = solver.solve(-point.gradient, aims)
    m.linear_iterations += solution.iterations
    trial = _try(objective, point.y + solution.x, m) if np.isfinite(solution.x).all() else None
    if trial is None or abs(trial.value - point.value) > _noise(trial, point):
        return None
    scale = m.targets + EPS * float(point.gross.max())
    better = excess(trial.residuals, scale).max() <= BETTER * excess(point.residuals, scale).max()
    return trial if better else None


def _noise(a: Point, b: Point) -> float:
    """The change of the objective between two points that may be rounding [J]."""
    return max(a.noise + b.noise, FLAT * (a.magnitude + b.magnitude))


def _direction(point: Point, matrix: BlockMatrix, solver: LinearSolver, aims: Float, m: Minimum) -> Float | None:
    """The Newton direction, or None where the matrix gives no way down."""
    solver.analyse(matrix.pattern)
    if not solver.factor(matrix):
        return None
    solution = solver.solve(-point.gradient, aims)
    m.linear_iterations += solution.iterations
    if not solution.definite or not np.isfinite(solution.x).all() or not np.vdot(solution.x, point.gradient) < 0.0:
        return None
    return solution.x


def _line_search(objective: Objective, point: Point, direction: Float, m: Minimum) -> Point | None:
    """The first of the steps 1, ½, ¼… (placed by interpolation) that lowers the objective enough, or None.

    Where differences of the objective drown in rounding, a step counts if it lowers both the slope along the direction and the
    residual, measured against each particle's tolerance.
    """
    slope = float(np.vdot(direction, point.gradient))
    scale = m.targets + EPS * float(point.gross.max())
    merit = float(excess(point.residuals, scale).max())
    longest = float(lengths(direction).max())
    reach = EPS * (longest + float(point.size.max()))
    length = 1.0
    while length * longest > EPS * reach:
        trial = _try(objective, point.y + length * direction, m)
        if trial is None:
            length *= 0.5
            continue
        better = float(excess(trial.residuals, scale).max()) <= BETTER * merit
        if abs(slope) <= point.noise:  # no length can be told from another by its value
            return trial if better else None
        change = trial.value - point.value
        if change <= SUFFICIENT * length * slope:
            return trial
        if better and abs(change) <= _noise(trial, point):
            flatter = abs(float(np.vdot(direction, trial.gradient))) <= BETTER * abs(slope)
            if flatter:
                return trial
        curvature = change - length * slope
        guess = -0.5 * slope * length * length / curvature if curvature > 0.0 else 0.5 * length
        length = min(max(guess, 0.1 * length), 0.5 * length)
    return None


def _try(objective: Objective, y: Float, m: Minimum) -> Point | None:
    m.evaluations += 1
    try:
        return objective.evaluate(y)
    except SingularState:
        return None
