"""How many threads the compiled loops may take, and a while with fewer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

COUNTS = (1, 2)  # that are compared


def available() -> list[int]:
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
