"""Wavefront OBJ, text: `v`, `vt`, `f` of any size, `l`, `p`, `g`, `o`, `usemtl`.

A face of two vertices and each piece of an `l` is a line. Indices count from 1, or back from the
last vertex if negative. Groups and objects become groups, a material becomes the group
"material:NAME", vertex colours the map "color". What is not kept is named on the log, such as
normals, which follow from the shape.

_lines    the lines of a file: sorted by keyword when reading, formatted when writing
"""

from __future__ import annotations

import logging
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.mesh.files.cells_and_groups import (
    collect_members,
    group_by_length,
    name_face_kind,
    split_chains,
)
from taut.mesh.files.numbers import quote_word
from taut.mesh.files.obj._lines import Normals as Normals
from taut.mesh.files.obj._lines import SortedLines, join_lines, parse_group_names, sort_lines
from taut.mesh.files.obj._lines import write as write
from taut.mesh.files.text_reader import BYTE_ORDER_MARK, LineReader, is_number
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV

NAME = "OBJ"
CELLS = frozenset({"line", "triangle", "quad", "polygon"})
KEEPS = frozenset({"groups", "uv", "point_data.color"})
_log = logging.getLogger("taut")


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in an OBJ file."""
    rows = LineReader(path, join_lines(path, data.removeprefix(BYTE_ORDER_MARK)), comment=b"")
    sorted_lines = sort_lines(rows)
    points, point_data = _read_vertices(rows, sorted_lines)
    vertex, texture, counts = _read_corners(rows, sorted_lines, len(points))
    keywords = _to_letters(sorted_lines.keywords)
    cells: dict[str, Int] = {}
    uv_corners: dict[str, Int] = {}
    ordinals: dict[str, Int] = {}  # of cells: the number of their element in the file
    lines: list[tuple[Int, Int]] = []
    corners = np.column_stack([vertex, texture])
    for size, (elements, index) in group_by_length(corners, counts).items():
        is_face, is_line = keywords[elements] == b"f", keywords[elements] == b"l"
        if size == 2:
            is_face, is_line = np.zeros_like(is_face), is_face | is_line
        if is_face.any():
            kind = name_face_kind(size)
            cells[kind] = index[is_face, :, 0]
            uv_corners[kind] = index[is_face, :, 1]
            ordinals[kind] = elements[is_face]
        if is_line.any():
            owners = np.repeat(elements[is_line], size - 1)
            lines.append((owners, split_chains(index[is_line, :, 0])))
    if lines:
        owner = np.concatenate([owners for owners, _ in lines])
        order = np.argsort(owner, kind="stable")
        cells["line"] = np.concatenate([ends for _, ends in lines])[order]
        ordinals["line"] = owner[order]
    uv = None
    if any((indices >= 0).any() for indices in uv_corners.values()):
        coordinates = rows.parse_table(
            sorted_lines.vt, 2, "texture coordinate", float, allow_more=True
        )
        uv = UV(coordinates, uv_corners)
    elif sorted_lines.vt:
        sorted_lines.ignored.add("vt")
    if sorted_lines.ignored:
        _log.info("%s: not kept: %s", path, ", ".join(sorted(sorted_lines.ignored)))
    owner = np.repeat(np.arange(len(counts)), counts)
    groups = _collect_groups(sorted_lines, ordinals, owner, vertex, len(data))
    return Mesh(points, cells, groups=groups, point_data=point_data, uv=uv)


def _to_letters(keywords: list[bytes]) -> NDArray[np.bytes_]:
    """Return keywords of one letter as an array, shape (m,)."""
    if not keywords:
        return np.empty(0, "S1")
    return np.frombuffer(b"".join(keywords), "S1")


def _read_vertices(rows: LineReader, sorted_lines: SortedLines) -> tuple[Float, dict[str, Float]]:
    """Return positions, and the map "color" if vertices have colours (white for those without)."""
    v = sorted_lines.v
    values, counts = rows.parse_ragged(v, "vertex", float)
    wrong = np.flatnonzero(~np.isin(counts, (3, 4, 6, 7)))
    if len(wrong):
        i = int(wrong[0])
        raise rows.error(
            f"must have 3 numbers (4 with a weight, 6 or 7 with a colour), got {counts[i]}",
            v[i],
            f"vertex {i}",
        )
    if np.isin(counts, (4, 7)).any():
        sorted_lines.ignored.add("weights of v")
    start = np.cumsum(counts) - counts
    positions = values[start[:, None] + np.arange(3)]
    coloured = np.flatnonzero(counts > 4)
    if not len(coloured):
        return positions, {}
    color = np.ones((len(v), 3))
    color[coloured] = values[(start + counts - 3)[coloured][:, None] + np.arange(3)]
    return positions, {"color": color}


def _read_corners(rows: LineReader, sorted_lines: SortedLines, n: int) -> tuple[Int, Int, Int]:
    """Return vertex and texture index of every corner, and the number of corners of each element.

    Indices count from 0; a texture index is -1 if the corner has none.
    """
    parts = [rows.lines[i].split() for i in sorted_lines.elements]
    counts = np.fromiter(map(len, parts), np.int64, len(parts))
    has_slashes = any(b"/" in rows.lines[i] for i in sorted_lines.elements)
    words = list(chain.from_iterable(parts))
    try:
        if rows.has_underscores and b"_" in b"".join(words):  # Python would read 1_0 as 10
            raise ValueError
        if has_slashes:
            split = [word.split(b"/") for word in words]
            if max(map(len, split)) > 3:
                raise ValueError
            vertex = np.array([int(s[0]) for s in split], np.int64)
            texture = np.array([int(s[1]) if len(s) > 1 and s[1] else 0 for s in split], np.int64)
        else:
            vertex = np.array(list(map(int, words)), np.int64)
            texture = np.zeros(len(words), np.int64)
    except (ValueError, OverflowError):
        raise _explain_invalid_corner(rows, sorted_lines, parts) from None
    owner = np.repeat(np.arange(len(parts)), counts)
    row = np.array(sorted_lines.elements, np.int64)[owner]
    has_texture = texture != 0
    vertex = _to_absolute(vertex, np.array(sorted_lines.v, np.int64), row)
    texture = _to_absolute(texture, np.array(sorted_lines.vt, np.int64), row)
    least = np.where(_to_letters(sorted_lines.keywords) == b"p", 1, 2)
    too_few = np.flatnonzero(counts < least)
    _reject(rows, sorted_lines, too_few, "must have at least 2 corners (1 for p)")
    unknown = owner[(vertex < 0) | (vertex >= n)]
    _reject(rows, sorted_lines, unknown, _describe_range("vertex", "vertices", n))
    m = len(sorted_lines.vt)
    unknown = owner[has_texture & ((texture < 0) | (texture >= m))]
    _reject(rows, sorted_lines, unknown, _describe_range("texture", "texture coordinates", m))
    return vertex, np.where(has_texture, texture, -1), counts


def _describe_range(singular: str, plural: str, count: int) -> str:
    if not count:
        return f"must name no {plural}, since the file has none"
    return f"{singular} indices must be 1 to {count}"


def _to_absolute(index: Int, definitions: Int, row: Int) -> Int:
    """Return indices from 0; 0 becomes -1.

    Positive indices count from 1, negative ones back from the last definition before their row.
    """
    is_relative = index < 0
    absolute = index - 1
    before = np.searchsorted(definitions, row[is_relative])
    absolute[is_relative] = index[is_relative] + before
    return absolute


def _reject(rows: LineReader, sorted_lines: SortedLines, elements: Int, requirement: str) -> None:
    """Raise for the first of these elements, if there is one."""
    if len(elements):
        i = int(elements[0])
        row = sorted_lines.elements[i]
        got = quote_word(rows.lines[row].strip())
        raise rows.error(f"{requirement}, got {got}", row, sorted_lines.name_element(i))


def _explain_invalid_corner(
    rows: LineReader, sorted_lines: SortedLines, parts: list[list[bytes]]
) -> MeshError:
    """Return the error about the first word that is not "vertex[/[texture][/normal]]"."""
    for i, words in enumerate(parts):
        for word in words:
            vertex, *others = word.split(b"/")
            texture_is_valid = not others or not others[0] or is_number(others[0], int)
            if (
                not is_number(vertex, int)
                or len(others) > 2
                or not texture_is_valid
                or b"_" in word
            ):
                return rows.error(
                    f"a corner must be vertex[/texture[/normal]], got {quote_word(word)}",
                    sorted_lines.elements[i],
                    sorted_lines.name_element(i),
                )
    raise AssertionError("only called when a corner is invalid")


def _collect_groups(
    sorted_lines: SortedLines, ordinals: dict[str, Int], owner: Int, vertex: Int, file_size: int
) -> dict[str, dict[str, Int]]:
    """Return the groups of cells, and of the points that `p` names.

    owner, vertex : the element and the vertex of every corner
    """
    dots = np.flatnonzero((_to_letters(sorted_lines.keywords) == b"p")[owner])
    groups: dict[str, dict[str, Int]] = {}
    for keyword, labels in sorted_lines.labels.items():
        names = [parse_group_names(keyword, text) for text in labels.texts]
        members = collect_members(
            names, labels.starts, ordinals | {"point": owner[dots]}, file_size
        )
        for name, by_kind in members.items():
            group = groups.setdefault(name, {})
            for kind, index in by_kind.items():
                found = vertex[dots[index]] if kind == "point" else index
                if kind in group:  # an object and a group may have the same name
                    found = np.concatenate([group[kind], found])
                group[kind] = found
    return groups
