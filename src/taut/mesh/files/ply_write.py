"""A mesh as a binary PLY file: texture coordinates stand at the faces, groups and data in properties (`over_all_cells`).

Names are written as `ply_names` says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.numbers import LARGEST
from taut.mesh.files.over_all_cells import GROUP, alike, marks, only, padded
from taut.mesh.files.ply_corners import TEXTURE
from taut.mesh.files.ply_header import TYPES
from taut.mesh.files.ply_mesh import COLOUR, CORNERS, ENDS, NORMAL, TEXTURE_LIST
from taut.mesh.files.ply_names import encode
from taut.mesh.mesh import Mesh

WORDS = {np.dtype(f"<{code}"): word for word, code in reversed(TYPES.items())}
Column = NDArray[Any]
Columns = dict[str, Column]
_NONE = np.empty(0, np.int64)  # members


def write(mesh: Mesh) -> bytes:
    """The mesh as a binary PLY file in double precision."""
    fields, vertices = _table([dict(zip("xyz", mesh.positions.T, strict=True)) | _point_columns(mesh)])
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {mesh.n}", *fields]
    body = [vertices]
    for element, dimension in (("face", 2), ("edge", 1)):
        sizes = {k.name: len(c) for k, c in mesh.blocks(dimension)}
        if sizes:
            shared = _cell_columns(mesh, sizes)
            parts, at = [], 0
            for kind, size in sizes.items():
                parts.append(_corners(mesh, kind) | {name: values[at : at + size] for name, values in shared.items()})
                at += size
            fields, block = _table(parts)
            header += [f"element {element} {at}", *fields]
            body.append(block)
    return "\n".join([*header, "end_header\n"]).encode() + b"".join(body)


def _corners(mesh: Mesh, kind: str) -> Columns:
    """The corners of the cells of a kind, and texture coordinates at them."""
    cells = mesh.cells[kind]
    corners = cells.astype(np.int32)
    if kind == "line":
        return dict(zip(ENDS, corners.T, strict=True))
    if mesh.uv is None:
        return {CORNERS[0]: corners}
    where = mesh.uv.corners.get(kind, np.full(cells.shape, -1))
    coordinates = np.concatenate([mesh.uv.coordinates.reshape(-1, 2), [[np.nan, np.nan]]])  # -1, for none, finds the last
    return {CORNERS[0]: corners, TEXTURE_LIST: coordinates[where].reshape(len(cells), -1)}


def _point_columns(mesh: Mesh) -> Columns:
    """Data and groups of the points; a group without members stands here."""
    textured = mesh.uv is not None and bool(mesh.blocks(2))  # at the faces, so that no map is taken for texture coordinates
    columns = _data(mesh.point_data, {*"xyz", *NORMAL}, () if textured else TEXTURE)
    color = mesh.point_data.get("color")
    if color is not None and (parts := _plain_colour(color)) is not None:
        double = [name for name in COLOUR if name in columns]
        if double:
            raise MeshError(f"data called '{double[0]}' and a part of 'color' that PLY calls so too; give the data another name")
        del columns["color"]
        columns |= parts
    for name, members in mesh.groups.items():
        if "point" in members or not members:
            columns[GROUP + encode(name)] = marks(members.get("point", _NONE), mesh.n)
    return columns


def _cell_columns(mesh: Mesh, sizes: dict[str, int]) -> Columns:
    """Data and groups of all cells of these kinds, one kind after the other."""
    here = {name: {kind: by_kind[kind] for kind in sizes if kind in by_kind} for name, by_kind in mesh.cell_data.items()}
    whole = {name: np.concatenate(list(by_kind.values())) for name, by_kind in here.items() if alike(by_kind, sizes)}
    columns = _data(whole, {*CORNERS, TEXTURE_LIST, *ENDS}, ())
    for name in [name for name in here if name not in whole]:
        for kind, values in here[name].items():
            columns[only(kind, encode(name))] = padded(_storable(name, values), kind, sizes)
    for name, members in mesh.groups.items():
        if any(kind in members for kind in sizes):
            columns[GROUP + encode(name)] = np.concatenate([marks(members.get(kind, _NONE), size) for kind, size in sizes.items()])
    return columns


def _data(maps: Columns, reserved: set[str], together: tuple[tuple[str, ...], ...]) -> Columns:
    """Data by the names of their properties; a name, or names together, that would be read as something else are an error."""
    for name in maps:
        if name in reserved:
            raise MeshError(f"PLY means something else by '{name}'; give the data of this name another")
    for names in (*together, *(() if "color" in maps else (COLOUR,))):
        if all(name in maps and maps[name].ndim == 1 for name in names):
            raise MeshError(f"PLY means something else by {', '.join(names)} together; give the data of one of these names another")
    return {encode(name): _storable(name, values) for name, values in maps.items()}


def _plain_colour(color: Column) -> Columns | None:
    """Colours from 0 to 1 as red, green and blue, as bytes if that is exact; None if they are something else."""
    if color.ndim != 2 or color.shape[1] != 3 or color.dtype.kind != "f" or not ((color >= 0) & (color <= 1)).all():
        return None
    steps = np.round(color * 255)
    exact = color.dtype == np.float64 and bool((steps / 255 == color).all())
    return dict(zip(COLOUR, (steps.astype(np.uint8) if exact else _storable("color", color)).T, strict=True))


def _table(parts: list[Columns]) -> tuple[list[str], bytes]:
    """The lines of the header on these columns, and their rows, part after part; a column (m, k) is a list."""
    lines, blocks = list[str](), list[bytes]()
    for columns in parts:
        lines, fields = [], list[tuple[Any, ...]]()
        for i, (name, column) in enumerate(columns.items()):
            dtype = column.dtype.newbyteorder("<")
            if column.ndim == 1:
                fields.append((f"p{i}", dtype))
                lines.append(f"property {WORDS[dtype]} {name}")
            else:
                fields += [(f"n{i}", "<i4"), (f"p{i}", dtype, column.shape[1:])]
                lines.append(f"property list int {WORDS[dtype]} {name}")
        table = np.zeros(len(next(iter(columns.values()))), np.dtype(fields))
        for i, column in enumerate(columns.values()):
            table[f"p{i}"] = column
            if column.ndim == 2:
                table[f"n{i}"] = column.shape[1]
        blocks.append(table.tobytes())
    return lines, b"".join(blocks)


def _storable(name: str, column: Column) -> Column:
    """In a type that PLY has: integers of 64 bits become shorter ones, or doubles if they do not fit."""
    if column.ndim == 2 and not column.shape[1]:
        raise MeshError(f"PLY cannot hold the data '{name}': they have no components")
    if column.dtype.kind == "f":
        return column.astype(np.float32 if column.dtype.itemsize <= 4 else np.float64)
    if column.dtype.itemsize < 8:
        return column.astype(np.uint8 if column.dtype.kind == "b" else column.dtype)
    low, high = (int(column.min()), int(column.max())) if column.size else (0, 0)
    for short in (np.int32, np.uint32):
        if np.iinfo(short).min <= low and high <= np.iinfo(short).max:
            return column.astype(short)
    if max(-low, high) > LARGEST:
        raise MeshError(f"PLY cannot hold the data '{name}': whole numbers beyond 2**53; make them floats")
    return column.astype(np.float64)
