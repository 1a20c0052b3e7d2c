"""Rayleigh damping D = αM + β·K, with K projected and frozen at the start of each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taut.errors import LawError


@dataclass(frozen=True)
class Rayleigh:
    """See `rayleigh`."""

    alpha: float
    beta: float

    def __post_init__(self) -> None:
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 <= value < float("inf"):
                raise LawError(f"rayleigh: {name} is {value}; it must be finite and not negative")

    @staticmethod
    def sum_of(several: Sequence[Rayleigh]) -> Rayleigh | None:
        """All of them as one, or None if there are none."""
        return Rayleigh(sum(r.alpha for r in several), sum(r.beta for r in several)) if several else None


def rayleigh(*, alpha: float = 0.0, beta: float = 0.0) -> Rayleigh:
    """Rayleigh damping D = αM + βK⁺ of the whole system, force -Dv.

    alpha : [1/s], damps every motion alike
    beta : [s], damps deformation, the faster the more

    K⁺ is the stiffness with every element's block made positive semi-definite, at the start of the step: an indefinite or
    prestressed βK would feed energy in. It damps rotation too, so angular momentum is not conserved, and with `pressure` or `gas`,
    whose elements are balanced only all together, drift as well: use `spring_damping` where that matters. How it enters a step:
    docs/theory/01-formula-to-step.md.

    >>> rayleigh(alpha=0.1, beta=1e-3)
    Rayleigh(alpha=0.1, beta=0.001)
    """
    return Rayleigh(float(alpha), float(beta))
