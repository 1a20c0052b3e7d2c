"""Line search: how far to go along a direction that leads down.

A step of length s along p is taken if it lowers the objective by at least 10⁻⁴ s|∇Φ·p| (Armijo). Where there is no energy
(`SingularState`), the step is halved. Where differences of the objective drown in rounding, a step counts if it lowers both the
slope along the direction and the residual, measured against each particle's tolerance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.solve.minimum import Minimum, Objective, Point
from taut.solve.tolerance import EPS, excess, lengths

Float = NDArray[np.float64]
SUFFICIENT = 1e-4  # Armijo's constant
BETTER = 0.9  # by how much a step must lower the residual where the objective cannot tell


def worst_excess(residuals: Float, m: Minimum) -> float:
    """The largest of the residuals [N], (n,), each in units of its particle's tolerance, or of rounding where that is larger."""
    return float(excess(residuals, m.targets + EPS * float(m.point.gross.max())).max())


def line_search(objective: Objective, direction: Float, m: Minimum) -> Point | None:
    """The first of the steps 1, ½, ¼… (placed by interpolation) from m.point that lowers the objective enough, or None.

    direction : (n, 3) [m], with direction·gradient < 0
    """
    point = m.point
    slope = float(np.vdot(direction, point.gradient))
    merit = worst_excess(point.residuals, m)
    longest = float(lengths(direction).max())
    reach = EPS * (longest + float(point.size.max()))
    length = 1.0
    while length * longest > EPS * reach:
        trial = m.tried(objective, point.y + length * direction)
        if trial is None:
            length *= 0.5
            continue
        better = worst_excess(trial.residuals, m) <= BETTER * merit
        if abs(slope) <= point.noise:  # no length can be told from another by its value
            return trial if better else None
        change = trial.value - point.value
        if change <= SUFFICIENT * length * slope:
            return trial
        if better and abs(change) <= trial.noise_to(point):
            flatter = abs(float(np.vdot(direction, trial.gradient))) <= BETTER * abs(slope)
            if flatter:
                return trial
        curvature = change - length * slope
        guess = -0.5 * slope * length * length / curvature if curvature > 0.0 else 0.5 * length
        length = min(max(guess, 0.1 * length), 0.5 * length)
    return None
