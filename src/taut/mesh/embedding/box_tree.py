"""A tree of boxes: for many points at once, the things whose boxes are within reach.

Things are halved again and again across the axis along which their centres spread most, so that a level of the tree is one array of
boxes and node i has the children 2i and 2i + 1. All points go down together, level by level. Nothing within reach is missed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST_PAIRS = 1 << 18  # looked at together: it bounds the memory taken


class BoxTree:
    """Boxes from `low` to `high` [m], shapes (k, 3), k > 0.

    >>> tree = BoxTree(np.array([[0.0, 0, 0], [2, 0, 0]]), np.array([[1.0, 1, 1], [3, 1, 1]]))
    >>> tree.visit(np.array([[2.5, 0.5, 0.5], [1.5, 0.5, 0.5]]), np.array([0.0, 0.25]), lambda point, box: print(point, box))
    [1 0 1] [0 1 1]
    """

    def __init__(self, low: Float, high: Float) -> None:
        count = len(low)
        depth = count.bit_length() - 1  # so that a leaf holds one or two
        centre = (low + high) / 2
        order = np.arange(count)
        for level in range(depth):
            start = _starts(count, level)
            spread = np.maximum.reduceat(centre[order], start) - np.minimum.reduceat(centre[order], start)
            segment = np.repeat(np.arange(len(start)), np.diff(start, append=count))
            order = order[np.lexsort((centre[order, spread.argmax(axis=1)[segment]], segment))]
        self.order = order
        self.start = _starts(count, depth)
        self.size = np.diff(self.start, append=count)
        lows, highs = [np.minimum.reduceat(low[order], self.start)], [np.maximum.reduceat(high[order], self.start)]
        for _ in range(depth):
            lows.append(lows[-1].reshape(-1, 2, 3).min(axis=1))
            highs.append(highs[-1].reshape(-1, 2, 3).max(axis=1))
        self.low, self.high = lows[::-1], highs[::-1]  # by level, the whole first

    def visit(self, x: Float, reach: Float, look: Callable[[Int, Int], None]) -> None:
        """Call `look(points, things)` in batches for all pairs whose box is within reach of x[point], and a few more.

        x : points [m], shape (m, 3)
        reach : squared distances [m²], shape (m,); `look` may lower them as it finds something near
        """
        everything = np.arange(len(x))
        stack = [(0, part, np.zeros_like(part)) for part in _parts(everything)]
        while stack:
            level, point, node = stack.pop()
            outside = np.maximum(self.low[level][node] - x[point], x[point] - self.high[level][node]).clip(min=0.0)
            near = np.einsum("ij,ij->i", outside, outside) <= reach[point]
            point, node = point[near], node[near]
            if level == len(self.low) - 1:
                size = self.size[node]
                second = np.flatnonzero(size == 2)
                look(np.append(point, point[second]), self.order[np.append(self.start[node], self.start[node[second]] + 1)])
            elif len(point):
                both = np.concatenate([point, point]), np.concatenate([2 * node, 2 * node + 1])
                stack += [(level + 1, p, n) for p, n in zip(*map(_parts, both), strict=True)]


def _starts(count: int, level: int) -> Int:
    """Where each of the 2^level segments of nearly equal length begins; a segment is two of the next level."""
    return np.arange(2**level) * count >> level


def _parts(array: Int) -> list[Int]:
    return np.array_split(array, -(-len(array) // _MOST_PAIRS)) if len(array) else []
