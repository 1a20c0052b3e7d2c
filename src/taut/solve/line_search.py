"""Line search: how far to go along a direction that leads down.

A step of length s along p is taken if it lowers the objective by at least 10⁻⁴ s|∇Φ·p| (Armijo). Where differences of the
objective drown in rounding, its decrease is taken from the slopes at both ends, s(∇Φ(y)·p + ∇Φ(y + s p)·p)/2, which keep their
digits for longer (the approximate Wolfe condition of Hager and Zhang 2005). A step that ends where the way still leads down at
least half as steeply as at its start is lengthened, but not beyond where the objective counts as falling without bound. Where
there is no energy (`SingularState`), the step is halved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.solve.minimum import Minimum, Objective, Point
from taut.solve.tolerance import EPS, excess
from taut.system.blocks import dot, lengths

Float = NDArray[np.float64]
SUFFICIENT = 1e-4  # Armijo's constant
STEEP = 0.5  # part of the slope that, left at the end of a step, makes it worth lengthening
LONGER, SHORTER, SHORTEST = 4.0, 0.5, 0.05  # how much a length may change from one trial to the next


@dataclass(frozen=True, eq=False)
class Step:
    """A step that was accepted.

    fall : how much lower the objective is there [J], not positive
    hidden : rounding hides it, and it is taken from the slopes
    refused : the point at length 1 if it was higher than allowed
    """

    point: Point
    fall: float
    hidden: bool
    refused: Point | None = None


def worst_excess(residuals: Float, m: Minimum) -> float:
    """The largest of the residuals [N], (n,), each in units of its particle's tolerance, or of rounding where that is larger.

    >>> at = Point(np.zeros((1, 3)), 0.0, np.zeros((1, 3)), np.ones(1), 0.0, np.zeros(1))
    >>> round(worst_excess(np.array([3e-8]), Minimum(at, np.array([1e-8]))), 6)
    3.0
    """
    return float(excess(residuals, m.targets + EPS * float(m.point.gross.max())).max())


def line_search(objective: Objective, direction: Float, m: Minimum) -> Step | None:
    """A step from m.point that lowers the objective enough, tried from length 1 on, or None.

    direction : (n, 3) [m], with direction·gradient < 0
    """
    slope = dot(direction, m.point.gradient)
    longest = float(lengths(direction).max())
    m.bound_by(longest)
    faint = abs(slope) <= m.point.noise  # no length can be told from another by its value
    reach = EPS * EPS * (longest + float(m.point.size.max()))
    length, lowest = 1.0, 0.0
    taken: Step | None = None
    refused: Point | None = None
    while length * longest > reach:
        trial = m.tried(objective, m.point.y + length * direction)
        if trial is None:
            if taken is not None:
                return taken
            length *= SHORTER
            continue
        end = dot(direction, trial.gradient)
        change = trial.value - m.point.value
        hidden = trial.value <= m.ceiling and ((faint and change < 0.0) or abs(change) <= trial.noise_to(m.point))
        fall = 0.5 * length * (slope + end) if hidden else change
        if fall <= SUFFICIENT * length * slope and fall < lowest:
            taken, lowest = Step(trial, fall, hidden, refused), fall
            if faint or refused is not None or end > STEEP * slope or m.beyond(trial):
                return taken
            length *= min(LONGER, slope / (slope - end)) if end > slope else LONGER
            continue
        if taken is not None:
            return taken
        if length == 1.0 and not hidden and np.isfinite(trial.residuals).all():
            refused = trial
        guess = length * slope / (slope - end) if hidden else _lowest(slope, change, length)
        length = min(max(guess, SHORTEST * length), SHORTER * length)
    return taken


def _lowest(slope: float, change: float, length: float) -> float:
    """Where the parabola through the start, with its slope, and the trial is lowest."""
    curvature = change - length * slope
    return -0.5 * slope * length * length / curvature if curvature > 0.0 else SHORTER * length
