"""Newton's method in a trust region, with a certificate.

Each iteration lowers the quadratic model of the objective, ∇Φ·x + ½x·H x with the Hessian H,
within |x| ≤ radius (`taut.linalg.trust_region`), and moves there if the objective falls as the
model promised. The radius follows how well it promised. Near the solution the minimum lies inside,
and convergence is superlinear. Where H is indefinite, as for cloth that starts flat and begins to
wrinkle, the step uses the absolute values of its eigenvalues, so that every wrinkle grows by what
its own curvature says; where that proves right, steps become longer, and a saddle is left quickly.

The metric |x|² = x·H⁺x is that of the positive semi-definite parts of the elements' Hessians, as
far as one cycle of a multigrid knows it. It is also the preconditioner, and it makes the region
long where the body is soft and short where it is stiff. A smaller radius for the same model costs
one evaluation and no solve.

Where a sheet wrinkles, the model fails in a few places and is right elsewhere, and one radius for
all is as short as the worst place needs. So before a step is judged, the particles with the largest
residuals are moved one by one, which costs less than an assembly (`Objective.relax`).

Where stiff springs turn, a straight step stretches them. It is bent to follow their arcs, which
costs three evaluations, and one solve with the factors that are there.

Where contact blocks step after step, the model is damped: a part of the inertia is added to it. All
motion but that of the blocked pairs then becomes shorter, and these move apart as far as they want
to. A step that is merely shortened has no such effect, since it opens a gap by the same part.

What lost is in docs/guide/solvers.md, with its counts.

>>> from taut.linalg.blocks import BlockMatrix, Pattern
>>> from taut.linalg.direct import Direct
>>> from taut.optimise.descent import Point
>>> class Bowl:  # Φ = ½|y|² - y₀
...     pattern = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 1)
...     def evaluate(self, y):
...         g = y - [[1.0, 0.0, 0.0]]
...         value = float((y * y).sum() / 2 - y[0, 0])
...         return Point(y, value, g, np.abs(g).sum(axis=1) + 1.0, 1.0, np.ones(1))
...     def change(self, start, end):
...         return end.value - start.value
...     def hessian(self, y, previous):
...         return BlockMatrix(self.pattern, np.eye(3)[None].copy())
...     metric = hessian
...     def relax(self, point, region, sweeps):
...         return point.y
...     def free_part(self, y, move):
...         return 1.0
...     def rounding_floors(self, point):
...         return np.full(1, 1e-15)
>>> start = Bowl().evaluate(np.zeros((1, 3)))
>>> descent = minimise(Bowl(), start, Direct(), Tolerance())
>>> descent.outcome, descent.iterations, descent.point.y.tolist()
('converged', 1, [[1.0, 0.0, 0.0]])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from taut.arrays import EPS, Float
from taut.linalg.blocks import BlockMatrix, dot, row_norms
from taut.linalg.linear import LinearSolver
from taut.linalg.trust_region import ModelStep, QuadraticModel
from taut.optimise._line_search import Stagnation, Step
from taut.optimise.descent import Descent, Objective, Point
from taut.optimise.tolerance import Tolerance, relative_residuals
from taut.watch import report_iteration

MAX_ITERATIONS = 10_000  # a minimisation that needs more is reported as not converged
# Largest part of the residual that a linear solve may leave. With 0.1 there were twice as many
# Newton iterations, and no fewer of the linear solver.
_FORCING = 1e-3
_MAX_IDLE_ITERATIONS = 1  # iterations without progress after which the rounding floor is tested
# Of the decrease that the model promised: a step that achieves less is not taken; …
_MIN_RATIO = 1e-4
_AIM = 0.5  # … the radius is chosen so that the next one misses this part; …
_GOOD_RATIO = 0.75  # … with more, a step that ended inside need not bound the next one.
# With less than this, negative curvatures are trusted less again; with more than the above, more.
_BAD_RATIO, _LESS_CAUTION = 0.25, 0.25
# Bounds of the ratio between one radius and the next
_MAX_GROWTH, _MAX_SHRINKAGE = 3.0, 0.05
# A step inside that misses its promise by less is not relaxed. Others are, where particles have …
_FAITHFUL = 0.01
_REGION = 0.003  # … more than this part of the worst residual, …
_MAX_SWEEPS = 20  # … in at most this many sweeps, …
_VISITS = 2.0  # … and with at most this many visits for each particle of the body on average.
_SHRINKAGE = 0.5  # where the objective has no value
# A step is bent by at most this multiple of its length, found from gradients this part of it away
_MAX_BEND, _DIFFERENCE = 2.0, 0.1
# A step of which less is free, after another one that was blocked, is computed again with more
# damping, at most so often. It grows by up to the next factor; a step as good as that lowers it.
_MIN_FREE_PART = 0.5
_MAX_DAMPED_MODELS = 6
_DAMPING_GROWTH, _DAMPING_DECREASE = 10.0, 0.3
_MIN_DAMPING = 0.01  # less is none
_FAIR_RATIO = 0.25  # of a shortened step that need not bound the next one


def minimise(
    objective: Objective,
    start: Point,
    solver: LinearSolver,
    tolerance: Tolerance,
    *,
    max_iterations: int | None = None,
    leave: Callable[[Descent], bool] | None = None,
) -> Descent:
    """Minimise from a point until every residual meets its tolerance or rounding floor.

    The outcome of the returned `Descent` tells which; "not converged" comes with a reason.

    max_iterations : a descent that needs more is not converged (default: 10,000)
    leave : asked before each iteration whether to end here, unfinished
    """
    limit = MAX_ITERATIONS if max_iterations is None else max_iterations
    descent = Descent.start(start, tolerance)
    region = _TrustRegion(objective, solver, descent)
    stagnation = Stagnation(_MAX_IDLE_ITERATIONS, tolerance)
    while True:
        report_iteration(descent)
        if descent.meets(tolerance):
            descent.outcome = "converged"
            return descent
        if descent.has_diverged():
            return descent
        if leave is not None and leave(descent):
            descent.left, descent.reason = True, "left unfinished"
            return descent
        if descent.iterations >= limit:
            descent.reason = f"{limit} Newton iterations were not enough"
            return descent
        descent.iterations += 1
        step = region.find_step()
        if step is None:
            reason = "no step within a trust region lowers the objective"
            descent.end_without_progress(objective, reason)
        elif not stagnation.ends(step, objective, descent):
            continue
        # A nearly collapsed element may be too stiff for the single precision of the multigrid.
        if descent.outcome != "not converged" or not solver.fall_back():
            return descent
        descent.reason, descent.rounding_floors = "", np.zeros(0)
        region.radius, stagnation = 0.0, Stagnation(_MAX_IDLE_ITERATIONS, tolerance)


class _TrustRegion:
    """Finds steps down from the present point of a descent, and remembers how far to trust models.

    radius : in the metric [√J]; 0 before the first step
    damping : how much inertia is added to models, as a multiple of the objective's own
    """

    def __init__(self, objective: Objective, solver: LinearSolver, descent: Descent) -> None:
        self._objective, self._solver, self._descent = objective, solver, descent
        self._first_residual = self._worst_residual(self._units())
        self._previous: Float | None = None  # unknowns before the last step
        self._caution = 1.0  # factor on negative curvatures, see `trust_region`
        self.radius = self.damping = 0.0
        self._is_blocked = False  # whether contact has shortened the last step, or might have

    def find_step(self) -> Step | None:
        """Find a step that lowers the objective; None if rounding leaves none."""
        descent = self._descent
        start, targets = descent.point, self._linear_targets()
        model = self._build_model(targets)
        damped_models = 0
        while model is not None:
            done, allowed = model.iterations, self.radius or np.inf
            with descent.timed("solving"):
                step = model.minimise(self.radius, self._caution)
            descent.linear_iterations += model.iterations - done
            if step.ending == "inside" and not step.converged and self._solver.fall_back():
                model = self._build_model(targets)
                continue
            longest_move = float(row_norms(step.x).max())
            descent.set_bounds(longest_move)
            if not longest_move > EPS * EPS * float(start.size.max()):
                return None
            part = self._objective.free_part(start.y, step.x)
            if self._is_blocked and part < _MIN_FREE_PART and damped_models < _MAX_DAMPED_MODELS:
                damped_models += 1
                self.damping = (1.0 + self.damping) * min(1.0 / part, _DAMPING_GROWTH)
                self.radius = 0.0
                model = self._build_model(targets)
                continue
            whole_length = step.length
            if part < 1.0:
                descent.count_blocked_step(part)
                step = step.shortened(part, -dot(start.gradient, step.x))
            trial = descent.evaluate(self._objective, start.y + step.x)
            if trial is None or not np.isfinite(trial.residuals).all():
                self.radius = _SHRINKAGE * step.length
                continue
            straight, move, previous, relaxed = trial, step.x, start.y, None
            if not self._is_as_promised(start, trial, step):
                bent = self._bend(start, trial, step)
                if bent is not None:
                    trial, move, previous = bent, bent.y - start.y, bent.y
                relaxed = self._relax(start, trial)
            if relaxed is not None:
                # Its forces are no longer those that a step sideways has caused: none to predict.
                trial, move, previous = relaxed, relaxed.y - start.y, relaxed.y
            change, hidden = self._change(start, trial, move)
            if hidden and change >= 0.0 and trial is not straight:
                # Slopes at both ends are all there is to judge by, and they may mislead where the
                # way between is not straight.
                trial, move, previous = straight, step.x, start.y
                change, hidden = self._change(start, trial, move)
            ratio = -change / step.decrease if step.decrease > 0.0 else 0.0
            if part < 1.0 and ratio > _FAIR_RATIO and self._can_damp:
                self.radius = self.radius or whole_length
            else:
                self._adapt(ratio, step, allowed)
            self._adapt_damping(ratio, part)
            if ratio > _MIN_RATIO:
                self._previous = previous
                return Step(trial, change, hidden)
        return None

    def _is_as_promised(self, start: Point, trial: Point, step: ModelStep) -> bool:
        """Whether a step to the minimum of the model has found what the model said."""
        if step.ending != "inside":
            return False
        change, _ = self._change(start, trial, step.x)
        return abs(change + step.decrease) <= _FAITHFUL * step.decrease

    def _bend(self, start: Point, trial: Point, step: ModelStep) -> Point | None:
        """Return where the step ends on a parabola, not on a straight line; None if not lower.

        A body of stiff springs moves sideways by turning them, on arcs. A straight step stretches
        them by the square of its length. x + a/2 with M a = -∂²g[x, x] follows the arc to second
        order (the geodesic acceleration of Transtrum et al. 2011), and stretches them by the
        fourth power. ∂²g is a difference of gradients, so that any law takes part.
        """
        objective, descent, part = self._objective, self._descent, _DIFFERENCE
        change, _ = self._change(start, trial, step.x)
        if not self._solver.is_direct or -change > _GOOD_RATIO * step.decrease:
            return None
        ahead = descent.evaluate(objective, start.y + part * step.x)
        behind = descent.evaluate(objective, start.y - part * step.x)
        if ahead is None or behind is None:
            return None
        second = (ahead.gradient - 2.0 * start.gradient + behind.gradient) / part**2
        if not np.isfinite(second).all():
            return None
        with descent.timed("solving"):
            turn = self._solver.solve(second, np.full(len(second), np.inf)).x
            move = step.x - 0.5 * turn
        longest = float(row_norms(step.x).max())
        if not float(row_norms(move - step.x).max()) <= _MAX_BEND * longest:
            return None  # it turns by too much for two terms of a series
        if objective.free_part(start.y, move) < 1.0:
            return None
        bent = descent.evaluate(objective, start.y + move)
        if bent is None or not np.isfinite(bent.residuals).all():
            return None
        return bent if objective.change(trial, bent) < 0.0 else None

    def _relax(self, start: Point, trial: Point) -> Point | None:
        """Return what sweeps over where a trial point is worst make of it; None if not lower."""
        descent, residuals = self._descent, trial.residuals
        if (residuals <= descent.targets).all():
            return None
        region = np.flatnonzero(residuals > _REGION * residuals.max())
        sweeps = min(_MAX_SWEEPS, max(1, int(_VISITS * len(residuals) / len(region))))
        with descent.timed("solving"):
            y = self._objective.relax(trial, region, sweeps)
        if self._objective.free_part(start.y, y - start.y) < 1.0:
            return None  # it has met something on the way
        relaxed = descent.evaluate(self._objective, y)
        if relaxed is None or not np.isfinite(relaxed.residuals).all():
            return None
        return relaxed if self._objective.change(trial, relaxed) < 0.0 else None

    def _build_model(self, targets: Float) -> QuadraticModel | None:
        """Return the model at the present point; None if not even its metric is definite."""
        descent, objective, y = self._descent, self._objective, self._descent.point.y
        while True:
            with descent.timed("assembling"):
                metric = self._damp(objective.metric(y, self._previous))
            with descent.timed("solving"):
                definite = _factor(self._solver, metric, similar=descent.iterations > 1)
            if definite:
                break
            if not self._solver.fall_back():
                return None
        with descent.timed("assembling"):
            hessian = self._damp(objective.hessian(y, self._previous))
        return self._solver.model(hessian, -descent.point.gradient, targets)

    def _change(self, start: Point, trial: Point, move: Float) -> tuple[float, bool]:
        """Return the change of the objective [J], and whether rounding hides it.

        Then it is computed from the slopes at both ends, which keep their digits for longer.
        """
        change = self._objective.change(start, trial)
        noise = self._descent.noise_between(start, trial)
        if abs(change) > noise or trial.value > self._descent.max_value:
            return change, False
        return 0.5 * dot(move, start.gradient + trial.gradient), True

    def _adapt(self, ratio: float, step: ModelStep, allowed: float) -> None:
        """Adapt the radius to the part of the promised decrease that a step has achieved.

        What the model misses grows as the square of the step, relative to what it promises: the
        stretch of a spring that moves sideways. So a step shorter by √(½/(1 - ratio)) should
        achieve half of its promise. A step that could have been longer, but for the absolute value
        of a negative curvature, and kept its promise, lets the next one go further along it.

        allowed : the radius that the step was found with
        """
        factor = math.sqrt(_AIM / max(1.0 - ratio, _AIM / _MAX_GROWTH**2))
        if step.ending == "inside" and ratio > _GOOD_RATIO:
            self.radius = max(self.radius, _MAX_GROWTH * step.length)
        else:
            self.radius = step.length * max(factor, _MAX_SHRINKAGE)
        if step.ending == "boundary" and step.length < 0.99 * allowed and ratio > _GOOD_RATIO:
            self._caution *= _LESS_CAUTION
        elif step.ending == "boundary" and ratio < _BAD_RATIO:
            self._caution = min(1.0, self._caution / _LESS_CAUTION)

    @cached_property
    def _can_damp(self) -> bool:
        return bool(self._objective.damping_weights().any())

    def _damp(self, matrix: BlockMatrix) -> BlockMatrix:
        """Return a matrix with damping added."""
        if self.damping > 0.0:
            weights = self.damping * self._objective.damping_weights()
            matrix.data[matrix.pattern.diagonal] += weights[:, None, None] * np.eye(3)
        return matrix

    def _adapt_damping(self, ratio: float, part: float) -> None:
        """Lower the damping after a step that was free and as good as the model said."""
        if part < 1.0:
            self._is_blocked = self._can_damp
            return
        self._is_blocked = self.damping > 0.0
        if ratio > _AIM:
            self.damping *= _DAMPING_DECREASE
        if self.damping < _MIN_DAMPING:
            self.damping = 0.0

    def _units(self) -> Float:
        """Each particle's target or the rounding of its gross force, the larger one [N], (n,)."""
        return np.maximum(self._descent.targets, EPS * self._descent.point.gross)

    def _worst_residual(self, units: Float) -> float:
        return float(relative_residuals(self._descent.point.residuals, units).max())

    def _linear_targets(self) -> Float:
        """Return the residual that a linear solve may leave on each particle [N], (n,).

        An inexact Newton method: min(10⁻³, √(w/w₀))·w in units of the particle's target, w the
        worst residual. The factor shrinks with w, so that the last iterations are as good as
        exact, and the first ones, whose direction is only a guess, cost little.
        """
        units = self._units()
        worst = self._worst_residual(units)
        forcing = min(_FORCING, math.sqrt(worst / self._first_residual))
        return np.maximum(forcing * worst * units, 0.1 * self._descent.targets)


def _factor(solver: LinearSolver, matrix: BlockMatrix, *, similar: bool) -> bool:
    """Factor a matrix that is positive definite but for rounding.

    Where rounding spoils it, add the smallest part of its diagonal, in steps of 100, that helps.
    """
    if solver.factor(matrix, similar=similar):
        return True
    diagonal = matrix.data[matrix.pattern.diagonal].copy()
    size = np.abs(np.trace(diagonal, axis1=1, axis2=2))
    size = np.maximum(size, 1e-10 * size.max())
    for part in 10.0 ** np.arange(-12.0, 0.0, 2.0):
        matrix.data[matrix.pattern.diagonal] = diagonal + (part * size)[:, None, None] * np.eye(3)
        if solver.factor(matrix, similar=True):
            return True
    return False
