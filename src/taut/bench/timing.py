"""How long something takes at best."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def best(work: Callable[[], object], rounds: int = 10) -> float:
    """The shortest of several times [s], after one round to warm up.

    >>> best(lambda: None, 3) >= 0.0
    True
    """
    work()
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


# How many threads the compiled loops may take, and a while with fewer.

COUNTS = (1, 2)  # that are compared


def available_thread_counts() -> list[int]:
    """Which of one and two threads there are here."""
    from numba.core import config as numba_config

    config: Any = numba_config
    return [count for count in COUNTS if count <= config.NUMBA_NUM_THREADS]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads for a while.

    >>> import numba
    >>> with threads(1):
    ...     numba.get_num_threads()
    1
    """
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
