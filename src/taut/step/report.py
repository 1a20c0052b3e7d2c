"""What a step says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.solve.newton import Outcome
from taut.solve.tolerance import excess

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Report:
    """The certificate of one step.

    outcome : "converged" (every particle's residual within its tolerance) or "rounding floor" (the rest within their floors)
    particle : the one that is closest to its limit, or furthest beyond it; the next three are its own
    residual : unbalanced force on it [N]; tolerance : what it was asked to reach [N]; floor : what rounding can cause there [N]
        (0 where it was not needed)
    decrease : how far the step's objective fell below its value at the old positions [J]; 0 for methods without one
    iterations : of Newton's method; projections : how many of them used the projected Hessian
    restarts : 1 if the step was solved again from the old positions
    evaluations : of the objective; linear_iterations : of the linear solver, named in `solver`
    seconds : of wall-clock time
    """

    integrator: str
    t: float
    h: float
    outcome: Outcome
    particle: int
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
            f"t = {self.t:g} s: {self.outcome}, particle {self.particle} has residual {self.residual:.2e} N "
            f"(tolerance {self.tolerance:.2e} N, rounding {self.floor:.1e} N), {self.iterations} iterations, {self.solver}"
        )


def report(residuals: Float, targets: Float, floors: Float, **rest: Any) -> Report:
    """A Report on the particle that decides, from each particle's residual, tolerance and floor [N], (n,)."""
    floors = floors if len(floors) else np.zeros_like(targets)
    worst = int(np.argmax(excess(residuals, np.maximum(targets, floors))))
    return Report(
        particle=worst, residual=float(residuals[worst]), tolerance=float(targets[worst]), floor=float(floors[worst]), **rest
    )
