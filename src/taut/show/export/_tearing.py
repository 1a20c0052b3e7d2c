"""Cells at torn elements: left out where a file has a topology for each frame, shrunk where not.

A cell is torn if an element between two of its neighbouring corners is. In a file whose topology is
constant, each cell that tears at any time has points of its own from the start, after all others;
when it is torn they are all where its first corner is, so that it cannot be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taut.arrays import Int, Mask
from taut.mesh.kinds import get_kind
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV, Cells
from taut.show.visual_model import VisualBody, has_no_torn_side

TornCells = Mapping[str, Mask]
"""Kind of cell → which of them are torn, (k,); kinds without torn cells are left out."""


def find_torn_cells(piece: VisualBody, cells: Cells, torn: Int) -> TornCells:
    """Return which cells of the drawn mesh of a body are torn.

    torn : pairs of particles with a torn element between them, (k, 2)

    >>> import taut
    >>> sheet = VisualBody("sheet", taut.mesh.sheet(2, 1), 0, 6)
    >>> find_torn_cells(sheet, sheet.mesh.cells, np.array([[0, 1]]))
    {'quad': array([ True, False])}
    """
    found: dict[str, Mask] = {}
    if not len(torn):
        return found
    own = torn - piece.start
    points = piece.find_torn_points(own)
    for kind, block in cells.items():
        if piece.embedding is None:
            sides = block[:, np.array(get_kind(kind).edges)]
            is_torn: Mask = ~has_no_torn_side(sides, own, piece.mesh.n)
        else:
            is_torn = np.asarray(points[block].any(axis=1))
        if is_torn.any():
            found[kind] = is_torn
    return found


def is_same(one: TornCells, other: TornCells) -> bool:
    """Return whether the same cells are torn."""
    return one.keys() == other.keys() and all((one[k] == other[k]).all() for k in one)


def drop_cells(mesh: Mesh, torn: TornCells) -> Mesh:
    """Return a mesh without its torn cells; groups and texture coordinates follow.

    >>> import taut
    >>> drop_cells(taut.mesh.sheet(2, 1), {"quad": np.array([True, False])})
    Mesh(6 points, 1 quad)
    """
    if not torn:
        return mesh
    cells, corners = dict(mesh.cells), {} if mesh.uv is None else dict(mesh.uv.corners)
    groups = {name: dict(by_kind) for name, by_kind in mesh.groups.items()}
    for kind, is_torn in torn.items():
        cells[kind] = cells[kind][~is_torn]
        if kind in corners:
            corners[kind] = corners[kind][~is_torn]
        place = np.cumsum(~is_torn) - 1
        for by_kind in groups.values():
            if kind in by_kind:
                rows = by_kind[kind]
                by_kind[kind] = place[rows[~is_torn[rows]]]
    uv = None if mesh.uv is None else UV(mesh.uv.coordinates, corners)
    cells = {kind: block for kind, block in cells.items() if len(block)}
    groups = {
        name: {kind: rows for kind, rows in by_kind.items() if kind == "point" or kind in cells}
        for name, by_kind in groups.items()
    }
    if uv is not None:
        uv = UV(uv.coordinates, {kind: uv.corners[kind] for kind in uv.corners if kind in cells})
    return Mesh(mesh.positions, cells, groups=groups, uv=uv)


@dataclass(frozen=True, eq=False)
class SplitMesh:
    """A mesh in which cells that tear at any time have points of their own, after all others.

    mesh : on all points, (n + s,)
    origin : the point of the body that each follows, (n + s,)
    anchor : the first corner of its cell for each of the own points, (s,)
    cells : the kind, and the rows, of the cells that have own points, in their order
    """

    mesh: Mesh
    origin: Int
    anchor: Int
    cells: tuple[tuple[str, Int], ...]

    @property
    def count(self) -> int:
        """Number of cells that have points of their own."""
        return sum(len(rows) for _, rows in self.cells)

    def follow(self, torn: TornCells) -> Int:
        """Return the point of the body at which each point is now, (n + s,).

        >>> import taut
        >>> split = split_cells(taut.mesh.sheet(1, 1), {"quad": np.array([True])})
        >>> split.follow({}).tolist()
        [0, 1, 2, 3, 0, 1, 3, 2]
        >>> split.follow({"quad": np.array([True])}).tolist()
        [0, 1, 2, 3, 0, 0, 0, 0]
        """
        is_torn = [np.empty(0, dtype=bool)]
        for kind, rows in self.cells:
            now = torn[kind][rows] if kind in torn else np.zeros(len(rows), dtype=bool)
            is_torn.append(np.repeat(now, get_kind(kind).size))
        where = self.origin.copy()
        own = where[len(where) - len(self.anchor) :]
        own[:] = np.where(np.concatenate(is_torn), self.anchor, own)
        return where


def split_cells(mesh: Mesh, torn: TornCells) -> SplitMesh:
    """Give each torn cell points of its own."""
    nothing = np.empty(0, np.int64)
    cells, origin, anchor = dict(mesh.cells), [np.arange(mesh.n)], [nothing]
    split = []
    count = mesh.n
    for kind, is_torn in torn.items():
        rows = np.flatnonzero(is_torn)
        own = cells[kind][rows]
        cells[kind] = cells[kind].copy()
        cells[kind][rows] = count + np.arange(own.size).reshape(own.shape)
        count += own.size
        origin.append(own.ravel())
        anchor.append(np.repeat(own[:, 0], own.shape[1]))
        split.append((kind, rows))
    where: Int = np.concatenate(origin)
    if not split:
        return SplitMesh(mesh, where, nothing, ())
    whole = Mesh(mesh.positions[where], cells, groups=mesh.groups, uv=mesh.uv)
    return SplitMesh(whole, where, np.concatenate(anchor), tuple(split))
