"""What publishes snapshots from a thread of its own: a live simulation, or a replay."""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from taut.errors import ModelError
from taut.show.view.snapshot import Snapshot

POLL = 0.002  # seconds between looks of one who waits


def checked_speed(speed: float) -> float:
    """A speed, in seconds of what is shown in a second of ours; ModelError if it is not positive and finite.

    >>> checked_speed(0.25)
    0.25
    """
    if not 0.0 < speed < math.inf:
        raise ModelError(f"the speed is {speed!r}; it must be a positive, finite number")
    return float(speed)


class Source(ABC):
    """A thread that is started once and ended once; orders reach it under `_lock`, and `_changed` wakes it."""

    def __init__(self, name: str, first: Snapshot) -> None:
        self._newest, self._ended = first, False
        self._lock, self._changed = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def _run(self) -> None:
        """What the thread does until `_ended`."""

    @property
    def newest(self) -> Snapshot:
        """The newest snapshot; reading it waits for nothing."""
        return self._newest

    def start(self) -> None:
        """Begin, paused unless it was told to play."""
        self._thread.start()

    def close(self) -> None:
        """End the thread, after what it is at."""
        self._ended = True
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join()

    def wait(self, until: Callable[[Snapshot], bool], *, seconds: float = 60.0) -> Snapshot:
        """The first snapshot from now on that fulfils a condition; ModelError if none does for so long."""
        end = time.monotonic() + seconds
        while not until(found := self.newest):
            if time.monotonic() > end:
                raise ModelError(f"nothing of the kind was to be seen for {seconds:g} s; the last was {found}")
            time.sleep(POLL)
        return found
