"""Medit .mesh (INRIA), text: a keyword, a count, and that many rows that end with a reference.

Elements with the reference k ≠ 0 form the group "refk". Corners, ridges and required elements
become groups of those names. Normals and tangents are not kept.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from taut.arrays import Int
from taut.mesh.files.cells_and_groups import iterate_labels, label_members, parse_label
from taut.mesh.files.numbers import are_integers, format_rows, quote_word
from taut.mesh.files.text_reader import TokenReader
from taut.mesh.kinds import get_kind
from taut.mesh.mesh import Mesh

NAME = "Medit"
_KINDS = {
    "Edges": "line",
    "Triangles": "triangle",
    "Quadrilaterals": "quad",
    "Tetrahedra": "tet",
    "Pyramids": "pyramid",
    "Prisms": "wedge",
    "Hexahedra": "hex",
}
CELLS = frozenset(_KINDS.values())
# Keywords that list members of a set by number.
_SETS = {
    "Corners": "point",
    "RequiredVertices": "point",
    "Ridges": "line",
    "RequiredEdges": "line",
    "RequiredTriangles": "triangle",
    "RequiredQuadrilaterals": "quad",
    "RequiredTetrahedra": "tet",
}
# Keywords that are not kept: numbers on each row, 0 for as many as there are dimensions.
_SKIPPED = {
    "Normals": 0,
    "Tangents": 0,
    "NormalAtVertices": 2,
    "TangentAtVertices": 2,
    "NormalAtTriangleVertices": 3,
    "TangentAtEdges": 3,
}


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in a Medit file."""
    tokens = TokenReader(path, data)
    if tokens.take("the word MeshVersionFormatted") != b"MeshVersionFormatted":
        start = quote_word(tokens.words[0])
        raise tokens.error(f"the file must start with MeshVersionFormatted, got {start}", 0)
    tokens.take_count("the version")
    dimension, points = 3, None
    references: dict[str, Int] = {}
    cells: dict[str, Int] = {}
    starts: dict[str, int] = {}  # keyword → its first word after the count, for errors
    sets: dict[str, Int] = {}
    while tokens.remaining:
        keyword = tokens.take("a keyword").decode("utf-8", "replace")
        if keyword == "End":
            if tokens.remaining:
                more = quote_word(tokens.words[tokens.position])
                raise tokens.error(f"the file must end after End, got {more}")
            break
        if keyword == "Dimension":
            dimension = tokens.take_count("the dimension")
            if dimension not in (2, 3):
                message = f"the dimension must be 2 or 3, got {dimension}"
                raise tokens.error(message, tokens.position - 1)
            continue
        _check_keyword(tokens, keyword, starts)
        count = tokens.take_count(f"the number of {keyword}")
        starts[keyword] = tokens.position
        if keyword == "Vertices":
            table = tokens.take_table(count, dimension + 1, "vertex", float)
            if not are_integers(table[:, dimension]):
                message = "the references of vertices must be integers"
                raise tokens.error(message, starts[keyword])
            points = table[:, :dimension]
            references["point"] = table[:, dimension].astype(np.int64)
        elif keyword in _KINDS:
            kind = _KINDS[keyword]
            table = tokens.take_table(count, get_kind(kind).size + 1, kind, int)
            cells[kind], references[kind] = table[:, :-1], table[:, -1]
        elif keyword in _SETS:
            sets[keyword] = tokens.take_table(count, 1, keyword, int)
        else:
            tokens.take_table(count, _SKIPPED[keyword] or dimension, keyword, float)
    if points is None:
        raise tokens.error("the file must have Vertices, got none")
    # Cells may come before the vertices, so that indices are checked at the end.
    for keyword, kind in _KINDS.items():
        if kind in cells:
            cells[kind] = tokens.to_indices(
                cells[kind], starts[keyword], get_kind(kind).size + 1, len(points), kind, base=1
            )
    sizes = {"point": len(points)} | {kind: len(c) for kind, c in cells.items()}
    groups = _collect_groups(tokens, sets, references, starts, sizes)
    return Mesh(points, cells, groups=groups)


def _collect_groups(
    tokens: TokenReader,
    sets: dict[str, Int],
    references: dict[str, Int],
    starts: dict[str, int],
    sizes: dict[str, int],
) -> dict[str, dict[str, Int]]:
    """Return the groups of the sets and references; sizes : number of points and of each kind."""
    groups: dict[str, dict[str, Int]] = {}
    for name, members in sets.items():
        kind = _SETS[name]
        indices = tokens.to_indices(members, starts[name], 1, sizes.get(kind, 0), name, base=1)
        groups[name] = {kind: indices.ravel()}
    for kind, labels in references.items():
        for label, members in iterate_labels(labels):
            groups.setdefault(f"ref{label}", {})[kind] = members
    return groups


def _check_keyword(tokens: TokenReader, keyword: str, seen: dict[str, int]) -> None:
    """Raise if the word just taken is not a keyword, or was there before."""
    at = tokens.position - 1
    if keyword not in {*_KINDS, *_SETS, *_SKIPPED, "Vertices"}:
        raise tokens.error(f"must be a Medit keyword, got {quote_word(tokens.words[at])}", at)
    if keyword in seen:
        raise tokens.error(f"{keyword} must occur once, got it again", at)


def write(mesh: Mesh) -> bytes:
    """Return the mesh as a Medit file; groups named ref1, ref2… become references."""
    lines = ["MeshVersionFormatted 2", f"Dimension {mesh.points.shape[1]}", "Vertices", str(mesh.n)]
    labels = label_members(mesh, "ref", "point", mesh.n)
    for row, label in zip(format_rows(mesh.points), labels.tolist(), strict=True):
        lines.append(f"{row} {label}")
    for keyword, kind in _KINDS.items():
        if kind in mesh.cells:
            cells = mesh.cells[kind]
            labels = label_members(mesh, "ref", kind, len(cells))
            lines += [keyword, str(len(cells))]
            lines += format_rows(np.column_stack([cells + 1, labels]))
    for keyword, kind in _SETS.items():
        members = mesh.groups.get(keyword, {}).get(kind, np.empty(0, np.int64))
        if len(members):
            lines += [keyword, str(len(members)), *format_rows(members + 1)]
    return ("\n".join([*lines, "End"]) + "\n").encode()


def find_kept_parts(mesh: Mesh) -> list[str]:
    """Return the groups that are kept: references, and sets of the right kind."""
    return [
        f"groups.{name}"
        for name, by_kind in mesh.groups.items()
        if parse_label(name, "ref") is not None or (name in _SETS and set(by_kind) == {_SETS[name]})
    ]
