"""Is a descent still getting anywhere?

It is if the objective falls visibly, in one step or in several together, or if the worst residual, in units of its tolerance,
falls by a tenth. If neither has happened for a while, the rounding floor is looked at; if the residuals are not within it, the
descent goes on for longer, but not for ever.
"""

from __future__ import annotations

import numpy as np

from taut.solve.line_search import Step, worst_excess
from taut.solve.minimum import Minimum, Objective
from taut.solve.tolerance import Tolerance

BETTER = 0.9  # by how much the residual must fall where the objective cannot tell


class Stagnation:
    """Follows a descent, and ends it where there is no more to gain.

    patience : iterations without progress after which the rounding floor is looked at, and again after four times as many; after
        sixteen times as many the descent ends
    tolerance : of the residuals, by which the floor is looked at

    >>> Stagnation(4, Tolerance()).idle
    0
    """

    def __init__(self, patience: int, tolerance: Tolerance) -> None:
        self.patience, self.tolerance, self.idle = patience, tolerance, 0
        self._least = np.inf  # the smallest residual since progress was seen
        self._fall = 0.0  # what the objective fell since then [J]

    def ends_at(self, step: Step, objective: Objective, m: Minimum) -> bool:
        """Move m.point to the step; whether the descent ends there, in which case `m` says how."""
        m.point, self.idle, self._fall = step.point, self.idle + 1, self._fall + step.fall
        m.targets = self.tolerance.targets(m.point.gross)
        m.ceiling = min(m.ceiling, m.point.ceiling)
        merit = worst_excess(m.point.residuals, m)
        if not step.hidden or merit <= BETTER * self._least or -self._fall > 2.0 * m.point.noise:
            self._least = min(merit, self._least) if step.hidden else merit
            self.idle, self._fall = 0, 0.0
        if self.idle not in (self.patience, 4 * self.patience, 16 * self.patience) or m.meets(m.targets):
            return False
        m.judge(objective, "neither the objective nor the residual falls any further")
        ends = m.outcome == "rounding floor" or self.idle == 16 * self.patience
        if not ends:
            m.reason, m.floors = "", np.zeros(0)
        return ends
