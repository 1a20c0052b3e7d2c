"""TetGen and Triangle, text: points in a .node file, cells in .ele, .face and .edge files.

Each file has a header and one row per entry, numbered from 0 or 1. Point attributes become the maps
attribute0, attribute1…; markers k ≠ 0 become the groups "markerk", the first attribute of elements
the groups "regionk".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.mesh.files.cells_and_groups import iterate_labels, label_members, parse_label
from taut.mesh.files.numbers import LARGEST_EXACT_INTEGER, are_integers, format_rows
from taut.mesh.files.text_reader import LineReader
from taut.mesh.mesh import Mesh
from taut.regular_file import read_regular_file

NAME = "TetGen"
CELLS = frozenset({"line", "triangle", "tet"})
SIBLINGS = (".node", ".ele", ".face", ".edge")
_ENTRIES = {".ele": "element", ".face": "face", ".edge": "edge"}
_KINDS_BY_SIZE = {2: "line", 3: "triangle", 4: "tet"}


class _Cells:
    """Cells, groups and cell data of the .ele, .face and .edge files."""

    def __init__(self, n: int, first: int) -> None:
        self.n = n  # number of points
        self.first = first  # number of the first point in the file, 0 or 1
        self.cells: dict[str, Int] = {}
        self.groups: dict[str, dict[str, Int]] = {}
        self.cell_data: dict[str, dict[str, Any]] = {}

    def read_file(self, rows: LineReader, suffix: str) -> None:
        """Add the cells of one file."""
        what = _ENTRIES[suffix]
        header, table, _ = _read_table(rows, what)
        size = {".ele": header[1], ".face": 3, ".edge": 2}[suffix]
        if size not in _KINDS_BY_SIZE:
            raise rows.error(
                f"elements must have 4 corners (3 in the plane), got {size}", rows.nonblank[0]
            )
        kind = _KINDS_BY_SIZE[size]
        if kind in self.cells:
            raise rows.error(f"{kind} cells must be in one file, got them in two")
        body = rows.take(len(table), f"{what}s")
        corners = table[:, 1 : 1 + size]
        wrong = (corners != np.round(corners)) | (np.abs(corners) > LARGEST_EXACT_INTEGER)
        wrong_rows = np.flatnonzero(wrong.any(axis=1))
        if len(wrong_rows):
            i = int(wrong_rows[0])
            got = f"{corners[i][wrong[i]][0]:g}"
            raise rows.error(f"corners must be integers, got {got}", body[i], f"{what} {i}")
        if not len(table):
            return
        indices = corners.astype(np.int64)
        self.cells[kind] = rows.to_indices(indices, body, self.n, what, base=self.first)
        for i, values in enumerate(table[:, 1 + size :].T):
            if suffix != ".ele":
                _require_integers(rows, values, "markers")
                self.add_groups("marker", kind, values)
            elif are_integers(values) and i == 0:
                self.add_groups("region", kind, values)
            else:
                self.cell_data.setdefault(f"attribute{i}", {})[kind] = values

    def add_groups(self, word: str, kind: str, labels: Float) -> None:
        """Add the groups "wordk" of points or cells with the label k."""
        for label, members in iterate_labels(labels.astype(np.int64)):
            self.groups.setdefault(f"{word}{label}", {})[kind] = members


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in a .node file and its siblings; `path` may be any of them."""
    node = path.with_suffix(".node")
    rows = LineReader(node, data if path.suffix.lower() == ".node" else read_regular_file(node))
    header, table, first = _read_table(rows, "point")
    n, dimension, attributes, has_markers = header
    if dimension not in (2, 3):
        raise rows.error(f"the dimension must be 2 or 3, got {dimension}", rows.nonblank[0])
    points = table[:, 1 : 1 + dimension]
    maps = {f"attribute{i}": table[:, 1 + dimension + i] for i in range(attributes)}
    found = _Cells(n, first)
    if has_markers:
        markers = table[:, 1 + dimension + attributes]
        _require_integers(rows, markers, "markers")
        found.add_groups("marker", "point", markers)
    for suffix in SIBLINGS[1:]:
        file = path.with_suffix(suffix)
        if file == path:
            found.read_file(LineReader(file, data), suffix)
        elif file.exists():
            found.read_file(LineReader(file, read_regular_file(file)), suffix)
    if not found.cells:
        names = ", ".join(path.with_suffix(suffix).name for suffix in SIBLINGS[1:])
        raise MeshError(f"one of {names} must have cells, got {n} points only", path=path)
    return Mesh(
        points, found.cells, groups=found.groups, point_data=maps, cell_data=found.cell_data
    )


