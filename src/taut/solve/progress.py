"""Is a descent still getting anywhere?

It is if the objective falls visibly, in one step or in several together, or if the worst residual, in units of its tolerance,
falls by a tenth. If neither has happened for a while, the rounding floor is looked at; if the residuals are not within it, the
descent goes on for longer, but not for ever.
"""

from __future__ import annotations

import numpy as np

from taut.solve.line_search import Step, worst_excess
from taut.solve.minimum import Minimum, Objective

BETTER = 0.9  # by how much the residual must fall where the objective cannot tell


class Progress:
    """Follows a descent, and ends it where there is no more to gain.

    patience : iterations without progress after which the rounding floor is looked at, and again after four times as many; after
        sixteen times as many the descent ends

    >>> Progress(patience=4).idle
    0
    """

    def __init__(self, patience: int) -> None:
        self.patience, self.idle = patience, 0
        self._least, self._fall = (
            np.inf,
            0.0,
        )  # since progress was seen: the smallest residual, and what the objective fell

    def ends_at(self, step: Step, objective: Objective, m: Minimum) -> bool:
        """Move m.point to the step; whether the descent ends there, in which case `m` says how."""
        merit = worst_excess(step.point.residuals, m)
        m.point, self.idle, self._fall = step.point, self.idle + 1, self._fall + step.fall
        m.ceiling = min(m.ceiling, m.point.ceiling)
        if not step.hidden or merit <= BETTER * self._least or -self._fall > 2.0 * m.point.noise:
            self._least = min(merit, self._least) if step.hidden else merit
            self.idle, self._fall = 0, 0.0
        if self.idle not in (self.patience, 4 * self.patience, 16 * self.patience):
            return False
        m.judge(objective, "neither the objective nor the residual falls any further")
        ends = m.outcome == "rounding floor" or self.idle == 16 * self.patience
        m.reason = m.reason if ends else ""
        return ends
