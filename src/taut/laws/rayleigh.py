"""Rayleigh damping D = αM + β·K, with K projected and frozen at the start of each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

from taut.errors import LawError


@dataclass(frozen=True)
class Rayleigh:
    """The coefficients of Rayleigh damping; `rayleigh` makes one."""

    alpha: float
    beta: float

    def __post_init__(self) -> None:
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not isinstance(value, Real) or not 0.0 <= value < float("inf"):
                raise LawError(
                    f"rayleigh: {name} must be a finite number, 0 or more, got {value!r}"
                )
            object.__setattr__(self, name, float(value))

    @staticmethod
    def sum_of(several: Sequence[Rayleigh]) -> Rayleigh | None:
        """Return several dampings as one, or None if there are none."""
        if not several:
            return None
        return Rayleigh(sum(r.alpha for r in several), sum(r.beta for r in several))


def rayleigh(*, alpha: float = 0.0, beta: float = 0.0) -> Rayleigh:
    """Rayleigh damping D = αM + βK⁺ of the whole system, force -Dv.

    alpha : [1/s], damps every motion equally
    beta : [s], damps deformation, fast vibrations more than slow ones

    K⁺ is the stiffness at the start of the step with every element's block made positive
    semi-definite: an indefinite or prestressed βK would add energy. It damps rotation too, so that
    angular momentum is not conserved; with `pressure` or `gas`, whose elements are in balance only
    together, it also damps translation. Use `spring_damping` where that matters. How it enters a
    step: docs/theory/01-formula-to-step.md.

    >>> rayleigh(alpha=0.1, beta=1e-3)
    Rayleigh(alpha=0.1, beta=0.001)
    """
    return Rayleigh(alpha, beta)
