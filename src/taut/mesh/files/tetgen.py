"""TetGen and Triangle: points in a .node file, cells in .ele, .face and .edge files of the same name beside it.

Each begins with a header and has one row per entry, numbered from 0 or 1. Attributes of points become the maps attribute0,
attribute1…; markers k ≠ 0 become the groups "marker" followed by k, attributes of elements the groups "region" followed by the
number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.labels import labelled, labels_of, number
from taut.mesh.files.numbers import LARGEST, whole
from taut.mesh.files.numbers import rows as text_rows
from taut.mesh.files.source import load
from taut.mesh.files.text import Rows
from taut.mesh.mesh import Mesh

NAME = "TetGen"
CELLS = frozenset({"line", "triangle", "tet"})
KEEPS: frozenset[str] = frozenset()  # see `held`
SIBLINGS = (".node", ".ele", ".face", ".edge")
Int = NDArray[np.int64]
Groups = dict[str, dict[str, Int]]


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a .node file and its neighbours; any of them may be named."""
    node = path.with_suffix(".node")
    rows = Rows(node, data if path.suffix.lower() == ".node" else load(node))
    header, table, first = _table(rows, "point")
    n, dimension, attributes, marked = header
    if dimension not in (2, 3):
        raise rows.error(f"{dimension} dimensions; there can be 2 or 3", rows.told[0])
    points = table[:, 1 : 1 + dimension]
    maps = {f"attribute{i}": table[:, 1 + dimension + i] for i in range(attributes)}
    groups: Groups = {}
    if marked:
        _mark(groups, "marker", "point", _whole(rows, table[:, 1 + dimension + attributes], "marker"))
    cells: dict[str, Int] = {}
    cell_data: dict[str, dict[str, Any]] = {}
    for suffix in SIBLINGS[1:]:
        file = path.with_suffix(suffix)
        if file == path or file.exists():
            _cells(Rows(file, data if file == path else load(file)), suffix, n, first, cells, groups, cell_data)
    if not cells:
        beside = ", ".join(path.with_suffix(s).name for s in SIBLINGS[1:])
        raise MeshError(f"{n} points but no cells: none of {beside} lies beside it with cells in it", path=path)
    return Mesh(points, cells, groups=groups, point_data=maps, cell_data=cell_data)


def _table(rows: Rows, what: str) -> tuple[list[int], NDArray[np.float64], int]:
    """The header, filled up with zeros; the rows, numbered in order; and the first number. `rows` stays behind the header."""
    head = rows.take(1, "headers")
    header = [*rows.ragged(head, "header", int)[0].tolist(), 0, 0, 0, 0][:4]
    if min(header) < 0:
        raise rows.error("a count is negative", head[0])
    body = rows.take(header[0], f"{what}s")
    columns = {
        "point": 1 + header[1] + header[2] + bool(header[3]),
        "element": 1 + header[1] + header[2],
        "face": 4 + bool(header[1]),
        "edge": 3 + bool(header[1]),
    }[what]
    table: Any = rows.table(body, columns, what, float, more=True)
    first = float(table[0, 0]) if len(table) else 0.0
    wrong = np.flatnonzero(table[:, 0] != first + np.arange(len(table)))
    if first not in (0, 1) or len(wrong):
        i = int(wrong[0]) if len(wrong) else 0
        raise rows.error(f"it has the number {table[i, 0]:g}; numbers run from 0 or 1 without a gap", body[i], f"{what} {i}")
    if rows.at < len(rows.told):
        raise rows.error(f"more rows than the {header[0]} {what}s that were announced", rows.told[rows.at])
    rows.at -= len(body)
    return header, table, int(first)


