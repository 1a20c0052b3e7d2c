"""Object File Format: OFF, with normals (NOFF), colours (COFF) and texture coordinates (STOFF) at the vertices.

Counts of vertices and faces, then the vertices, then for each face how many corners it has, which, and perhaps a colour. A face
of two corners is a line. Colours of vertices, with alpha or without, become the map "color" (0 to 1). Alpha, normals and colours of
faces are not kept.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.blocks import by_size, face_kind
from taut.mesh.files.colours import rgb
from taut.mesh.files.numbers import rows as text_rows
from taut.mesh.files.numbers import whole
from taut.mesh.files.text import Rows, shown
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV

NAME = "OFF"
CELLS = frozenset({"line", "triangle", "quad", "polygon"})
KEEPS = frozenset({"point_data.color"})
Float = NDArray[np.float64]
_log = logging.getLogger("taut")


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in an OFF file."""
    rows = Rows(path, data)
    row, words = rows.words("the word OFF")
    head = re.fullmatch(rb"(ST)?(C)?(N)?OFF", words[0])
    if head is None or words[1:2] == [b"BINARY"]:
        raise rows.error(f"the file begins with {shown(b' '.join(words[:2]))}, not with OFF, COFF, NOFF or STOFF as text", row)
    if len(words) > 2:
        rows.lines[row] = b" ".join(words[1:])
    else:
        row = rows.take(1, "counts")[0]
    n, m = rows.table([row], 2, "counts", int, more=True)[0].tolist()
    if n < 0 or m < 0:
        raise rows.error(f"{n} vertices and {m} faces cannot be", row)
    textured, coloured, normals = (part is not None for part in head.groups())
    vertices, color, lost = _vertices(rows, rows.take(n, "vertices"), 3 * normals, coloured, 2 * textured)
    cells, painted = _faces(rows, m, n)
    if rows.at < len(rows.told):
        raise rows.error(f"more follows the {m} faces that were announced", rows.told[rows.at])
    lost += ["colours of faces"] if painted else []
    if lost:
        _log.info("%s: not kept: %s", path, ", ".join(lost))
    point_data = {} if color is None else {"color": _unit(color)}
    uv = UV(vertices[:, -2:], {kind: c for kind, c in cells.items() if kind != "line"}) if textured else None
    return Mesh(vertices[:, :3], cells, point_data=point_data, uv=uv)


def _vertices(rows: Rows, body: list[int], normal: int, coloured: bool, texture: int) -> tuple[Float, Float | None, list[str]]:
    """The numbers of each vertex, the colours among them, and what is not kept.

    Position, normal, colour and texture follow each other. Whether a colour has an alpha is told by how many numbers there are.
    """
    values, counts = rows.ragged(body, "vertex", float)
    least = 3 + normal + 3 * coloured + texture
    width = max(int(counts[0]), least) if len(body) else least
    if texture and width > least + coloured:
        width = least
    wrong = np.flatnonzero(counts != width)
    if len(wrong):
        i = int(wrong[0])
        raise rows.error(f"it has {counts[i]} numbers, not {width}", body[i], f"vertex {i}")
    table = values.reshape(len(body), width)
    more = width - least
    lost = ["normals"] if normal else []
    lost += ["alpha"] if coloured and more else []
    lost += ["further numbers of vertices"] if more > coloured else []
    return table, table[:, 3 + normal : 6 + normal] if coloured else None, lost


def _faces(rows: Rows, m: int, n: int) -> tuple[dict[str, NDArray[np.int64]], bool]:
    """The next m faces by kind, and whether one has a colour: what follows its last corner. A face may go on over several rows."""
    begins, corners, painted = [], [], False
    for i in range(m):
        row, words = rows.words(f"face {i} of {m}")
        size = int(words[0]) if words[0].isdigit() and len(words[0]) < 10 else 0
        if size < 2:
            raise rows.error(f"it begins with {shown(words[0])}, not with how many corners it has", row, f"face {i}")
        while len(words) <= size:
            words += rows.words(f"corners of face {i}")[1]
        begins.append(row)
        corners.append(words[1 : size + 1])
        painted = painted or len(words) > size + 1
    counts = np.fromiter(map(len, corners), np.int64, m)
    flat = rows.values(begins, corners, "face", int)
    cells = {}
    for size, (which, index) in by_size(flat, counts).items():
        cells[face_kind(size)] = rows.in_range(index, [begins[i] for i in which], n, "face", numbers=which)
    return cells, painted


def _unit(color: Float) -> Float:
    """Colours from 0 to 1; whole numbers up to 255 are such parts of 255."""
    return color / 255 if whole(color) and color.size and color.max() > 1 else color


def write(mesh: Mesh) -> bytes:
    """The mesh as an OFF file."""
    color = rgb(mesh, "OFF")
    counts = f"{mesh.n} {sum(len(c) for c in mesh.cells.values())} {len(mesh.edges)}"
    out = ["OFF" if color is None else "COFF", counts]
    out += text_rows(mesh.positions if color is None else np.column_stack([mesh.positions, color]))
    for cells in mesh.cells.values():
        out += text_rows(cells, f"{cells.shape[1]} ")
    return ("\n".join(out) + "\n").encode()
