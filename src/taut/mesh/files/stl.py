"""STL, binary or text: triangles, each with its own three corners.

Corners that are equal to the last bit become one vertex, since the format has no other way to share
vertices. Vertices come in the order of their first use. Each named solid of a text file becomes a
group. Normals are not kept: they follow from the triangles.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.mesh.files.cells_and_groups import collect_members
from taut.mesh.files.numbers import ByteReader, quote_word
from taut.mesh.files.text_reader import BYTE_ORDER_MARK, LineReader
from taut.mesh.measure import unit_normals
from taut.mesh.mesh import Mesh

NAME = "STL"
CELLS = frozenset({"triangle"})
KEEPS: frozenset[str] = frozenset()
_HEADER_BYTES = 80
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# The lines of a facet in text: first words, and how many numbers follow.
_FACET_LINES = (
    ([b"facet", b"normal"], 3),
    ([b"outer", b"loop"], 0),
    ([b"vertex"], 3),
    ([b"vertex"], 3),
    ([b"vertex"], 3),
    ([b"endloop"], 0),
    ([b"endfacet"], 0),
)
_log = logging.getLogger("taut")


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in an STL file."""
    # Some programs write "solid" into the header of binary files too. Only a binary file has
    # exactly the length that its number of triangles requires.
    count = int.from_bytes(data[_HEADER_BYTES : _HEADER_BYTES + 4], "little")
    has_binary_length = len(data) == _HEADER_BYTES + 4 + count * _FACET.itemsize
    has_keyword = data.removeprefix(BYTE_ORDER_MARK).lstrip()[:5].lower() == b"solid"
    if has_keyword and not has_binary_length:
        return _read_text(path, data)
    return _read_binary(path, data)


def _read_binary(path: Path, data: bytes) -> Mesh:
    binary = ByteReader(path, data)
    binary.take("u1", _HEADER_BYTES, "bytes of the header")
    facets = binary.take(_FACET, binary.take_int("<u4", "number of triangles"), "triangles")
    if binary.remaining:
        raise binary.error(
            f"the file must end after {len(facets)} triangles, got {binary.remaining} more bytes"
        )
    if facets["attribute"].any():
        _log.info("%s: not kept: attributes of triangles", path)
    return _share_vertices(binary.to_finite(facets["corners"], "triangle"), {})


def _read_text(path: Path, data: bytes) -> Mesh:
    rows = LineReader(path, data, comment=b"")
    names: list[tuple[str, ...]] = []  # of solids
    starts: list[int] = []  # their first triangles
    vertices: list[int] = []  # rows
    normals: list[int] = []
    step, in_solid = 0, False
    for i in rows.nonblank:
        words = rows.lines[i].split()
        keyword = words[0].lower()
        if step == 0 and keyword in (b"solid", b"endsolid"):
            if in_solid == (keyword == b"solid"):
                expected = "endsolid or a facet" if in_solid else "solid"
                raise rows.error(f"must be {expected}, got {quote_word(words[0])}", i)
            in_solid = not in_solid
            if in_solid:
                name = b" ".join(words[1:]).decode("utf-8", "replace")
                names.append((name,) if name else ())
                starts.append(len(vertices) // 3)
            continue
        _check_line(rows, i, words, step, in_solid, len(vertices) // 3)
        begin = len(_FACET_LINES[step][0])
        if len(words) > begin:
            rows.lines[i] = b" ".join(words[begin:])
            if keyword == b"vertex":
                vertices.append(i)
            else:
                normals.append(i)
        step = (step + 1) % len(_FACET_LINES)
    if step or in_solid:
        part = "a triangle" if step else "a solid"
        raise rows.error(
            f"the file ends in {part}", len(rows.lines) - 1, f"triangle {len(vertices) // 3}"
        )
    # Normals must be numbers but not finite ones: programs write NaN for triangles without area.
    rows.parse(normals, [rows.lines[i].split() for i in normals], "triangle", float)
    corners = rows.parse_table(vertices, 3, "corner", float).reshape(-1, 3, 3)
    groups = collect_members(names, starts, {"triangle": np.arange(len(corners))}, len(data))
    return _share_vertices(corners, groups)


def _check_line(
    rows: LineReader, row: int, words: list[bytes], step: int, in_solid: bool, triangle: int
) -> None:
    """Raise unless the words are those of this step in `_FACET_LINES`."""
    expected, numbers = _FACET_LINES[step]
    fits = (
        len(words) == len(expected) + numbers
        and words[0].lower() == expected[0]
        and words[len(expected) - 1].lower() == expected[-1]
    )
    if fits and in_solid:
        return
    if not in_solid:
        line = "solid"
    elif numbers:
        line = f"{b' '.join(expected).decode()} and {numbers} numbers"
    else:
        line = b" ".join(expected).decode()
    got = quote_word(b" ".join(words))
    raise rows.error(f"must be {line}, got {got}", row, f"triangle {triangle}")


def _share_vertices(corners: Float, groups: dict[str, dict[str, Int]]) -> Mesh:
    """Return triangles with shared vertices from their corners, shape (m, 3, 3)."""
    flat = corners.reshape(-1, 3) + 0.0  # makes 0.0 of -0.0, which has other bits
    as_bytes = np.ascontiguousarray(flat).view(np.dtype((np.void, 24))).ravel()
    _, first, inverse = np.unique(as_bytes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    triangles = rank[inverse.ravel()].reshape(-1, 3)
    return Mesh(flat[first[order]], {"triangle": triangles}, groups=groups)


def write(mesh: Mesh) -> bytes:
    """Return the mesh as a binary STL file, with coordinates in single precision."""
    triangles = mesh.cells["triangle"]
    with np.errstate(over="ignore"):
        corners = mesh.positions[triangles].astype(np.float32)
    beyond = np.flatnonzero(~np.isfinite(corners).all(axis=(1, 2)))
    if len(beyond):
        raise MeshError(
            "coordinates must fit the single precision of STL", element=f"triangle {beyond[0]}"
        )
    facets = np.zeros(len(triangles), _FACET)
    facets["normal"] = unit_normals(mesh.positions, triangles)
    facets["corners"] = corners
    return b"taut".ljust(_HEADER_BYTES) + len(facets).to_bytes(4, "little") + facets.tobytes()
