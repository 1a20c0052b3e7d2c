"""Line search along a descent direction, and stagnation of the accepted steps.

A step of length s along p is accepted if it lowers the objective by at least 10⁻⁴ s|∇Φ·p|
(Armijo). Where rounding hides differences of the objective, its decrease is computed from the
slopes at both ends, s(∇Φ(y)·p + ∇Φ(y + s p)·p)/2, which keep their digits for longer (the
approximate Wolfe condition of Hager and Zhang 2005). A step at whose end the objective still falls
at least half as steeply as at its start is lengthened, but not beyond where it counts as falling
without bound. Where the objective has no value (`SingularState`), the step is halved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import EPS, Float
from taut.linalg.blocks import dot, row_norms
from taut.optimise.descent import Descent, Objective, Point
from taut.optimise.tolerance import Tolerance, all_within

_ARMIJO = 1e-4  # part of the decrease that the slope promises, which a step must achieve
_STEEP = 0.5  # part of the slope that, left at the end of a step, makes it worth lengthening
# Bounds of the ratio between one trial length and the next
_MAX_GROWTH = 4.0
_MAX_SHRINKAGE = 0.05
_MIN_SHRINKAGE = 0.5
_RESIDUAL_DECREASE = 0.9  # a smaller factor counts as progress where rounding hides the objective
# Iterations without progress, in multiples of the patience, after which the floor is tested
_TESTS = (1, 4, 16, 64)


@dataclass(frozen=True, eq=False)
class Step:
    """A step that a line search accepted.

    change : of the objective [J], negative
    hidden : rounding hides the change of the value; `change` was computed from the slopes
    """

    point: Point
    change: float
    hidden: bool


def line_search(objective: Objective, direction: Float, descent: Descent) -> Step | None:
    """Find a step from descent.point that lowers the objective enough; None if no length does.

    direction : displacements [m], (n, 3), with direction·gradient < 0
    """
    start = descent.point
    slope = dot(direction, start.gradient)
    longest_move = float(row_norms(direction).max())
    descent.set_bounds(longest_move)
    flat = abs(slope) <= start.noise  # the value cannot tell one length from another
    negligible_move = EPS * EPS * (longest_move + float(start.size.max()))
    length, lowest_change = 1.0, 0.0
    accepted: Step | None = None
    has_shrunk = False
    while length * longest_move > negligible_move:
        trial = descent.evaluate(objective, start.y + length * direction)
        if trial is None:
            if accepted is not None:
                return accepted
            length *= _MIN_SHRINKAGE
            continue
        end_slope = dot(direction, trial.gradient)
        change = objective.change(start, trial)
        # The value may never rise above `max_value`: many steps whose rise each hides in rounding
        # would add up to a visible one.
        hidden = trial.value <= descent.max_value and (
            (flat and change < 0.0) or abs(change) <= descent.noise_between(start, trial)
        )
        if hidden:
            change = 0.5 * length * (slope + end_slope)
        if change <= _ARMIJO * length * slope and change < lowest_change:
            accepted = Step(trial, change, hidden)
            lowest_change = change
            long_enough = flat or has_shrunk or end_slope > _STEEP * slope
            if long_enough or descent.is_out_of_bounds(trial):
                return accepted
            length *= _growth(slope, end_slope)
            continue
        if accepted is not None:
            return accepted
        has_shrunk = True
        if hidden:
            guess = length * slope / (slope - end_slope)  # where the slope is zero, by the secant
        else:
            guess = _minimise_parabola(slope, change, length)
        length = min(max(guess, _MAX_SHRINKAGE * length), _MIN_SHRINKAGE * length)
    return accepted


def _growth(slope: float, end_slope: float) -> float:
    """Return the factor by which to lengthen a step, from its slopes by the secant."""
    if end_slope > slope:
        return min(_MAX_GROWTH, slope / (slope - end_slope))
    return _MAX_GROWTH


def _minimise_parabola(slope: float, change: float, length: float) -> float:
    """Return where the parabola through the start, with its slope, and the trial is lowest."""
    curvature = change - length * slope
    if curvature > 0.0:
        return -0.5 * slope * length * length / curvature
    return _MIN_SHRINKAGE * length


class Stagnation:
    """Watches a descent and ends it when nothing improves any more.

    Progress is a visible fall of the objective, in one step or in several together, or a worst
    residual that is smaller by a tenth. After `patience` iterations without progress, and again
    after 4 and 16 times as many, the rounding floor is tested; that costs a few evaluations and
    Hessians, so it is not tested more often. After 64 times as many the descent ends in any case.

    >>> Stagnation(1, Tolerance()).idle
    0
    """

    def __init__(self, patience: int, tolerance: Tolerance) -> None:
        self.patience, self.tolerance = patience, tolerance
        self.idle = 0  # iterations since the last progress
        self._least = np.inf  # smallest relative residual since then
        self._change = 0.0  # of the objective since then [J]

    def ends(self, step: Step, objective: Objective, descent: Descent) -> bool:
        """Move the descent to a step; True if it ends there, with its outcome or reason set."""
        descent.accept(step.point, self.tolerance)
        self.idle += 1
        self._change += step.change
        worst = descent.worst_relative_residual(step.point.residuals)
        if not step.hidden:
            self._restart(worst)
        elif worst <= _RESIDUAL_DECREASE * self._least or -self._change > 2.0 * step.point.noise:
            self._restart(min(worst, self._least))
        if self.idle not in [factor * self.patience for factor in _TESTS]:
            return False
        if all_within(descent.point.residuals, descent.targets):
            return False  # the minimiser itself reports convergence
        descent.end_without_progress(
            objective, "neither the objective nor the residual falls any further"
        )
        if descent.outcome == "rounding floor" or self.idle == _TESTS[-1] * self.patience:
            return True
        descent.reason, descent.rounding_floors = "", np.zeros(0)
        return False

    def _restart(self, least: float) -> None:
        self.idle, self._change, self._least = 0, 0.0, least
