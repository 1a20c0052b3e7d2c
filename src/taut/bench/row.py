"""One row of the table: what was measured, what it was to be, and whether it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from taut.run.results import finite


@dataclass(frozen=True)
class Row:
    """A figure beside its target.

    name : by which the row is asked for; what : in words; value : the figure, None where it could not be measured
    unit : of it, such as "× yardstick"; target : what it should be, None for a figure without one; sense : on which side of it
    accurate : whether the accuracy and the trajectory that go with it hold; said : those in words
    details : further numbers, for programs

    >>> Row("linear", "a step", 0.05, "× yardstick", 0.08).verdict, Row("threads", "two", 1.2, "×", 1.5, "≥").verdict
    ('pass', 'miss')
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
        return {**finite(asdict(self)), "verdict": self.verdict}


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
