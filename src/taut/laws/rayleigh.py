"""Rayleigh damping D = αM + β·K, with K projected and frozen at the start of each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
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


def rayleigh_coefficients(
    ratios: tuple[float, float], omega: tuple[float, float]
) -> tuple[float, float]:
    """Return α [1/s] and β [s] that give two modes their damping ratios: ζ = α/2ω + βω/2.

    ratios : ζ of the two modes, to critical damping
    omega : their angular frequencies [rad/s], different and positive

    Between the two frequencies ζ is smaller, outside it is larger. Coefficients cannot be
    negative: ratios further apart than the frequencies have none.

    >>> alpha, beta = rayleigh_coefficients((0.02, 0.05), (10.0, 100.0))
    >>> round(alpha, 6), round(beta, 9)
    (0.30303, 0.000969697)
    """
    try:
        (z1, z2), (w1, w2) = (float(z) for z in ratios), (float(w) for w in omega)
    except (TypeError, ValueError) as error:
        raise LawError(
            "rayleigh_coefficients: ratios and omega must be two numbers each, "
            f"got {ratios!r} and {omega!r}"
        ) from error
    if not (all(isfinite(x) for x in (z1, z2, w1, w2)) and min(z1, z2) >= 0.0):
        raise LawError(f"rayleigh_coefficients: ratios must not be negative, got {ratios!r}")
    if not (min(w1, w2) > 0.0 and w1 != w2):
        raise LawError(
            f"rayleigh_coefficients: omega must be two different positive numbers, got {omega!r}"
        )
    span = (w2 - w1) * (w2 + w1)
    alpha = 2.0 * w1 * w2 * (z1 * w2 - z2 * w1) / span
    beta = 2.0 * (z2 * w2 - z1 * w1) / span
    if alpha < 0.0 or beta < 0.0:
        raise LawError(
            f"rayleigh_coefficients: ratios {z1:g}, {z2:g} at {w1:g}, {w2:g} rad/s need "
            f"alpha = {alpha:.3g}, beta = {beta:.3g}, which must not be negative"
        )
    return alpha, beta
