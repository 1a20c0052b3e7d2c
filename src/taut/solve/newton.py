"""Newton's method for a smooth objective, with a line search and a certificate.

The true Hessian comes first: near the solution it converges quadratically, where an always-projected one stalls. If it is not
positive definite, or its direction does not lead down, `negative_curvature` finds a way. A solver that iterates finds out only at
some cost, so where that happens again and again it is spared for a few iterations.

Stiff springs make the objective a narrow, curved valley: a full step leaves it sideways, where the objective is higher, although
the next step would come back to it further down. So when a full step is refused, it is nevertheless made, once; if the step after
that does not end below what the line search had found, it is undone (the watchdog of Chamberlain et al. 1982). The more often it
is undone, the less often it is tried.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.solve.line_search import Step, line_search, worst_excess
from taut.solve.linear import LinearSolver
from taut.solve.minimum import Minimum, Objective
from taut.solve.negative_curvature import way_down
from taut.solve.stagnation import BETTER, Stagnation
from taut.solve.tolerance import EPS, Tolerance, excess
from taut.system.blocks import dot

Float = NDArray[np.float64]
ITERATIONS = 1000  # a step that needs more is reported, never returned as solved
FORCING = 0.1  # part of the residual that a linear solve may leave; it shrinks as the residual does
PATIENCE = 4  # iterations without visible progress after which the rounding floor is looked at
MOST_CAUTION = 16  # iterations for which the true Hessian is not tried
LONGEST_PAUSE = 64  # iterations between full steps made against the line search


def minimise(objective: Objective, start: Float, solver: LinearSolver, tolerance: Tolerance) -> Minimum:
    """Go down from `start` (n, 3) [m] until every residual meets its tolerance, or as far as arithmetic allows.

    >>> from taut.solve.direct import Direct
    >>> from taut.solve.minimum import Point
    >>> from taut.system.blocks import BlockMatrix, Pattern
    >>> class Bowl:  # Φ = ½|y|² - y₀
    ...     pattern = Pattern.of(np.empty((0, 2), dtype=np.int64), 1)
    ...     def evaluate(self, y):
    ...         g = y - [[1.0, 0.0, 0.0]]
    ...         return Point(y, float((y * y).sum() / 2 - y[0, 0]), g, np.abs(g).sum(axis=1) + 1.0, 1.0, np.ones(1))
    ...     def hessian(self, y, *, project):
    ...         return BlockMatrix(self.pattern, np.eye(3)[None].copy())
    ...     def floors(self, point):
    ...         return np.full(1, 1e-15)
    >>> m = minimise(Bowl(), np.zeros((1, 3)), Direct(), Tolerance())
    >>> m.outcome, m.iterations, m.point.y.tolist()
    ('converged', 1, [[1.0, 0.0, 0.0]])
    """
    m = Minimum.begun(objective, start, tolerance)
    first = _worst(m)
    stagnation = Stagnation(PATIENCE, tolerance)
    held: Step | None = None  # what the line search had found when the full step was made against it
    pause, wait = 0, 0
    while True:
        m.targets = tolerance.targets(m.point.gross)
        met = m.meets(m.targets)
        if met and (held is None or m.point.value <= held.point.value):
            m.outcome = "converged"
            return m
        if held is None and m.ran_away():
            return m
        if m.iterations >= ITERATIONS and held is None:
            m.reason = f"{ITERATIONS} Newton iterations were not enough"
            return m
        m.iterations += 1
        pause = max(pause - 1, 0)
        step = None if met else _descend(objective, solver, first, m)
        if held is not None:
            if step is None or not step.point.value < held.point.value:
                step, pause, wait = held, wait, min(2 * wait + 1, LONGEST_PAUSE)
            else:
                wait = 0
            held = None
        elif step is not None and step.refused is not None and pause == 0:
            held, m.point = step, step.refused
            continue
        if step is None:
            return m.judge(objective, "no step along the Newton direction lowers the objective")
        if stagnation.ends_at(step, objective, m):
            return m


def _descend(objective: Objective, solver: LinearSolver, first: float, m: Minimum) -> Step | None:
    """A step down from m.point along the Newton direction of the true Hessian, or else along another."""
    unit, worst = _unit(m), _worst(m)
    aims = np.maximum(min(FORCING, (worst / first) ** 0.5) * worst * unit, 0.1 * m.targets)
    if m.wary == 0:
        direction = _direction(objective, solver, aims, m)
        step = None if direction is None else line_search(objective, direction, m)
        if step is not None:
            m.caution = 0
            return step
        if not solver.exact:
            m.caution = min(2 * m.caution + 1, MOST_CAUTION)
            m.wary = m.caution + 1  # this one counts too
    m.wary = max(m.wary - 1, 0)
    direction = way_down(objective, solver, aims, m)
    step = None if direction is None else line_search(objective, direction, m)
    return _root_step(objective, solver, aims, m) if step is None else step


def _unit(m: Minimum) -> Float:
    """What each particle's residual is measured in [N], (n,): its tolerance, or rounding of its gross force if that is larger."""
    return np.maximum(m.targets, EPS * m.point.gross)


def _worst(m: Minimum) -> float:
    return float(excess(m.point.residuals, _unit(m)).max())


def _direction(objective: Objective, solver: LinearSolver, aims: Float, m: Minimum) -> Float | None:
    """The Newton direction, or None where the Hessian is not positive definite."""
    with m.timed("assembling"):
        matrix = objective.hessian(m.point.y, project=False)
    with m.timed("solving"):
        if not solver.factor(matrix, near=m.iterations > 1):
            return None
        solution = solver.solve(-m.point.gradient, aims)
    m.linear_iterations += solution.iterations
    if not solution.definite or not np.isfinite(solution.x).all() or not dot(solution.x, m.point.gradient) < 0.0:
        return None
    return solution.x


def _root_step(objective: Objective, solver: LinearSolver, aims: Float, m: Minimum) -> Step | None:
    """Where the objective is flat to rounding, a step of the true Hessian, definite or not, if it lowers the residual.

    A symmetric body under compression may rest on a saddle: directions that lead down creep towards it, this one goes there.
    """
    with m.timed("assembling"):
        matrix = objective.hessian(m.point.y, project=False)
    with m.timed("solving"):
        solver.factor(matrix, near=True)
        solution = solver.solve(-m.point.gradient, aims)
    m.linear_iterations += solution.iterations
    trial = m.tried(objective, m.point.y + solution.x) if np.isfinite(solution.x).all() else None
    if trial is None or trial.value > m.ceiling or abs(trial.value - m.point.value) > trial.noise_to(m.point):
        return None
    return Step(trial, 0.0, True) if worst_excess(trial.residuals, m) <= BETTER * worst_excess(m.point.residuals, m) else None
