"""Lists, strips, loops and fans of glTF as lines and triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.glb_document import Document

Int = NDArray[np.int64]
KINDS = frozenset({"line", "triangle"})


def cells_of(document: Document, mode: int, order: Int, where: str) -> tuple[str, Int]:
    """The kind and the cells, shape (m, s), that a primitive of this mode draws from points in this order."""
    if mode == 0:
        return "point", order[:, None]
    if mode in (1, 4):
        size = 2 if mode == 1 else 3
        if len(order) % size:
            raise document.error(f"its {len(order)} corners are not a multiple of {size}", where)
        return "line" if mode == 1 else "triangle", order.reshape(-1, size)
    if mode in (2, 3):
        ends = np.roll(order, -1) if mode == 2 else order[1:]
        return "line", np.column_stack([order[: len(ends)], ends])
    if mode == 5:
        return "triangle", _strip(order)
    if mode == 6:
        return "triangle", np.column_stack([order[1:-1], order[2:], np.full(max(len(order) - 2, 0), order[0] if len(order) else 0)])
    raise document.error(f"there is no mode {mode}", where)


def _strip(order: Int) -> Int:
    """Triangles of a strip, each second one turned; those with a point twice are left out, since they only join pieces."""
    i = np.arange(max(len(order) - 2, 0))
    found = np.column_stack([order[i], order[i + 1 + i % 2], order[i + 2 - i % 2]])
    return found[(found[:, 0] != found[:, 1]) & (found[:, 1] != found[:, 2]) & (found[:, 2] != found[:, 0])]
