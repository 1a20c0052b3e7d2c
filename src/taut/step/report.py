"""The report of a step: its certificate, and the work it took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from taut.arrays import Float
from taut.linalg.linear import LinearSolver
from taut.optimise.descent import Descent
from taut.optimise.tolerance import find_worst_particle

# Fields that are summed over stages, substeps and attempts.
WORK = (
    *("iterations", "evaluations", "linear_iterations", "blocked_steps"),
    *("assembling", "solving"),
)
NOTHING_SOLVED = "nothing had to be solved"  # why a step had no linear solver
StepOutcome = Literal["converged", "rounding floor", "explicit", "not converged"]


@dataclass(frozen=True)
class Report:
    """The certificate of one step; also in `taut.NotConverged`, of statics with h = 0.

    outcome : "converged" (every particle's residual within its tolerance), "rounding floor" (the
        rest within their floors) or "explicit" (nothing had to be solved)
    particle : the one that is closest to its limit, or furthest beyond it; the next three are its
        own
    residual : unbalanced force on it [N]; tolerance : what it was asked to reach [N]; floor : what
        rounding can cause there [N] (0 where it was not needed)
    decrease : how far the step's objective fell below its value at the old positions [J]; 0 for
        methods without one
    mass : of the particle [kg]; 0 in statics
    acceleration : root mean square of the accelerations at work [m/s²]: those of the step and of
        constant loads. A relative tolerance is a part of it, times the particle's mass
    velocity_error : bound of the error of the velocities [m/s] that the residuals leave, root mean
        square over the masses: γ|r|_{M⁻¹}/(c √Σm), where the Hessian of the step is known to be at
        least c M/γ², from the elements or the pivots of a factorisation. nan where that is not
        known, as in bodies that buckle: a small force may then cause a large motion; and in steps
        of several stages or substeps
    iterations : of the minimiser
    evaluations : of the objective or of the forces; linear_iterations : of the linear solver, named
        in `solver`
    blocked_steps : how many steps of the minimiser contact has shortened; free_part : the least
        part that it left of one, 1 where it left all
    why : why that solver
    seconds : of wall-clock time; assembling, solving : those of them spent on forces and stiffness,
        and in the linear solver; both 0 where the stages of a small system are one compiled call
    substeps : how many steps this one was made of; retries : how many attempts were given up for
        shorter ones
    error : the estimated error of the positions [m] that an error-controlled step has made; 0
        otherwise
    torn : how many elements broke in it and left at its end
    inverted : how many solid elements are turned inside out at its end, of laws that take them so,
        such as `volume` and `corotated_solid`
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
    mass: float = 0.0
    acceleration: float = 0.0
    velocity_error: float = 0.0
    iterations: int = 0
    evaluations: int = 0
    solver: str = "none"
    why: str = ""
    linear_iterations: int = 0
    blocked_steps: int = 0
    free_part: float = 1.0
    seconds: float = 0.0
    assembling: float = 0.0
    solving: float = 0.0
    substeps: int = 1
    retries: int = 0
    error: float = 0.0
    torn: int = 0
    inverted: int = 0
    note: str = ""

    def __str__(self) -> str:
        if self.outcome == "explicit":
            text = f"t = {self.t:g} s: explicit, {self.evaluations} evaluations"
        else:
            text = (
                f"t = {self.t:g} s: {self.outcome}, particle {self.particle} has residual "
                f"{self.residual:.2e} N (tolerance {self.tolerance:.2e} N, rounding "
                f"{self.floor:.1e} N), "
            )
            if self.h > 0.0:  # statics have no velocities
                text += f"{self.describe_velocity_error()}, "
            text += f"{self.iterations} iterations, {self.solver}"
        if self.substeps > 1 or self.retries:
            text += f", {self.substeps} substeps, {self.retries} retries"
        if self.torn:
            text += f", {self.torn} torn"
        if self.inverted:
            text += f", {self.inverted} solid elements inverted"
        return f"{text}; {self.note}" if self.note else text

    def in_accelerations(self, force: float) -> float:
        """Return the acceleration [m/s²] that a force [N] gives the particle.

        >>> Report("ImplicitEuler", 0.1, 0.1, "converged", mass=0.5).in_accelerations(2e-6)
        4e-06
        """
        return force / self.mass if self.mass > 0.0 else math.nan

    def describe_residual(self) -> str:
        """Return the unbalanced acceleration in words, and what it is compared with."""
        unbalanced, limit = self.in_accelerations(self.residual), self.in_accelerations(self.limit)
        return (
            f"unbalanced acceleration {unbalanced:.1e} of {limit:.1e} m/s² allowed, "
            f"{self.acceleration:.3g} m/s² at work"
        )

    def describe_velocity_error(self) -> str:
        """Return the bound of the velocity error in words, or why there is none.

        >>> report = Report("ImplicitEuler", 0.1, 0.1, "converged", velocity_error=2e-8)
        >>> report.describe_velocity_error()
        'velocity error at most 2.0e-08 m/s'
        """
        if math.isnan(self.velocity_error):
            return "velocity error not bounded"
        return f"velocity error at most {self.velocity_error:.1e} m/s"

    @property
    def limit(self) -> float:
        """The bound of the residual [N]: the tolerance, or the rounding floor above it."""
        return max(self.tolerance, self.floor)


