"""The sections of a legacy VTK file after its header: lists of cells, and arrays of data.

Lists of cells have sizes and corners in one list, or (version 5) offsets and corners apart. Arrays
follow keywords such as SCALARS and FIELD; look-up tables, strings and fields of the whole data set
are skipped and named in `left_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

import numpy as np

from taut.arrays import Int
from taut.errors import MeshError
from taut.mesh.files.vtk._reader import VtkReader
from taut.mesh.files.vtk.arrays import MAX_ARRAYS, Arrays
from taut.mesh.files.vtk.cells import (
    POLY_LINE,
    POLY_VERTEX,
    POLYGON,
    STRIP,
    FlatCells,
    check_offsets,
    split_counted,
)

# Keyword → numbers for each point or cell.
_WIDTHS = {
    "VECTORS": 3,
    "NORMALS": 3,
    "TENSORS": 9,
    "TENSORS6": 6,
    "GLOBAL_IDS": 1,
    "PEDIGREE_IDS": 1,
    "EDGE_FLAGS": 1,
}
ARRAY_KEYWORDS = frozenset(
    {*_WIDTHS, "SCALARS", "COLOR_SCALARS", "LOOKUP_TABLE", "TEXTURE_COORDINATES", "FIELD"}
)
# POLYDATA's lists of cells, in the order of cell data.
POLYDATA_LISTS = {
    "VERTICES": POLY_VERTEX,
    "LINES": POLY_LINE,
    "POLYGONS": POLYGON,
    "TRIANGLE_STRIPS": STRIP,
}


@dataclass
class CellList:
    """Cells of one list: where each begins, all corners, and the byte of each cell in the file."""

    starts: Int
    corners: Int
    find_byte: Callable[[int], int]


def read_cell_list(reader: VtkReader) -> CellList:
    """Read what follows the name of a list.

    >>> from pathlib import Path
    >>> cells = read_cell_list(VtkReader(Path("a.vtk"), b"2 7\\n3 0 1 2 2 2 0"))
    >>> cells.starts, cells.corners
    (array([0, 3, 5]), array([0, 1, 2, 2, 0]))
    """
    first, second = reader.take_count("cells"), reader.take_count("entries")
    if reader.peek() != "OFFSETS":
        block = reader.take_integers("vtkidtype", second, 1, "number")
        at, bad = split_counted(block.values, first)
        if bad is not None:
            at_bad = block.find_byte(int(at[bad])) if at[bad] < second else None
            raise reader.error(f"must fit the {second} entries of its list", at_bad, f"cell {bad}")
        if at[-1] != second:
            raise reader.error(
                f"the {first} cells must have {second} entries, got {at[-1]}",
                block.find_byte(int(at[-1])),
            )
        corners = np.delete(block.values, at[:-1])
        return CellList(at - np.arange(first + 1), corners, lambda i: block.find_byte(int(at[i])))
    reader.take_keyword("OFFSETS")
    offsets = reader.take_integers(reader.take_type(), first, 1, "offset")
    reader.take_keyword("CONNECTIVITY")
    connectivity = reader.take_integers(reader.take_type(), second, 1, "corner")
    starts = offsets.values if first else np.zeros(1, np.int64)
    wrong = check_offsets(starts, second)
    if isinstance(wrong, int):
        raise reader.error(
            f"offsets must not decrease, got {starts[wrong + 1]} after {starts[wrong]}",
            offsets.find_byte(wrong + 1),
            f"cell {wrong}",
        )
    if wrong:
        raise reader.error(wrong)

    def find_byte(i: int) -> int:
        if not second:
            return reader.at
        # An empty cell at the end has no corner of its own.
        return connectivity.find_byte(min(int(starts[i]), second - 1))

    return CellList(starts, connectivity.values, find_byte)


def join_lists(reader: VtkReader, lists: Mapping[str, CellList], types: Int | None) -> FlatCells:
    """Return the cells of all lists; in POLYDATA, `types` is None and each list has its type."""
    known = [(name, lists[name]) for name in ("CELLS", *POLYDATA_LISTS) if name in lists]
    counts = [len(cells.starts) - 1 for _, cells in known]
    if types is None:
        types = np.repeat(np.array([POLYDATA_LISTS[name] for name, _ in known], np.int64), counts)
    before = np.cumsum([0, *(len(cells.corners) for _, cells in known)])
    starts = [cells.starts[1:] + at for (_, cells), at in zip(known, before[:-1], strict=True)]
    first = np.cumsum([0, *counts])

    def make_error(message: str, cell: int) -> MeshError:
        i = int(np.searchsorted(first, cell, side="right")) - 1
        return reader.error(message, known[i][1].find_byte(cell - int(first[i])), f"cell {cell}")

    corners = [cells.corners for _, cells in known]
    return FlatCells(
        types,
        np.concatenate([np.zeros(1, np.int64), *starts]),
        np.concatenate([np.empty(0, np.int64), *corners]),
        make_error,
    )


def read_array(
    reader: VtkReader,
    keyword: str,
    rows: int | None,
    what: str,
    arrays: Arrays,
    left_out: list[str],
) -> None:
    """Read what follows a keyword into `arrays`.

    rows : number of points or cells; None for the data set itself
    what : "point" or "cell"

    >>> from pathlib import Path
    >>> found = {}
    >>> reader = VtkReader(Path("a.vtk"), b"T float\\nLOOKUP_TABLE default\\n1 2")
    >>> read_array(reader, "SCALARS", 2, "point", found, [])
    >>> found
    {'T': array([1., 2.], dtype=float32)}
    """
    if keyword == "FIELD":
        _read_field(reader, rows, what, arrays, left_out)
        return
    if rows is None:
        raise reader.error(f"{keyword} must follow POINT_DATA or CELL_DATA")
    name = _take_name(reader)
    if keyword == "LOOKUP_TABLE":
        reader.take_numbers(
            "float" if reader.ascii else "unsigned_char", reader.take_count("colours"), 4, "colour"
        )
        left_out.append(f"look-up table '{name}'")
        return
    width = _WIDTHS.get(keyword, 1)
    if keyword == "COLOR_SCALARS":
        width = _parse_components(reader, reader.take_word("the number of components"))
        type_ = "float" if reader.ascii else "unsigned_char"
    elif keyword == "TEXTURE_COORDINATES":
        width = _parse_components(reader, reader.take_word("the number of components"))
        type_ = reader.take_type()
    else:
        type_ = reader.take_type()
    if keyword == "SCALARS":
        width = _parse_components(reader, (reader.take_rest_of_line() or [b"1"])[0])
        reader.take_keyword("LOOKUP_TABLE")
        reader.take_word("the name of a look-up table")
    _read_numbers(reader, name, type_, (rows, width), what, arrays, left_out)


def _read_field(
    reader: VtkReader, rows: int | None, what: str, arrays: Arrays, left_out: list[str]
) -> None:
    """Read `FIELD name k`, then k times: name, components, rows, type, numbers."""
    reader.take_word("the name of a field")
    for _ in range(reader.take_count("arrays")):
        while reader.peek() == "METADATA":
            reader.skip_paragraph()
        name = _take_name(reader)
        if name == "NULL_ARRAY":
            continue
        width = _parse_components(reader, reader.take_word("the number of components"))
        count = reader.take_count("rows")
        if rows is not None and count != rows:
            raise reader.error(
                f"the array '{name}' must have {rows} rows, one per {what}, got {count}"
            )
        _read_numbers(
            reader,
            name,
            reader.take_type(),
            (count, width),
            what if rows is not None else "row",
            arrays,
            left_out,
        )
        if rows is None:
            left_out.append(f"field '{name}'")


def _read_numbers(
    reader: VtkReader,
    name: str,
    type_: str,
    shape: tuple[int, int],
    what: str,
    arrays: Arrays,
    left_out: list[str],
) -> None:
    """Read rows × width numbers into `arrays`, or skip as many strings."""
    if type_ == "string":
        reader.skip_strings(shape[0] * shape[1])
        left_out.append(f"strings '{name}'")
        return
    if name in arrays:
        raise reader.error(f"names of arrays must differ, got '{name}' twice")
    if len(arrays) == MAX_ARRAYS:
        raise reader.error(f"there must be at most {MAX_ARRAYS} arrays on {what}s; leave some out")
    values = reader.take_numbers(type_, *shape, what).values
    arrays[name] = values if shape[1] == 1 else values.reshape(shape)


def _take_name(reader: VtkReader) -> str:
    """Return the next word as a name, with %20 and the like decoded."""
    return unquote_to_bytes(reader.take_word("the name of an array")).decode(
        "utf-8", "backslashreplace"
    )


def _parse_components(reader: VtkReader, word: bytes) -> int:
    """Return a word as a number of components, at least one."""
    width = reader.parse_count(word, "components")
    if not width:
        raise reader.error("the number of components must be at least 1, got 0")
    return width
