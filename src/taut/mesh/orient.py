"""Consistent orientation: neighbouring faces agree, solids have positive volume.

Two faces agree over an edge when they traverse it in opposite directions. Each face has two sides,
two nodes of a graph; joining the sides that must be equal gives components that are the consistent
choices. A face whose two sides lie in one component has none: it is on a Möbius strip.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV
from taut.mesh.topology import keys


def oriented(mesh: Mesh) -> Mesh:
    """Orient a mesh consistently.

    Neighbouring faces agree, closed surfaces face outwards, solids have positive volume. An open
    surface keeps the side of its first face. Only the order of corners changes. A one-sided surface
    is an error.

    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> oriented(Mesh(square, {"triangle": [[0, 1, 2], [0, 3, 2]]})).cells["triangle"].tolist()
    [[0, 1, 2], [0, 2, 3]]
    """
    flips: dict[str, Mask] = {k.name: mesh.measure(k.name) < 0 for k, _ in mesh.blocks(3)}
    faces = mesh.blocks(2)
    if faces:
        flip, piece, closed = _choose_sides(mesh)
        flip ^= (closed & (_volumes(mesh, flip, piece) < 0))[piece]
        ends = np.cumsum([len(c) for _, c in faces])
        flips |= {
            k.name: part for (k, _), part in zip(faces, np.split(flip, ends[:-1]), strict=True)
        }
    return flip_cells(mesh, flips)


def flip_cells(mesh: Mesh, flips: dict[str, Mask]) -> Mesh:
    """Reverse the marked cells (masks by kind), with their texture corners."""
    mirrors = {k.name: list(k.mirror) for k, _ in mesh.blocks()}

    def turn(blocks: dict[str, Any]) -> dict[str, Int]:
        return {
            name: np.where(flips[name][:, None], c[:, mirrors[name]], c) if name in flips else c
            for name, c in blocks.items()
        }

    uv = None if mesh.uv is None else UV(mesh.uv.coordinates, turn(mesh.uv.corners))
    return mesh.with_(cells=turn(mesh.cells), uv=uv)


def _choose_sides(mesh: Mesh) -> tuple[Mask, Int, Mask]:
    """Which faces to flip, the connected piece of each face, and which pieces are closed.

    Faces are numbered in the order of `Mesh.blocks(2)`.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tail, head, owner = _half_edges(mesh)
    _, edge, count = np.unique(
        keys(np.column_stack([tail, head]), mesh.n), return_inverse=True, return_counts=True
    )
    order = np.argsort(edge, kind="stable")
    # Only edges of exactly two faces decide: where more meet, sides cannot be paired.
    order = order[count[edge[order]] == 2]
    first, second = order[0::2], order[1::2]
    other = owner[first] != owner[second]
    first, second = first[other], second[other]
    a, b = owner[first], owner[second]
    differ = (tail[first] == tail[second]).astype(np.int64)
    rows, columns = (
        np.concatenate([2 * a, 2 * a + 1]),
        np.concatenate([2 * b + differ, 2 * b + 1 - differ]),
    )
    faces = sum(len(c) for _, c in mesh.blocks(2))
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(2 * faces, 2 * faces))
    _, label = connected_components(graph, directed=False)
    front, back = label[0::2], label[1::2]
    one_sided = np.flatnonzero(front == back)
    if len(one_sided):
        raise MeshError(
            "the surface has one side only (a Möbius strip): it cannot be oriented",
            element=_name_face(mesh, int(one_sided[0])),
        )
    _, lead, piece = np.unique(np.minimum(front, back), return_index=True, return_inverse=True)
    flip = front != front[lead][piece]
    # A piece is closed if each edge is traversed equally often in both directions.
    key, of = np.unique(piece[owner] * len(count) + edge, return_inverse=True)
    balance = np.bincount(of, weights=np.where((tail < head) ^ flip[owner], 1.0, -1.0))
    closed = np.ones(len(lead), bool)
    closed[(key // len(count))[balance != 0]] = False
    return flip, piece, closed


def _half_edges(mesh: Mesh) -> tuple[Int, Int, Int]:
    """Tail, head and face of every edge of every face, without edges of length zero."""
    tails, heads, owners, start = [], [], [], 0
    for k, c in mesh.blocks(2):
        for i, j in k.edges:
            tails.append(c[:, i])
            heads.append(c[:, j])
            owners.append(np.arange(start, start + len(c)))
        start += len(c)
    tail, head, owner = np.concatenate(tails), np.concatenate(heads), np.concatenate(owners)
    real = tail != head
    return tail[real], head[real], owner[real]


def _name_face(mesh: Mesh, face: int) -> str:
    """The kind and number of a face, from its number over all kinds."""
    for k, c in mesh.blocks(2):
        if face < len(c):
            return f"{k.name} {face}"
        face -= len(c)
    raise AssertionError(f"face {face} is out of range")


def _volumes(mesh: Mesh, flip: Mask, piece: Int) -> Float:
    """The volume [m³] that each piece encloses once the marked faces are flipped."""
    cuts = np.concatenate([np.full(len(c), c.shape[1] - 2) for _, c in mesh.blocks(2)])
    face = np.repeat(np.arange(len(cuts)), cuts)  # of each triangle
    triangle, of = mesh.triangles, piece[face]
    # Relative to the first corner of the piece, so that far coordinates lose no digits.
    _, lead = np.unique(of, return_index=True)
    p = mesh.positions[triangle] - mesh.positions[triangle[lead, 0]][of][:, None]
    volume = np.einsum("ij,ij->i", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6
    return np.bincount(of, weights=np.where(flip[face], -volume, volume)).astype(np.float64)
