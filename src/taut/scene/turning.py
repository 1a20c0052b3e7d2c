"""Rotations of bodies: R of a rotation vector by Rodrigues' formula (see `taut.system.handle`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.system.handle import _rodrigues

Float = NDArray[np.float64]


def rotation(vector: Any) -> Float:
    """The matrix (3, 3) of a rotation vector (axis times angle) [rad].

    >>> rotation([0.0, 0.0, np.pi]).round(12).tolist()[0]
    [-1.0, -0.0, 0.0]
    """
    return _rodrigues(np.array(vector, dtype=np.float64))
