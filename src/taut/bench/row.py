"""Rows of the benchmark: a measured figure with its target, and what all rows share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from taut.bench.baseline import Baseline
from taut.bench.net import Net
from taut.bench.trajectory import Look, Stepper, Tell, Trajectory, run_steps
from taut.optimise.tolerance import Tolerance
from taut.progress import Progress
from taut.run.results import replace_nonfinite


@dataclass(frozen=True)
class Row:
    """A measured figure and its target.

    name : by which the row is asked for; what : in words; value : the figure, None where it could
        not be measured
    unit : of it, such as "× yardstick"; target : what it should be, None for a figure without one;
        sense : on which side of it
    accurate : whether the accuracy and the trajectory that go with it hold; said : those in words
    details : further numbers, for programs

    >>> Row("linear", "a step", 0.05, "× yardstick", 0.08).verdict
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
    said: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Literal["pass", "miss", ""]:
        """Empty where there is no target, or no figure and nothing that went wrong."""
        if self.value is None:
            return "" if self.accurate else "miss"
        if self.target is None:
            return ""
        within = self.value <= self.target if self.sense == "≤" else self.value >= self.target
        return "pass" if within and self.accurate else "miss"

    def as_json(self) -> dict[str, Any]:
        """For `json.dumps`."""
        return {**replace_nonfinite(asdict(self)), "verdict": self.verdict}


def table(rows: Sequence[Row]) -> str:
    """The rows in words, one or two lines each.

    >>> print(table([Row("memory", "peak memory", 1.2, "GB", 1.5)]))
    memory           1.2 GB             ≤ 1.5   pass  peak memory
    """
    lines = []
    for row in rows:
        value = "-" if row.value is None else f"{row.value:.3g} {row.unit}"
        target = "" if row.target is None else f"{row.sense} {row.target:g}"
        lines.append(f"{row.name:16} {value:18} {target:7} {row.verdict:5} {row.what}".rstrip())
        if row.said:
            lines.append(f"{'':16} {row.said}")
    return "\n".join(lines)


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The p of time ∝ size^p, fitted to logarithms by least squares.

    >>> round(exponent([1e4, 4e4, 16e4], [2.0, 16.0, 128.0]), 12)
    1.5
    """
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


SOFT, STIFF = 1.0, 100.0
WORDS = {SOFT: "soft", STIFF: "stiff"}
CONVERGED = 1e-4  # residual ratio of a converged step
TOLERANCE = {SOFT: Tolerance(relative=4e-3), STIFF: Tolerance(relative=3e-2)}
"""For which the median residual ratio is below 1e-4.

The gross force of a particle grows with the stiffness of its springs, what
is left of it does not, so that the same ratio is another part of it in a stiff cloth."""


@dataclass
class Bench:
    """One run of the benchmark.

    n : particles a side of the cloth; steps : of the rows that follow a trajectory; solid : a file
        of tetrahedra for the solid row
    """

    n: int = 100
    steps: int = 100
    solid: Path | None = None
    progress: Progress = field(default_factory=lambda: Progress("taut bench"))

    @cached_property
    def yardstick(self) -> Baseline:
        """Built when first needed."""
        self.progress.start("building the yardstick")
        made = Baseline()
        self.progress.finish()
        return made

    def run_with_baseline(
        self, n: int, net: Net, stepper: Stepper, steps: int, name: str, look: Look = None
    ) -> tuple[Trajectory, float]:
        """Make so many steps of a net.

        And give what they took with the seconds of the yardstick's step at n, the less of those
        measured right before and right after."""
        before = self._time_baseline(n)
        made = run_steps(net, stepper, steps, self.part(name, steps), look)
        return made, min(before, self._time_baseline(n))

    def _time_baseline(self, n: int) -> float:
        yardstick = self.yardstick
        self.progress.start(f"yardstick at n = {n}")
        seconds = yardstick.at(n)
        self.progress.finish()
        return seconds

    def part(self, name: str, steps: int) -> Tell:
        """Begin a part of the run; what is returned is told of its steps."""
        self.progress.start(name, steps)

        def tell(step: int, text: str) -> None:
            self.progress.update(step, text)
            if step == steps:
                self.progress.finish()

        return tell
