"""Legacy VTK files, versions 1 to 5.1: UNSTRUCTURED_GRID and POLYDATA, as text or binary; written as text, version 4.2.

# vtk DataFile Version 4.2
title
ASCII
DATASET UNSTRUCTURED_GRID
POINTS n double, then n × 3 coordinates [m]
CELLS m k, then m times: size corner corner…, k numbers in all (5.x: OFFSETS and CONNECTIVITY apart)
CELL_TYPES m, then m numbers of types
POINT_DATA n, CELL_DATA m, each followed by arrays
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from taut.errors import did_you_mean
from taut.mesh.files.numbers import rows as text_rows
from taut.mesh.files.text import shown
from taut.mesh.files.vtk_arrays import Arrays, arrays, assemble
from taut.mesh.files.vtk_attributes import KEYWORDS, attribute
from taut.mesh.files.vtk_cells import KINDS, flatten
from taut.mesh.files.vtk_cursor import Cursor
from taut.mesh.files.vtk_lists import LISTS, CellList, join, read_list
from taut.mesh.files.vtk_types import LEGACY_TYPES
from taut.mesh.mesh import Mesh

NAME = "VTK"
CELLS = KINDS
KEEPS = frozenset({"groups", "point_data", "cell_data"})
Int = NDArray[np.int64]
_log = logging.getLogger("taut")
_TYPE_NAMES = {
    np.dtype(code): name
    for name, code in LEGACY_TYPES.items()
    if name not in ("signed_char", "vtktypeint64", "vtktypeuint64", "vtkidtype")
}
_PRINTABLE = "".join(chr(c) for c in range(33, 127) if chr(c) not in '"%')


@dataclass
class _Found:
    """What has been read so far."""

    dataset: str
    points: NDArray[np.float64] | None = None
    lists: dict[str, CellList] = field(default_factory=dict)
    types: Int | None = None
    arrays: dict[str, Arrays] = field(default_factory=lambda: {"point": {}, "cell": {}, "": {}})
    left_out: list[str] = field(default_factory=list)

    @property
    def cells(self) -> int:
        return sum(len(some.starts) - 1 for some in self.lists.values())


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a legacy VTK file.

    >>> head = b"# vtk DataFile Version 2.0\\nthe title\\nASCII\\n"
    >>> read(Path("one.vtk"), head + b"DATASET POLYDATA\\nPOINTS 3 float\\n0 0 0 1 0 0 0 1 0\\nPOLYGONS 1 4\\n3 0 1 2\\n")
    Mesh(3 points, 1 triangle)
    """
    cursor = Cursor(path, data)
    found = _Found(_header(cursor))
    rows: int | None = None
    what = ""
    while keyword := cursor.peek():
        cursor.word(keyword)
        if keyword in ("POINT_DATA", "CELL_DATA"):
            rows, what = _data_header(cursor, keyword, found)
        elif keyword in KEYWORDS:
            attribute(cursor, keyword, rows, what, found.arrays[what], found.left_out)
        elif keyword == "METADATA":
            cursor.skip_paragraph()
        else:
            _geometry(cursor, keyword, found)
    if found.left_out:
        _log.info("%s: left out: %s", path, ", ".join(dict.fromkeys(found.left_out)))
    if found.points is None:
        raise cursor.error("there are no POINTS")
    if found.dataset == "UNSTRUCTURED_GRID" and found.cells != (0 if found.types is None else len(found.types)):
        there = "none" if found.types is None else len(found.types)
        raise cursor.error(f"there are {found.cells} CELLS; of CELL_TYPES there are {there}")
    return assemble(path, found.points, join(cursor, found.lists, found.types), found.arrays["point"], found.arrays["cell"])


