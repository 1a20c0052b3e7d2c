"""What a run has cost and how well it was solved: the sum of its reports."""

from __future__ import annotations

from dataclasses import dataclass

from taut.step.report import Report


@dataclass
class Summary:
    """Totals over the steps of a run.

    steps : taken; substeps, retries : of adaptive steps
    iterations, projections, restarts, evaluations, linear_iterations : as in `taut.Report`, all steps together
    torn : elements that broke
    floors : steps that ended at the rounding floor
    worst : the report of the step whose residual came closest to its limit, or None before the first step and for explicit methods
    seconds : of wall-clock time in the steps; assembling, solving : on forces and stiffness, in the linear solver
    """

    steps: int = 0
    substeps: int = 0
    retries: int = 0
    iterations: int = 0
    projections: int = 0
    restarts: int = 0
    evaluations: int = 0
    linear_iterations: int = 0
    torn: int = 0
    floors: int = 0
    worst: Report | None = None
    seconds: float = 0.0
    assembling: float = 0.0
    solving: float = 0.0

    def add(self, report: Report) -> None:
        """Count one step.

        >>> s = Summary()
        >>> s.add(Report("ImplicitEuler", 0.1, 0.1, "converged", residual=1e-9, tolerance=1e-8, iterations=3))
        >>> s.steps, s.iterations
        (1, 3)
        """
        self.steps += 1
        for name in ("substeps", "retries", "iterations", "projections", "restarts", "evaluations", "linear_iterations",
                     "torn", "seconds", "assembling", "solving"):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(report, name))
        self.floors += report.outcome == "rounding floor"
        if report.outcome != "explicit" and (self.worst is None or _used(report) > _used(self.worst)):
            self.worst = report

    def __str__(self) -> str:
        lines = [f"{self.steps} steps in {self.seconds:.3g} s ({self.assembling:.3g} s assembling, {self.solving:.3g} s solving)"]
        if self.substeps != self.steps or self.retries:
            lines.append(f"{self.substeps} substeps, {self.retries} retries")
        lines.append(
            f"{self.iterations} iterations, {self.projections} of them projected, {self.linear_iterations} of the linear solver, "
            f"{self.restarts} restarts, {self.evaluations} evaluations"
        )
        if self.torn:
            lines.append(f"{self.torn} elements torn")
        if self.worst is None:
            lines.append("explicit: nothing was solved")
        else:
            lines.append(
                f"worst residual {self.worst.residual:.2e} N of {self.worst.limit:.2e} N allowed, particle {self.worst.particle} "
                f"at t = {self.worst.t:g} s; {self.floors} steps at the rounding floor"
            )
        return "\n".join(lines)


def _used(report: Report) -> float:
    """How much of what was allowed the residual takes up."""
    return report.residual / report.limit if report.limit else 0.0
