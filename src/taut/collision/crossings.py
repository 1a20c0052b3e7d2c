"""Pairs that meet on straight ways between two states: ropes that pass through ropes.

Edges that have passed through each other do not intersect before or after. What they did in
between is decided as steps decide it, by conservative advancement, repeated until a pair either has
gone all the way or is as near as rounding can tell: no crossing is missed, and pairs that come
within that distance without meeting are reported too.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.jit.compile import kernels

# Distance that counts as none, in units of the largest coordinate: some times its rounding
_TOUCH = 1e-12
_MAX_ROUNDS = 500  # of a pair that stays near, which then counts as one that meets


def find_crossings(x: Float, end: Float, quadruples: Int, split: int) -> Mask:
    """Return which pairs meet on straight ways from x to end [m], (n, 3).

    quadruples : (point, corner, corner, corner) with split = 1, (end, end, end, end) with split = 2

    >>> x = np.array([[-1.0, 0, 0], [1, 0, 0], [0, -1, 0.1], [0, 1, 0.1]])
    >>> passes = x - [[0, 0, 0], [0, 0, 0], [0, 0, 0.2], [0, 0, 0.2]]
    >>> near = x - [[0, 0, 0], [0, 0, 0], [0, 0, 0.099], [0, 0, 0.099]]
    >>> pair = np.array([[0, 1, 2, 3]])
    >>> find_crossings(x, passes, pair, 2).tolist(), find_crossings(x, near, pair, 2).tolist()
    ([True], [False])
    """
    loops = kernels("taut.collision.distance_kernels")
    largest = max(float(np.abs(x).max(initial=0.0)), float(np.abs(end).max(initial=0.0)))
    meets = np.ones(len(quadruples), dtype=bool)
    open_pairs, part = np.arange(len(quadruples)), np.zeros(len(quadruples))
    for _ in range(_MAX_ROUNDS):
        rows = quadruples[open_pairs]
        own = part[open_pairs][:, None, None]
        here = ((1.0 - own) * x[rows] + own * end[rows]).reshape(-1, 3)
        move = ((1.0 - own) * (end[rows] - x[rows])).reshape(-1, 3)
        numbers = np.arange(len(here)).reshape(-1, 4)
        touch, zeros = np.full(len(rows), _TOUCH * largest), np.zeros(len(rows))
        steps = np.empty(len(rows))
        loops.write_free_parts(here, move, numbers, touch, split == 2, zeros, steps)
        meets[open_pairs[steps >= 1.0]] = False
        part[open_pairs] += (1.0 - part[open_pairs]) * steps
        open_pairs = open_pairs[(steps > 0.0) & (steps < 1.0)]
        if not len(open_pairs):
            break
    return meets
