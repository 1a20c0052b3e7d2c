"""A box of hexahedra or tetrahedra."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.arguments import at_most, choice, count, lengths
from taut.mesh.mesh import Mesh

Int = NDArray[np.int64]
# a cube as five tetrahedra, and its mirror image: neighbours in a chequerboard share the diagonals of their faces
_EVEN = ((0, 1, 2, 5), (0, 2, 3, 7), (0, 5, 7, 4), (2, 7, 5, 6), (0, 2, 7, 5))
_ODD = ((1, 2, 3, 6), (0, 1, 3, 4), (1, 6, 4, 5), (3, 4, 6, 7), (1, 3, 4, 6))


def block(nx: int, ny: int, nz: int, size: Any = 1.0, *, cells: str = "hex") -> Mesh:
    """A box of nx × ny × nz cubes with a corner at the origin.

    nx, ny, nz : number of cubes along each side
    size : side lengths [m], one for all or three
    cells : "hex", or "tet" for five tetrahedra in each cube, mirrored from one to the next

    >>> block(2, 1, 1, size=(2.0, 1.0, 1.0)).volumes.tolist()
    [1.0, 1.0]
    >>> block(2, 2, 2, cells="tet")
    Mesh(27 points, 40 tet)
    """
    n = [count(value, name) for value, name in ((nx, "nx"), (ny, "ny"), (nz, "nz"))]
    at_most((n[0] + 1) * (n[1] + 1) * (n[2] + 1))
    choice(cells, "cells", ("hex", "tet"))
    k, j, i = (a.ravel() for a in np.meshgrid(*(np.arange(m + 1) for m in reversed(n)), indexing="ij"))
    points = np.column_stack([i, j, k]) / n * lengths(size, "size", 3)
    k, j, i = (a.ravel() for a in np.meshgrid(*(np.arange(m) for m in reversed(n)), indexing="ij"))
    corner = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    hexes = np.stack([((k + c) * (n[1] + 1) + j + b) * (n[0] + 1) + i + a for a, b, c in corner], axis=1)
    if cells == "hex":
        return Mesh(points, {"hex": hexes})
    odd = (i + j + k) % 2 == 1
    tets = np.where(odd[:, None, None], hexes[:, np.array(_ODD)], hexes[:, np.array(_EVEN)])
    return Mesh(points, {"tet": tets.reshape(-1, 4)})