def _cells(
    rows: Rows, suffix: str, n: int, first: int, cells: dict[str, Int], groups: Groups, cell_data: dict[str, dict[str, Any]]
) -> None:
    """Add what one file holds."""
    what = {".ele": "element", ".face": "face", ".edge": "edge"}[suffix]
    header, table, _ = _table(rows, what)
    size = header[1] if suffix == ".ele" else {".face": 3, ".edge": 2}[suffix]
    if size not in (2, 3, 4):
        raise rows.error(f"elements with {size} corners are not read; save those with 4 (or 3 in the plane)", rows.told[0])
    kind = {2: "line", 3: "triangle", 4: "tet"}[size]
    if kind in cells:
        raise rows.error(f"{kind} cells stand in two of the files")
    body = rows.take(len(table), f"{what}s")
    corners = table[:, 1 : 1 + size]
    wrong = np.flatnonzero(((corners != np.round(corners)) | (np.abs(corners) > LARGEST)).any(axis=1))
    if len(wrong):
        raise rows.error("a corner is no whole number or too large", body[wrong[0]], f"{what} {wrong[0]}")
    if len(table):
        cells[kind] = rows.in_range(corners.astype(np.int64), body, n, what, base=first)
        for i, values in enumerate(table[:, 1 + size :].T):
            if suffix != ".ele":
                _mark(groups, "marker", kind, _whole(rows, values, "marker"))
            elif whole(values) and i == 0:
                _mark(groups, "region", kind, values)
            else:  # attributes that number no regions
                cell_data.setdefault(f"attribute{i}", {})[kind] = values


def _whole(rows: Rows, markers: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    if not whole(markers):
        raise rows.error(f"a {what} is no whole number")
    return markers


def _mark(groups: Groups, word: str, kind: str, values: NDArray[np.float64]) -> None:
    """Add groups by marker."""
    for k, where in labelled(values.astype(np.int64)):
        groups.setdefault(f"{word}{k}", {})[kind] = where


def _suffixes(mesh: Mesh) -> dict[str, str]:
    """Which file holds the cells of a kind: triangles in the plane are elements."""
    return {"tet": ".ele", "triangle": ".ele" if mesh.flat and "tet" not in mesh.cells else ".face", "line": ".edge"}


def held(mesh: Mesh) -> list[str]:
    """What is kept whole: regions of elements, markers of everything else, and attributes numbered from 0 on."""
    elements = {kind for kind, suffix in _suffixes(mesh).items() if suffix == ".ele"}
    regions = [n for n, by_kind in mesh.groups.items() if number(n, "region") is not None and set(by_kind) <= elements]
    markers = [n for n, by_kind in mesh.groups.items() if number(n, "marker") is not None and not set(by_kind) & elements]
    return [*(f"groups.{n}" for n in regions + markers), *(f"point_data.{n}" for n in _attributes(mesh))]


def _attributes(mesh: Mesh) -> list[str]:
    """attribute0, attribute1… as far as there are such maps of one finite number per point."""
    found: list[str] = []
    while (m := mesh.point_data.get(f"attribute{len(found)}")) is not None and m.ndim == 1 and np.isfinite(m).all():
        found.append(f"attribute{len(found)}")
    return found


def write(mesh: Mesh) -> dict[str, bytes]:
    """The mesh as .node, .ele, .face and .edge files, as needed, numbered from 0."""
    maps = [mesh.point_data[name] for name in _attributes(mesh)]
    marker = labels_of(mesh, "marker", "point", mesh.n)
    head = f"{mesh.n} {mesh.points.shape[1]} {len(maps)} 1"
    points = text_rows(np.column_stack([mesh.points, *maps]) if maps else mesh.points)
    out = {".node": _file(head, [f"{row} {m}" for row, m in zip(points, marker.tolist(), strict=True)])}
    for kind, cells in mesh.cells.items():
        suffix = _suffixes(mesh)[kind]
        mark = labels_of(mesh, "region" if suffix == ".ele" else "marker", kind, len(cells))
        head = f"{len(cells)} {cells.shape[1]} 1" if suffix == ".ele" else f"{len(cells)} 1"
        out[suffix] = _file(head, text_rows(np.column_stack([cells, mark])))
    return out


def _file(head: str, body: list[str]) -> bytes:
    return "\n".join([head, *(f"{i} {row}" for i, row in enumerate(body)), ""]).encode()
