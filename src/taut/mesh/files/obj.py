"""Wavefront OBJ: `v`, `vt`, `f` of any size, `l`, `p`, `g`, `o`, `usemtl`.

A face of two vertices and each piece of an `l` is a line. Indices count from 1, or back from the last vertex if negative. Groups
and objects become groups, a material becomes the group "material:NAME", vertex colours the map "color". Normals are not kept: they
follow from the shape.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.blocks import by_size, face_kind, members, segments
from taut.mesh.files.obj_write import MATERIAL, NO_GROUP, NO_MATERIAL
from taut.mesh.files.obj_write import write as write
from taut.mesh.files.text import Rows, reads, shown
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV

NAME = "OBJ"
CELLS = frozenset({"line", "triangle", "quad", "polygon"})
KEEPS = frozenset({"groups", "uv", "point_data.color"})
Int = NDArray[np.int64]

_IGNORED = {
    b"vn",
    b"s",
    b"mtllib",
    b"maplib",
    b"usemap",
    b"lod",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"shadow_obj",
    b"trace_obj",
    b"mg",
}
_FREE_FORM = {
    b"vp",
    b"cstype",
    b"deg",
    b"bmat",
    b"step",
    b"curv",
    b"curv2",
    b"surf",
    b"parm",
    b"trim",
    b"hole",
    b"scrv",
    b"sp",
    b"end",
}


class _Lists:
    """The rows of each keyword, and from which element on which names hold."""

    def __init__(self) -> None:
        self.v: list[int] = []
        self.vt: list[int] = []
        self.elements: list[int] = []  # rows of f, l and p
        self.kinds: list[bytes] = []  # which of the three
        self.labels: list[tuple[str, ...]] = [()]
        self.starts: list[int] = [0]

    def element(self, i: int) -> str:
        """What an error calls an element: its kind and its number among those of its kind."""
        word = {b"f": "face", b"l": "line", b"p": "point element"}[self.kinds[i]]
        return f"{word} {self.kinds[:i].count(self.kinds[i])}"

    def label(self, names: tuple[str, ...]) -> None:
        self.labels.append(names)
        self.starts.append(len(self.elements))


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in an OBJ file."""
    if b"\\\n" in data or b"\\\r\n" in data:
        data = re.sub(rb"(?:[^\n]*\\\r?\n)+[^\n]*", _unfolded, data)
    rows = Rows(path, data)
    lists = _sorted_rows(rows)
    points, point_data = _vertices(rows, lists.v)
    vertex, texture, counts = _corners(rows, lists, len(points))
    kind = _letters(lists.kinds)
    cells: dict[str, Int] = {}
    uvs: dict[str, Int] = {}
    ordinals: dict[str, Int] = {}
    lines = []
    for size, (which, index) in by_size(np.column_stack([vertex, texture]), counts).items():
        face, line = kind[which] == b"f", kind[which] == b"l"
        if size == 2:
            face, line = np.zeros_like(face), face | line
        if face.any():
            name = face_kind(size)
            cells[name], uvs[name], ordinals[name] = index[face, :, 0], index[face, :, 1], which[face]
        lines += [(i, segments(c)) for i, c in zip(which[line].tolist(), index[line, :, 0], strict=True)]
    if lines:
        lines.sort(key=lambda line: line[0])
        cells["line"] = np.concatenate([s for _, s in lines])
        ordinals["line"] = np.repeat([i for i, _ in lines], [len(s) for _, s in lines])
    groups = members(lists.labels, lists.starts, ordinals)
    _point_groups(groups, lists, kind, vertex, counts)
    uv = (
        UV(rows.table(lists.vt, 2, "texture coordinate", float, more=True), uvs)
        if lists.vt and uvs and (texture >= 0).any()
        else None
    )
    return Mesh(points, cells, groups=groups, point_data=point_data, uv=uv)


def _letters(kinds: list[bytes]) -> NDArray[np.bytes_]:
    """One letter per element."""
    return np.frombuffer(b"".join(kinds), "S1") if kinds else np.empty(0, "S1")


def _unfolded(found: re.Match[bytes]) -> bytes:
    """A line that goes on after a backslash, as one line, followed by as many empty ones so that numbers of lines stay."""
    return re.sub(rb"\\\r?\n", b" ", found[0]) + b"\n" * found[0].count(b"\n")


