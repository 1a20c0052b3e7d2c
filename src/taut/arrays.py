"""Array types by the type of their entries, numbers from users, and the rounding unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Single = NDArray[np.float32]
Int = NDArray[np.int64]
Short = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Array = NDArray[Any]


class SupportsArray(Protocol):
    """What numpy converts to an array, such as a column of a pandas table."""

    def __array__(self) -> NDArray[Any]: ...


Numbers = (
    float
    | np.number[Any]
    | SupportsArray
    | Sequence[float | np.number[Any]]
    | Sequence[Sequence[float]]
    | Sequence[SupportsArray]
)
"""Numbers from users. numpy's ArrayLike includes text, which is not a number."""

EPS = float(np.finfo(np.float64).eps)  # distance from 1 to the next double, 2⁻⁵²

_MAX_DESCRIBED = 200  # characters of a value in an error message


def to_floats(value: Any) -> Float:
    """Return numbers as a new array of doubles; TypeError for text, which numpy would convert.

    >>> to_floats([1, 2])
    array([1., 2.])
    >>> to_floats([1, "2"])
    Traceback (most recent call last):
    TypeError: text is not a number
    """
    if np.ma.isMaskedArray(value) and np.ma.is_masked(value):
        raise TypeError("a masked value is not a number")
    given = np.asarray(value)
    if given.dtype.kind in "cmM":
        raise TypeError(f"{given.dtype} is not a real number")
    is_text = given.dtype.kind in "US"
    if given.dtype.kind == "O":
        is_text = any(isinstance(item, (str, bytes)) for item in given.flat)
    if is_text:
        raise TypeError("text is not a number")
    return np.array(given, dtype=np.float64)


def describe(value: object) -> str:
    """Return a value in words for an error message: of an array its shape, else its short repr.

    >>> describe(np.zeros((4, 3))), describe(0.5)
    ('an array of shape (4, 3)', '0.5')
    """
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= _MAX_DESCRIBED else f"{text[:_MAX_DESCRIBED]}…"
