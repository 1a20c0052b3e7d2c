"""Wavefront OBJ: `v`, `vt`, `f` of any size, `l`, `p`, `g`, `o`, `usemtl`.

A face of two vertices and each piece of an `l` is a line. Indices count from 1, or back from the last vertex if negative. Groups
and objects become groups, a material becomes the group "material:NAME", vertex colours the map "color". What is not kept, such as
normals, which follow from the shape, is named on the log.
"""

from __future__ import annotations

import logging
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.blocks import by_size, face_kind, members, segments
from taut.mesh.files.obj_lines import Lists, names, sorted_rows, whole_lines
from taut.mesh.files.obj_write import write as write
from taut.mesh.files.text import BOM, Rows, reads, shown
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV

NAME = "OBJ"
CELLS = frozenset({"line", "triangle", "quad", "polygon"})
KEEPS = frozenset({"groups", "uv", "point_data.color"})
Int = NDArray[np.int64]

_log = logging.getLogger("taut")


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in an OBJ file."""
    rows = Rows(path, whole_lines(path, data.removeprefix(BOM)), comment=b"")
    lists = sorted_rows(rows)
    points, point_data = _vertices(rows, lists)
    vertex, texture, counts = _corners(rows, lists, len(points))
    kind = _letters(lists.kinds)
    cells: dict[str, Int] = {}
    uvs: dict[str, Int] = {}
    ordinals: dict[str, Int] = {}
    lines: list[tuple[Int, Int]] = []
    for size, (which, index) in by_size(np.column_stack([vertex, texture]), counts).items():
        face, line = kind[which] == b"f", kind[which] == b"l"
        if size == 2:
            face, line = np.zeros_like(face), face | line
        if face.any():
            name = face_kind(size)
            cells[name], uvs[name], ordinals[name] = index[face, :, 0], index[face, :, 1], which[face]
        if line.any():
            lines.append((np.repeat(which[line], size - 1), segments(index[line, :, 0])))
    if lines:
        owner = np.concatenate([o for o, _ in lines])
        order = np.argsort(owner, kind="stable")
        cells["line"], ordinals["line"] = np.concatenate([s for _, s in lines])[order], owner[order]
    uv = None
    if uvs and any((corners >= 0).any() for corners in uvs.values()):
        uv = UV(rows.table(lists.vt, 2, "texture coordinate", float, more=True), uvs)
    elif lists.vt:
        lists.ignored.add("vt")
    if lists.ignored:
        _log.info("%s: not kept: %s", path, ", ".join(sorted(lists.ignored)))
    groups = _groups(lists, ordinals, np.repeat(np.arange(len(counts)), counts), vertex, len(data))
    return Mesh(points, cells, groups=groups, point_data=point_data, uv=uv)


def _letters(kinds: list[bytes]) -> NDArray[np.bytes_]:
    """One letter per element."""
    return np.frombuffer(b"".join(kinds), "S1") if kinds else np.empty(0, "S1")


def _vertices(rows: Rows, lists: Lists) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Positions, and colours where vertices have them (white for those without)."""
    v = lists.v
    values, counts = rows.ragged(v, "vertex", float)
    wrong = np.flatnonzero(~np.isin(counts, (3, 4, 6, 7)))
    if len(wrong):
        i = int(wrong[0])
        raise rows.error(f"it has {counts[i]} numbers, not 3 (or 4 with a weight, 6 or 7 with a colour)", v[i], f"vertex {i}")
    if np.isin(counts, (4, 7)).any():
        lists.ignored.add("weights of v")
    start = np.cumsum(counts) - counts
    coloured = np.flatnonzero(counts > 4)
    if not len(coloured):
        return values[start[:, None] + np.arange(3)], {}
    color = np.ones((len(v), 3))
    color[coloured] = values[(start + counts - 3)[coloured][:, None] + np.arange(3)]
    return values[start[:, None] + np.arange(3)], {"color": color}


