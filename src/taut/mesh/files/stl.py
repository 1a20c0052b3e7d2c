"""STL, binary or text: triangles without a shared vertex.

Corners that coincide bit for bit are one vertex: the format has no other way to say so. Vertices come in the order of their first
use. Each named solid of a text file becomes a group. Normals follow from the triangles.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.binary import Binary
from taut.mesh.files.blocks import members
from taut.mesh.files.text import Rows, shown
from taut.mesh.measure import vector_areas
from taut.mesh.mesh import Mesh

NAME = "STL"
CELLS = frozenset({"triangle"})
KEEPS: frozenset[str] = frozenset()
HEADER = 80
FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# the words that begin the lines of one facet, and how many words each line has
LINES = ((b"facet", 5), (b"outer", 2), (b"vertex", 4), (b"vertex", 4), (b"vertex", 4), (b"endloop", 1), (b"endfacet", 1))
Float = NDArray[np.float64]


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in an STL file. It is text if it begins with `solid` and its length is not that of a binary one."""
    count = int.from_bytes(data[HEADER : HEADER + 4], "little")
    fits = len(data) == HEADER + 4 + count * FACET.itemsize
    return _read_text(path, data) if data.lstrip()[:5] == b"solid" and not fits else _read_binary(path, data)


def _read_binary(path: Path, data: bytes) -> Mesh:
    binary = Binary(path, data)
    binary.take("u1", HEADER, "bytes of the header")
    facets = binary.take(FACET, binary.one("<u4", "number of triangles"), "triangles")
    if binary.left:
        raise binary.error(f"{binary.left} bytes follow the {len(facets)} triangles that were announced")
    return _joined(binary.finite(facets["corners"], "triangle"), {})


def _read_text(path: Path, data: bytes) -> Mesh:
    rows = Rows(path, data, comment=b"")
    names: list[tuple[str, ...]] = []
    starts: list[int] = []
    vertices: list[int] = []
    step, inside = 0, False
    for i in rows.told:
        words = rows.lines[i].split()
        if step == 0 and words[0] in (b"solid", b"endsolid"):
            if inside == (words[0] == b"solid"):
                raise rows.error(f"{shown(words[0])} does not belong here", i)
            inside = not inside
            if inside:
                name = b" ".join(words[1:]).decode("utf-8", "replace")
                names.append((name,) if name else ())
                starts.append(len(vertices) // 3)
            continue
        expected, length = LINES[step]
        if words[0].lower() != expected or len(words) != length or not inside:
            said = f"{expected.decode()} with {length - 1} words" if inside else "solid"
            raise rows.error(f"{shown(b' '.join(words))} where {said} should stand", i, f"triangle {len(vertices) // 3}")
        if expected == b"vertex":
            rows.lines[i] = b" ".join(words[1:])
            vertices.append(i)
        step = (step + 1) % len(LINES)
    if step or inside:
        raise rows.error(
            f"the file ends within a {'triangle' if step else 'solid'}", len(rows.lines) - 1, f"triangle {len(vertices) // 3}"
        )
    corners = rows.table(vertices, 3, "corner", float).reshape(-1, 3, 3)
    return _joined(corners, members(names, starts, {"triangle": np.arange(len(corners))}))


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
    area = vector_areas(mesh.positions, triangles)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    facets = np.zeros(len(triangles), FACET)
    facets["normal"] = np.divide(area, length, out=np.zeros_like(area), where=length > 0)
    facets["corners"] = mesh.positions[triangles]
    return b"taut".ljust(HEADER) + len(facets).to_bytes(4, "little") + facets.tobytes()
