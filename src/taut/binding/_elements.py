"""Elements of a law: arrays of particle indices, checked, and described in error messages."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Int
from taut.errors import LawError


def check_elements(law: str, elements: ArrayLike | None) -> Int | None:
    """Return elements as a read-only array (m, s) of particle indices; None stays None."""
    if elements is None:
        return None
    array = np.asarray(elements)
    if array.size == 0:
        if array.ndim != 2 or array.shape[1] == 0:
            raise LawError(
                f"law '{law}': an empty array of elements must have the shape (0, s), "
                f"got {array.shape}"
            )
        array = array.astype(np.int64)  # an empty list is an array of floats
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise LawError(f"law '{law}': elements must have the shape (m, s), got {array.shape}")
    if array.dtype == bool or not np.issubdtype(array.dtype, np.integer):
        raise LawError(f"law '{law}': elements must be particle indices, got {array.dtype}")
    array = np.array(array, dtype=np.int64, order="C")  # a copy: the caller may change theirs
    if array.shape[1] > 1:
        ordered = np.sort(array, axis=1)
        repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(repeated):
            i = repeated[0]
            raise LawError(f"law '{law}': element {i} names a particle twice: {array[i].tolist()}")
    array.setflags(write=False)
    return array


def reject_unknown_particles(law: str, elements: Int, n: int) -> None:
    """Raise if an element names a particle that is not among n."""
    outside = np.flatnonzero(((elements < 0) | (elements >= n)).any(axis=1))
    if len(outside):
        i = outside[0]
        raise LawError(
            f"law '{law}': element {i} names particles {elements[i].tolist()}, "
            f"but there are {n} particles (0 to {n - 1})"
        )


def describe_element(elements: Int, i: int) -> str:
    """Return an element in words, for error messages."""
    return f"element {i} (particles {elements[i].tolist()})"


def and_more(count: int) -> str:
    """Return how many elements have the same fault besides the one that a message names."""
    return f", and {count - 1} more" if count > 1 else ""