def _corners(rows: Rows, lists: Lists, n: int) -> tuple[Int, Int, Int]:
    """Vertex and texture index (-1 for none) of every corner, from 0, and how many corners each element has."""
    parts = [rows.lines[i].split() for i in lists.elements]
    counts = np.fromiter(map(len, parts), np.int64, len(parts))
    slashes = any(b"/" in rows.lines[i] for i in lists.elements)
    words = list(chain.from_iterable(parts))
    try:
        if rows.underscores and b"_" in b"".join(words):  # Python takes 1_0 for a number
            raise ValueError
        if slashes:
            split = [word.split(b"/") for word in words]
            if max(map(len, split)) > 3:
                raise ValueError
            vertex = np.array([int(s[0]) for s in split], np.int64)
            texture = np.array([int(s[1]) if len(s) > 1 and s[1] else 0 for s in split], np.int64)
        else:
            vertex = np.array(list(map(int, words)), np.int64)
            texture = np.zeros(len(words), np.int64)
    except (ValueError, OverflowError):
        raise _bad_corner(rows, lists, parts) from None
    owner = np.repeat(np.arange(len(parts)), counts)
    row = np.array(lists.elements, np.int64)[owner]
    texture_given = texture != 0
    vertex = _absolute(vertex, np.array(lists.v, np.int64), row)
    texture = _absolute(texture, np.array(lists.vt, np.int64), row)
    least = np.where(_letters(lists.kinds) == b"p", 1, 2)
    _refuse(rows, lists, np.flatnonzero(counts < least), "it has too few corners")
    _refuse(rows, lists, owner[(vertex < 0) | (vertex >= n)], f"it names a vertex that is not there; there are {n}")
    missing = texture_given & ((texture < 0) | (texture >= len(lists.vt)))
    _refuse(rows, lists, owner[missing], f"it names a texture coordinate that is not there; there are {len(lists.vt)}")
    return vertex, np.where(texture_given, texture, -1), counts


def _absolute(index: Int, definitions: Int, row: Int) -> Int:
    """Indices from 0: positive ones count from 1, negative ones back from what was defined before the row; 0 becomes -1."""
    back = index < 0
    found = index - 1
    found[back] = index[back] + np.searchsorted(definitions, row[back])
    return found


def _refuse(rows: Rows, lists: Lists, elements: Int, why: str) -> None:
    """An error on the first of these elements, if there is one."""
    if len(elements):
        i = int(elements[0])
        words = shown(rows.lines[lists.elements[i]].strip())
        raise rows.error(f"{why}: {words}", lists.elements[i], lists.element(i))


def _bad_corner(rows: Rows, lists: Lists, parts: list[list[bytes]]) -> Exception:
    for i, words in enumerate(parts):
        for word in words:
            vertex, *others = word.split(b"/")
            if not reads(vertex, int) or len(others) > 2 or not all(reads(f, int) for f in others[:1] if f) or b"_" in word:
                return rows.error(f"{shown(word)} is no corner", lists.elements[i], lists.element(i))
    raise AssertionError("only called when a corner does not read")


def _groups(lists: Lists, ordinals: dict[str, Int], owner: Int, vertex: Int, size: int) -> dict[str, dict[str, Int]]:
    """The groups that hold for each cell, and for the points that `p` names; owner and vertex belong to every corner."""
    dots = np.flatnonzero((_letters(lists.kinds) == b"p")[owner])
    groups: dict[str, dict[str, Int]] = {}
    for head, labels in lists.labels.items():
        held = [names(head, text) for text in labels.texts]
        for name, by_kind in members(held, labels.starts, ordinals | {"point": owner[dots]}, size).items():
            group = groups.setdefault(name, {})
            for kind, index in by_kind.items():
                found = vertex[dots[index]] if kind == "point" else index
                group[kind] = np.concatenate([group[kind], found]) if kind in group else found
    return groups
