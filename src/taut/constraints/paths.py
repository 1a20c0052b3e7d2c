"""Functions of time that move particles: given as functions, or as samples joined by straight lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError

Float = NDArray[np.float64]
Path = Callable[[float], Any]


def numbers(value: Any, what: str) -> Float:
    """An array of numbers, or an error that names them."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} is not made of numbers: {value!r}") from error


def timed(given: Any, what: str, values: str) -> Path:
    """A function of time as it is, and samples (times, values) as the function that joins them by straight lines."""
    if callable(given):
        return given
    if not (isinstance(given, (tuple, list)) and len(given) == 2):
        raise ModelError(f"{what} is a function of time or a pair (times, {values}), not {given!r}")
    t, p = numbers(given[0], f"{what}: times"), numbers(given[1], f"{what}: {values}")
    if t.ndim != 1 or len(t) == 0 or p.ndim == 0 or len(p) != len(t) or not (np.diff(t) > 0).all():
        raise ModelError(f"{what} by samples needs increasing times (T,) and as many {values}, not {t.shape} and {p.shape}")

    def path(now: float) -> Float:
        i = int(np.clip(np.searchsorted(t, now, side="right") - 1, 0, max(len(t) - 2, 0)))
        if len(t) == 1:
            return p[0]
        s = float(np.clip((now - t[i]) / (t[i + 1] - t[i]), 0.0, 1.0))
        return p[i] + s * (p[i + 1] - p[i])

    return path


def evaluated(path: Path, t: float, what: str) -> Any:
    """What a path gives at time t [s]; an error inside of it says which it was."""
    try:
        return path(t)
    except ModelError:
        raise
    except Exception as error:  # a user's function may raise anything
        raise ModelError(f"{what} could not be evaluated at t = {t:g} s: {error!r}") from error
