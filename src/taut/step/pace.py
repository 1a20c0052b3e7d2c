"""How long the next substep of an adaptive step is: halved after failures, or led by the error."""

from __future__ import annotations

CAUTION, SHRINK = 0.9, 0.2  # aim a little below the bound; never shrink by more at once
AGAIN = 2  # substeps that must succeed before a longer one is tried
NO_ERROR = 1e-300  # [m]: in place of an estimate of 0
WHOLE = 1e-9  # of a substep: what rounding of the time may leave over


class Halving:
    """Substeps of h/2^k on a grid of halves: k grows with each failure and falls after two successes, where the grid allows."""

    def __init__(self, h: float, length: float, halvings: int) -> None:
        self.h, self.halvings = h, halvings
        self.level = next((k for k in range(halvings) if h * 0.5**k <= length * (1.0 + WHOLE)), halvings)
        self.position, self.successes = 0, 0  # in units of h/2^halvings

    @property
    def length(self) -> float:
        """Of a substep [s]."""
        return self.h * 0.5**self.level

    def next(self, left: float) -> float:
        """The length of the next substep [s], with so many seconds left."""
        last = self.position + 2 ** (self.halvings - self.level) == 2**self.halvings
        return left if last else self.length

    def failed(self) -> bool:
        """Shorten; False if the limit is reached."""
        self.successes = 0
        self.level += 1
        return self.level <= self.halvings

    def succeeded(self, substep: float, error: float) -> bool:
        """True, since no error is looked at; set the length of the next substep."""
        self.position += 2 ** (self.halvings - self.level)
        self.successes += 1
        coarser = 2 ** (self.halvings - self.level + 1)
        if self.level and self.successes >= AGAIN and self.position % coarser == 0:
            self.level, self.successes = self.level - 1, 0
        return True


class ErrorControl:
    """Substeps as long as the estimated error of each allows."""

    def __init__(self, h: float, length: float, halvings: int, *, bound: float, order: int, grow: float) -> None:
        self.h, self.length, self.least = h, length, h * 0.5**halvings
        self.bound, self.exponent, self.grow = bound, 1.0 / (order + 1), grow
        self.tried = length

    def next(self, left: float) -> float:
        """The length of the next substep [s], with so many seconds left."""
        if left <= self.length * (1.0 + WHOLE):
            self.tried = left
        else:
            self.tried = left / 2 if left < 2.0 * self.length else self.length  # no sliver at the end
        return self.tried

    def failed(self) -> bool:
        """Shorten; False if the limit is reached."""
        self.length = 0.5 * self.tried
        return self.length >= self.least

    def succeeded(self, substep: float, error: float) -> bool:
        """Whether the error is within the bound; in any case, set the length of the next substep."""
        follow = CAUTION * (self.bound / max(error, NO_ERROR)) ** self.exponent
        if error > self.bound:
            self.length = max(SHRINK, min(follow, 0.5)) * substep
            return False
        self.length = min(self.h, max(SHRINK, min(follow, self.grow)) * substep)
        return True
