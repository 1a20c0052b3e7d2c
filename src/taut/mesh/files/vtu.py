"""VTK's XML files of unstructured grids (.vtu), in any encoding; written with the numbers inline in base64.

    <VTKFile type="UnstructuredGrid" …><UnstructuredGrid><Piece NumberOfPoints="n" NumberOfCells="m">
      <Points>    one array of n × 3 coordinates [m]
      <Cells>     the arrays connectivity, offsets (where the corners of each cell end) and types
      <PointData> <CellData>  arrays with names

Several pieces become one mesh: their points and cells one after the other, none merged.
"""

from __future__ import annotations

import logging
from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.vtk_arrays import MOST, Arrays, arrays, assemble
from taut.mesh.files.vtk_cells import KINDS, Flat, check_offsets, flatten
from taut.mesh.files.vtk_types import XML_TYPES
from taut.mesh.files.vtu_decode import Decoder
from taut.mesh.files.vtu_xml import Array, Document, Piece, parse
from taut.mesh.mesh import Mesh

NAME = "VTU"
CELLS = KINDS
KEEPS = frozenset({"groups", "point_data", "cell_data"})
_log = logging.getLogger("taut")
_TYPE_NAMES = {np.dtype(code): name for name, code in XML_TYPES.items()}


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a .vtu file.

    >>> tile = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], {"triangle": [[0, 1, 2]]})
    >>> read(Path("tile.vtu"), write(tile))
    Mesh(3 points, 1 triangle)
    """
    document = parse(path, data)
    if not document.pieces:
        raise document.error("there is no <Piece> in it", document.line)
    decoder = Decoder(document, len(data))
    left_out = [f"field '{name}'" for name in document.fields]
    pieces = [_Part(document, decoder, piece, left_out) for piece in document.pieces]
    if left_out:
        _log.info("%s: left out: %s", path, ", ".join(dict.fromkeys(left_out)))
    whole = [part for part in pieces if len(part.points) or len(part.types)] or pieces[
        :1
    ]  # a rank without points writes an empty piece
    on_points, on_cells = (_joined(document, [getattr(part, which) for part in whole]) for which in ("on_points", "on_cells"))
    return assemble(path, np.concatenate([part.points for part in whole]), _flat(document, whole), on_points, on_cells)


def write(mesh: Mesh) -> bytes:
    """The mesh as a .vtu file.

    >>> print(write(Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}))[:98].decode())
    <VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">
    <Un
    """
    types, starts, corners = flatten(mesh)
    on_points, on_cells = arrays(mesh, NAME)
    sections: dict[str, Arrays] = {
        "Points": {"Points": mesh.positions},
        "Cells": {"connectivity": corners, "offsets": starts[1:], "types": types},
        "PointData": on_points,
        "CellData": on_cells,
    }
    lines = [
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
        "<UnstructuredGrid>",
        f'<Piece NumberOfPoints="{mesh.n}" NumberOfCells="{len(types)}">',
    ]
    for section, some in sections.items():
        lines += [f"<{section}>", *(_element(name, values) for name, values in some.items()), f"</{section}>"]
    return "\n".join([*lines, "</Piece>", "</UnstructuredGrid>", "</VTKFile>", ""]).encode()


def _element(name: str, values: NDArray[Any]) -> str:
    """One <DataArray>."""
    content = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
    text = b64encode(np.array(len(content), "<u8").tobytes() + content).decode()
    width = values.shape[1] if values.ndim == 2 else 1
    head = f'type="{_TYPE_NAMES[values.dtype]}" Name={quoteattr(name)} NumberOfComponents="{width}" format="binary"'
    return f"<DataArray {head}>\n{text}\n</DataArray>"


class _Part:
    """One piece, decoded."""

    def __init__(self, document: Document, decoder: Decoder, piece: Piece, left_out: list[str]) -> None:
        self.document, self.decoder = document, decoder
        n, m = self._count(piece, "NumberOfPoints"), self._count(piece, "NumberOfCells")
        self.points = self._points(piece, n)
        found = {array.name: array for array in piece.arrays["Cells"]}
        missing = {"connectivity", "offsets", "types"} - set(found)
        if missing and m:
            raise document.error(f"the cells have no array '{min(missing)}'", piece.line)
        self.line = found["connectivity"].line if m else piece.line
        self.types = self._whole(found["types"], m) if m else np.empty(0, np.int64)
        ends = self._whole(found["offsets"], m) if m else np.empty(0, np.int64)
        self.corners = self._whole(found["connectivity"], None) if m else np.empty(0, np.int64)
        self.starts = np.concatenate([np.zeros(1, np.int64), ends])
        wrong = check_offsets(self.starts, len(self.corners))
        if isinstance(wrong, int):
            message = f"its corners end at {self.starts[wrong + 1]}, before they begin"
            raise document.error(message, found["offsets"].line, f"cell {wrong}")
        if wrong:
            raise document.error(wrong, self.line)
        self.on_points = self._data(piece, "PointData", n, "point", left_out)
        self.on_cells = self._data(piece, "CellData", m, "cell", left_out)

    def _count(self, piece: Piece, name: str) -> int:
        text = piece.attributes.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise self.document.error(f"{name} of the <Piece> is {text[:40]!r}, not a number", piece.line)
        return int(text)

    def _points(self, piece: Piece, n: int) -> NDArray[np.float64]:
        given = piece.arrays["Points"]
        if not n:
            return np.empty((0, 3))
        if len(given) != 1:
            raise self.document.error(f"<Points> has {len(given)} arrays, not one", piece.line)
        points = self.decoder.numbers(given[0], n, "point")
        if points.shape != (n, 3):
            raise self.document.error("the points do not have 3 components", given[0].line)
        bad = np.flatnonzero(~np.isfinite(points).all(axis=1))  # before the cast, which warns of signalling NaNs
        if len(bad):
            raise self.document.error("a number is not finite", given[0].line, f"point {bad[0]}")
        return points.astype(np.float64)

    def _whole(self, array: Array, rows: int | None) -> NDArray[np.int64]:
        values = self.decoder.numbers(array, rows, "corner" if rows is None else "cell")
        if values.dtype.kind == "f" or (rows is not None and values.ndim != 1):
            raise self.document.error(f"the array '{array.name}' is not one whole number for each cell or corner", array.line)
        return values.astype(np.int64)

    def _data(self, piece: Piece, section: str, rows: int, what: str, left_out: list[str]) -> Arrays:
        found: Arrays = {}
        for array in piece.arrays[section]:
            if array.attributes.get("type") == "String":
                left_out.append(f"strings '{array.name}'")
            elif array.name in found:
                raise self.document.error(f"there are two arrays called '{array.name}'", array.line)
            elif len(found) == MOST:
                raise self.document.error(f"there are more than {MOST} arrays on {what}s; leave some out", array.line)
            else:
                found[array.name] = self.decoder.numbers(array, rows, what)
        return found


def _joined(document: Document, parts: list[Arrays]) -> Arrays:
    """The arrays of all pieces, one after the other; a piece without one of them is an error."""
    found: Arrays = {}
    for name in parts[0]:
        blocks = [part.get(name) for part in parts]
        if len({None if block is None else (block.dtype, block.shape[1:]) for block in blocks}) > 1:
            raise document.error(f"not every <Piece> has the array '{name}' with the same type and components", document.line)
        found[name] = np.concatenate([block for block in blocks if block is not None]) if len(parts) > 1 else parts[0][name]
    extra = [name for part in parts for name in part if name not in found]
    if extra:
        raise document.error(f"not every <Piece> has the array '{extra[0]}'", document.line)
    return found


def _flat(document: Document, parts: list[_Part]) -> Flat:
    """The cells of all pieces, each counting its own points from 0."""
    first_point = np.cumsum([0, *(len(part.points) for part in parts)])
    first_corner = np.cumsum([0, *(len(part.corners) for part in parts)])
    first_cell = np.cumsum([0, *(len(part.types) for part in parts)])
    starts = [part.starts[1:] + at for part, at in zip(parts, first_corner[:-1], strict=True)]

    def fail(lines: list[int], message: str, cell: int) -> MeshError:
        return document.error(message, lines[int(np.searchsorted(first_cell, cell, side="right")) - 1], f"cell {cell}")

    for part in parts:
        outside = np.flatnonzero((part.corners < 0) | (part.corners >= len(part.points)))
        if len(parts) > 1 and len(
            outside
        ):  # in one piece the mesh itself would be told; here the next piece's points would be taken
            message = f"it names point {part.corners[outside[0]]}; there are {len(part.points)} in its <Piece>"
            cell = int(np.searchsorted(part.starts, outside[0], side="right")) - 1
            raise document.error(message, part.line, f"cell {cell}")
    return Flat(
        np.concatenate([part.types for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *starts]),
        np.concatenate([part.corners + at for part, at in zip(parts, first_point[:-1], strict=True)]),
        partial(fail, [part.line for part in parts]),
    )
