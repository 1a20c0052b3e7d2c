"""Many ranges of different lengths, one after the other, as one array of numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]


def count_up(counts: Int) -> Int:
    """0, 1, … counts[0] - 1, 0, 1, … counts[1] - 1, and so on.

    >>> count_up(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def ranges(starts: Int, counts: Int, strides: Int | int = 1) -> Int:
    """starts[i], starts[i] + strides[i], … for each i, counts[i] of them; strides may be one for all.

    >>> ranges(np.array([10, 30]), np.array([2, 3])).tolist()
    [10, 11, 30, 31, 32]
    >>> ranges(np.array([10, 30]), np.array([2, 3]), np.array([5, 1])).tolist()
    [10, 15, 30, 31, 32]
    """
    each = strides if isinstance(strides, int) else np.repeat(strides, counts)
    return np.repeat(starts, counts) + each * count_up(counts)
