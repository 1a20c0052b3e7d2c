"""Select some of many frames, evenly spaced.

Of n frames, the i-th of m selected ones is number

    round(i (n - 1) / (m - 1)),    i = 0 … m - 1,

so that the first and the last are among them.
"""

from __future__ import annotations


def select_evenly(count: int, limit: int) -> list[int]:
    """Return the numbers of at most `limit` of `count` frames.

    >>> select_evenly(10, 4), select_evenly(3, 600), select_evenly(5, 1)
    ([0, 3, 6, 9], [0, 1, 2], [0])
    """
    selected = min(count, limit)
    return [round(i * (count - 1) / max(selected - 1, 1)) for i in range(selected)]
