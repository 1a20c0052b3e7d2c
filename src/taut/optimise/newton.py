"""Newton's method with a line search, a watchdog and a certificate.

Each iteration solves H p = -∇Φ and searches along p. The true Hessian comes first: near the
solution it converges quadratically, where one that is always projected stalls. If it is not
positive definite, or its direction does not lead down, `_descent_direction` finds another.

Stiff springs make the objective a narrow, curved valley: a full step leaves it sideways, where the
objective is higher, although the step after it would end further down the valley. So a full step
that the line search rejects is taken all the same; if the next step does not end below the point
that the line search had found, both are undone (the watchdog of Chamberlain et al. 1982).

>>> from taut.linalg.blocks import BlockMatrix, Pattern
>>> from taut.linalg.direct import Direct
>>> from taut.optimise.descent import Point
>>> class Bowl:  # Φ = ½|y|² - y₀
...     pattern = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 1)
...     def evaluate(self, y):
...         g = y - [[1.0, 0.0, 0.0]]
...         value = float((y * y).sum() / 2 - y[0, 0])
...         return Point(y, value, g, np.abs(g).sum(axis=1) + 1.0, 1.0, np.ones(1))
...     def hessian(self, y, *, project):
...         return BlockMatrix(self.pattern, np.eye(3)[None].copy())
...     def rounding_floors(self, point):
...         return np.full(1, 1e-15)
>>> descent = minimise(Bowl(), np.zeros((1, 3)), Direct(), Tolerance())
>>> descent.outcome, descent.iterations, descent.point.y.tolist()
('converged', 1, [[1.0, 0.0, 0.0]])
"""

from __future__ import annotations

import numpy as np

from taut.arrays import EPS, Float
from taut.linalg.blocks import dot
from taut.linalg.linear import LinearSolver
from taut.optimise._descent_direction import find_descent_direction
from taut.optimise._line_search import RESIDUAL_DECREASE, Stagnation, Step, line_search
from taut.optimise.descent import Descent, Objective, Point
from taut.optimise.tolerance import Tolerance, relative_residuals
from taut.watch import report_iteration

MAX_ITERATIONS = 1000  # a minimisation that needs more is reported as not converged
_FORCING = 0.1  # largest part of the residual that a linear solve may leave
_MAX_IDLE_ITERATIONS = 4  # iterations without progress after which the rounding floor is tested
_MAX_HESSIAN_PAUSE = 16  # iterations without trying the true Hessian
_MAX_WATCHDOG_PAUSE = 64  # iterations without trying a rejected full step


def minimise(
    objective: Objective, start: Float, solver: LinearSolver, tolerance: Tolerance
) -> Descent:
    """Minimise from `start` (n, 3) [m] until every residual meets its tolerance or rounding floor.

    The outcome of the returned `Descent` tells which; "not converged" comes with a reason.
    """
    descent = Descent.start(objective, start, tolerance)
    newton = _StepFinder(objective, solver, descent)
    watchdog = _Watchdog()
    stagnation = Stagnation(_MAX_IDLE_ITERATIONS, tolerance)
    while True:
        report_iteration(descent)
        if descent.meets(tolerance):
            descent.outcome = "converged"
            return descent
        if descent.has_diverged():
            return descent
        if descent.iterations >= MAX_ITERATIONS:
            descent.reason = f"{MAX_ITERATIONS} Newton iterations were not enough"
            return descent
        descent.iterations += 1
        step = newton.find_step()
        if step is None:
            reason = "no step along the Newton direction lowers the objective"
            return descent.end_without_progress(objective, reason)
        full_step = watchdog.pick_full_step(step)
        if full_step is not None:
            # Leave the valley sideways, then judge this step and the next one together.
            descent.point = full_step
            converged = descent.meets(tolerance)
            if converged and full_step.value <= step.point.value:
                descent.outcome = "converged"
                return descent
            descent.iterations += 1
            second = None if converged else newton.find_step()
            step = watchdog.choose(step, second)
        if stagnation.ends(step, objective, descent):
            return descent


class _Watchdog:
    """Decides when a rejected full step is taken all the same, and whether it paid.

    A trial that fails costs an iteration, so after each failure the next one waits longer: 0, 0, 2,
    6, 14, 30, … up to 63 iterations. A success ends the waiting.
    """

    def __init__(self) -> None:
        self._pause = 0  # iterations until the next trial
        self._next_pause = 0  # the pause after another failure

    def pick_full_step(self, step: Step) -> Point | None:
        """Count an iteration; return the rejected full step if it is to be tried now."""
        self._pause = max(self._pause - 1, 0)
        if self._pause > 0:
            return None
        return step.rejected_full_step

    def choose(self, first: Step, second: Step | None) -> Step:
        """Return the step after the full one if it ends lower, else that of the line search."""
        if second is not None and second.point.value < first.point.value:
            self._next_pause = 0
            return second
        self._pause = self._next_pause
        self._next_pause = min(2 * self._next_pause + 1, _MAX_WATCHDOG_PAUSE)
        return first


