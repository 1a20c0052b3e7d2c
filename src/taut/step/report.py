"""What a step says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from taut.solve.newton import Outcome


@dataclass(frozen=True)
class Report:
    """The certificate of one step.

    outcome : "converged" (residual ≤ tolerance) or "rounding floor" (residual ≤ floor, which lies above the tolerance)
    residual : largest unbalanced force on any particle [N]; tolerance, floor : what it was held against [N]
    decrease : how far the step's objective fell below its value at the old positions [J]; 0 for methods without one
    iterations : of Newton's method; projections : how many of them used the projected Hessian
    restarts : 1 if the step was solved again from the old positions
    """

    integrator: str
    t: float
    h: float
    outcome: Outcome
    residual: float
    tolerance: float
    floor: float
    decrease: float
    iterations: int
    projections: int
    restarts: int
    evaluations: int
    solver: str
    linear_iterations: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"t = {self.t:g} s: {self.outcome}, residual {self.residual:.2e} N (tolerance {self.tolerance:.2e} N, "
            f"rounding {self.floor:.1e} N), {self.iterations} iterations, {self.solver}"
        )
