"""Tetrahedra at the corners of solids, and the solids that are turned inside out.

A solid is valid where the three edges at each of its corners keep their handedness: the
tetrahedra that they span then have positive volumes. A tetrahedron is its own; a hexahedron has
eight. A pyramid has them at its base only: four edges meet at its apex.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, Mask
from taut.mesh.kinds import Kind, find_trihedra, get_kind
from taut.mesh.measure import measures


def collect_corner_tets(blocks: list[tuple[Kind, Int]]) -> tuple[Int, Int]:
    """Return the tetrahedra at the corners of solids, (k, 4), and the cell of each, (k,).

    Cells are numbered through all kinds.
    """
    tets, owners, start = [np.empty((0, 4), np.int64)], [np.empty(0, np.int64)], 0
    for kind, cells in blocks:
        corners = [
            [corner, before, after, third]
            for corner, (after, before, third) in find_trihedra(kind)
            if third is not None
        ]
        if kind.name == "tet":
            corners = [[0, 1, 2, 3]]
        for columns in corners:
            tets.append(cells[:, columns])
            owners.append(start + np.arange(len(cells)))
        start += len(cells)
    return np.concatenate(tets), np.concatenate(owners)


def find_inverted(rest: Float, q: Float, tets: Int) -> Mask:
    """Return which tetrahedra (k, 4) have a volume at q of another sign than at rest, (k,).

    rest, q : positions [m], (n, 3)
    """
    tet = get_kind("tet")
    inverted: Mask = measures(q, tets, tet) * np.sign(measures(rest, tets, tet)) < 0.0
    return inverted


def find_inverted_cells(rest: ArrayLike, q: ArrayLike, blocks: list[tuple[Kind, Int]]) -> Mask:
    """Return which solids are turned inside out at one corner or more, through all kinds, (c,).

    rest, q : positions [m], (n, 3)

    >>> import taut
    >>> block = taut.mesh.block(2, 1, 1)
    >>> pushed = block.points.copy()
    >>> pushed[pushed[:, 0] == 1.0] = [-1.0, 0.0, 0.0] + pushed[pushed[:, 0] == 1.0]
    >>> find_inverted_cells(block.points, pushed, block.blocks(3)).tolist()
    [False, True]
    """
    tets, owners = collect_corner_tets(blocks)
    inverted = np.zeros(sum(len(cells) for _, cells in blocks), dtype=bool)
    wrong = find_inverted(np.asarray(rest, float), np.asarray(q, float), tets)
    inverted[owners[wrong]] = True
    return inverted
