"""VTK's XML files of unstructured grids (.vtu), in any encoding; written with inline base64.

    <VTKFile type="UnstructuredGrid" …><UnstructuredGrid>
    <Piece NumberOfPoints="n" NumberOfCells="m">
      <Points>    one array of n × 3 coordinates [m]
      <Cells>     the arrays connectivity, offsets (where the corners of each cell end) and types
      <PointData> <CellData>  arrays with names

Several pieces become one mesh: points and cells of one after the other, nothing merged.

_xml       parse the XML: arrays with their attributes, text and line
_decode    decode the arrays: text or bytes, inline or appended, compressed
"""

from __future__ import annotations

import logging
from base64 import b64encode
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.mesh.files.text_reader import explain_unknown_point
from taut.mesh.files.vtk.arrays import MAX_ARRAYS, Arrays, build_mesh, make_arrays
from taut.mesh.files.vtk.cells import KINDS, FlatCells, check_offsets, flatten
from taut.mesh.files.vtu._decode import XML_TYPES, Decoder
from taut.mesh.files.vtu._xml import Array, Document, Piece, parse_document
from taut.mesh.mesh import Mesh

NAME = "VTU"
CELLS = KINDS
KEEPS = frozenset({"groups", "point_data", "cell_data"})
_log = logging.getLogger("taut")
_TYPE_NAMES = {np.dtype(code): name for name, code in XML_TYPES.items()}


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in a .vtu file.

    >>> tile = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], {"triangle": [[0, 1, 2]]})
    >>> read(Path("tile.vtu"), write(tile))
    Mesh(3 points, 1 triangle)
    """
    document = parse_document(path, data)
    if not document.pieces:
        raise document.error("the file must have a <Piece>, got none", document.line)
    decoder = Decoder(document, len(data))
    left_out = [f"field '{name}'" for name in document.fields]
    pieces = [_DecodedPiece(document, decoder, piece, left_out) for piece in document.pieces]
    if left_out:
        _log.info("%s: left out: %s", path, ", ".join(dict.fromkeys(left_out)))
    # A process without points writes an empty piece, which lacks the arrays of the others.
    parts = [part for part in pieces if len(part.points) or len(part.types)] or pieces[:1]
    return build_mesh(
        path,
        np.concatenate([part.points for part in parts]),
        _join_cells(document, parts),
        _join_arrays(document, [part.on_points for part in parts]),
        _join_arrays(document, [part.on_cells for part in parts]),
    )


def write(mesh: Mesh) -> bytes:
    """Return the mesh as a .vtu file.

    >>> print(write(Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}))[:98].decode())
    <VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">
    <Un
    """
    types, starts, corners = flatten(mesh)
    on_points, on_cells = make_arrays(mesh, NAME)
    sections: dict[str, Arrays] = {
        "Points": {"Points": mesh.positions},
        "Cells": {"connectivity": corners, "offsets": starts[1:], "types": types},
        "PointData": on_points,
        "CellData": on_cells,
    }
    lines = [
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
        'header_type="UInt64">',
        "<UnstructuredGrid>",
        f'<Piece NumberOfPoints="{mesh.n}" NumberOfCells="{len(types)}">',
    ]
    for section, some in sections.items():
        lines += [
            f"<{section}>",
            *(_format_array(name, values) for name, values in some.items()),
            f"</{section}>",
        ]
    return "\n".join([*lines, "</Piece>", "</UnstructuredGrid>", "</VTKFile>", ""]).encode()


def _format_array(name: str, values: NDArray[Any]) -> str:
    """Return a <DataArray>."""
    content = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
    text = b64encode(np.array(len(content), "<u8").tobytes() + content).decode()
    width = values.shape[1] if values.ndim == 2 else 1
    head = f'<DataArray type="{_TYPE_NAMES[values.dtype]}" Name={quoteattr(name)} '
    return f'{head}NumberOfComponents="{width}" format="binary">\n{text}\n</DataArray>'


class _DecodedPiece:
    """Points, cells and data of one <Piece>."""

    def __init__(
        self, document: Document, decoder: Decoder, piece: Piece, left_out: list[str]
    ) -> None:
        self.document, self.decoder = document, decoder
        n, m = self._parse_count(piece, "NumberOfPoints"), self._parse_count(piece, "NumberOfCells")
        self.points = self._decode_points(piece, n)
        found = {array.name: array for array in piece.arrays["Cells"]}
        missing = {"connectivity", "offsets", "types"} - set(found)
        if missing and m:
            raise document.error(
                f"the cells must have an array '{min(missing)}', got none", piece.line
            )
        self.line = found["connectivity"].line if m else piece.line
        self.types = self._decode_integers(found["types"], m) if m else np.empty(0, np.int64)
        ends = self._decode_integers(found["offsets"], m) if m else np.empty(0, np.int64)
        self.corners = (
            self._decode_integers(found["connectivity"], None) if m else np.empty(0, np.int64)
        )
        self.starts = np.concatenate([np.zeros(1, np.int64), ends])
        wrong = check_offsets(self.starts, len(self.corners))
        if isinstance(wrong, int):
            before, after = self.starts[wrong : wrong + 2]
            message = f"offsets must not decrease, got {after} after {before}"
            raise document.error(message, found["offsets"].line, f"cell {wrong}")
        if wrong:
            raise document.error(wrong, self.line)
        self.on_points = self._decode_data(piece, "PointData", n, "point", left_out)
        self.on_cells = self._decode_data(piece, "CellData", m, "cell", left_out)

    def _parse_count(self, piece: Piece, name: str) -> int:
        text = piece.attributes.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise self.document.error(
                f"{name} of the <Piece> must be an integer, got {text[:40]!r}", piece.line
            )
        return int(text)

    def _decode_points(self, piece: Piece, n: int) -> Float:
        given = piece.arrays["Points"]
        if not n:
            return np.empty((0, 3))
        if len(given) != 1:
            raise self.document.error(f"<Points> must have one array, got {len(given)}", piece.line)
        points = self.decoder.decode(given[0], n, "point")
        if points.shape != (n, 3):
            raise self.document.error("points must have 3 components", given[0].line)
        # Checked before the cast, which warns of signalling NaNs.
        bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
        if len(bad):
            raise self.document.error("numbers must be finite", given[0].line, f"point {bad[0]}")
        return points.astype(np.float64)

    def _decode_integers(self, array: Array, rows: int | None) -> Int:
        values = self.decoder.decode(array, rows, "corner" if rows is None else "cell")
        if values.dtype.kind == "f" or (rows is not None and values.ndim != 1):
            raise self.document.error(
                f"the array '{array.name}' must have one integer for each cell or corner",
                array.line,
            )
        return values.astype(np.int64)

    def _decode_data(
        self, piece: Piece, section: str, rows: int, what: str, left_out: list[str]
    ) -> Arrays:
        found: Arrays = {}
        for array in piece.arrays[section]:
            if array.attributes.get("type") == "String":
                left_out.append(f"strings '{array.name}'")
            elif array.name in found:
                raise self.document.error(
                    f"names of arrays must differ, got '{array.name}' twice", array.line
                )
            elif len(found) == MAX_ARRAYS:
                raise self.document.error(
                    f"there must be at most {MAX_ARRAYS} arrays on {what}s; leave some out",
                    array.line,
                )
            else:
                found[array.name] = self.decoder.decode(array, rows, what)
        return found


def _join_arrays(document: Document, parts: list[Arrays]) -> Arrays:
    """Return the arrays of all pieces, one after the other; every piece must have all of them."""
    found: Arrays = {}
    for name in parts[0]:
        blocks = [part.get(name) for part in parts]
        if len({None if block is None else (block.dtype, block.shape[1:]) for block in blocks}) > 1:
            raise document.error(
                f"every <Piece> must have the array '{name}' with the same type and components",
                document.line,
            )
        found[name] = parts[0][name]
        if len(parts) > 1:
            found[name] = np.concatenate([block for block in blocks if block is not None])
    extra = [name for part in parts for name in part if name not in found]
    if extra:
        raise document.error(f"every <Piece> must have the array '{extra[0]}'", document.line)
    return found


def _join_cells(document: Document, parts: list[_DecodedPiece]) -> FlatCells:
    """Return the cells of all pieces; each piece counts its own points from 0."""
    first_point = np.cumsum([0, *(len(part.points) for part in parts)])
    first_corner = np.cumsum([0, *(len(part.corners) for part in parts)])
    first_cell = np.cumsum([0, *(len(part.types) for part in parts)])
    starts = [part.starts[1:] + at for part, at in zip(parts, first_corner[:-1], strict=True)]

    def make_error(message: str, cell: int) -> MeshError:
        part = int(np.searchsorted(first_cell, cell, side="right")) - 1
        return document.error(message, parts[part].line, f"cell {cell}")

    for part in parts:
        outside = np.flatnonzero((part.corners < 0) | (part.corners >= len(part.points)))
        # With several pieces, an index beyond a piece's points would take those of the next one.
        if len(parts) > 1 and len(outside):
            message = explain_unknown_point(int(part.corners[outside[0]]), len(part.points))
            cell = int(np.searchsorted(part.starts, outside[0], side="right")) - 1
            raise document.error(message, part.line, f"cell {cell}")
    return FlatCells(
        np.concatenate([part.types for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *starts]),
        np.concatenate(
            [part.corners + at for part, at in zip(parts, first_point[:-1], strict=True)]
        ),
        make_error,
    )