def _sorted_rows(rows: Rows) -> _Lists:
    """One pass over the file; the keyword is cut off the rows that hold numbers."""
    found, lines = _Lists(), rows.lines
    objects: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    material: tuple[str, ...] = ()
    for i in rows.told:
        line = lines[i]
        if line[:2] == b"v ":  # most lines begin so or with f
            found.v.append(i)
            lines[i] = line[2:]
            continue
        if line[:2] == b"f ":
            found.elements.append(i)
            found.kinds.append(b"f")
            lines[i] = line[2:]
            continue
        head, rest = (*line.split(None, 1), b"")[:2]
        if head == b"v":
            found.v.append(i)
            lines[i] = rest
        elif head in (b"f", b"l", b"p"):
            found.elements.append(i)
            found.kinds.append(head)
            lines[i] = rest
        elif head == b"vt":
            found.vt.append(i)
            lines[i] = rest
        elif head in (b"g", b"o", b"usemtl"):
            text = rest.decode("utf-8", "replace")
            if head == b"g":
                groups = tuple(name for name in text.split() if name != NO_GROUP)
            elif head == b"o":
                objects = (text.strip(),) if text.strip() else ()
            else:
                material = (MATERIAL + text.strip(),) if text.strip() not in ("", NO_MATERIAL) else ()
            found.label(tuple(dict.fromkeys(objects + groups + material)))
        elif head in _FREE_FORM:
            raise rows.error(f"{shown(head)}: curves and free-form surfaces are not read; save polygons", i)
        elif head not in _IGNORED:
            raise rows.error(f"{shown(head)} is no keyword of OBJ", i)
    return found


def _vertices(rows: Rows, v: list[int]) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Positions, and colours where vertices have them (white for those without)."""
    values, counts = rows.ragged(v, "vertex", float)
    wrong = np.flatnonzero(~np.isin(counts, (3, 4, 6, 7)))
    if len(wrong):
        i = int(wrong[0])
        raise rows.error(f"it has {counts[i]} numbers, not 3 (or 4 with a weight, 6 or 7 with a colour)", v[i], f"vertex {i}")
    start = np.cumsum(counts) - counts
    coloured = np.flatnonzero(counts > 4)
    if not len(coloured):
        return values[start[:, None] + np.arange(3)], {}
    color = np.ones((len(v), 3))
    color[coloured] = values[(start + counts - 3)[coloured][:, None] + np.arange(3)]
    return values[start[:, None] + np.arange(3)], {"color": color}


def _corners(rows: Rows, lists: _Lists, n: int) -> tuple[Int, Int, Int]:
    """Vertex and texture index (-1 for none) of every corner, from 0, and how many corners each element has."""
    parts = [rows.lines[i].split() for i in lists.elements]
    counts = np.fromiter(map(len, parts), np.int64, len(parts))
    slashes = any(b"/" in rows.lines[i] for i in lists.elements)
    words = list(chain.from_iterable(parts))
    try:
        if slashes:
            split = [word.split(b"/") for word in words]
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


def _refuse(rows: Rows, lists: _Lists, elements: Int, why: str) -> None:
    """An error on the first of these elements, if there is one."""
    if len(elements):
        i = int(elements[0])
        words = shown(rows.lines[lists.elements[i]].strip())
        raise rows.error(f"{why}: {words}", lists.elements[i], lists.element(i))


def _bad_corner(rows: Rows, lists: _Lists, parts: list[list[bytes]]) -> Exception:
    for i, words in enumerate(parts):
        for word in words:
            fields = word.split(b"/")[:2]
            if not all(reads(field, int) for field in fields[:1] + [f for f in fields[1:] if f]):
                return rows.error(f"{shown(word)} is no corner", lists.elements[i], lists.element(i))
    raise AssertionError("only called when a corner does not read")


def _point_groups(groups: dict[str, dict[str, Int]], lists: _Lists, kind: NDArray[np.bytes_], vertex: Int, counts: Int) -> None:
    """Points named by `p` join the groups that hold there."""
    owner = np.repeat(np.arange(len(counts)), counts)
    dots = np.flatnonzero(kind[owner] == b"p") if len(owner) else owner
    found = members(lists.labels, lists.starts, {"point": owner[dots]})
    for name, by_kind in found.items():
        groups.setdefault(name, {})["point"] = vertex[dots[by_kind["point"]]]
