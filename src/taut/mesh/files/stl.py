"""STL, binary or text: triangles without a shared vertex.

Corners that coincide bit for bit are one vertex: the format has no other way to say so. Vertices come in the order of their first
use. Each named solid of a text file becomes a group. Normals follow from the triangles.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.binary import Binary
from taut.mesh.files.blocks import members
from taut.mesh.files.text import BOM, Rows, shown
from taut.mesh.measure import unit_normals
from taut.mesh.mesh import Mesh

NAME = "STL"
CELLS = frozenset({"triangle"})
KEEPS: frozenset[str] = frozenset()
HEADER = 80
FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# the words that begin the lines of one facet, and how many numbers follow them
LINES = (
    ([b"facet", b"normal"], 3),
    ([b"outer", b"loop"], 0),
    ([b"vertex"], 3),
    ([b"vertex"], 3),
    ([b"vertex"], 3),
    ([b"endloop"], 0),
    ([b"endfacet"], 0),
)
Float = NDArray[np.float64]
_log = logging.getLogger("taut")


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in an STL file. It is text if it begins with `solid` and its length is not that of a binary one."""
    count = int.from_bytes(data[HEADER : HEADER + 4], "little")
    fits = len(data) == HEADER + 4 + count * FACET.itemsize
    text = data.removeprefix(BOM).lstrip()[:5].lower() == b"solid"
    return _read_text(path, data) if text and not fits else _read_binary(path, data)


def _read_binary(path: Path, data: bytes) -> Mesh:
    binary = Binary(path, data)
    binary.take("u1", HEADER, "bytes of the header")
    facets = binary.take(FACET, binary.one("<u4", "number of triangles"), "triangles")
    if binary.left:
        raise binary.error(f"{binary.left} bytes follow the {len(facets)} triangles that were announced")
    if facets["attribute"].any():
        _log.info("%s: not kept: attributes of triangles", path)
    return _joined(binary.finite(facets["corners"], "triangle"), {})


def _read_text(path: Path, data: bytes) -> Mesh:
    rows = Rows(path, data, comment=b"")
    names: list[tuple[str, ...]] = []
    starts: list[int] = []
    vertices: list[int] = []
    normals: list[int] = []
    step, inside = 0, False
    for i in rows.told:
        words = rows.lines[i].split()
        head = words[0].lower()
        if step == 0 and head in (b"solid", b"endsolid"):
            if inside == (head == b"solid"):
                raise rows.error(f"{shown(words[0])} does not belong here", i)
            inside = not inside
            if inside:
                name = b" ".join(words[1:]).decode("utf-8", "replace")
                names.append((name,) if name else ())
                starts.append(len(vertices) // 3)
            continue
        expected, numbers = LINES[step]
        begin = len(expected)
        if len(words) != begin + numbers or head != expected[0] or words[begin - 1].lower() != expected[-1] or not inside:
            said = b" ".join(expected).decode() + (f" and {numbers} numbers" if numbers else "") if inside else "solid"
            raise rows.error(f"{shown(b' '.join(words))} where {said} should stand", i, f"triangle {len(vertices) // 3}")
        if numbers:
            rows.lines[i] = b" ".join(words[begin:])
            (vertices if begin == 1 else normals).append(i)
        step = (step + 1) % len(LINES)
    if step or inside:
        raise rows.error(
            f"the file ends within a {'triangle' if step else 'solid'}", len(rows.lines) - 1, f"triangle {len(vertices) // 3}"
        )
    rows.values(normals, [rows.lines[i].split() for i in normals], "triangle", float)  # numbers, though perhaps not finite
    corners = rows.table(vertices, 3, "corner", float).reshape(-1, 3, 3)
    return _joined(corners, members(names, starts, {"triangle": np.arange(len(corners))}, len(data)))


def _joined(corners: Float, groups: dict[str, dict[str, NDArray[np.int64]]]) -> Mesh:
    """Triangles on shared vertices, from their corners (m, 3, 3)."""
    flat = corners.reshape(-1, 3) + 0.0  # -0.0 is 0.0
    same = np.ascontiguousarray(flat).view(np.dtype((np.void, 24))).ravel()
    _, first, inverse = np.unique(same, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Mesh(flat[first[order]], {"triangle": rank[inverse.ravel()].reshape(-1, 3)}, groups=groups)


def write(mesh: Mesh) -> bytes:
    """The mesh as a binary STL file: coordinates in single precision."""
    triangles = mesh.cells["triangle"]
    with np.errstate(over="ignore"):
        corners = mesh.positions[triangles].astype(np.float32)
    beyond = np.flatnonzero(~np.isfinite(corners).all(axis=(1, 2)))
    if len(beyond):
        raise MeshError("it has a corner too far away for the single precision of STL", element=f"triangle {beyond[0]}")
    facets = np.zeros(len(triangles), FACET)
    facets["normal"] = unit_normals(mesh.positions, triangles)
    facets["corners"] = corners
    return b"taut".ljust(HEADER) + len(facets).to_bytes(4, "little") + facets.tobytes()
