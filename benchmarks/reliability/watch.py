"""Progress of the trials of a campaign, and a time limit for each of them."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from taut.progress import Progress

T = TypeVar("T")
PROGRESS_SECONDS = 20.0  # between lines of progress if there is no terminal
MAX_TRIAL_SECONDS = 30  # a trial that takes longer counts as one that never ends


def show_progress(
    name: str,
    items: Sequence[T],
    label: str = "taut bench",
    every: float | None = PROGRESS_SECONDS,
) -> Iterator[T]:
    """Yield the items one by one, and show the progress on standard error.

    label, every : as of `taut.progress.Progress`

    >>> list(show_progress("numbers", range(3)))
    [0, 1, 2]
    """
    progress = Progress(label, every=every)
    progress.start(name, len(items))
    for number, item in enumerate(items):
        yield item
        progress.update(number + 1, "")
    progress.finish()


@contextmanager
def limit_time(seconds: int = MAX_TRIAL_SECONDS) -> Iterator[None]:
    """Raise TimeoutError in a block that takes longer; no limit on systems without SIGALRM.

    >>> with limit_time(5):
    ...     pass
    """
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def raise_timeout(*_: Any) -> None:
        raise TimeoutError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, raise_timeout)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
