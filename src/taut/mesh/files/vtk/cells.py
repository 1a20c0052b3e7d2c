"""VTK's cells, for .vtk, .vtu and .vtkhdf: type numbers and one list of corners, or cells by kind.

A pixel and a voxel are a quad and a hexahedron with the corners in the order of a grid. A poly-line
of k points is k - 1 lines, a strip of k points k - 2 triangles, every second one reversed. Vertices
are not cells of a Mesh; they stay points.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Bytes, Int
from taut.errors import MeshError
from taut.mesh.files.text_reader import explain_unknown_point
from taut.mesh.kinds import face_name
from taut.mesh.mesh import Mesh
from taut.mesh.topology import count_up

VERTEX, POLY_VERTEX, POLY_LINE, STRIP, POLYGON = 1, 2, 4, 6, 7
# Types with a fixed number of corners: kind, and the order of the corners in a Mesh.
_FIXED_SIZE = {
    3: ("line", (0, 1)),
    5: ("triangle", (0, 1, 2)),
    8: ("quad", (0, 1, 3, 2)),  # pixel
    9: ("quad", (0, 1, 2, 3)),
    10: ("tet", (0, 1, 2, 3)),
    11: ("hex", (0, 1, 3, 2, 4, 5, 7, 6)),  # voxel
    12: ("hex", (0, 1, 2, 3, 4, 5, 6, 7)),
    13: ("wedge", (0, 1, 2, 3, 4, 5)),
    14: ("pyramid", (0, 1, 2, 3, 4)),
}
_MIN_CORNERS = {POLY_VERTEX: 1, POLY_LINE: 2, STRIP: 3, POLYGON: 3}
_NAMES = {
    VERTEX: "vertex",
    POLY_VERTEX: "poly-vertex",
    POLY_LINE: "poly-line",
    STRIP: "triangle strip",
    POLYGON: "polygon",
}
_TYPES = {"line": 3, "triangle": 5, "quad": 9, "tet": 10, "hex": 12, "wedge": 13, "pyramid": 14}
_UNSUPPORTED = {
    0: "an empty cell",
    15: "a pentagonal prism",
    16: "a hexagonal prism",
    41: "a convex point set",
    42: "a polyhedron",
}
KINDS = frozenset({*_TYPES, "polygon"})


@dataclass(frozen=True)
class FlatCells:
    """Cells as a VTK file lists them.

    types : VTK's number of each cell's type, shape (m,)
    starts : where the corners of each cell begin, and where the last end, shape (m + 1,);
        increasing
    corners : point indices, shape (starts[-1],)
    make_error : returns the error with a message about cell i
    """

    types: Int
    starts: Int
    corners: Int
    make_error: Callable[[str, int], MeshError]


@dataclass(frozen=True)
class CellsByKind:
    """Cells by kind, and vertices, each with the number of its cell in the file (`source`)."""

    cells: dict[str, Int]
    source: dict[str, Int]
    vertices: Int
    vertex_source: Int


def sort_by_kind(flat: FlatCells, n: int) -> CellsByKind:
    """Check cells on n points and return them by kind, each kind in the order of the file.

    >>> types, starts = np.array([8, 4]), np.array([0, 4, 7])
    >>> corners = np.array([0, 1, 2, 3, 3, 4, 5])
    >>> flat = FlatCells(types, starts, corners, lambda why, i: MeshError(why))
    >>> found = sort_by_kind(flat, 6)
    >>> found.cells["quad"].tolist(), found.cells["line"].tolist(), found.source["line"].tolist()
    ([[0, 1, 3, 2]], [[3, 4], [4, 5]], [1, 1])
    """
    _check_cells(flat, n)
    pieces: dict[str, list[tuple[Int, Int]]] = {}
    for number in np.unique(flat.types).tolist():
        index = np.flatnonzero(flat.types == number)
        if number in _FIXED_SIZE:
            kind, order = _FIXED_SIZE[number]
            pieces.setdefault(kind, []).append(
                (index, flat.corners[flat.starts[index][:, None] + np.array(order)])
            )
        elif number == POLYGON:
            for size, some in _group_by_size(index, np.diff(flat.starts)[index]):
                rows = flat.corners[flat.starts[some][:, None] + np.arange(size)]
                pieces.setdefault(face_name(size), []).append((some, rows))
        elif number == POLY_LINE:
            source, _, first = _find_windows(flat, index, 2)
            pieces.setdefault("line", []).append(
                (source, flat.corners[first[:, None] + np.arange(2)])
            )
        elif number == STRIP:
            source, local, first = _find_windows(flat, index, 3)
            turned = np.array([[0, 1, 2], [1, 0, 2]])[local % 2]
            pieces.setdefault("triangle", []).append(
                (source, flat.corners[first[:, None] + turned])
            )
    vertex_source, _, first = _find_windows(
        flat, np.flatnonzero((flat.types == VERTEX) | (flat.types == POLY_VERTEX)), 1
    )
    cells, sources = {}, {}
    for kind, parts in pieces.items():
        source, rows = (np.concatenate(p) for p in zip(*parts, strict=True))
        as_in_file = np.argsort(source, kind="stable")
        cells[kind], sources[kind] = rows[as_in_file], source[as_in_file]
    return CellsByKind(cells, sources, flat.corners[first], vertex_source)


def split_counted(numbers: Int, count: int) -> tuple[Int, int | None]:
    """Find the sizes of cells in "size corner corner… size corner…".

    Returns where each size is, and where the last cell ends, shape (count + 1,); and the number of
    the first cell that does not fit, or None.

    >>> split_counted(np.array([2, 7, 8, 1, 9]), 2)
    (array([0, 3, 5]), None)
    """
    if count and len(numbers) % count == 0 and len(numbers):
        width = len(numbers) // count
        if (numbers[::width] == width - 1).all():
            return np.arange(count + 1) * width, None
    places, at = array("q", [0]), 0
    view = np.ascontiguousarray(numbers).data  # indexing gives ints, faster than the array
    for i in range(count):
        size = view[at] if at < len(view) else -1
        at += size + 1
        if size < 0 or at > len(view):
            return np.array(places, np.int64), i
        places.append(at)
    return np.array(places, np.int64), None


def check_offsets(starts: Int, total: int) -> str | int | None:
    """Return what is wrong with offsets into `total` corners: a message, a cell's number, or None.

    The number is that of the first cell whose corners end before they begin.
    """
    if not len(starts) or starts[0] != 0:
        return "the offsets must start with 0"
    falls = np.flatnonzero(starts[1:] < starts[:-1])
    if len(falls):
        return int(falls[0])
    if starts[-1] != total:
        return f"the offsets must end at {total}, the number of corners, got {starts[-1]}"
    return None


def flatten(mesh: Mesh) -> tuple[Bytes, Int, Int]:
    """Return types, starts and corners of all cells (see `FlatCells`), in the order of mesh.cells.

    >>> flatten(Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]], "line": [[0, 1]]}))
    (array([3, 5], dtype=uint8), array([0, 2, 5]), array([0, 1, 0, 1, 2]))
    """
    rows = list(mesh.cells.items())
    types = np.repeat(
        np.array([_TYPES.get(k, POLYGON) for k, _ in rows], np.uint8), [len(c) for _, c in rows]
    )
    sizes = np.repeat([c.shape[1] for _, c in rows], [len(c) for _, c in rows])
    return (
        types,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([c.ravel() for _, c in rows]),
    )


def _check_cells(flat: FlatCells, n: int) -> None:
    """Raise for the first cell with an unknown type, a wrong size or an unknown point."""
    unknown = np.flatnonzero(~np.isin(flat.types, [VERTEX, *_MIN_CORNERS, *_FIXED_SIZE]))
    if len(unknown):
        raise flat.make_error(_explain_unknown_type(int(flat.types[unknown[0]])), int(unknown[0]))
    fixed, least = np.zeros(POLYGON * 2 + 1, np.int64), np.zeros(POLYGON * 2 + 1, np.int64)
    fixed[[VERTEX, *_FIXED_SIZE]] = [1, *(len(order) for _, order in _FIXED_SIZE.values())]
    least[list(_MIN_CORNERS)] = list(_MIN_CORNERS.values())
    sizes = np.diff(flat.starts)
    wrong = np.flatnonzero(
        np.where(fixed[flat.types] > 0, sizes != fixed[flat.types], sizes < least[flat.types])
    )
    if len(wrong):
        i = int(wrong[0])
        number = int(flat.types[i])
        needs = str(fixed[number]) if fixed[number] else f"{least[number]} or more"
        raise flat.make_error(
            f"a {_name_type(number)} must have {needs} corners, got {sizes[i]}", i
        )
    outside = np.flatnonzero((flat.corners < 0) | (flat.corners >= n))
    if len(outside):
        i = int(np.searchsorted(flat.starts, outside[0], side="right")) - 1
        raise flat.make_error(explain_unknown_point(int(flat.corners[outside[0]]), n), i)


def _name_type(number: int) -> str:
    if number in _FIXED_SIZE:
        return _FIXED_SIZE[number][0]
    return _NAMES[number]


def _explain_unknown_type(number: int) -> str:
    """Return the message about a type that a Mesh cannot hold."""
    if number in _UNSUPPORTED:
        return (
            f"cells must be of a kind that a Mesh has, got {_UNSUPPORTED[number]} (VTK type "
            f"{number}); cut it into tetrahedra first, as ParaView's Tetrahedralize does"
        )
    if 20 < number < 38 or 60 <= number <= 81:
        return (
            f"cells must be linear, got one of higher order (VTK type {number}); make it linear "
            "first, as ParaView's Tessellate does"
        )
    return f"the cell type must be one of VTK, got {number}"


def _group_by_size(index: Int, sizes: Int) -> list[tuple[int, Int]]:
    """Return each size and the numbers of the cells that have it, ascending."""
    order = np.argsort(sizes, kind="stable")
    values, first = np.unique(sizes[order], return_index=True)
    if not len(index):
        return []
    return list(zip(values.tolist(), np.split(index[order], first[1:]), strict=True))


def _find_windows(flat: FlatCells, index: Int, width: int) -> tuple[Int, Int, Int]:
    """Return all windows of `width` successive corners: cell, number in the cell, first corner."""
    counts: Any = np.diff(flat.starts)[index] - (width - 1)
    source = np.repeat(index, counts)
    local = count_up(counts)
    return source, local, flat.starts[source] + local
