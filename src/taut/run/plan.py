"""How many steps there are between two times, and how long each is.

    steps = (until - t) / h,

and where that is not a whole number, one more that is shorter. It is decided once, at the start, and by the index of the step: a
run that is continued takes the very steps it would have taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from taut.errors import ModelError

SLACK = 1e-6  # of a step: what of one more is not worth taking
MOST = 2**53  # steps that a float can count


@dataclass(frozen=True)
class Plan:
    """The steps of a run: `steps` of h seconds, the last of `last` seconds.

    >>> Plan.of(0.0, 0.3, 1.0).steps, round(Plan.of(0.0, 0.3, 1.0).last, 9)
    (4, 0.1)
    """

    steps: int
    h: float
    last: float

    @staticmethod
    def of(t: float, h: float, until: float) -> Plan:
        """The steps from t to until [s]; none if that is no later."""
        if not h > 0.0 or not math.isfinite((until - t) / h) or (until - t) / h > MOST:
            raise ModelError(
                f"the step h is {h!r}; it must be a positive number of seconds, and reach the end time in finitely many"
            )
        count = (until - t) / h
        whole = round(count)
        slack = SLACK + 4.0 * np.finfo(np.float64).eps * whole * whole  # what adding up t so many times can lose
        if count <= slack:
            return Plan(0, h, h)
        if abs(count - whole) <= slack:
            return Plan(whole, h, h)
        floor = math.floor(count)
        return Plan(floor + 1, h, (count - floor) * h)

    def length(self, index: int) -> float:
        """The length [s] of the step that follows `index` others.

        >>> Plan.of(0.0, 0.5, 1.25).length(2)
        0.25
        """
        return self.last if index == self.steps - 1 else self.h
