"""Some of many frames, evenly: of n frames the i-th of m is number

    round(i (n - 1) / (m - 1)),    i = 0 … m - 1,

with the first and the last among them.
"""

from __future__ import annotations


def evenly(count: int, most: int) -> list[int]:
    """The numbers of at most so many of `count` frames.

    >>> evenly(10, 4), evenly(3, 600), evenly(5, 1)
    ([0, 3, 6, 9], [0, 1, 2], [0])
    """
    few = min(count, most)
    return [round(i * (count - 1) / max(few - 1, 1)) for i in range(few)]
