"""What there is to see at one moment: never changed after it is made, so that any thread may read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taut.run.entry import Entry
from taut.step.report import Report

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A moment of a live simulation or of a replay.

    number : grows with every snapshot; epoch : grows whenever time begins anew
    step : of the simulation, or of the frame; t : time [s]; h : the step that comes next [s]
    q : positions [m], (n, 3), read-only; held : particles that are held or led, (k,)
    active : law → mask of the elements that are not torn, where some are
    report : of the last step; total : the energy book since the beginning (None: no step yet, or not known)
    seconds : of wall-clock time that the last step took, with its booking
    playing : whether it goes on by itself; note : what went wrong, in words
    pulled : (particle, where to) of the points that are pulled
    frame, frames : which frame this is, and of how many (a live simulation has none)

    >>> Snapshot(0, 0, 0, 0.0, 0.01, np.zeros((1, 3)), np.array([0])).playing
    False
    """

    number: int
    epoch: int
    step: int
    t: float
    h: float
    q: Float
    held: Int
    active: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    report: Report | None = None
    total: Entry | None = None
    seconds: float = 0.0
    playing: bool = False
    note: str = ""
    pulled: tuple[tuple[int, Float], ...] = ()
    frame: int = 0
    frames: int = 0

    def __repr__(self) -> str:
        how = "playing" if self.playing else "paused"
        note = f"; {self.note}" if self.note else ""
        return f"<snapshot {self.number} of {len(self.q)} particles: step {self.step}, t = {self.t:g} s, {how}{note}>"
