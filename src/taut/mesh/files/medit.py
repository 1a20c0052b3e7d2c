"""Medit .mesh (INRIA), as text: a keyword, a count, and that many rows, whose last number is a reference.

Elements with the reference k ≠ 0 form the group "ref" followed by k. Corners, ridges and required elements become groups of those
names. Normals and tangents are not kept.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.labels import labelled, labels_of, number
from taut.mesh.files.numbers import rows as text_rows
from taut.mesh.files.numbers import whole
from taut.mesh.files.text import Tokens, shown
from taut.mesh.kinds import known
from taut.mesh.mesh import Mesh

NAME = "Medit"
KINDS = {
    "Edges": "line", "Triangles": "triangle", "Quadrilaterals": "quad", "Tetrahedra": "tet", "Pyramids": "pyramid",
    "Prisms": "wedge", "Hexahedra": "hex",
}  # fmt: skip
CELLS = frozenset(KINDS.values())
# sets of elements, by number
SETS = {
    "Corners": "point", "RequiredVertices": "point", "Ridges": "line", "RequiredEdges": "line", "RequiredTriangles": "triangle",
    "RequiredQuadrilaterals": "quad", "RequiredTetrahedra": "tet",
}  # fmt: skip
KEEPS: frozenset[str] = frozenset()  # see `held`
# keywords whose rows say nothing that is kept: how many numbers each row has (0: as many as there are dimensions)
SKIPPED = {
    "Normals": 0,
    "Tangents": 0,
    "NormalAtVertices": 2,
    "TangentAtVertices": 2,
    "NormalAtTriangleVertices": 3,
    "TangentAtEdges": 3,
}
Int = NDArray[np.int64]


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a Medit file."""
    tokens = Tokens(path, data)
    if tokens.next("the word MeshVersionFormatted") != b"MeshVersionFormatted":
        raise tokens.error(f"the file begins with {shown(tokens.words[0])}, not with MeshVersionFormatted", 0)
    tokens.count("the version")
    dimension, points, refs = 3, None, {}
    cells: dict[str, Int] = {}
    places: dict[str, int] = {}
    sets: dict[str, Int] = {}
    while tokens.left:
        word = tokens.next("a keyword").decode("utf-8", "replace")
        if word == "End":
            if tokens.left:
                raise tokens.error(f"{shown(tokens.words[tokens.at])} follows the End")
            break
        if word == "Dimension":
            dimension = tokens.count("dimensions")
            if dimension not in (2, 3):
                raise tokens.error(f"{dimension} dimensions; there can be 2 or 3", tokens.at - 1)
            continue
        if word not in KINDS and word not in SETS and word not in SKIPPED and word != "Vertices":
            raise tokens.error(f"{shown(tokens.words[tokens.at - 1])} is no keyword of Medit", tokens.at - 1)
        if word in places:
            raise tokens.error(f"{word} stand here for the second time", tokens.at - 1)
        count, places[word] = tokens.count(word), tokens.at
        if word == "Vertices":
            table = tokens.numbers(count, dimension + 1, "vertex", float)
            if not whole(table[:, dimension]):
                raise tokens.error("a reference of a vertex is no whole number", places[word])
            points, refs["point"] = table[:, :dimension], table[:, dimension].astype(np.int64)
        elif word in KINDS:
            kind = KINDS[word]
            table = tokens.numbers(count, known(kind).size + 1, kind, int)
            cells[kind], refs[kind] = table[:, :-1], table[:, -1]
        elif word in SETS:
            sets[word] = tokens.numbers(count, 1, word, int)
        else:
            tokens.numbers(count, SKIPPED[word] or dimension, word, float)
    if points is None:
        raise tokens.error("the file has no Vertices")
    for kind, word in ((k, w) for w, k in KINDS.items() if k in cells):
        cells[kind] = tokens.in_range(cells[kind], places[word], known(kind).size + 1, len(points), kind, base=1)
    groups: dict[str, dict[str, Int]] = {}
    for name, members in sets.items():
        count = len(points) if SETS[name] == "point" else len(cells.get(SETS[name], ()))
        groups[name] = {SETS[name]: tokens.in_range(members, places[name], 1, count, name, base=1).ravel()}
    for kind, ref in refs.items():
        for k, where in labelled(ref):
            groups.setdefault(f"ref{k}", {})[kind] = where
    return Mesh(points, cells, groups=groups)


def write(mesh: Mesh) -> bytes:
    """The mesh as a Medit file; groups named ref1, ref2… become references."""
    out = ["MeshVersionFormatted 2", f"Dimension {mesh.points.shape[1]}", "Vertices", str(mesh.n)]
    refs = labels_of(mesh, "ref", "point", mesh.n)
    out += [f"{row} {ref}" for row, ref in zip(text_rows(mesh.points), refs.tolist(), strict=True)]
    for word, kind in KINDS.items():
        if kind in mesh.cells:
            cells = mesh.cells[kind]
            out += [word, str(len(cells)), *text_rows(np.column_stack([cells + 1, labels_of(mesh, "ref", kind, len(cells))]))]
    for word, kind in SETS.items():
        found = mesh.groups.get(word, {}).get(kind, np.empty(0, np.int64))
        if len(found):
            out += [word, str(len(found)), *text_rows(found + 1)]
    return ("\n".join([*out, "End"]) + "\n").encode()


def held(mesh: Mesh) -> list[str]:
    """The groups that are kept whole: references, and sets of the right kind."""
    return [
        f"groups.{name}"
        for name, by_kind in mesh.groups.items()
        if number(name, "ref") is not None or (name in SETS and set(by_kind) == {SETS[name]})
    ]