def report_worst(residuals: Float, targets: Float, floors: Float, **rest: Any) -> Report:
    """Return a Report on the particle closest to its limit.

    residuals, targets, floors : residual, tolerance and rounding floor of each [N], (n,)
    """
    return Report(**find_worst_particle(residuals, targets, floors), **rest)


def report_descent(record: Descent, solver: LinearSolver, *, why: str = "", **rest: Any) -> Report:
    """Return a Report on the end of a descent and its cost.

    why : the reason for the solver, if it was not the solver that chose
    rest : further fields, which take precedence
    """
    solved = record.linear_iterations > 0
    known: dict[str, Any] = {
        "outcome": record.outcome,
        "iterations": record.iterations,
        "evaluations": record.evaluations,
        "solver": solver.name if solved else "none",
        "why": (why or solver.reason) if solved else NOTHING_SOLVED,
        "linear_iterations": record.linear_iterations,
        "blocked_steps": record.blocked_steps,
        "free_part": record.free_part,
        "assembling": record.assembling,
        "solving": record.solving,
    }
    return report_worst(
        record.point.residuals, record.targets, record.rounding_floors, **{**known, **rest}
    )


def add_work(report: Report, others: Sequence[Report]) -> Report:
    """Return the report with the work of others added."""
    return replace(
        report,
        **{name: getattr(report, name) + sum(getattr(r, name) for r in others) for name in WORK},
    )


def without_work(report: Report) -> Report:
    """Return the report with all work set to zero."""
    nothing: dict[str, Any] = dict.fromkeys(WORK, 0)
    return replace(report, **nothing)


def combine_reports(
    reports: Sequence[Report], t: float, h: float, seconds: float, gain: float = 1.0
) -> Report:
    """Return the report on a step of several stages.

    It has the work of all, and the residual of the stage that came closest to its limit. Several
    stages have no bound of the velocity error: the second may multiply the error of the first where
    springs are compressed, and a sum of both was exceeded six times.

    gain : `velocity_gain` of the integrator
    """
    if len(reports) == 1:
        velocity_error = gain * reports[0].velocity_error
        return replace(reports[0], t=t, h=h, seconds=seconds, velocity_error=velocity_error)
    worst = max(reports, key=lambda r: r.residual / r.limit if r.limit else 0.0)
    floor = any(r.outcome == "rounding floor" for r in reports)
    total = add_work(without_work(worst), reports)
    return replace(
        total,
        t=t,
        h=h,
        seconds=seconds,
        decrease=sum(r.decrease for r in reports),
        velocity_error=math.nan,
        free_part=min(r.free_part for r in reports),
        outcome="rounding floor" if floor else worst.outcome,
        torn=sum(r.torn for r in reports),
        inverted=reports[-1].inverted,
        # The longest: a stage may add to the common reason.
        why=max((r.why for r in reports), key=len),
    )