def _read_table(rows: LineReader, what: str) -> tuple[list[int], Float, int]:
    """Return the header with zeros for missing entries, the rows and the number of the first row.

    The reader stays after the header, so that the caller can take the rows again for messages.
    """
    head = rows.take(1, "headers")
    header = [*rows.parse_ragged(head, "header", int)[0].tolist(), 0, 0, 0, 0][:4]
    if min(header) < 0:
        raise rows.error(f"counts must not be negative, got {min(header)}", head[0])
    body = rows.take(header[0], f"{what}s")
    columns = {
        "point": 1 + header[1] + header[2] + bool(header[3]),
        "element": 1 + header[1] + header[2],
        "face": 4 + bool(header[1]),
        "edge": 3 + bool(header[1]),
    }[what]
    table: Any = rows.parse_table(body, columns, what, float, allow_more=True)
    first = float(table[0, 0]) if len(table) else 0.0
    wrong = np.flatnonzero(table[:, 0] != first + np.arange(len(table)))
    if first not in (0, 1) or len(wrong):
        i = int(wrong[0]) if len(wrong) else 0
        message = f"rows must be numbered from 0 or 1 without gaps, got {table[i, 0]:g}"
        raise rows.error(message, body[i], f"{what} {i}")
    if rows.position < len(rows.nonblank):
        message = f"the file must end after its {header[0]} {what}s, got more rows"
        raise rows.error(message, rows.nonblank[rows.position])
    rows.position -= len(body)
    return header, table, int(first)


def _require_integers(rows: LineReader, values: Float, what: str) -> None:
    if not are_integers(values):
        raise rows.error(f"{what} must be integers")


def _choose_files(mesh: Mesh) -> dict[str, str]:
    """Return the file for each kind of cell: triangles in the plane are elements."""
    triangles = ".ele" if mesh.flat and "tet" not in mesh.cells else ".face"
    return {"tet": ".ele", "triangle": triangles, "line": ".edge"}


def find_kept_parts(mesh: Mesh) -> list[str]:
    """Return what is kept: regions of elements, markers of all else, attribute0, attribute1…"""
    elements = {kind for kind, suffix in _choose_files(mesh).items() if suffix == ".ele"}
    kept = []
    for name, by_kind in mesh.groups.items():
        if parse_label(name, "region") is not None and set(by_kind) <= elements:
            kept.append(f"groups.{name}")
        if parse_label(name, "marker") is not None and not set(by_kind) & elements:
            kept.append(f"groups.{name}")
    return kept + [f"point_data.{name}" for name in _list_attributes(mesh)]


def _list_attributes(mesh: Mesh) -> list[str]:
    """Return attribute0, attribute1…, as far as maps of one finite number per point go."""
    names: list[str] = []
    while True:
        name = f"attribute{len(names)}"
        values = mesh.point_data.get(name)
        if values is None or values.ndim != 1 or not np.isfinite(values).all():
            return names
        names.append(name)


def write(mesh: Mesh) -> dict[str, bytes]:
    """Return the mesh as .node, .ele, .face and .edge files, as needed, numbered from 0."""
    maps = [mesh.point_data[name] for name in _list_attributes(mesh)]
    labels = label_members(mesh, "marker", "point", mesh.n)
    points = format_rows(np.column_stack([mesh.points, *maps]) if maps else mesh.points)
    rows = [f"{row} {label}" for row, label in zip(points, labels.tolist(), strict=True)]
    files = {".node": _join(f"{mesh.n} {mesh.points.shape[1]} {len(maps)} 1", rows)}
    for kind, cells in mesh.cells.items():
        suffix = _choose_files(mesh)[kind]
        if suffix == ".ele":
            header, word = f"{len(cells)} {cells.shape[1]} 1", "region"
        else:
            header, word = f"{len(cells)} 1", "marker"
        labels = label_members(mesh, word, kind, len(cells))
        files[suffix] = _join(header, format_rows(np.column_stack([cells, labels])))
    return files


def _join(header: str, rows: list[str]) -> bytes:
    """Return the text of a file, with the rows numbered from 0."""
    return "\n".join([header, *(f"{i} {row}" for i, row in enumerate(rows)), ""]).encode()
