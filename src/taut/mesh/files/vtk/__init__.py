"""Legacy VTK 1 to 5.1: UNSTRUCTURED_GRID and POLYDATA, text or binary; written as text, 4.2.

    # vtk DataFile Version 4.2
    title
    ASCII
    DATASET UNSTRUCTURED_GRID
    POINTS n double, then n × 3 coordinates [m]
    CELLS m k, then m times: size corner corner…, k numbers (5.x: OFFSETS and CONNECTIVITY apart)
    CELL_TYPES m, then m numbers of types
    POINT_DATA n, CELL_DATA m, each followed by arrays

_reader      the words and numbers of a file, in order
_sections    the sections after the header: lists of cells, arrays of data
cells        type numbers and corners of cells; for .vtu and .vtkhdf too
arrays       groups and data as named arrays; for .vtu and .vtkhdf too
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import numpy as np

from taut.arrays import Float, Int
from taut.errors import did_you_mean
from taut.mesh.files.numbers import format_rows, quote_word
from taut.mesh.files.vtk._reader import LEGACY_TYPES, VtkReader
from taut.mesh.files.vtk._sections import (
    ARRAY_KEYWORDS,
    POLYDATA_LISTS,
    CellList,
    join_lists,
    read_array,
    read_cell_list,
)
from taut.mesh.files.vtk.arrays import Arrays, build_mesh, make_arrays
from taut.mesh.files.vtk.cells import KINDS, flatten
from taut.mesh.mesh import Mesh

NAME = "VTK"
CELLS = KINDS
KEEPS = frozenset({"groups", "point_data", "cell_data"})
_log = logging.getLogger("taut")
_TYPE_NAMES = {
    np.dtype(code): name
    for name, code in LEGACY_TYPES.items()
    if name not in ("signed_char", "vtktypeint64", "vtktypeuint64", "vtkidtype")
}
_PRINTABLE = "".join(chr(c) for c in range(33, 127) if chr(c) not in '"%')


@dataclass
class _Sections:
    """The sections that were read so far."""

    dataset: str
    points: Float | None = None
    lists: dict[str, CellList] = field(default_factory=dict)
    types: Int | None = None
    arrays: dict[str, Arrays] = field(default_factory=lambda: {"point": {}, "cell": {}, "": {}})
    left_out: list[str] = field(default_factory=list)

    @property
    def cell_count(self) -> int:
        """Cells in all lists."""
        return sum(len(some.starts) - 1 for some in self.lists.values())


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in a legacy VTK file.

    >>> header = b"# vtk DataFile Version 2.0\\nthe title\\nASCII\\nDATASET POLYDATA\\n"
    >>> points = b"POINTS 3 float\\n0 0 0 1 0 0 0 1 0\\n"
    >>> read(Path("one.vtk"), header + points + b"POLYGONS 1 4\\n3 0 1 2\\n")
    Mesh(3 points, 1 triangle)
    """
    reader = VtkReader(path, data)
    found = _Sections(_read_header(reader))
    rows: int | None = None
    what = ""
    while True:
        keyword = reader.peek()
        if not keyword:
            break
        reader.take_word(keyword)
        if keyword in ("POINT_DATA", "CELL_DATA"):
            rows, what = _read_data_header(reader, keyword, found)
        elif keyword in ARRAY_KEYWORDS:
            read_array(reader, keyword, rows, what, found.arrays[what], found.left_out)
        elif keyword == "METADATA":
            reader.skip_paragraph()
        else:
            _read_geometry(reader, keyword, found)
    if found.left_out:
        _log.info("%s: left out: %s", path, ", ".join(dict.fromkeys(found.left_out)))
    if found.points is None:
        raise reader.error("the file must have POINTS, got none")
    type_count = 0 if found.types is None else len(found.types)
    if found.dataset == "UNSTRUCTURED_GRID" and found.cell_count != type_count:
        raise reader.error(
            f"CELL_TYPES must be as many as the {found.cell_count} CELLS, got {type_count}"
        )
    return build_mesh(
        path,
        found.points,
        join_lists(reader, found.lists, found.types),
        found.arrays["point"],
        found.arrays["cell"],
    )


