"""Friction and the normal forces that it is held with: repeated until they agree."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from taut.arrays import Float
from taut.errors import SingularState
from taut.linalg.blocks import dot
from taut.linalg.indefinite import solve_indefinite
from taut.optimise.descent import Descent, Point
from taut.optimise.tolerance import Tolerance, all_within, relative_residuals
from taut.step._objective import ImplicitObjective

# How often friction is given new normal forces. Each update is a minimisation that begins where
# the last one ended: the first few need some iterations, the rest one or none.
_MAX_FRICTION_UPDATES = 500
# Least part of the change of normal forces that an update uses, and by what the limit of the part
# changes: after forces that were reversed, and after others
_MIN_PART = 0.02
_LIMIT_SHRINKAGE, _LIMIT_GROWTH = 0.5, 1.1
_REVERSAL = 0.5  # part of the last forces that counts as reversed
# Part of the tolerance to which friction that is held is solved. With the tolerance itself, the
# residual of new friction may be just above it, and no minimisation has anything to do.
_TIGHT = 0.3
# A residual that is larger than this part of the last one may be at the rounding floor.
_SLOW = 0.9
# Positions and friction are solved for together after each so many updates. With 1, 13 random drops
# took 11% fewer iterations, but a cloth of 3,600 particles twice the time: the matrix is not
# symmetric. After the 8th, 16th, 32nd, … a drop whose fixed point repels updates was not solved.
_UPDATES_BETWEEN_SOLVES = 4
_MAX_COUPLED_ITERATIONS = 30
_MIN_COUPLED_PART = 1e-3  # of one of its steps
_MIN_FALL = 0.1  # of the squares, as part of what a short step should achieve

Minimise = Callable[[ImplicitObjective, Point, Tolerance], Descent]
"""Minimises an objective from a point to a tolerance."""


def settle_friction(
    objective: ImplicitObjective,
    descent: Descent,
    tolerance: Tolerance,
    minimise: Minimise,
    max_iterations: int | None = None,
) -> Descent:
    """Repeat a minimisation until its residual, with friction from its own result, is small enough.

    max_iterations : of all repetitions; friction that needs more has not settled (default: no
        limit but that of the repetitions)

    Where new normal forces overshoot, only a part of their change is used, by Aitken's rule. That
    their residual grows does not mean they overshoot: where bodies wedge each other, more friction
    causes larger normal forces, for many updates, until they stick. Now and then positions and
    friction are solved for together.
    """
    relaxation, last = _Relaxation(), math.inf
    limit = math.inf if max_iterations is None else descent.iterations + max_iterations
    tight = Tolerance(_TIGHT * tolerance.relative, _TIGHT * tolerance.force)
    for update in range(1, _MAX_FRICTION_UPDATES + 1):
        if descent.outcome == "not converged":
            return descent
        held, y = objective.friction, descent.point.y
        objective.friction = newer = objective.find_friction(y)
        end = objective.evaluate(y)
        # With new friction the certificate of the minimisation, and its floors, are void.
        if _certify(descent, end, tolerance):
            return descent
        worst = float(relative_residuals(end.residuals, descent.targets).max())
        # As near as rounding of the coordinates allows, updates hardly make it better.
        if worst > _SLOW * last and (
            descent.end_without_progress(objective, "").outcome == "rounding floor"
        ):
            return descent
        last = worst
        if descent.iterations > limit:
            descent.reason = f"friction did not settle in {max_iterations} Newton iterations"
            return descent
        if update % _UPDATES_BETWEEN_SOLVES == 0:
            together = _solve_together(objective, end, tolerance, descent)
            if _certify(descent, together, tolerance):
                return descent
        objective.friction = held.blend(newer, relaxation.choose_part(end.gradient))
        again = minimise(objective, objective.evaluate(y), tight)
        again.add_work(descent)
        descent = again
    if descent.outcome != "not converged":
        objective.friction = objective.find_friction(descent.point.y)
        if not _certify(descent, objective.evaluate(descent.point.y), tolerance):
            descent.reason = (
                f"friction did not settle in {_MAX_FRICTION_UPDATES} updates of its normal forces"
            )
    return descent


def _certify(descent: Descent, end: Point, tolerance: Tolerance) -> bool:
    """Let a descent end at a point whose friction is its own; whether that has converged."""
    descent.point = end
    descent.rounding_floors = np.zeros(0)
    descent.outcome = "converged" if descent.meets(tolerance) else "not converged"
    return descent.outcome == "converged"


class _Relaxation:
    """Which part of the change of friction an update uses, by Aitken's rule within a limit.

    The limit falls each time the unbalanced forces change their direction: where the set of
    contacts alternates, Aitken's rule alone can go round in a cycle.

    >>> relaxation = _Relaxation()
    >>> relaxation.choose_part(np.array([[1.0, 0.0, 0.0]]))
    1.0
    >>> relaxation.choose_part(np.array([[-1.0, 0.0, 0.0]]))
    0.5
    """

    def __init__(self) -> None:
        self._part = self._limit = 1.0
        self._before: Float | None = None

    def choose_part(self, now: Float) -> float:
        """Return the part, from the unbalanced forces with the new friction [N], (n, 3).

        The secant through these and the last ones has its zero there; where they grow, the limit.
        """
        before, self._before = self._before, now
        if before is None:
            return self._part
        # Forces that are reversed and much smaller converge without any limit.
        overshoots = dot(before, now) < -_REVERSAL * dot(before, before)
        factor = _LIMIT_SHRINKAGE if overshoots else _LIMIT_GROWTH
        self._limit = min(max(factor * self._limit, _MIN_PART), 1.0)
        difference = now - before
        square = dot(difference, difference)
        secant = -self._part * dot(before, difference) / square if square > 0.0 else 0.0
        if not secant > 0.0:
            secant = self._limit
        self._part = min(max(secant, _MIN_PART), self._limit)
        return self._part


def _solve_together(
    objective: ImplicitObjective, start: Point, tolerance: Tolerance, descent: Descent
) -> Point:
    """Return a point from a solution for positions and friction together; it may have failed.

    Newton's method on the unbalanced forces with friction of their own normal forces. It also finds
    fixed points that minimisations go away from: where the minimum jumps as friction changes, there
    may be no others. A step is halved until the sum of the squares of the forces, in units of their
    tolerances, falls. The friction of the objective is that of the point.
    """
    point = start
    for _ in range(_MAX_COUPLED_ITERATIONS):
        targets = tolerance.targets(point.at_work, point.gross)
        if all_within(point.residuals, targets):
            break
        descent.iterations += 1
        with descent.timed("assembling"):
            matrix = objective.coupled_hessian(point.y)
        with descent.timed("solving"):
            solution = solve_indefinite(matrix, -point.gradient)
        if solution is None:
            break
        descent.linear_iterations += solution.iterations
        move = objective.system._projector.project(solution.x)
        part, trial = objective.free_part(point.y, move), None
        if part < 1.0:
            descent.count_blocked_step(part)
        before = _square(point, targets)
        while part > _MIN_COUPLED_PART:
            trial = _evaluate_together(objective, point.y + part * move, descent)
            if trial is not None and _square(trial, targets) < (1.0 - _MIN_FALL * part) * before:
                break
            part, trial = 0.5 * part, None
        if trial is None:
            break
        point = trial
    return point


def _evaluate_together(objective: ImplicitObjective, y: Float, descent: Descent) -> Point | None:
    """Evaluate the objective at y [m], (n, 3), with the friction there; None without a value."""
    try:
        objective.friction = objective.find_friction(y)
    except SingularState:
        return None
    return descent.evaluate(objective, y)


def _square(point: Point, units: Float) -> float:
    """Return Σ |r|² of the unbalanced forces, each in its unit [N], (n,)."""
    relative = relative_residuals(point.residuals, units)
    return float(np.einsum("i,i->", relative, relative))
