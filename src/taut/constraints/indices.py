"""Which particles are meant: an index, several, or a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError


def particle_indices(value: Any, n: int, what: str, *, ordered: bool = False) -> NDArray[np.int64]:
    """Distinct indices from an int, indices, or a boolean mask of length n: sorted, or `ordered` as given."""
    if isinstance(value, str):
        raise ModelError(f"{what}: a system knows no names; select points on the mesh, mesh.select({value!r})")
    array = np.atleast_1d(np.asarray(value))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype == bool:
        if array.shape != (n,):
            raise ModelError(f"{what}: a mask has one entry per particle, shape ({n},), not {array.shape}")
        return np.flatnonzero(array)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"{what}: expected particle indices, not {value!r}")
    outside = array[(array < 0) | (array >= n)]
    if len(outside):
        raise ModelError(f"{what}: there is no particle {outside[0]}; there are {n} (0 to {n - 1})")
    distinct = np.unique(array).astype(np.int64)
    if not ordered:
        return distinct
    if len(distinct) < len(array):
        raise ModelError(f"{what}: a particle is named twice")
    return array.astype(np.int64)
