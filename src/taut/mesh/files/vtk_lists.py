"""Lists of cells in legacy VTK files: sizes and corners in one, or (5.x) offsets and corners apart; all lists as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.vtk_cells import POLY_LINE, POLY_VERTEX, POLYGON, STRIP, Flat, check_offsets, split_counted
from taut.mesh.files.vtk_cursor import Cursor

Int = NDArray[np.int64]
# POLYDATA's lists of cells, in the order in which cell data count them
LISTS = {"VERTICES": POLY_VERTEX, "LINES": POLY_LINE, "POLYGONS": POLYGON, "TRIANGLE_STRIPS": STRIP}


@dataclass
class CellList:
    """Cells of one list: where each begins, all corners, and where in the file each cell stands."""

    starts: Int
    corners: Int
    place: Callable[[int], int]


def read_list(cursor: Cursor) -> CellList:
    """What follows the name of a list.

    >>> from pathlib import Path
    >>> cells = read_list(Cursor(Path("a.vtk"), b"2 7\\n3 0 1 2 2 2 0"))
    >>> cells.starts, cells.corners
    (array([0, 3, 5]), array([0, 1, 2, 2, 0]))
    """
    first, second = cursor.count("cells"), cursor.count("entries")
    if cursor.peek() != "OFFSETS":
        block = cursor.whole("vtkidtype", second, 1, "number")
        at, bad = split_counted(block.values, first)
        if bad is not None:
            at_bad = block.place(int(at[bad])) if at[bad] < second else None
            raise cursor.error(f"it does not lie within the {second} entries of its list", at_bad, f"cell {bad}")
        if at[-1] != second:
            raise cursor.error(f"the {first} cells take {at[-1]} entries, not {second}", block.place(int(at[-1])))
        corners = np.delete(block.values, at[:-1])
        return CellList(at - np.arange(first + 1), corners, lambda i: block.place(int(at[i])))
    cursor.keyword("OFFSETS")
    offsets = cursor.whole(cursor.type(), first, 1, "offset")
    cursor.keyword("CONNECTIVITY")
    connectivity = cursor.whole(cursor.type(), second, 1, "corner")
    starts = offsets.values if first else np.zeros(1, np.int64)
    wrong = check_offsets(starts, second)
    if isinstance(wrong, int):
        raise cursor.error(f"its corners end at {starts[wrong + 1]}, before they begin", offsets.place(wrong + 1), f"cell {wrong}")
    if wrong:
        raise cursor.error(wrong)
    # an empty cell at the very end has no corner to point at
    return CellList(
        starts, connectivity.values, lambda i: connectivity.place(min(int(starts[i]), second - 1)) if second else cursor.at
    )


def join(cursor: Cursor, lists: Mapping[str, CellList], types: Int | None) -> Flat:
    """The cells of all lists in one, with the types that the file gives (None in POLYDATA, where the lists' names tell)."""
    known = [(name, lists[name]) for name in ("CELLS", *LISTS) if name in lists]
    counts = [len(cells.starts) - 1 for _, cells in known]
    if types is None:
        types = np.repeat(np.array([LISTS[name] for name, _ in known], np.int64), counts)
    before = np.cumsum([0, *(len(cells.corners) for _, cells in known)])
    starts = [cells.starts[1:] + at for (_, cells), at in zip(known, before[:-1], strict=True)]
    first = np.cumsum([0, *counts])

    def fail(message: str, cell: int) -> MeshError:
        i = int(np.searchsorted(first, cell, side="right")) - 1
        return cursor.error(message, known[i][1].place(cell - int(first[i])), f"cell {cell}")

    corners = [cells.corners for _, cells in known]
    return Flat(types, np.concatenate([np.zeros(1, np.int64), *starts]), np.concatenate([np.empty(0, np.int64), *corners]), fail)
