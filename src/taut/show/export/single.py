"""Positions as floats of 32 bits, which most formats hold: they keep 7 digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import RunError

Single = NDArray[np.float32]


def single(x: NDArray[np.float64], what: str) -> Single:
    """The nearest floats of 32 bits, little-endian; RunError for a number too large for them, with what it belongs to.

    >>> single(np.array([[0.1, 1.0, 1e-3]]), "the ball").dtype.str
    '<f4'
    >>> single(np.array([[0.0, 1e39, 0.0]]), "the ball")
    Traceback (most recent call last):
    taut.errors.RunError: the ball: point 0 at [0.0, 1e+39, 0.0] m is too far away for floats of 32 bits; VTKHDF and PLY hold 64
    """
    with np.errstate(over="ignore"):
        made = x.astype("<f4")
    far = np.flatnonzero(~np.isfinite(made).all(axis=1))
    if len(far):
        at = x[far[0]].tolist()
        raise RunError(f"{what}: point {far[0]} at {at} m is too far away for floats of 32 bits; VTKHDF and PLY hold 64")
    return made
