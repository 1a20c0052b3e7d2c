"""Reading what users say about particles: positions and masses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError
from taut.system.blocks import lost

Float = NDArray[np.float64]


def positions(value: ArrayLike, what: str, n: int | None = None) -> Float:
    """An own copy of shape (n, 3), from (n, 3) or (n, 2) (then z = 0); finite."""
    if hasattr(value, "cells"):
        raise ModelError(f"{what} are positions; give the points of the mesh, mesh.points")
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} are not numbers: {error}") from error
    if array.ndim != 2 or array.shape[1] not in (2, 3) or (n is not None and len(array) != n):
        wanted = "(n, 3) or (n, 2)" if n is None else f"({n}, 3) or ({n}, 2)"
        raise ModelError(f"{what} have shape {array.shape}, not {wanted}")
    bad = lost(array)
    if len(bad):
        raise ModelError(f"{what}: particle {bad[0]} is {array[bad[0]].tolist()}, not finite")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array))])
    return np.ascontiguousarray(array)


def masses(value: ArrayLike, n: int) -> Float:
    """One positive mass [kg] per particle, from a scalar (each particle's) or an array."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"mass is not a number or an array of numbers: {value!r}") from error
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise ModelError(f"mass has shape {array.shape}; give one number or one per particle, ({n},)")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if len(bad):
        hint = " (is it in no cell that has mass?)" if array[bad[0]] == 0 else ""
        raise ModelError(f"mass of particle {bad[0]} is {array[bad[0]]}; masses are positive and finite{hint}")
    return array
