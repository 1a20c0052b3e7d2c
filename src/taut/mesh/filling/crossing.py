"""Where a function changes sign along segments: all of them at once, by interpolate, truncate and project (ITP).

The root is kept between two points of opposite sign. Each step tries the secant, pulled towards the middle and kept near it. The
bracket is below the tolerance after at most one step more than bisection would take, and after a few where the function is smooth.
A function that is only a sign is bisected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

TOLERANCE = 1e-7  # of the length of the segment: how far the answer may be from a change of sign
_PULL = 0.2  # ITP's κ₁ with κ₂ = 2: how far the secant point is moved towards the middle, as a part of the bracket squared


def crossings(function: Callable[[Float], Float], start: Float, end: Float, at_start: Float, at_end: Float) -> Float:
    """The fraction of each segment at which `function` changes sign, shape (m,).

    start, end : ends [m], shape (m, 3)
    at_start, at_end : the function there, of opposite sign, shape (m,)

    >>> crossings(lambda x: x[:, 0] ** 2 - 2, np.zeros((1, 3)), np.full((1, 3), 2.0), np.array([-2.0]), np.array([2.0])).round(5)
    array([0.70711])
    """
    a, b = np.zeros(len(start)), np.ones(len(start))
    fa, fb = at_start.copy(), at_end.copy()
    steps = int(np.ceil(np.log2(0.5 / TOLERANCE))) + 1
    for step in range(steps):
        active = np.flatnonzero(b - a > 2 * TOLERANCE)
        if not len(active):
            break
        low, high, f_low, f_high = a[active], b[active], fa[active], fb[active]
        middle, width = (low + high) / 2, high - low
        secant = (f_high * low - f_low * high) / (f_high - f_low)
        side = np.sign(middle - secant)
        pull = _PULL * width**2
        tried = np.where(pull <= np.abs(middle - secant), secant + side * pull, middle)
        reach = TOLERANCE * 2.0 ** (steps - step) - width / 2  # how far from the middle a step may stay and still be in time
        t = np.where(np.abs(tried - middle) <= reach, tried, middle - side * reach)
        f = function(start[active] + t[:, None] * (end[active] - start[active]))
        lower, upper = f * np.sign(f_low) >= 0, f * np.sign(f_high) >= 0  # both where it is zero: the bracket closes
        a[active[lower]], fa[active[lower]] = t[lower], f[lower]
        b[active[upper]], fb[active[upper]] = t[upper], f[upper]
    return (a + b) / 2
