"""How long something takes at best."""

from __future__ import annotations

import time
from collections.abc import Callable


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
