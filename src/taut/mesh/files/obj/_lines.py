"""The lines of a Wavefront OBJ file: sorted by keyword when reading, formatted when writing."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError
from taut.mesh.files.cells_and_groups import get_vertex_colours, list_group_names
from taut.mesh.files.numbers import format_rows, quote_word
from taut.mesh.files.text_reader import LineReader
from taut.mesh.mesh import Mesh

_MATERIAL_PREFIX = "material:"  # of groups that stand for a material
_NO_GROUP, _NO_MATERIAL = "default", "(null)"  # names by which exporters end a group or material
_IGNORED = frozenset(
    b"vn s mtllib maplib usemap lod bevel c_interp d_interp shadow_obj trace_obj mg".split()
)
_FREE_FORM = frozenset(
    b"vp cstype deg bmat step curv curv2 surf parm trim hole scrv sp end".split()
)
_Label = tuple[tuple[str, ...], tuple[str, ...]]  # groups and materials of an element
_NORMAL_DIGITS = 6  # decimals: finer than any screen shows
_log = logging.getLogger("taut")


class Labels:
    """The text of one keyword (o, g or usemtl), and from which element on it holds.

    Texts are parsed later, and only those that hold for an element.
    """

    def __init__(self) -> None:
        self.texts: list[bytes] = [b""]
        self.starts: list[int] = [0]

    def start(self, text: bytes, element: int) -> None:
        """Let a text hold from an element on, in place of the one before."""
        if self.starts[-1] == element:
            self.texts[-1] = text
        else:
            self.texts.append(text)
            self.starts.append(element)


class SortedLines:
    """The rows of each keyword, and the labels of elements (f, l and p)."""

    def __init__(self) -> None:
        self.v: list[int] = []
        self.vt: list[int] = []
        self.elements: list[int] = []
        self.keywords: list[bytes] = []  # of elements
        self.labels = {b"o": Labels(), b"g": Labels(), b"usemtl": Labels()}
        self.ignored: set[str] = set()  # keywords that a Mesh cannot hold

    def name_element(self, i: int) -> str:
        """Return the name of an element for messages; it counts elements of its keyword."""
        keyword = self.keywords[i]
        noun = {b"f": "face", b"l": "line", b"p": "point element"}[keyword]
        return f"{noun} {self.keywords[:i].count(keyword)}"


def join_lines(path: Path, data: bytes) -> bytes:
    """Remove comments and join lines that continue after a backslash; line numbers stay.

    A comment starts a line or follows a space, since names may contain a #. A backslash at the end
    of a comment does not continue it.
    """
    if b"#" in data:
        data = re.sub(rb"#(?<!\S#)[^\r\n]*", b"", data)
    if b"\\" not in data:
        return data
    lines = data.splitlines()
    parts: list[bytes] = []
    for i, line in enumerate(lines):
        if line.endswith(b"\\"):
            parts.append(line[:-1])
            lines[i] = b""
        elif parts:
            # The joined line takes the place of its first part; the others stay as empty lines.
            lines[i - len(parts)], lines[i] = b" ".join([*parts, line]), b""
            parts = []
    if parts:
        raise MeshError(
            "the file ends after a backslash, which must be followed by a line",
            path=path,
            line=len(lines),
        )
    return b"\n".join(lines)


def sort_lines(rows: LineReader) -> SortedLines:
    """Sort the lines by keyword in one pass, and cut the keyword off those that hold numbers."""
    found, lines = SortedLines(), rows.lines
    for i in rows.nonblank:
        line = lines[i]
        # Most lines start with v or f and one space: a slice is faster than a split.
        if line[:2] == b"v ":
            found.v.append(i)
            lines[i] = line[2:]
            continue
        if line[:2] == b"f ":
            found.elements.append(i)
            found.keywords.append(b"f")
            lines[i] = line[2:]
            continue
        keyword, rest = (*line.split(None, 1), b"")[:2]
        if keyword == b"v":
            found.v.append(i)
            lines[i] = rest
        elif keyword in (b"f", b"l", b"p"):
            found.elements.append(i)
            found.keywords.append(keyword)
            lines[i] = rest
        elif keyword == b"vt":
            found.vt.append(i)
            lines[i] = rest
        elif keyword in found.labels:
            found.labels[keyword].start(rest, len(found.elements))
        elif keyword in _FREE_FORM:
            raise rows.error(
                f"must be a keyword of polygons, got {quote_word(keyword)} of a free-form shape", i
            )
        elif keyword in _IGNORED:
            found.ignored.add(keyword.decode())
        else:
            raise rows.error(f"must be an OBJ keyword, got {quote_word(keyword)}", i)
    return found


def parse_group_names(keyword: bytes, text: bytes) -> tuple[str, ...]:
    """Return the groups that a line of `o`, `g` or `usemtl` names, each once."""
    words = text.decode("utf-8", "replace")
    if keyword == b"g":
        return tuple(dict.fromkeys(name for name in words.split() if name != _NO_GROUP))
    name = words.strip()
    if keyword == b"o":
        return (name,) if name else ()
    if name in ("", _NO_MATERIAL):
        return ()
    return (_MATERIAL_PREFIX + name,)


@dataclass(frozen=True, eq=False)
class Normals:
    """Normals of faces: vectors, (g, 3), and by kind the number of that of each corner, (k, s)."""

    vectors: Float
    corners: Mapping[str, Int]


def write(mesh: Mesh, normals: Normals | None = None) -> bytes:
    """Return the mesh as an OBJ file; characters of group names that OBJ cannot hold become "_".

    normals : of its faces, with which programs show a smooth surface
    """
    color = get_vertex_colours(mesh, "OBJ")
    if color is None:
        lines = format_rows(mesh.positions, "v ")
    else:
        lines = format_rows(np.column_stack([mesh.positions, color]), "v ")
    if mesh.uv is not None:
        lines += format_rows(mesh.uv.coordinates, "vt ")
    if normals is not None:
        lines += format_rows(np.round(normals.vectors, _NORMAL_DIGITS), "vn ")
    words = _choose_group_words(mesh)
    state: _Label = ((), ())
    labels: dict[tuple[str, ...], _Label] = {}  # millions of cells share few sets of names
    untextured = 0
    for kind, cells in mesh.cells.items():
        corners = [list(map(str, column)) for column in (cells + 1).T.tolist()]
        texture = mesh.uv.corners.get(kind) if mesh.uv is not None else None
        if texture is not None:
            complete = (texture >= 0).all(axis=1) & (kind != "line")
            untextured += int(((texture >= 0).any(axis=1) & ~complete).sum())
            corners = _add_texture_indices(corners, texture, complete)
        if normals is not None and kind in normals.corners:
            corners = _add_normal_indices(corners, normals.corners[kind])
        keyword = "l " if kind == "line" else "f "
        group_names = list_group_names(mesh.groups, kind, len(cells))
        for i, (line, names) in enumerate(
            zip(zip(*corners, strict=True), group_names, strict=True)
        ):
            if names not in labels:
                labels[names] = _find_label(names, words, f"{kind} {i}")
            if labels[names] != state:
                lines += _format_label(labels[names], state)
                state = labels[names]
            lines.append(keyword + " ".join(line))
    for name, by_kind in mesh.groups.items():
        if "point" in by_kind:
            label = _find_label((name,), words, "point")
            lines += _format_label(label, state)
            lines.append("p " + " ".join(map(str, (by_kind["point"] + 1).tolist())))
            state = label
    if untextured:
        _log.info(
            "OBJ: left out the texture coordinates of %d lines, "
            "or of faces that have them at some corners only",
            untextured,
        )
    return ("\n".join(lines) + "\n").encode()


def _add_texture_indices(corners: list[list[str]], texture: Int, complete: Mask) -> list[list[str]]:
    """Return corners as "vertex/texture" on complete faces; most programs refuse partial ones."""
    flags = complete.tolist()
    columns = []
    for column, texture_column in zip(corners, (texture + 1).T.tolist(), strict=True):
        columns.append(
            [
                f"{vertex}/{index}" if flag else vertex
                for vertex, index, flag in zip(column, texture_column, flags, strict=True)
            ]
        )
    return columns


def _add_normal_indices(corners: list[list[str]], numbers: Int) -> list[list[str]]:
    """Return corners as "vertex/texture/normal", or "vertex//normal" without texture."""
    columns = []
    for column, number_column in zip(corners, (numbers + 1).T.tolist(), strict=True):
        columns.append(
            [
                f"{corner}/{number}" if "/" in corner else f"{corner}//{number}"
                for corner, number in zip(column, number_column, strict=True)
            ]
        )
    return columns


def _choose_group_words(mesh: Mesh) -> dict[str, str]:
    """Return the word for each group in the file; raise if two groups would have the same."""
    empty = [name for name, by_kind in mesh.groups.items() if not by_kind]
    if empty:
        _log.info("OBJ: left out groups without members: %s", ", ".join(map(repr, empty)))
    words = {name: _make_word(name) for name, by_kind in mesh.groups.items() if by_kind}
    owners: dict[str, str] = {}
    for name, word in words.items():
        if word in (_NO_GROUP, _MATERIAL_PREFIX + _NO_MATERIAL):
            raise MeshError(
                f"OBJ cannot hold a group called '{name}', which means no group; rename it"
            )
        owner = owners.setdefault(word, name)
        if owner != name:
            raise MeshError(
                f"group names must differ in OBJ, got {owner!r} and {name!r}, "
                f"which both become {word!r}; rename one"
            )
    renamed = [f"{name!r} to {word!r}" for name, word in words.items() if name != word]
    if renamed:
        _log.info("OBJ: renamed groups: %s", ", ".join(renamed))
    return words


def _make_word(name: str) -> str:
    """Replace what OBJ cannot hold: white space, #, backslash (continues a line), surrogates."""
    prefix = _MATERIAL_PREFIX if name.startswith(_MATERIAL_PREFIX) else ""
    word = re.sub("[#\\\\\ud800-\udfff]", "_", name.removeprefix(prefix))
    word = "".join("_" if character.isspace() else character for character in word)
    return prefix + (word or "_")


def _find_label(names: tuple[str, ...], words: dict[str, str], element: str) -> _Label:
    """Return the words of an element's groups and material."""
    all_words = [words[name] for name in names]
    groups = tuple(word for word in all_words if not word.startswith(_MATERIAL_PREFIX))
    materials = tuple(
        word.removeprefix(_MATERIAL_PREFIX) for word in all_words if word not in groups
    )
    if len(materials) > 1:
        raise MeshError(
            f"must have one material in OBJ, got {len(materials)}: {' and '.join(materials)}",
            element=element,
        )
    return groups, materials


def _format_label(label: _Label, before: _Label) -> list[str]:
    """Return the lines that change the groups and the material from `before` to `label`."""
    groups, materials = label
    lines = []
    if groups != before[0]:
        lines.append(f"g {' '.join(groups) or _NO_GROUP}")
    if materials != before[1]:
        lines.append(f"usemtl {' '.join(materials) or _NO_MATERIAL}")
    return lines