def write(mesh: Mesh) -> bytes:
    """Return the mesh as a legacy VTK file, text that reads back to the same bits.

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
    lines = [
        "# vtk DataFile Version 4.2",
        "taut",
        "ASCII",
        "DATASET UNSTRUCTURED_GRID",
        f"POINTS {mesh.n} double",
    ]
    lines += format_rows(mesh.positions)
    lines.append(f"CELLS {len(types)} {len(types) + len(corners)}")
    for _, cells in mesh.blocks():
        lines += format_rows(np.column_stack([np.full(len(cells), cells.shape[1]), cells]))
    lines += [f"CELL_TYPES {len(types)}", *map(str, types.tolist())]
    on_points, on_cells = make_arrays(mesh, NAME)
    for keyword, count, some in (
        ("POINT_DATA", mesh.n, on_points),
        ("CELL_DATA", len(types), on_cells),
    ):
        if some:
            lines += [f"{keyword} {count}", f"FIELD FieldData {len(some)}"]
        for name, values in some.items():
            table = values.reshape(count, -1) if count else values.reshape(0, 1)
            word, type_name = quote(name, safe=_PRINTABLE), _TYPE_NAMES[values.dtype]
            lines.append(f"{word} {table.shape[1]} {count} {type_name}")
            lines += format_rows(table)
    return ("\n".join(lines) + "\n").encode()


def _read_header(reader: VtkReader) -> str:
    """Read version, title and encoding; return the kind of data set."""
    first = reader.take_line()
    version = re.match(r"#\s*vtk\s+DataFile\s+Version\s+(\d{1,9})", first, re.IGNORECASE)
    if not version:
        raise reader.error("the file must start with '# vtk DataFile Version …'", 0)
    if int(version[1]) > 5:
        raise reader.error(f"the version must be at most 5.1, got {version[1]}; save it as that", 0)
    reader.take_line()
    form = reader.take_word("ASCII or BINARY")
    if form.upper() not in (b"ASCII", b"BINARY"):
        raise reader.error(
            f"must be ASCII or BINARY, got {quote_word(form)}", reader.at - len(form)
        )
    reader.ascii = form.upper() == b"ASCII"
    reader.take_keyword("DATASET")
    dataset = reader.take_word("the kind of data set").upper()
    if dataset not in (b"UNSTRUCTURED_GRID", b"POLYDATA"):
        advice = (
            "make it an unstructured grid first, as ParaView's Append Datasets or PyVista's "
            "cast_to_unstructured_grid() does"
        )
        raise reader.error(
            f"the data set must be UNSTRUCTURED_GRID or POLYDATA, got {quote_word(dataset)}; "
            + advice,
            reader.at - len(dataset),
        )
    return dataset.decode()


def _read_data_header(reader: VtkReader, keyword: str, found: _Sections) -> tuple[int, str]:
    """Return the number of points or cells that arrays follow for, and "point" or "cell"."""
    what = "point" if keyword == "POINT_DATA" else "cell"
    if what == "cell":
        expected = found.cell_count
    else:
        expected = 0 if found.points is None else len(found.points)
    rows = reader.take_count(f"{what}s")
    if rows != expected:
        raise reader.error(f"{keyword} must be for {expected} {what}s, got {rows}")
    return rows, what


def _read_geometry(reader: VtkReader, keyword: str, found: _Sections) -> None:
    """Read POINTS, CELL_TYPES or a list of cells."""
    lists = ["CELLS"] if found.dataset == "UNSTRUCTURED_GRID" else list(POLYDATA_LISTS)
    begin = reader.at - len(keyword)
    if keyword == "POINTS" and found.points is None:
        count, type_ = reader.take_count("points"), reader.take_type()
        if type_ == "string":
            raise reader.error("points must be numbers, got the type string")
        block = reader.take_numbers(type_, count, 3, "point")
        # Checked before the cast, which warns of signalling NaNs.
        bad = np.flatnonzero(~np.isfinite(block.values))
        if len(bad):
            raise reader.error(
                f"numbers must be finite, got {block.values[bad[0]]}",
                block.find_byte(int(bad[0])),
                f"point {bad[0] // 3}",
            )
        found.points = block.values.reshape(count, 3).astype(np.float64)
    elif keyword == "CELL_TYPES" and found.dataset == "UNSTRUCTURED_GRID" and found.types is None:
        found.types = reader.take_integers(
            "vtkidtype", reader.take_count("cells"), 1, "cell type"
        ).values
    elif keyword in lists and keyword not in found.lists:
        found.lists[keyword] = read_cell_list(reader)
    elif keyword in ("POINTS", "CELL_TYPES", *lists):
        raise reader.error(f"{keyword} must occur once, got it again", begin)
    else:
        known = ["POINTS", "CELL_TYPES", *lists, "POINT_DATA", "CELL_DATA", *sorted(ARRAY_KEYWORDS)]
        raise reader.error(
            f"must be a keyword of {found.dataset}, got {quote_word(keyword.encode())}"
            f"{did_you_mean(keyword, known)}",
            begin,
        )
