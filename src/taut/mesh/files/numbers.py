"""Numbers as text that reads back to the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 2**53  # up to here every whole number is a float


def rows(array: NDArray[Any], before: str = "") -> list[str]:
    """One line per row of a (m, k) or (m,) array, with something in front; floats in the shortest form that is exact.

    >>> import numpy as np
    >>> rows(np.array([[0.1, 2.0]]), "v "), rows(np.array([[1, 2], [3, 4]]))
    (['v 0.1 2.0'], ['1 2', '3 4'])
    """
    if not array.size:
        return [before] * len(array)
    table = array.reshape(len(array), -1)
    words = map(repr if table.dtype.kind == "f" else str, _wide(table).ravel().tolist())
    return [before + " ".join(row) for row in zip(*[iter(words)] * table.shape[1], strict=True)]


def whole(values: NDArray[Any]) -> bool:
    """Whether all values are integers, and not too large to be told from others."""
    return values.dtype.kind in "biu" or bool(((values == np.round(values)) & (np.abs(values) <= LARGEST)).all())


def _wide(table: NDArray[Any]) -> NDArray[Any]:
    """Floats as float64, since longer ones have a form of their own, and yes and no as 1 and 0; whole numbers as they are."""
    return table.astype({"f": np.float64, "b": np.int64}.get(table.dtype.kind, table.dtype), copy=False)
