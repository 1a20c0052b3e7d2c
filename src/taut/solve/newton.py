"""Newton's method for a smooth objective, with a line search and a certificate.

The true Hessian comes first: near the solution it converges quadratically, where an always-projected one stalls. If it is not
positive definite, or its direction does not lead down, negative eigenvalues of the elements are taken away by as much as is
needed: H + b(H⁺ - H) with b = 1/64, 1/16, ¼, 1. The next iteration begins with a quarter of what was needed, so the true Hessian
comes back by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.solve.line_search import BETTER, line_search, worst_excess
from taut.solve.linear import LinearSolver
from taut.solve.minimum import Minimum, Objective, Outcome, Point  # noqa: F401
from taut.solve.tolerance import Tolerance
from taut.system.blocks import BlockMatrix

Float = NDArray[np.float64]
ITERATIONS = 1000  # a step that needs more is reported, never returned as solved
LEAST_BLEND = 1 / 64


def minimise(objective: Objective, start: Float, solver: LinearSolver, tolerance: Tolerance) -> Minimum:
    """Go down from `start` until every residual meets its tolerance, or as far as arithmetic allows."""
    m = Minimum.begun(objective, start, tolerance)
    first = float(m.point.residuals.max())
    blend = 0.0
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
        moved, blend = _descend(objective, solver, np.maximum(forcing, 0.1 * m.targets), m, blend)
        if moved is None:
            return m.judge(objective, "no step along the projected Newton direction lowers the objective")
        m.point = moved


def _descend(objective: Objective, solver: LinearSolver, aims: Float, m: Minimum, blend: float) -> tuple[Point | None, float]:
    """A lower point along the Newton direction of the true Hessian, or of one as little projected as will do; the next blend."""
    point = m.point
    with m.timed("assembling"):
        matrix = objective.hessian(point.y, project=False)
    true: Float | None = None
    while True:
        if blend > 0.0:
            if true is None:
                with m.timed("assembling"):
                    true = matrix.data.copy()
                    projected = objective.hessian(point.y, project=True).data.copy()
                m.projections += 1
            matrix.data[:] = projected if blend == 1.0 else (1.0 - blend) * true + blend * projected
        direction = _direction(point, matrix, solver, aims, m)
        moved = None if direction is None else line_search(objective, direction, m)
        if moved is not None:
            return moved, blend / 4 if blend > LEAST_BLEND else 0.0
        if blend == 1.0:
            return _root_step(objective, matrix, true, solver, aims, m), blend
        blend = min(4 * blend, 1.0) if blend else LEAST_BLEND


def _root_step(
    objective: Objective, matrix: BlockMatrix, true: Float | None, solver: LinearSolver, aims: Float, m: Minimum
) -> Point | None:
    """Where the objective is flat to rounding, a step of the true Hessian, definite or not, if it lowers the residual.

    A symmetric body under compression may rest on a saddle: projected directions creep towards it, this one goes there.
    """
    point = m.point
    if true is not None:
        matrix.data[:] = true
    with m.timed("solving"):
        solver.factor(matrix)
        solution = solver.solve(-point.gradient, aims)
    m.linear_iterations += solution.iterations
    trial = m.tried(objective, point.y + solution.x) if np.isfinite(solution.x).all() else None
    if trial is None or abs(trial.value - point.value) > trial.noise_to(point):
        return None
    return trial if worst_excess(trial.residuals, m) <= BETTER * worst_excess(point.residuals, m) else None


def _direction(point: Point, matrix: BlockMatrix, solver: LinearSolver, aims: Float, m: Minimum) -> Float | None:
    """The Newton direction, or None where the matrix gives no way down."""
    with m.timed("solving"):
        solver.analyse(matrix.pattern)
        if not solver.factor(matrix):
            return None
        solution = solver.solve(-point.gradient, aims)
    m.linear_iterations += solution.iterations
    if not solution.definite or not np.isfinite(solution.x).all() or not np.vdot(solution.x, point.gradient) < 0.0:
        return None
    return solution.x
