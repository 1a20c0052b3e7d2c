"""Stanford PLY, text and binary: vertices, faces of any size, edges, triangle strips.

Files are written in binary and double precision: texture coordinates at the faces, groups and data
as properties (see `cells_and_groups`).

_header    the elements of a file, how many there are, and their properties
_rows      the rows of elements as columns, from text or from bytes
_mesh      what the properties mean
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.cells_and_groups import (
    GROUP_PREFIX,
    is_uniform,
    mark_members,
    name_for_kind,
    pad_to_all_cells,
)
from taut.mesh.files.numbers import LARGEST_EXACT_INTEGER, ByteReader
from taut.mesh.files.ply._header import TYPES, Table, encode_name, find_body, parse_header
from taut.mesh.files.ply._mesh import (
    COLOUR,
    CORNER_LISTS,
    ENDS,
    NORMAL,
    TEXTURE_LIST,
    TEXTURE_PAIRS,
    build_mesh,
)
from taut.mesh.files.ply._rows import TextBody, read_binary_rows
from taut.mesh.files.text_reader import LineReader
from taut.mesh.mesh import Mesh

NAME = "PLY"
CELLS = frozenset({"line", "triangle", "quad", "polygon"})
KEEPS = frozenset({"groups", "point_data", "cell_data", "uv"})
_LINE_BREAKS = (b"", b"\n", b"\r\n", b"\r")  # may follow the last element of a binary file
_TYPE_NAMES = {np.dtype(f"<{code}"): name for name, code in reversed(TYPES.items())}
_NO_MEMBERS = np.empty(0, np.int64)
_Column = NDArray[Any]
_Columns = dict[str, _Column]


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in a PLY file."""
    start = find_body(data)
    form, elements = parse_header(LineReader(path, data[:start], comment=b""))
    elements = [element for element in elements if element.count or element.name == "vertex"]
    tables: dict[str, Table] = {}
    if form == "ascii":
        text = TextBody(path, data, start)
        for element in elements:
            tables[element.name] = text.read_rows(element)
        text.check_end()
    else:
        binary = ByteReader(path, data, start)
        for element in elements:
            tables[element.name] = read_binary_rows(binary, element)
        if data[binary.position : binary.position + 3] not in _LINE_BREAKS:
            raise binary.error(
                f"the file must end after its last element, got {binary.remaining} more bytes"
            )
    return build_mesh(path, len(data), tables)


def write(mesh: Mesh) -> bytes:
    """Return the mesh as a binary PLY file in double precision."""
    positions = dict(zip("xyz", mesh.positions.T, strict=True))
    fields, vertices = _pack_rows([positions | _make_point_columns(mesh)])
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {mesh.n}", *fields]
    body = [vertices]
    for element, dimension in (("face", 2), ("edge", 1)):
        sizes = {kind.name: len(cells) for kind, cells in mesh.blocks(dimension)}
        if not sizes:
            continue
        shared = _make_cell_columns(mesh, sizes)
        parts, first = [], 0
        for kind, size in sizes.items():
            own = {name: values[first : first + size] for name, values in shared.items()}
            parts.append(_make_corner_columns(mesh, kind) | own)
            first += size
        fields, block = _pack_rows(parts)
        header += [f"element {element} {first}", *fields]
        body.append(block)
    return "\n".join([*header, "end_header\n"]).encode() + b"".join(body)


def _make_corner_columns(mesh: Mesh, kind: str) -> _Columns:
    """Return the corners of the cells of a kind, and texture coordinates at them."""
    cells = mesh.cells[kind]
    corners = cells.astype(np.int32)
    if kind == "line":
        return dict(zip(ENDS, corners.T, strict=True))
    if mesh.uv is None:
        return {CORNER_LISTS[0]: corners}
    index = mesh.uv.corners.get(kind, np.full(cells.shape, -1))
    # The index -1 of corners without coordinates takes the last row, which is NaN.
    coordinates = np.concatenate([mesh.uv.coordinates.reshape(-1, 2), [[np.nan, np.nan]]])
    return {CORNER_LISTS[0]: corners, TEXTURE_LIST: coordinates[index].reshape(len(cells), -1)}


def _make_point_columns(mesh: Mesh) -> _Columns:
    """Return data and groups of the points, and groups without members."""
    # Where faces have texture coordinates, no pair of maps is read as such.
    has_face_uv = mesh.uv is not None and bool(mesh.blocks(2))
    columns = _make_data_columns(
        mesh.point_data, {*"xyz", *NORMAL}, () if has_face_uv else TEXTURE_PAIRS
    )
    color = mesh.point_data.get("color")
    colour_columns = None if color is None else _split_colour(color)
    if colour_columns is not None:
        for name in COLOUR:
            if name in columns:
                raise MeshError(
                    f"data names must differ in PLY, got '{name}' and a part of 'color' "
                    "with this name; rename the data"
                )
        del columns["color"]
        columns |= colour_columns
    for name, members in mesh.groups.items():
        if "point" in members or not members:
            marks = mark_members(members.get("point", _NO_MEMBERS), mesh.n)
            columns[GROUP_PREFIX + encode_name(name)] = marks
    return columns


