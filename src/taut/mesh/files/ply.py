"""Stanford PLY, text and binary: vertices, faces of any size, edges, triangle strips. `ply_mesh` says what properties become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.binary import Binary
from taut.mesh.files.blocks import one_word
from taut.mesh.files.ply_body import Columns, from_binary, from_text
from taut.mesh.files.ply_header import TYPES, parse
from taut.mesh.files.ply_mesh import GROUP, TEXTURE_LIST, mesh_from
from taut.mesh.files.text import Rows
from taut.mesh.mesh import Mesh

NAME = "PLY"
CELLS = frozenset({"line", "triangle", "quad", "polygon"})
KEEPS = frozenset({"groups", "point_data", "cell_data", "uv"})


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a PLY file."""
    end = data.find(b"end_header")
    breaks = [i for i in (data.find(b"\n", end), data.find(b"\r", end)) if i >= 0] if end >= 0 else []
    stop = min(breaks, default=len(data))
    header = Rows(path, data[:stop], comment=b"")
    form, elements = parse(header)
    columns: dict[str, Columns] = {}
    lines: dict[str, list[int]] = {}
    if form == "ascii":
        rows = Rows(path, data, comment=b"")
        rows.at = header.at
        for element in elements:
            columns[element.name], lines[element.name] = from_text(rows, element)
    else:
        binary = Binary(path, data, stop + (2 if data[stop : stop + 2] == b"\r\n" else 1))
        for element in elements:
            columns[element.name] = from_binary(binary, element)
    return mesh_from(path, columns, lines)


def write(mesh: Mesh) -> bytes:
    """The mesh as a binary PLY file in double precision. Texture coordinates stand at the faces, groups in 0/1 properties."""
    position = dict(zip("xyz", mesh.positions.T, strict=True))
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {mesh.n}"]
    vertices, lines = _table(mesh.n, position | _plain_colour(mesh.point_data) | _flags(mesh, "point", mesh.n))
    header += lines
    faces = [k.name for k, _ in mesh.blocks(2)]
    body = [vertices]
    for element, kinds in (("face", faces), ("edge", [k.name for k, _ in mesh.blocks(1)])):
        lines = []
        for kind in kinds:
            block, lines = _table(len(mesh.cells[kind]), _cell_columns(mesh, kind, faces if element == "face" else kinds))
            body.append(block)
        if kinds:
            header += [f"element {element} {sum(len(mesh.cells[k]) for k in kinds)}", *lines]
    return "\n".join([*header, "end_header\n"]).encode() + b"".join(body)


def _cell_columns(mesh: Mesh, kind: str, kinds: list[str]) -> dict[str, NDArray[Any]]:
    """The properties of the cells of one kind; data that they have not, but others of these kinds have, are zero."""
    cells = mesh.cells[kind]
    corners = cells.astype(np.int32)
    columns: dict[str, NDArray[Any]] = (
        {"vertex1": corners[:, 0], "vertex2": corners[:, 1]} if kind == "line" else {"vertex_indices": corners}
    )
    if mesh.uv is not None and kind != "line":
        where = mesh.uv.corners.get(kind, np.full(cells.shape, -1))
        coordinates = np.concatenate([mesh.uv.coordinates, [[np.nan, np.nan]]])  # where there is none, -1 finds the last
        found = coordinates[where]
        columns[TEXTURE_LIST] = found.reshape(len(cells), -1)
    for name, by_kind in mesh.cell_data.items():
        like = next((by_kind[k] for k in kinds if k in by_kind), None)
        if like is not None:
            columns[name] = by_kind.get(kind, np.zeros((len(cells), *like.shape[1:]), like.dtype))
    for name, by_kind in mesh.groups.items():
        if any(k in by_kind for k in kinds):
            columns |= _flags(mesh, kind, len(cells), name)
    return columns


def _flags(mesh: Mesh, kind: str, count: int, only: str | None = None) -> dict[str, NDArray[Any]]:
    """Membership in groups as 0 or 1 for each point or cell of a kind."""
    found = {}
    for name in [only] if only is not None else [n for n, by_kind in mesh.groups.items() if kind in by_kind]:
        flag = np.zeros(count, np.uint8)
        flag[mesh.groups[name].get(kind, np.empty(0, np.int64))] = 1
        found[GROUP + one_word(name)] = flag
    return found


def _plain_colour(maps: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Maps with "color" as red, green and blue: as bytes if that is exact."""
    color = maps.get("color")
    if color is None or color.ndim != 2 or color.shape[1] != 3:
        return maps
    steps = np.round(color * 255)
    if len(color) and color.min() >= 0 and color.max() <= 1 and (steps / 255 == color).all():
        color = steps.astype(np.uint8)
    return {name: m for name, m in maps.items() if name != "color"} | dict(zip(("red", "green", "blue"), color.T, strict=True))


def _table(count: int, columns: dict[str, NDArray[Any]]) -> tuple[bytes, list[str]]:
    """Rows of these columns in binary, and the lines of the header that say so; a column (m, k) is a list."""
    fields: list[tuple[Any, ...]] = []
    lines = []
    stored = {name: _storable(column) for name, column in columns.items()}
    for i, (name, column) in enumerate(stored.items()):
        word = next(word for word, code in TYPES.items() if np.dtype(code) == column.dtype)
        if column.ndim == 1:
            fields.append((f"p{i}", column.dtype))
            lines.append(f"property {word} {one_word(name)}")
        else:
            fields += [(f"n{i}", "<i4"), (f"p{i}", column.dtype, column.shape[1:])]
            lines.append(f"property list int {word} {one_word(name)}")
    table = np.zeros(count, np.dtype(fields))
    for i, column in enumerate(stored.values()):
        table[f"p{i}"] = column
        if column.ndim == 2:
            table[f"n{i}"] = column.shape[1]
    return table.tobytes(), lines


def _storable(column: NDArray[Any]) -> NDArray[Any]:
    """In a type that PLY has: integers of 64 bits become shorter ones, or doubles if they do not fit."""
    if column.dtype.kind in "iu" and column.dtype.itemsize == 8:
        fits = not column.size or (column.min() >= -(2**31) and column.max() < 2**31)
        return column.astype("<i4" if fits else "<f8")
    if column.dtype.kind == "b":
        return column.astype("u1")
    return column.astype(column.dtype.newbyteorder("<") if column.dtype.itemsize > 2 or column.dtype.kind != "f" else "<f4")
