"""The lines of a Wavefront OBJ file, sorted by their keyword; `obj` makes the mesh of them."""

from __future__ import annotations

import re
from pathlib import Path

from taut.errors import MeshError
from taut.mesh.files.obj_write import MATERIAL, NO_GROUP, NO_MATERIAL
from taut.mesh.files.text import Rows, shown

_IGNORED = frozenset(b"vn s mtllib maplib usemap lod bevel c_interp d_interp shadow_obj trace_obj mg".split())
_FREE_FORM = frozenset(b"vp cstype deg bmat step curv curv2 surf parm trim hole scrv sp end".split())


class Labels:
    """What a keyword says from one element of the file on, as it stands there: only what holds for an element is worth reading."""

    def __init__(self) -> None:
        self.texts: list[bytes] = [b""]
        self.starts: list[int] = [0]

    def hold(self, text: bytes, start: int) -> None:
        """This holds from the element `start` on, and nothing said before."""
        if self.starts[-1] == start:
            self.texts[-1] = text
        else:
            self.texts.append(text)
            self.starts.append(start)


class Lists:
    """The rows of each keyword, and from which element on which names hold."""

    def __init__(self) -> None:
        self.v: list[int] = []
        self.vt: list[int] = []
        self.elements: list[int] = []  # rows of f, l and p
        self.kinds: list[bytes] = []  # which of the three
        self.labels = {b"o": Labels(), b"g": Labels(), b"usemtl": Labels()}
        self.ignored: set[str] = set()  # keywords that the mesh has no place for

    def element(self, i: int) -> str:
        """What an error calls an element: its kind and its number among those of its kind."""
        word = {b"f": "face", b"l": "line", b"p": "point element"}[self.kinds[i]]
        return f"{word} {self.kinds[:i].count(self.kinds[i])}"


def whole_lines(path: Path, data: bytes) -> bytes:
    """The file without comments, and with lines that go on after a backslash as one; empty ones keep the numbers of the lines.

    A comment begins a line or follows a space, since names may hold a #, and ends with its line whatever stands there.
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
            lines[i - len(parts)], lines[i] = b" ".join([*parts, line]), b""
            parts = []
    if parts:
        raise MeshError("the file ends where a line should go on after a backslash", path=path, line=len(lines))
    return b"\n".join(lines)


def sorted_rows(rows: Rows) -> Lists:
    """One pass over the file; the keyword is cut off the rows that hold numbers."""
    found, lines = Lists(), rows.lines
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
        elif head in found.labels:
            found.labels[head].hold(rest, len(found.elements))
        elif head in _FREE_FORM:
            raise rows.error(f"{shown(head)}: curves and free-form surfaces are not read; save polygons", i)
        elif head in _IGNORED:
            found.ignored.add(head.decode())
        else:
            raise rows.error(f"{shown(head)} is no keyword of OBJ", i)
    return found


def names(head: bytes, text: bytes) -> tuple[str, ...]:
    """The groups that a line of `o`, `g` or `usemtl` names, each once."""
    words = text.decode("utf-8", "replace")
    if head == b"g":
        return tuple(dict.fromkeys(name for name in words.split() if name != NO_GROUP))
    name = words.strip()
    if head == b"o":
        return (name,) if name else ()
    return (MATERIAL + name,) if name not in ("", NO_MATERIAL) else ()
