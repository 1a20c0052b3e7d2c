"""Faces turned so that neighbours agree, and solids turned so that their volume is positive.

Two faces agree over an edge when they run along it in opposite directions. Each face has two sides; joining the sides that must
be equal gives a graph whose components are the consistent choices. A face whose two sides end in one component has none: it lies
on a Möbius strip.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV
from taut.mesh.topology import keys

Int = NDArray[np.int64]


def oriented(mesh: Mesh) -> Mesh:
    """The mesh with consistent orientation: neighbouring faces agree, closed surfaces face outwards, solids have positive volume.

    An open surface keeps the side of its first face. Only the order of corners changes. A surface with one side only is refused.

    >>> turned = oriented(Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], {"triangle": [[0, 1, 2], [0, 3, 2]]}))
    >>> turned.cells["triangle"].tolist()
    [[0, 1, 2], [0, 2, 3]]
    """
    flips: dict[str, NDArray[np.bool_]] = {k.name: mesh.measure(k.name) < 0 for k, _ in mesh.blocks(3)}
    faces = mesh.blocks(2)
    if faces:
        flip, piece, closed = _sides(mesh)
        flip ^= (closed & (_volumes(mesh, flip, piece) < 0))[piece]
        ends = np.cumsum([len(c) for _, c in faces])
        flips |= {k.name: part for (k, _), part in zip(faces, np.split(flip, ends[:-1]), strict=True)}
    return flipped(mesh, flips)


def flipped(mesh: Mesh, flips: dict[str, NDArray[np.bool_]]) -> Mesh:
    """The mesh with the marked cells (masks by kind) turned over, texture corners with them."""
    mirrors = {k.name: list(k.mirror) for k, _ in mesh.blocks()}

    def turn(blocks: dict[str, Any]) -> dict[str, Int]:
        return {name: np.where(flips[name][:, None], c[:, mirrors[name]], c) if name in flips else c for name, c in blocks.items()}

    uv = None if mesh.uv is None else UV(mesh.uv.coordinates, turn(mesh.uv.corners))
    return mesh.with_(cells=turn(mesh.cells), uv=uv)


def _sides(mesh: Mesh) -> tuple[NDArray[np.bool_], Int, NDArray[np.bool_]]:
    """Which faces to flip, the connected piece of each face, and which pieces are closed; faces in the order of `blocks`."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tail, head, owner = _half_edges(mesh)
    _, edge, count = np.unique(keys(np.column_stack([tail, head]), mesh.n), return_inverse=True, return_counts=True)
    order = np.argsort(edge, kind="stable")
    order = order[count[edge[order]] == 2]  # an edge of more than two faces says nothing about their sides
    first, second = order[0::2], order[1::2]
    other = owner[first] != owner[second]
    first, second = first[other], second[other]
    a, b = owner[first], owner[second]
    differ = (tail[first] == tail[second]).astype(np.int64)
    rows, columns = np.concatenate([2 * a, 2 * a + 1]), np.concatenate([2 * b + differ, 2 * b + 1 - differ])
    faces = sum(len(c) for _, c in mesh.blocks(2))
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(2 * faces, 2 * faces))
    _, label = connected_components(graph, directed=False)
    front, back = label[0::2], label[1::2]
    one_sided = np.flatnonzero(front == back)
    if len(one_sided):
        raise MeshError(
            "the surface has one side only (a Möbius strip): it cannot be oriented", element=_name(mesh, int(one_sided[0]))
        )
    _, lead, piece = np.unique(np.minimum(front, back), return_index=True, return_inverse=True)
    flip = front != front[lead][piece]
    # closed: within the piece, each edge is run through as often in one direction as in the other
    key, of = np.unique(piece[owner] * len(count) + edge, return_inverse=True)
    balance = np.bincount(of, weights=np.where((tail < head) ^ flip[owner], 1.0, -1.0))
    closed = np.ones(len(lead), bool)
    closed[(key // len(count))[balance != 0]] = False
    return flip, piece, closed


def _half_edges(mesh: Mesh) -> tuple[Int, Int, Int]:
    """Tail, head and face of every edge of every face; a corner repeated makes no edge."""
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


def _name(mesh: Mesh, face: int) -> str:
    """The kind and number of a face counted over all kinds."""
    for k, c in mesh.blocks(2):
        if face < len(c):
            return f"{k.name} {face}"
        face -= len(c)
    raise AssertionError("there are not so many faces")


def _volumes(mesh: Mesh, flip: NDArray[np.bool_], piece: Int) -> NDArray[np.float64]:
    """The volume [m³] that each piece encloses once the marked faces are turned, measured from its first corner."""
    cuts = np.concatenate([np.full(len(c), c.shape[1] - 2) for _, c in mesh.blocks(2)])
    face = np.repeat(np.arange(len(cuts)), cuts)  # of each triangle
    triangle, of = mesh.triangles, piece[face]
    _, lead = np.unique(of, return_index=True)
    p = mesh.positions[triangle] - mesh.positions[triangle[lead, 0]][of][:, None]
    volume = np.einsum("ij,ij->i", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6
    return np.bincount(of, weights=np.where(flip[face], -volume, volume)).astype(np.float64)
