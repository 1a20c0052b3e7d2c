"""Rows of the benchmark: a measured figure with its target, and what all rows share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from taut.bench.baseline import Baseline
from taut.bench.cholmod import Cholmod
from taut.bench.net import Net
from taut.bench.trajectory import AfterStep, ShowStep, Stepper, Trajectory, run_steps
from taut.optimise.tolerance import Tolerance
from taut.progress import Progress
from taut.run.results import replace_nonfinite


@dataclass(frozen=True)
class Row:
    """A measured figure and its target.

    name : selects the row on the command line
    what : description of the figure
    value : the figure; None if it could not be measured
    unit : of the figure, such as "× baseline"
    target : the value to reach; None for a figure without a target
    sense : whether the figure must be at most (≤) or at least (≥) the target
    accurate : whether the steps that were timed reached their accuracy
    note : further results, as text
    details : further results, as numbers

    >>> Row("linear", "a step", 0.05, "× baseline", 0.08).verdict
    'pass'
    >>> Row("threads", "two", 1.2, "×", 1.5, "≥").verdict
    'miss'
    """

    name: str
    what: str
    value: float | None
    unit: str
    target: float | None = None
    sense: Literal["≤", "≥"] = "≤"
    accurate: bool = True
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Literal["pass", "miss", ""]:
        """Whether the row passes; empty without a target, or without a figure and an error."""
        if self.value is None:
            return "" if self.accurate else "miss"
        if self.target is None:
            return ""
        within = self.value <= self.target if self.sense == "≤" else self.value >= self.target
        return "pass" if within and self.accurate else "miss"

    def as_json(self) -> dict[str, Any]:
        """Return a dictionary for `json.dumps`."""
        found = replace_nonfinite(asdict(self))
        found["said"] = found.pop("note")  # the key in the JSON output, which does not change
        return {**found, "verdict": self.verdict}


def format_rows(rows: Sequence[Row]) -> str:
    """Format the rows as text, one or two lines each.

    >>> print(format_rows([Row("memory", "peak memory", 1.2, "GB", 1.5)]))
    memory           1.2 GB             ≤ 1.5   pass  peak memory
    """
    lines = []
    for row in rows:
        value = "-" if row.value is None else f"{row.value:.3g} {row.unit}"
        target = "" if row.target is None else f"{row.sense} {row.target:g}"
        lines.append(f"{row.name:16} {value:18} {target:7} {row.verdict:5} {row.what}".rstrip())
        if row.note:
            lines.append(f"{'':16} {row.note}")
    return "\n".join(lines)


def fit_exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Fit p in time ∝ size^p to the logarithms, by least squares.

    >>> round(fit_exponent([1e4, 4e4, 16e4], [2.0, 16.0, 128.0]), 12)
    1.5
    """
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


SOFT, STIFF = 1.0, 100.0  # factors on the stiffness of the cloth
STIFFNESS_NAMES = {SOFT: "soft", STIFF: "stiff"}
MAX_RESIDUAL_RATIO = 1e-4  # of a converged step
TOLERANCE = {SOFT: Tolerance(relative=5e-2), STIFF: Tolerance(relative=5e-1)}
"""Tolerances at which the median residual ratio is below `MAX_RESIDUAL_RATIO`.

The ratio is that to the residual where no force acts, x + h v, which grows with the stiffness; the
accelerations at work do not. The same ratio is therefore another tolerance in a stiff cloth."""
STEP_TOLERANCE = {SOFT: Tolerance(relative=1e-2), STIFF: Tolerance(relative=1e-1)}
"""Tolerances at which nearly every step is below `MAX_RESIDUAL_RATIO`, not only the median one.

For comparison with a program that brings every step below it."""
MAX_MISSED = 0.05  # part of the steps that may be above `MAX_RESIDUAL_RATIO` there


def count_missed(ratios: Sequence[float]) -> int:
    """Return how many residual ratios are above `MAX_RESIDUAL_RATIO`.

    >>> count_missed([1e-5, 1e-4, 2e-4, float("nan")])
    2
    """
    return sum(not ratio <= MAX_RESIDUAL_RATIO for ratio in ratios)


def is_converged(ratios: Sequence[float]) -> bool:
    """Whether at most `MAX_MISSED` of the residual ratios are above `MAX_RESIDUAL_RATIO`."""
    return count_missed(ratios) <= MAX_MISSED * len(ratios)


@dataclass
class Bench:
    """One run of the benchmark.

    n : particles per side of the cloth
    steps : number of steps of the rows that compute a trajectory
    solid : a file of tetrahedra for the solid row; None for the bunny
    """

    n: int = 100
    steps: int = 100
    solid: Path | None = None
    progress: Progress = field(default_factory=lambda: Progress("taut bench"))

    @cached_property
    def baseline(self) -> Baseline:
        """The baseline; its program is built when it is first needed."""
        self.progress.start("building the baseline")
        made = Baseline()
        self.progress.finish()
        return made

    @cached_property
    def cholmod(self) -> Cholmod:
        """The yardstick of converged steps; its program is built when it is first needed."""
        self.progress.start("building the CHOLMOD yardstick")
        made = Cholmod()
        self.progress.finish()
        return made

    def run_with_baseline(
        self,
        n: int,
        net: Net,
        stepper: Stepper,
        steps: int,
        name: str,
        after_step: AfterStep = None,
    ) -> tuple[Trajectory, float]:
        """Take steps of a net; return their trajectory, and the time of a baseline step at n [s].

        The baseline is measured right before and right after, and the shorter time counts, because
        other processes may slow down either measurement.
        """
        before = self._time_baseline(n)
        made = run_steps(net, stepper, steps, self.start_task(name, steps), after_step)
        return made, min(before, self._time_baseline(n))

    def _time_baseline(self, n: int) -> float:
        baseline = self.baseline
        self.progress.start(f"baseline at n = {n}")
        seconds = baseline.measure_step(n)
        self.progress.finish()
        return seconds

    def start_task(self, name: str, steps: int) -> ShowStep:
        """Start the progress of a task; return the function to call after each of its steps."""
        self.progress.start(name, steps)

        def show_step(step: int, text: str) -> None:
            self.progress.update(step, text)
            if step == steps:
                self.progress.finish()

        return show_step
