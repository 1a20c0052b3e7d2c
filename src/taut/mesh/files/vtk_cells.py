"""VTK's cells: numbers of types, one flat list of corners ↔ blocks of cells by kind.

A pixel and a voxel are a quad and a hexahedron with the corners in the order of a grid. A poly-line of k points is k - 1 lines, a
strip of k points k - 2 triangles, every other one turned round. Vertices are no cells here; they stay points.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.kinds import polygon
from taut.mesh.mesh import Mesh
from taut.mesh.ranges import count_up

Int = NDArray[np.int64]
VERTEX, POLY_VERTEX, POLY_LINE, STRIP, POLYGON = 1, 2, 4, 6, 7
# the types with a fixed number of corners: kind, and the order in which we name the corners
_FIXED = {
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
_LEAST = {POLY_VERTEX: 1, POLY_LINE: 2, STRIP: 3, POLYGON: 3}
_NOUN = {VERTEX: "vertex", POLY_VERTEX: "poly-vertex", POLY_LINE: "poly-line", STRIP: "triangle strip", POLYGON: "polygon"}
_TYPE = {"line": 3, "triangle": 5, "quad": 9, "tet": 10, "hex": 12, "wedge": 13, "pyramid": 14}
_OTHER = {0: "an empty cell", 15: "a pentagonal prism", 16: "a hexagonal prism", 41: "a convex point set", 42: "a polyhedron"}
KINDS = frozenset({*_TYPE, "polygon"})


@dataclass(frozen=True)
class Flat:
    """Cells as a VTK file has them.

    types : VTK's number of each cell's type, shape (m,)
    starts : where the corners of each cell begin, and where the last ends, shape (m + 1,); never falling
    corners : point indices, shape (starts[-1],)
    fail : the error with a message about cell i
    """

    types: Int
    starts: Int
    corners: Int
    fail: Callable[[str, int], MeshError]


@dataclass(frozen=True)
class Blocks:
    """Cells by kind, and for each the number of the cell in the file that it comes from; the same for vertices."""

    cells: dict[str, Int]
    source: dict[str, Int]
    vertices: Int
    vertex_source: Int


def blocks(flat: Flat, n: int) -> Blocks:
    """The cells by kind, each kind in the order of the file, once types, sizes and point indices are known to be good.

    >>> flat = Flat(np.array([8, 4]), np.array([0, 4, 7]), np.array([0, 1, 2, 3, 3, 4, 5]), lambda why, i: MeshError(why))
    >>> found = blocks(flat, 6)
    >>> found.cells["quad"].tolist(), found.cells["line"].tolist(), found.source["line"].tolist()
    ([[0, 1, 3, 2]], [[3, 4], [4, 5]], [1, 1])
    """
    _check(flat, n)
    pieces: dict[str, list[tuple[Int, Int]]] = {}
    for number in np.unique(flat.types).tolist():
        index = np.flatnonzero(flat.types == number)
        if number in _FIXED:
            kind, order = _FIXED[number]
            pieces.setdefault(kind, []).append((index, flat.corners[flat.starts[index][:, None] + np.array(order)]))
        elif number == POLYGON:
            for size, some in _by_size(index, np.diff(flat.starts)[index]):
                rows = flat.corners[flat.starts[some][:, None] + np.arange(size)]
                pieces.setdefault(polygon(size), []).append((some, rows))
        elif number == POLY_LINE:
            source, _, first = _windows(flat, index, 2)
            pieces.setdefault("line", []).append((source, flat.corners[first[:, None] + np.arange(2)]))
        elif number == STRIP:
            source, local, first = _windows(flat, index, 3)
            turned = np.array([[0, 1, 2], [1, 0, 2]])[local % 2]
            pieces.setdefault("triangle", []).append((source, flat.corners[first[:, None] + turned]))
    vertex_source, _, first = _windows(flat, np.flatnonzero((flat.types == VERTEX) | (flat.types == POLY_VERTEX)), 1)
    cells, sources = {}, {}
    for kind, parts in pieces.items():
        source, rows = (np.concatenate(p) for p in zip(*parts, strict=True))
        as_in_file = np.argsort(source, kind="stable")
        cells[kind], sources[kind] = rows[as_in_file], source[as_in_file]
    return Blocks(cells, sources, flat.corners[first], vertex_source)


def split_counted(numbers: Int, count: int) -> tuple[Int, int | None]:
    """Where each cell's size stands in "size corner corner… size corner…", and where the last ends, shape (count + 1,).

    Also the number of the first cell that does not lie inside, or None.

    >>> split_counted(np.array([2, 7, 8, 1, 9]), 2)
    (array([0, 3, 5]), None)
    """
    if count and len(numbers) % count == 0 and len(numbers):
        width = len(numbers) // count
        if (numbers[::width] == width - 1).all():
            return np.arange(count + 1) * width, None
    places, at = array("q", [0]), 0
    view = np.ascontiguousarray(numbers).data  # gives plain ints, and faster than the array does
    for i in range(count):
        size = view[at] if at < len(view) else -1
        at += size + 1
        if size < 0 or at > len(view):
            return np.array(places, np.int64), i
        places.append(at)
    return np.array(places, np.int64), None


def check_offsets(starts: Int, total: int) -> str | int | None:
    """What is wrong with offsets into `total` corners: a sentence, the number of a cell whose offset falls, or None."""
    if not len(starts) or starts[0] != 0:
        return "the offsets do not begin with 0"
    falls = np.flatnonzero(starts[1:] < starts[:-1])
    if len(falls):
        return int(falls[0])
    return None if starts[-1] == total else f"the offsets end at {starts[-1]}, but there are {total} corners"


def flatten(mesh: Mesh) -> tuple[NDArray[np.uint8], Int, Int]:
    """Types, shape (m,), starts, shape (m + 1,), and corners of all cells, in the order of `mesh.cells`.

    >>> flatten(Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]], "line": [[0, 1]]}))
    (array([3, 5], dtype=uint8), array([0, 2, 5]), array([0, 1, 0, 1, 2]))
    """
    rows = list(mesh.cells.items())
    types = np.repeat(np.array([_TYPE.get(k, POLYGON) for k, _ in rows], np.uint8), [len(c) for _, c in rows])
    sizes = np.repeat([c.shape[1] for _, c in rows], [len(c) for _, c in rows])
    return types, np.concatenate([[0], np.cumsum(sizes)]), np.concatenate([c.ravel() for _, c in rows])


def _check(flat: Flat, n: int) -> None:
    """Whether types, numbers of corners and point indices make sense; the first cell that does not is an error."""
    unknown = np.flatnonzero(~np.isin(flat.types, [VERTEX, *_LEAST, *_FIXED]))
    if len(unknown):
        raise flat.fail(_unknown(int(flat.types[unknown[0]])), int(unknown[0]))
    fixed, least = np.zeros(POLYGON * 2 + 1, np.int64), np.zeros(POLYGON * 2 + 1, np.int64)
    fixed[[VERTEX, *_FIXED]] = [1, *(len(order) for _, order in _FIXED.values())]
    least[list(_LEAST)] = list(_LEAST.values())
    sizes = np.diff(flat.starts)
    wrong = np.flatnonzero(np.where(fixed[flat.types] > 0, sizes != fixed[flat.types], sizes < least[flat.types]))
    if len(wrong):
        i = int(wrong[0])
        number = int(flat.types[i])
        needs = str(fixed[number]) if fixed[number] else f"{least[number]} or more"
        raise flat.fail(f"this {_noun(number)} has {sizes[i]} corners, not {needs}", i)
    outside = np.flatnonzero((flat.corners < 0) | (flat.corners >= n))
    if len(outside):
        i = int(np.searchsorted(flat.starts, outside[0], side="right")) - 1
        there = f"there are {n} (0 to {n - 1})" if n else "there are none"
        raise flat.fail(f"this {_noun(int(flat.types[i]))} names point {flat.corners[outside[0]]}; {there}", i)


def _noun(number: int) -> str:
    return _FIXED[number][0] if number in _FIXED else _NOUN[number]


def _unknown(number: int) -> str:
    """What to say of a type that a mesh cannot hold."""
    if number in _OTHER:
        return (
            f"{_OTHER[number]} (VTK type {number}) cannot be held; cut it into tetrahedra first, as ParaView's Tetrahedralize does"
        )
    if 20 < number < 38 or 60 <= number <= 81:
        return f"a cell of higher order (VTK type {number}) cannot be held; make it linear first, as ParaView's Tessellate does"
    return f"{number} is no type of cell that VTK has"


def _by_size(index: Int, sizes: Int) -> list[tuple[int, Int]]:
    """Cells of equal size together: the size and their numbers, ascending."""
    order = np.argsort(sizes, kind="stable")
    values, first = np.unique(sizes[order], return_index=True)
    return list(zip(values.tolist(), np.split(index[order], first[1:]), strict=True)) if len(index) else []


def _windows(flat: Flat, index: Int, width: int) -> tuple[Int, Int, Int]:
    """All windows of `width` successive corners in these cells: the cell, the window's number in it, its first corner."""
    counts: Any = np.diff(flat.starts)[index] - (width - 1)
    source = np.repeat(index, counts)
    local = count_up(counts)
    return source, local, flat.starts[source] + local
