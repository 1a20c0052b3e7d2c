"""Numbers and directions, checked: each error names the keyword."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError

Float = NDArray[np.float64]


def positive(value: Any, name: str, unit: str) -> float:
    """A positive, finite number."""
    try:
        number = float("nan") if isinstance(value, (bool, str)) else float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 < number < np.inf:
        raise ModelError(f"{name} is a positive number [{unit}], not {value!r}")
    return number


def one_or_two(value: Any, name: str, unit: str) -> tuple[float, ...]:
    """One positive number, or two: along the warp and along the weft."""
    if not isinstance(value, (list, tuple, np.ndarray)):
        return (positive(value, name, unit),)
    if len(value) != 2:
        raise ModelError(f"{name} is one number [{unit}] or two, for warp and weft, not {value!r}")
    return tuple(positive(v, name, unit) for v in value)


def poisson_ratio(value: Any, d: int) -> float | None:
    """A Poisson ratio that a stable material can have: below 1 in a sheet, below ½ in a solid."""
    if value is None:
        return None
    most, what = (1.0, "sheet") if d == 2 else (0.5, "solid")
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not -1 < value < most:
        raise ModelError(f"poisson is a ratio between -1 and {most:g} in a {what}, not {value!r}")
    return float(value)


def vector(value: Any, name: str) -> Float:
    """A direction in space as a unit vector; one of two components lies in the plane."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(3)
    if found.shape == (2,):
        found = np.append(found, 0.0)
    size = np.linalg.norm(found) if found.shape == (3,) else 0.0
    if not 0 < size < np.inf:
        raise ModelError(f"{name} is a direction, a vector of three numbers that are not all zero, not {value!r}")
    return np.asarray(found / size, dtype=np.float64)
