"""The certificate of a static solution: the residual of the particle closest to its limit."""

from __future__ import annotations

from dataclasses import dataclass

from taut.optimise.descent import Outcome


@dataclass(frozen=True, eq=False, kw_only=True)
class StaticCertificate:
    """How well forces balance.

    outcome : "converged" (every particle's residual is within its tolerance) or "rounding floor"
        (the others are within their rounding floors)
    particle : the one closest to its limit
    residual, tolerance, floor : of that particle [N]; floor is 0 where it was not needed
    iterations : Newton iterations in total

    >>> found = StaticCertificate(
    ...     outcome="converged", particle=3, residual=1e-9, tolerance=1e-7, floor=0.0, iterations=4
    ... )
    >>> found.certificate[:48]
    'converged: particle 3 has residual 1.00e-09 N (t'
    """

    outcome: Outcome
    particle: int
    residual: float
    tolerance: float
    floor: float
    iterations: int

    @property
    def certificate(self) -> str:
        """One line of text."""
        return (
            f"{self.outcome}: particle {self.particle} has residual {self.residual:.2e} N "
            f"(tolerance {self.tolerance:.2e} N, rounding {self.floor:.1e} N), "
            f"{self.iterations} iterations"
        )