def _make_cell_columns(mesh: Mesh, sizes: dict[str, int]) -> _Columns:
    """Return data and groups of all cells of these kinds, kind after kind."""
    data = {
        name: {kind: by_kind[kind] for kind in sizes if kind in by_kind}
        for name, by_kind in mesh.cell_data.items()
    }
    uniform = {
        name: np.concatenate(list(by_kind.values()))
        for name, by_kind in data.items()
        if is_uniform(by_kind, sizes)
    }
    columns = _make_data_columns(uniform, {*CORNER_LISTS, TEXTURE_LIST, *ENDS}, ())
    for name, by_kind in data.items():
        if name in uniform:
            continue
        for kind, values in by_kind.items():
            column = pad_to_all_cells(_convert(name, values), kind, sizes)
            columns[name_for_kind(kind, encode_name(name))] = column
    for name, members in mesh.groups.items():
        if any(kind in members for kind in sizes):
            columns[GROUP_PREFIX + encode_name(name)] = np.concatenate(
                [mark_members(members.get(kind, _NO_MEMBERS), size) for kind, size in sizes.items()]
            )
    return columns


def _make_data_columns(
    maps: _Columns, reserved: set[str], reserved_together: tuple[tuple[str, ...], ...]
) -> _Columns:
    """Return data by the names of their properties.

    reserved : names with another meaning in PLY, which are an error
    reserved_together : names with another meaning if all of them are there
    """
    for name in maps:
        if name in reserved:
            raise MeshError(f"data must not be called '{name}' in PLY, a reserved name; rename it")
    if "color" not in maps:
        reserved_together = (*reserved_together, COLOUR)
    for names in reserved_together:
        if all(name in maps and maps[name].ndim == 1 for name in names):
            raise MeshError(
                f"data must not be called {', '.join(names)} together in PLY, which have another "
                "meaning; rename one"
            )
    return {encode_name(name): _convert(name, values) for name, values in maps.items()}


def _split_colour(color: _Column) -> _Columns | None:
    """Return colours from 0 to 1 as red, green and blue; None if they are something else."""
    if color.ndim != 2 or color.shape[1] != 3 or color.dtype.kind != "f":
        return None
    if not ((color >= 0) & (color <= 1)).all():
        return None
    steps = np.round(color * 255)
    if color.dtype == np.float64 and (steps / 255 == color).all():
        values: _Column = steps.astype(np.uint8)  # bytes are exact, and every program reads them
    else:
        values = _convert("color", color)
    return dict(zip(COLOUR, values.T, strict=True))


def _pack_rows(parts: list[_Columns]) -> tuple[list[str], bytes]:
    """Return the header lines of the columns, and the rows of all parts.

    A column of shape (m, k) is a list; k may differ between parts, names and types may not.
    """
    lines: list[str] = []
    blocks: list[bytes] = []
    for columns in parts:
        lines = []
        fields: list[tuple[Any, ...]] = []
        for i, (name, column) in enumerate(columns.items()):
            dtype = column.dtype.newbyteorder("<")
            if column.ndim == 1:
                fields.append((f"p{i}", dtype))
                lines.append(f"property {_TYPE_NAMES[dtype]} {name}")
            else:
                fields += [(f"n{i}", "<i4"), (f"p{i}", dtype, column.shape[1:])]
                lines.append(f"property list int {_TYPE_NAMES[dtype]} {name}")
        rows = np.zeros(len(next(iter(columns.values()))), np.dtype(fields))
        for i, column in enumerate(columns.values()):
            rows[f"p{i}"] = column
            if column.ndim == 2:
                rows[f"n{i}"] = column.shape[1]
        blocks.append(rows.tobytes())
    return lines, b"".join(blocks)


def _convert(name: str, column: _Column) -> _Column:
    """Return a column in a type of PLY, which has no integers of 64 bits."""
    if column.ndim == 2 and not column.shape[1]:
        raise MeshError(f"data must have components in PLY, got none in '{name}'")
    if column.dtype.kind == "f":
        return column.astype(np.float32 if column.dtype.itemsize <= 4 else np.float64)
    if column.dtype.kind == "b":
        return column.astype(np.uint8)
    if column.dtype.itemsize < 8:
        return column
    low, high = (int(column.min()), int(column.max())) if column.size else (0, 0)
    for shorter in (np.int32, np.uint32):
        if np.iinfo(shorter).min <= low and high <= np.iinfo(shorter).max:
            return column.astype(shorter)
    if max(-low, high) > LARGEST_EXACT_INTEGER:
        raise MeshError(
            f"integers must be at most 2**53 in PLY, got larger ones in '{name}'; make them floats"
        )
    return column.astype(np.float64)