def write(mesh: Mesh) -> bytes:
    """The mesh as a legacy VTK file, in text that gives back the same bits.

    >>> print(write(Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]})).decode())
    # vtk DataFile Version 4.2
    taut
    ASCII
    DATASET UNSTRUCTURED_GRID
    POINTS 3 double
    0.0 0.0 0.0
    1.0 0.0 0.0
    0.0 1.0 0.0
    CELLS 1 4
    3 0 1 2
    CELL_TYPES 1
    5
    <BLANKLINE>
    """
    types, _, corners = flatten(mesh)
    lines = ["# vtk DataFile Version 4.2", "taut", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {mesh.n} double"]
    lines += text_rows(mesh.positions)
    lines.append(f"CELLS {len(types)} {len(types) + len(corners)}")
    for _, cells in mesh.blocks():
        lines += text_rows(np.column_stack([np.full(len(cells), cells.shape[1]), cells]))
    lines += [f"CELL_TYPES {len(types)}", *map(str, types.tolist())]
    on_points, on_cells = arrays(mesh, NAME)
    for keyword, count, some in (("POINT_DATA", mesh.n, on_points), ("CELL_DATA", len(types), on_cells)):
        if some:
            lines += [f"{keyword} {count}", f"FIELD FieldData {len(some)}"]
        for name, values in some.items():
            table = values.reshape(count, -1) if count else values.reshape(0, 1)
            lines.append(f"{quote(name, safe=_PRINTABLE)} {table.shape[1]} {count} {_TYPE_NAMES[values.dtype]}")
            lines += text_rows(table)
    return ("\n".join(lines) + "\n").encode()


def _header(cursor: Cursor) -> str:
    """Version, title, ASCII or BINARY, and the kind of data set."""
    first = cursor.line()
    version = re.match(r"#\s*vtk\s+DataFile\s+Version\s+(\d{1,9})", first, re.IGNORECASE)
    if not version:
        raise cursor.error("a legacy VTK file begins with '# vtk DataFile Version …'", 0)
    if int(version[1]) > 5:
        raise cursor.error(f"version {version[1]} is newer than 5.1, the newest known here; save it as that", 0)
    cursor.line()
    form = cursor.word("ASCII or BINARY")
    if form.upper() not in (b"ASCII", b"BINARY"):
        raise cursor.error(f"{shown(form)} stands where ASCII or BINARY should", cursor.at - len(form))
    cursor.ascii = form.upper() == b"ASCII"
    cursor.keyword("DATASET")
    dataset = cursor.word("the kind of data set").upper()
    if dataset not in (b"UNSTRUCTURED_GRID", b"POLYDATA"):
        advice = "make it an unstructured grid first, as ParaView's Append Datasets or PyVista's cast_to_unstructured_grid() does"
        raise cursor.error(
            f"the data set is {shown(dataset)}, not UNSTRUCTURED_GRID or POLYDATA; {advice}", cursor.at - len(dataset)
        )
    return dataset.decode()


def _data_header(cursor: Cursor, keyword: str, found: _Found) -> tuple[int, str]:
    """The number of points or cells that arrays follow for, which is the number there are."""
    what = "point" if keyword == "POINT_DATA" else "cell"
    there = found.cells if what == "cell" else 0 if found.points is None else len(found.points)
    rows = cursor.count(f"{what}s")
    if rows != there:
        raise cursor.error(f"{keyword} is for {rows} {what}s; there are {there}")
    return rows, what


def _geometry(cursor: Cursor, keyword: str, found: _Found) -> None:
    """POINTS, CELL_TYPES and lists of cells."""
    lists = ["CELLS"] if found.dataset == "UNSTRUCTURED_GRID" else list(LISTS)
    begin = cursor.at - len(keyword)
    if keyword == "POINTS" and found.points is None:
        count, type_ = cursor.count("points"), cursor.type()
        if type_ == "string":
            raise cursor.error("the points are of type string, not numbers")
        block = cursor.numbers(type_, count, 3, "point")
        bad = np.flatnonzero(~np.isfinite(block.values))  # before the cast, which warns of signalling NaNs
        if len(bad):
            raise cursor.error("a number is not finite", block.place(int(bad[0])), f"point {bad[0] // 3}")
        found.points = block.values.reshape(count, 3).astype(np.float64)
    elif keyword == "CELL_TYPES" and found.dataset == "UNSTRUCTURED_GRID" and found.types is None:
        found.types = cursor.whole("vtkidtype", cursor.count("cells"), 1, "cell type").values
    elif keyword in lists and keyword not in found.lists:
        found.lists[keyword] = read_list(cursor)
    elif keyword in ("POINTS", "CELL_TYPES", *lists):
        raise cursor.error(f"{keyword} stands here for the second time", begin)
    else:
        known = ["POINTS", "CELL_TYPES", *lists, "POINT_DATA", "CELL_DATA", *sorted(KEYWORDS)]
        raise cursor.error(f"{shown(keyword.encode())} is no keyword of {found.dataset}{did_you_mean(keyword, known)}", begin)
