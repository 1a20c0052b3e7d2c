"""The cost of a run and how well it was solved; its progress, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from taut.step.report import Report
from taut.system.state import State
from taut.watch import Work

_SUMMED_FIELDS = (  # fields of a Summary that are sums of the same fields of the reports
    "substeps",
    "retries",
    "iterations",
    "evaluations",
    "linear_iterations",
    "torn",
    "seconds",
    "assembling",
    "solving",
)


@dataclass
class Summary:
    """Totals over the steps of a run.

    steps : number of steps
    substeps, retries : of adaptive steps
    iterations, evaluations, linear_iterations : as in `taut.Report`
    torn : elements that broke
    inverted : the most solid elements that were turned inside out at the end of a step
    floors : steps that ended at the rounding floor
    worst : the report of the step whose residual came closest to its limit; None before the first
        step and for explicit methods
    seconds : wall-clock time of the steps
    assembling, solving : the parts of it spent on forces and stiffness, and in the linear solver
    """

    steps: int = 0
    substeps: int = 0
    retries: int = 0
    iterations: int = 0
    evaluations: int = 0
    linear_iterations: int = 0
    torn: int = 0
    inverted: int = 0
    floors: int = 0
    worst: Report | None = None
    seconds: float = 0.0
    assembling: float = 0.0
    solving: float = 0.0

    def add(self, report: Report) -> None:
        """Add the report of a step.

        >>> s = Summary()
        >>> s.add(Report("ImplicitEuler", 0.1, 0.1, "converged", iterations=3))
        >>> s.steps, s.iterations
        (1, 3)
        """
        self.steps += 1
        for name in _SUMMED_FIELDS:
            setattr(self, name, getattr(self, name) + getattr(report, name))
        self.inverted = max(self.inverted, report.inverted)
        self.floors += report.outcome == "rounding floor"
        if report.outcome == "explicit":
            return
        if self.worst is None or _used_fraction(report) > _used_fraction(self.worst):
            self.worst = report

    def describe_briefly(self) -> str:
        """Return one plain line: how long it took, and what broke.

        >>> Summary(steps=300, iterations=673, seconds=12.34, torn=2).describe_briefly()
        '300 steps in 12.3 s, 673 iterations, 2 elements torn'
        """
        words = [f"{self.steps} steps in {self.seconds:.3g} s"]
        if self.iterations:
            words.append(f"{self.iterations} iterations")
        if self.retries:
            words.append(f"{self.retries} retries with shorter steps")
        if self.torn:
            words.append(f"{self.torn} elements torn")
        if self.inverted:
            words.append(f"up to {self.inverted} solid elements inverted in a step")
        return ", ".join(words)

    def __str__(self) -> str:
        lines = [
            f"{self.steps} steps in {self.seconds:.3g} s ({self.assembling:.3g} s assembling, "
            f"{self.solving:.3g} s solving)"
        ]
        if self.substeps != self.steps or self.retries:
            lines.append(f"{self.substeps} substeps, {self.retries} retries")
        lines.append(
            f"{self.iterations} iterations, {self.linear_iterations} of the linear solver, "
            f"{self.evaluations} evaluations"
        )
        if self.torn:
            lines.append(f"{self.torn} elements torn")
        if self.inverted:
            lines.append(f"up to {self.inverted} solid elements were inverted in a step")
        if self.worst is None:
            lines.append("explicit: no equations were solved")
        else:
            lines.append(
                f"worst residual {self.worst.residual:.2e} N of {self.worst.limit:.2e} N allowed, "
                f"particle {self.worst.particle} at t = {self.worst.t:g} s, "
                f"{self.worst.describe_velocity_error()}; "
                f"{self.floors} steps at the rounding floor"
            )
        return "\n".join(lines)


def _used_fraction(report: Report) -> float:
    """Return the residual as a fraction of its limit."""
    return report.residual / report.limit if report.limit else 0.0


@dataclass(frozen=True, eq=False)
class StepProgress:
    """How far a recording is after a step.

    step : number of the step, from 1
    steps : of the whole run
    t : end of the step [s]
    report : its `taut.Report`
    durable : the last step that is on the disk
    frame : whether this step has a frame, which then is on the disk
    seconds : wall-clock time since the run was started or resumed
    left : estimate of the wall-clock time to the end; nan after the first step, which may have
        compiled
    state : the State after the step

    >>> import taut
    >>> start = taut.System([[0, 0, 0]], mass=1.0).initial_state()
    >>> report = Report("RK4", 0.5, 0.1, "explicit")
    >>> StepProgress(5, 20, 0.5, report, 4, False, 1.0, 3.0, start).durable
    4
    """

    step: int
    steps: int
    t: float
    report: Report
    durable: int
    frame: bool
    seconds: float
    left: float
    state: State


@dataclass(frozen=True, eq=False)
class UnfinishedStep:
    """How far a recording is within a step.

    step : number of the step under way, from 1
    steps : of the whole run
    seconds : wall-clock time since the step began
    work : its `iterations` so far and their worst `residual`, in units of the tolerance

    >>> print(UnfinishedStep(211, 300, 4.0, Work()))
    step 211: no iterations yet
    """

    step: int
    steps: int
    seconds: float
    work: Work

    def __str__(self) -> str:
        return f"step {self.step}: {self.work}"


@dataclass(frozen=True, eq=False)
class RunResult:
    """How a recording ended.

    folder : the run folder
    outcome : "finished", or "interrupted": then `taut.run.record.resume` continues after `step`
    step : the last step on the disk
    steps : of the whole run
    state : the State after `step`
    summary : totals of the steps taken since the run was started or resumed
    notes : remarks, such as the reason why a picture was not drawn
    """

    folder: Path
    outcome: Literal["finished", "interrupted"]
    step: int
    steps: int
    state: State
    summary: Summary
    notes: tuple[str, ...] = ()
