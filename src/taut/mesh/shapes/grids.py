"""Quads of a grid, whole or cut into triangles by a pattern."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.arguments import choice

Int = NDArray[np.int64]
PATTERNS = ("quad", "one-diagonal", "alternating")


def grid_cells(nx: int, ny: int, pattern: str, *, closed_x: bool = False, closed_y: bool = False) -> dict[str, Int]:
    """The nx·ny cells of a grid whose points are numbered along x first; a closed direction ends where it begins.

    pattern : "quad", "one-diagonal" (all diagonals alike) or "alternating" (mirrored from one cell to the next)

    >>> grid_cells(1, 1, "one-diagonal")["triangle"].tolist()
    [[0, 1, 3], [0, 3, 2]]
    """
    choice(pattern, "pattern", PATTERNS)
    width, height = nx + (not closed_x), ny + (not closed_y)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(nx), np.arange(ny)))
    quads = np.stack([_at(i + di, j + dj, width, height) for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1))], axis=1)
    if pattern == "quad":
        return {"quad": quads}
    if pattern == "alternating" and ((closed_x and nx % 2) or (closed_y and ny % 2)):
        raise MeshError("an alternating pattern closes only over an even number of cells")
    other = (i + j) % 2 == 1 if pattern == "alternating" else np.zeros(len(quads), bool)
    triangles = np.where(other[:, None, None], quads[:, [[0, 1, 3], [1, 2, 3]]], quads[:, [[0, 1, 2], [0, 2, 3]]])
    return {"triangle": triangles.reshape(-1, 3)}


def _at(i: Int, j: Int, width: int, height: int) -> Int:
    """The number of a point, around the end where the grid is closed."""
    return (j % height) * width + i % width
