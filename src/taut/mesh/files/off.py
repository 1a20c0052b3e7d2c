"""Object File Format, text: OFF; with colours (COFF), normals (NOFF), texture coordinates (STOFF).

    OFF
    n m edges
    n rows: x y z [normal] [colour] [texture]
    m rows: number of corners, corners, [colour]

A face of two corners is a line. Vertex colours, with or without alpha, become the map "color"
(0 to 1). Alpha, normals and face colours are not kept.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.files.cells_and_groups import get_vertex_colours, group_by_length, name_face_kind
from taut.mesh.files.numbers import are_integers, format_rows, quote_word
from taut.mesh.files.text_reader import LineReader
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV

NAME = "OFF"
CELLS = frozenset({"line", "triangle", "quad", "polygon"})
KEEPS = frozenset({"point_data.color"})
_log = logging.getLogger("taut")


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in an OFF file."""
    rows = LineReader(path, data)
    row, words = rows.take_words("the word OFF")
    keyword = re.fullmatch(rb"(ST)?(C)?(N)?OFF", words[0])
    if keyword is None or words[1:2] == [b"BINARY"]:
        start = quote_word(b" ".join(words[:2]))
        raise rows.error(
            f"the file must start with OFF, COFF, NOFF or STOFF and be text, got {start}", row
        )
    textured, coloured, has_normals = (part is not None for part in keyword.groups())
    if len(words) > 2:  # the counts may follow on the same line
        rows.lines[row] = b" ".join(words[1:])
    else:
        row = rows.take(1, "counts")[0]
    n, m = rows.parse_table([row], 2, "counts", int, allow_more=True)[0].tolist()
    if n < 0 or m < 0:
        raise rows.error(f"the counts must not be negative, got {n} vertices and {m} faces", row)
    vertices, color, lost = _read_vertices(
        rows, rows.take(n, "vertices"), 3 * has_normals, coloured, 2 * textured
    )
    cells, has_face_colours = _read_faces(rows, m, n)
    if rows.position < len(rows.nonblank):
        raise rows.error(
            f"the file must end after its {m} faces, got more rows", rows.nonblank[rows.position]
        )
    if has_face_colours:
        lost.append("face colours")
    if lost:
        _log.info("%s: not kept: %s", path, ", ".join(lost))
    point_data = {}
    if color is not None:
        point_data["color"] = _scale_colours(color)
    uv = None
    if textured:
        faces = {kind: corners for kind, corners in cells.items() if kind != "line"}
        uv = UV(vertices[:, -2:], faces)
    return Mesh(vertices[:, :3], cells, point_data=point_data, uv=uv)


def _read_vertices(
    rows: LineReader, body: list[int], normal: int, coloured: bool, texture: int
) -> tuple[Float, Float | None, list[str]]:
    """Return the numbers of each vertex, its colour, and the names of what is not kept.

    normal, texture : how many numbers they take
    """
    values, counts = rows.parse_ragged(body, "vertex", float)
    least = 3 + normal + 3 * coloured + texture
    # No keyword tells whether colours have an alpha: the first vertex does, by its length.
    width = max(int(counts[0]), least) if len(body) else least
    if texture and width > least + coloured:
        width = least
    wrong = np.flatnonzero(counts != width)
    if len(wrong):
        i = int(wrong[0])
        raise rows.error(f"must have {width} numbers, got {counts[i]}", body[i], f"vertex {i}")
    table = values.reshape(len(body), width)
    color = table[:, 3 + normal : 6 + normal] if coloured else None
    extra = width - least
    lost = []
    if normal:
        lost.append("normals")
    if coloured and extra:
        lost.append("alpha")
    if extra > coloured:
        lost.append("further numbers of vertices")
    return table, color, lost


def _read_faces(rows: LineReader, m: int, n: int) -> tuple[dict[str, Int], bool]:
    """Return the next m faces by kind, and whether one has a colour after its corners."""
    begins, corners = [], []
    has_colours = False
    for i in range(m):
        row, words = rows.take_words(f"face {i} of {m}")
        size = int(words[0]) if words[0].isdigit() and len(words[0]) < 10 else 0
        if size < 2:
            raise rows.error(
                f"must start with its number of corners, 2 or more, got {quote_word(words[0])}",
                row,
                f"face {i}",
            )
        while len(words) <= size:  # a face may continue on further rows
            words += rows.take_words(f"corners of face {i}")[1]
        begins.append(row)
        corners.append(words[1 : size + 1])
        has_colours = has_colours or len(words) > size + 1
    counts = np.fromiter(map(len, corners), np.int64, m)
    flat = rows.parse(begins, corners, "face", int)
    cells = {}
    for size, (faces, points) in group_by_length(flat, counts).items():
        face_rows = [begins[i] for i in faces]
        cells[name_face_kind(size)] = rows.to_indices(points, face_rows, n, "face", numbers=faces)
    return cells, has_colours


def _scale_colours(color: Float) -> Float:
    """Return colours from 0 to 1; files have these, or integers from 0 to 255."""
    if are_integers(color) and color.size and color.max() > 1:
        return color / 255
    return color


def write(mesh: Mesh) -> bytes:
    """Return the mesh as an OFF file."""
    color = get_vertex_colours(mesh, "OFF")
    counts = f"{mesh.n} {sum(len(c) for c in mesh.cells.values())} {len(mesh.edges)}"
    if color is None:
        lines = ["OFF", counts, *format_rows(mesh.positions)]
    else:
        lines = ["COFF", counts, *format_rows(np.column_stack([mesh.positions, color]))]
    for cells in mesh.cells.values():
        lines += format_rows(cells, f"{cells.shape[1]} ")
    return ("\n".join(lines) + "\n").encode()