class _StepFinder:
    """Finds steps down from the present point of a descent, and remembers which Hessian worked.

    An iterative solver notices only after some iterations that the true Hessian is not positive
    definite. Where that happens again and again, the true Hessian is left out for 1, 3, 7, … up to
    16 iterations. A factorisation notices at once, so with a direct solver it is always tried.
    """

    def __init__(self, objective: Objective, solver: LinearSolver, descent: Descent) -> None:
        self._objective, self._solver, self._descent = objective, solver, descent
        self._first_residual = self._worst_residual(self._units())
        self._pause = 0  # iterations for which the true Hessian is still left out
        self._last_pause = 0

    def find_step(self) -> Step | None:
        """Find a step down, along the Newton direction or else along another one."""
        targets = self._linear_targets()
        if self._pause > 0:
            self._pause -= 1
        else:
            step = self._search_along(self._newton_direction(targets))
            if step is not None:
                self._last_pause = 0
                return step
            if not self._solver.is_direct:
                self._last_pause = min(2 * self._last_pause + 1, _MAX_HESSIAN_PAUSE)
                self._pause = self._last_pause
        direction = find_descent_direction(self._objective, self._solver, targets, self._descent)
        step = self._search_along(direction)
        if step is None:
            step = self._saddle_step(targets)
        return step

    def _units(self) -> Float:
        """Each particle's target or the rounding of its gross force, the larger one [N], (n,)."""
        return np.maximum(self._descent.targets, EPS * self._descent.point.gross)

    def _worst_residual(self, units: Float) -> float:
        return float(relative_residuals(self._descent.point.residuals, units).max())

    def _linear_targets(self) -> Float:
        """Return the residual that a linear solve may leave on each particle [N], (n,).

        An inexact Newton method: min(10⁻¹, √(w/w₀))·w in units of the particle's target, w the
        worst residual. The factor shrinks with w, so that the last iterations are as good as
        exact, and the first ones, whose direction is only a guess, cost little.
        """
        units = self._units()
        worst = self._worst_residual(units)
        forcing = min(_FORCING, (worst / self._first_residual) ** 0.5)
        return np.maximum(forcing * worst * units, 0.1 * self._descent.targets)

    def _search_along(self, direction: Float | None) -> Step | None:
        if direction is None:
            return None
        return line_search(self._objective, direction, self._descent)

    def _newton_direction(self, targets: Float) -> Float | None:
        """Return the Newton direction, or None where the Hessian is not positive definite."""
        descent = self._descent
        with descent.timed("assembling"):
            matrix = self._objective.hessian(descent.point.y, project=False)
        with descent.timed("solving"):
            if not self._solver.factor(matrix, similar=descent.iterations > 1):
                return None
            solution = self._solver.solve(-descent.point.gradient, targets)
        descent.linear_iterations += solution.iterations
        if not solution.definite or not np.isfinite(solution.x).all():
            return None
        if not dot(solution.x, descent.point.gradient) < 0.0:
            return None
        return solution.x

    def _saddle_step(self, targets: Float) -> Step | None:
        """Return a step to a zero of the gradient where the objective is flat to rounding.

        A symmetric body under compression may rest on a saddle. Directions that lead down only
        creep towards it; the true Hessian, definite or not, leads there. Its step is taken if it
        lowers the residual by a tenth.
        """
        descent = self._descent
        with descent.timed("assembling"):
            matrix = self._objective.hessian(descent.point.y, project=False)
        with descent.timed("solving"):
            self._solver.factor(matrix, similar=True)
            solution = self._solver.solve(-descent.point.gradient, targets)
        descent.linear_iterations += solution.iterations
        if not np.isfinite(solution.x).all():
            return None
        start = descent.point
        trial = descent.evaluate(self._objective, start.y + solution.x)
        if trial is None or trial.value > descent.max_value:
            return None
        if abs(trial.value - start.value) > trial.noise_against(start):
            return None
        before = descent.worst_relative_residual(start.residuals)
        after = descent.worst_relative_residual(trial.residuals)
        if after <= RESIDUAL_DECREASE * before:
            return Step(trial, 0.0, True)
        return None
