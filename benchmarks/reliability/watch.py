"""A loop with a progress bar, and a trial that ends in time or raises."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from taut.progress import Progress

T = TypeVar("T")
LINES = 20.0  # seconds between lines of progress where there is no terminal
HANG = 30  # seconds after which a trial counts as never ending


def watched(
    name: str, items: Sequence[T], who: str = "taut bench", every: float | None = LINES
) -> Iterator[T]:
    """The items one by one, with their number on standard error.

    who : what begins each line where there is no terminal; every : seconds between such lines, None
        for the first and last alone

    >>> list(watched("numbers", range(3)))
    [0, 1, 2]
    """
    progress = Progress(who, every=every)
    progress.start(name, len(items))
    for number, item in enumerate(items):
        yield item
        progress.update(number + 1, "")
    progress.finish()


@contextmanager
def in_time(seconds: int = HANG) -> Iterator[None]:
    """Raise TimeoutError in what takes longer [s], where the system has an alarm clock.

    >>> with in_time(5):
    ...     pass
    """
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: Any) -> None:
        raise TimeoutError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
