"""Array types by the type of their entries, and the rounding unit of double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Single = NDArray[np.float32]
Int = NDArray[np.int64]
Short = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Array = NDArray[Any]

EPS = float(np.finfo(np.float64).eps)  # distance from 1 to the next double, 2⁻⁵²
