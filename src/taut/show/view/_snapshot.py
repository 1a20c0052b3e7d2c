"""Snapshots of one moment, and the thread that publishes them.

A snapshot never changes after it is made, so any thread may read it. A `Source` publishes a new one
by replacing a single reference; readers take the newest and never wait.
"""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from taut.arrays import Float, Int, Mask
from taut.errors import ModelError
from taut.run.ledger_entry import LedgerEntry
from taut.step.report import Report

_POLL_SECONDS = 0.002  # between two checks in `Source.wait`


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One moment of a live simulation or of a replay.

    number : grows with every snapshot; epoch : grows with every reset
    step : of the simulation, or of the frame; t : time [s]; h : size of the next step [s]
    q : positions [m], (n, 3), read-only; held : particles that are held or follow a path, (k,)
    active : law → mask of elements that are not torn, for laws with torn elements
    report : of the last step; total : energy ledger since the start; both None if not known
    seconds : wall-clock time of the last step, with its bookkeeping
    pace : simulated seconds per second, over the last second or so of a live simulation; 0: unknown
    work : what the step under way has done so far, in words, if it takes long
    playing : whether it advances by itself; error : what went wrong, for the user
    drags : (particle, target [m]) of each particle that is dragged
    frame, frames : number of this frame and how many there are; 0 for a live simulation

    >>> import numpy as np
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
    active: Mapping[str, Mask] = field(default_factory=dict)
    report: Report | None = None
    total: LedgerEntry | None = None
    seconds: float = 0.0
    pace: float = 0.0
    work: str = ""
    playing: bool = False
    error: str = ""
    drags: tuple[tuple[int, Float], ...] = ()
    frame: int = 0
    frames: int = 0

    def __repr__(self) -> str:
        state = "playing" if self.playing else "paused"
        error = f"; {self.error}" if self.error else ""
        return (
            f"<snapshot {self.number} of {len(self.q)} particles: "
            f"step {self.step}, t = {self.t:g} s, {state}{error}>"
        )


class Source(ABC):
    """A thread that publishes snapshots: a live simulation or a replay.

    It is started once and closed once. Subclasses change their commands under `_lock` and then set
    `_changed`, which wakes the thread.
    """

    def __init__(self, name: str, first: Snapshot) -> None:
        self._newest, self._is_closing = first, False
        self._lock, self._changed = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def _run(self) -> None:
        """Do the work of the thread until `_is_closing`."""

    @property
    def newest(self) -> Snapshot:
        """The newest snapshot; reading it never waits."""
        return self._newest

    def start(self) -> None:
        """Start the thread, paused unless `play` was called before."""
        self._thread.start()

    def close(self) -> None:
        """End the thread, in the middle of a step if that takes long."""
        self._is_closing = True
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join()

    def wait(self, until: Callable[[Snapshot], bool], *, seconds: float = 60.0) -> Snapshot:
        """Return the first snapshot that fulfils a condition; ModelError after `seconds`."""
        end = time.monotonic() + seconds
        while True:
            snapshot = self.newest
            if until(snapshot):
                return snapshot
            if time.monotonic() > end:
                raise ModelError(
                    f"no snapshot fulfilled the condition within {seconds:g} s; "
                    f"the last one was {snapshot}"
                )
            time.sleep(_POLL_SECONDS)


def check_speed(speed: float) -> float:
    """Return a playback speed, in simulated seconds per second; ModelError if it is not possible.

    >>> check_speed(0.25)
    0.25
    """
    if not 0.0 < speed < math.inf:
        raise ModelError(f"speed must be positive and finite, got {speed!r}")
    return float(speed)
