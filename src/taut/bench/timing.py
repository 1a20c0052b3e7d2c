"""Time a function, and set the number of threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def time_best(work: Callable[[], object], rounds: int = 10) -> float:
    """Return the shortest of several times [s], after one round to warm up.

    >>> time_best(lambda: None, 3) >= 0.0
    True
    """
    work()
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


COMPARED_THREAD_COUNTS = (1, 2)


def available_thread_counts() -> list[int]:
    """Return the `COMPARED_THREAD_COUNTS` that numba can use on this machine."""
    from numba.core import config as numba_config

    config: Any = numba_config
    return [count for count in COMPARED_THREAD_COUNTS if count <= config.NUMBA_NUM_THREADS]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run compiled loops on this number of threads within the block.

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
