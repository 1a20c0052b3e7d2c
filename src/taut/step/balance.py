"""The certificate of a static solution: what is left of the forces on the particle that is closest to its limit."""

from __future__ import annotations

from dataclasses import dataclass

from taut.solve.minimum import Outcome


@dataclass(frozen=True, eq=False, kw_only=True)
class Balance:
    """How well forces balance.

    outcome : "converged" (every particle's residual within its tolerance) or "rounding floor" (the rest within their floors)
    particle : the one closest to its limit; residual, tolerance, floor : its own [N] (floor 0 where it was not needed)
    iterations : of Newton's method, in all

    >>> print(Balance(outcome="converged", particle=3, residual=1e-9, tolerance=1e-7, floor=0.0, iterations=4).certificate)
    converged: particle 3 has residual 1.00e-09 N (tolerance 1.00e-07 N, rounding 0.0e+00 N), 4 iterations
    """

    outcome: Outcome
    particle: int
    residual: float
    tolerance: float
    floor: float
    iterations: int

    @property
    def certificate(self) -> str:
        """The same in a line."""
        return (
            f"{self.outcome}: particle {self.particle} has residual {self.residual:.2e} N (tolerance {self.tolerance:.2e} N, "
            f"rounding {self.floor:.1e} N), {self.iterations} iterations"
        )
