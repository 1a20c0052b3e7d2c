"""What a step says of itself, and a search for an equilibrium or a form that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taut.solve.linear import LinearSolver
from taut.solve.minimum import Minimum
from taut.solve.tolerance import decisive

Float = NDArray[np.float64]
WORK = ("iterations", "projections", "restarts", "evaluations", "linear_iterations", "assembling", "solving")  # what adds up
StepOutcome = Literal["converged", "rounding floor", "explicit", "not converged"]


@dataclass(frozen=True)
class Report:
    """The certificate of one step; `taut.NotConverged` has one of an equilibrium or a form too, with h = 0.

    outcome : "converged" (every particle's residual within its tolerance), "rounding floor" (the rest within their floors) or
        "explicit" (nothing had to be solved)
    particle : the one that is closest to its limit, or furthest beyond it; the next three are its own
    residual : unbalanced force on it [N]; tolerance : what it was asked to reach [N]; floor : what rounding can cause there [N]
        (0 where it was not needed)
    decrease : how far the step's objective fell below its value at the old positions [J]; 0 for methods without one
    iterations : of the minimiser; projections : how many of them used the projected Hessian
    restarts : how often a stage was solved again from the old positions
    evaluations : of the objective or of the forces; linear_iterations : of the linear solver, named in `solver`
    why : why that solver
    seconds : of wall-clock time; assembling, solving : those of them spent on forces and stiffness, and in the linear solver
    substeps : how many steps this one was made of; retries : how many attempts were given up for shorter ones
    error : the estimated error of the positions [m] that an error-controlled step has made; 0 otherwise
    torn : how many elements broke in it and left at its end
    note : what else there is to say
    """

    integrator: str
    t: float
    h: float
    outcome: StepOutcome
    particle: int = 0
    residual: float = 0.0
    tolerance: float = 0.0
    floor: float = 0.0
    decrease: float = 0.0
    iterations: int = 0
    projections: int = 0
    restarts: int = 0
    evaluations: int = 0
    solver: str = "none"
    why: str = ""
    linear_iterations: int = 0
    seconds: float = 0.0
    assembling: float = 0.0
    solving: float = 0.0
    substeps: int = 1
    retries: int = 0
    error: float = 0.0
    torn: int = 0
    note: str = ""

    def __str__(self) -> str:
        if self.outcome == "explicit":
            text = f"t = {self.t:g} s: explicit, {self.evaluations} evaluations"
        else:
            text = (
                f"t = {self.t:g} s: {self.outcome}, particle {self.particle} has residual {self.residual:.2e} N "
                f"(tolerance {self.tolerance:.2e} N, rounding {self.floor:.1e} N), {self.iterations} iterations, {self.solver}"
            )
        if self.substeps > 1 or self.retries:
            text += f", {self.substeps} substeps, {self.retries} retries"
        if self.torn:
            text += f", {self.torn} torn"
        return f"{text}; {self.note}" if self.note else text

    @property
    def limit(self) -> float:
        """What the residual was held against in the end: the tolerance, or the rounding floor above it [N]."""
        return max(self.tolerance, self.floor)


def report(residuals: Float, targets: Float, floors: Float, **rest: Any) -> Report:
    """A Report on the particle that decides, from each particle's residual, tolerance and floor [N], (n,)."""
    return Report(**decisive(residuals, targets, floors), **rest)


def of_descent(record: Minimum, solver: LinearSolver, *, why: str = "", **rest: Any) -> Report:
    """A Report on where a descent ended and what it cost.

    why : that solver, if it was not the solver that chose; rest : what else the Report says, before what the record does
    """
    solved = record.linear_iterations > 0
    known: dict[str, Any] = {
        "outcome": record.outcome,
        "iterations": record.iterations,
        "projections": record.projections,
        "evaluations": record.evaluations,
        "solver": solver.name if solved else "none",
        "why": (why or solver.why) if solved else "nothing had to be solved",
        "linear_iterations": record.linear_iterations,
        "assembling": record.assembling,
        "solving": record.solving,
    }
    return report(record.point.residuals, record.targets, record.floors, **{**known, **rest})


def with_work_of(report: Report, others: Sequence[Report]) -> Report:
    """The same report, with the work of others counted in it."""
    return replace(report, **{name: getattr(report, name) + sum(getattr(r, name) for r in others) for name in WORK})


def without_work(report: Report) -> Report:
    """The same report, with no work counted in it."""
    nothing: dict[str, Any] = dict.fromkeys(WORK, 0)
    return replace(report, **nothing)


def combined(reports: Sequence[Report], t: float, h: float, seconds: float) -> Report:
    """The report on a step of several stages: the work of all, the residual of the one that came closest to its limit."""
    worst = max(reports, key=lambda r: r.residual / r.limit if r.limit else 0.0)
    floor = any(r.outcome == "rounding floor" for r in reports)
    total = with_work_of(without_work(worst), reports)
    return replace(
        total, t=t, h=h, seconds=seconds, decrease=sum(r.decrease for r in reports),
        outcome="rounding floor" if floor else worst.outcome, torn=sum(r.torn for r in reports),
        why=max((r.why for r in reports), key=len),  # what a stage has to add is added
    )  # fmt: skip
