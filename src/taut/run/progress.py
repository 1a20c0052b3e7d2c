"""How far a run has come, told after each step, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from taut.run.summary import Summary
from taut.step.report import Report
from taut.system.state import State


@dataclass(frozen=True)
class Reached:
    """A step is done.

    step : its number, from 1; steps : of the run
    t : the time it has reached [s]
    report : its `taut.Report`, with residual, tolerance, outcome and retries
    durable : the last step that is on the disk
    frame : whether this step has a frame, which then is on the disk
    seconds : of wall-clock time since the run was started or resumed; left : the same still to come, if it goes on like this
        (not a number after the first step, which may have compiled)

    >>> Reached(5, 20, 0.5, Report("RK4", 0.5, 0.1, "explicit"), 4, False, 1.0, 3.0).durable
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


@dataclass(frozen=True, eq=False)
class Recorded:
    """How a run ended.

    outcome : "finished", or "interrupted": then `taut.run.record.resume` goes on from `step`
    step : the last one on the disk; steps : of the run
    state : the State after it
    summary : totals of the steps taken since the run was started or resumed
    notes : what else there is to say, such as a picture that could not be drawn
    """

    folder: Path
    outcome: Literal["finished", "interrupted"]
    step: int
    steps: int
    state: State
    summary: Summary
    notes: tuple[str, ...] = ()
