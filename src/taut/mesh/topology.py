"""Who is next to whom: edges, hinges, boundaries and components, from index arrays alone.

Cells come as blocks of equal shape, (m, s) each. An undirected edge {a, b} is one integer, min·n + max, so that sorting
integers does all the matching.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]
GRID_VALENCE = 6  # a point of a regular grid has at most six edges: two in each direction
LINE_VALENCE = 26  # a point of a lattice with all its diagonals has as many lines
STRAIGHT, FORWARD = 0.7071, 0.01  # cosines of the turns that two lines may make: where many meet, and where two do


def pairs(blocks: Iterable[tuple[Int, tuple[tuple[int, ...], ...]]]) -> Int:
    """All pairs of corners named by local pairs, in the order of cells, shape (k, 2)."""
    found = [cells[:, np.array(local, dtype=np.int64)].reshape(-1, 2) for cells, local in blocks if len(local)]
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)


def keys(pair: Int, n: int) -> Int:
    """One integer for each undirected pair, shape (k,)."""
    return np.minimum(pair[:, 0], pair[:, 1]) * n + np.maximum(pair[:, 0], pair[:, 1])


def unique_pairs(pair: Int, n: int) -> Int:
    """Each undirected pair once, the smaller index first, sorted; a pair of one point with itself is none."""
    found = np.unique(keys(pair[pair[:, 0] != pair[:, 1]], n))
    return np.column_stack([found // n, found % n]) if n else np.empty((0, 2), np.int64)


def without(pair: Int, taken: Int, n: int) -> Int:
    """The unique pairs that are not among `taken`."""
    return pair[~np.isin(keys(pair, n), keys(taken, n))] if len(pair) else pair


def hinges(triangles: Int, n: int) -> Int:
    """Pairs of triangles over an edge as (c, d, a, b), shape (k, 4), sorted by edge: the edge a→b as it runs in the first
    triangle, c opposite it there, d opposite it in the second.

    An edge of two triangles makes one hinge; one of k triangles makes k - 1, between successive ones. Triangles with a repeated
    corner make none.
    """
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    a, b, c = (triangles[:, [k, (k + 1) % 3, (k + 2) % 3]].ravel() for k in range(3))
    key = keys(np.column_stack([a, b]), n)
    order = np.argsort(key, kind="stable")
    first, second = order[:-1], order[1:]
    shared = (key[first] == key[second]) & (c[first] != c[second])
    first, second = first[shared], second[shared]
    return np.column_stack([c[first], c[second], a[first], b[first]])


def rod_hinges(lines: Int, n: int) -> Int:
    """Successive segments (a, v, b), shape (k, 3): one at each point v where exactly two segments meet, by v."""
    segments = unique_pairs(lines, n)
    near, far = _ends(segments)
    start = np.searchsorted(near, np.arange(n + 1))
    middle = np.flatnonzero(np.diff(start) == 2)
    return np.column_stack([far[start[middle]], middle, far[start[middle] + 1]])


def grid_skips(edges: Int, together: Int, n: int) -> Int:
    """Ends (a, c) of two successive edges a-b, b-c of a grid line, unique, shape (k, 2).

    Two edges at b continue each other if no cell holds both and neither has another such partner. `together` are pairs of points
    that share a cell.
    """
    near, far = _ends(edges)
    start = np.searchsorted(near, np.arange(n + 1))
    valence = np.diff(start)
    found = []
    for v in range(2, GRID_VALENCE + 1):
        middle = np.flatnonzero(valence == v)
        ring = far[start[middle][:, None] + np.arange(v)]
        i, j = np.triu_indices(v, 1)
        ends = np.stack([ring[:, i], ring[:, j]], axis=2)
        apart = ~np.isin(keys(ends.reshape(-1, 2), n), together).reshape(len(middle), len(i))
        partners = np.zeros((len(middle), v), np.int64)
        for k in range(len(i)):
            partners[:, i[k]] += apart[:, k]
            partners[:, j[k]] += apart[:, k]
        found.append(ends[apart & (partners[:, i] == 1) & (partners[:, j] == 1)])
    return unique_pairs(np.concatenate(found), n)


def straight_skips(x: NDArray[np.float64], lines: Int, n: int) -> Int:
    """Ends (a, c) of two lines a-b, b-c that go on in each other's direction, unique, shape (k, 2); x is (n, 3).

    Each must be the other's straightest continuation. Where just two lines meet they may turn by less than a right angle, elsewhere
    by less than 45°.
    """
    edges = unique_pairs(lines, n)
    near, far = _ends(edges)
    start = np.searchsorted(near, np.arange(n + 1))
    valence = np.diff(start)
    found = [np.empty((0, 2), np.int64)]
    for v in range(2, LINE_VALENCE + 1):
        middle = np.flatnonzero(valence == v)
        ring = far[start[middle][:, None] + np.arange(v)]
        d = x[ring] - x[middle][:, None]
        length = np.linalg.norm(d, axis=2, keepdims=True)
        d = np.divide(d, length, out=np.zeros_like(d), where=length > 0)
        straightness = -np.einsum("mik,mjk->mij", d, d)
        straightness[:, np.arange(v), np.arange(v)] = -1.0
        best = straightness.argmax(axis=2)
        row = np.arange(len(middle))[:, None]
        i = np.arange(v)[None, :]
        goes_on = (best[row, best] == i) & (i < best) & (straightness[row, i, best] > (STRAIGHT if v > 2 else FORWARD))
        found.append(np.stack([ring, ring[row, best]], axis=2)[goes_on])
    return unique_pairs(np.concatenate(found), n)


def edge_balance(triangles: Int, n: int) -> tuple[Int, Int, Int]:
    """Each edge (k, 2), how many triangles have it, and how many more of them run through it forwards than backwards."""
    pair = pairs([(triangles, ((0, 1), (1, 2), (2, 0)))])
    pair = pair[pair[:, 0] != pair[:, 1]]
    key, edge = np.unique(keys(pair, n), return_inverse=True)
    forwards = np.bincount(edge, weights=np.where(pair[:, 0] < pair[:, 1], 1, -1), minlength=len(key)).astype(np.int64)
    return np.column_stack([key // n, key % n]) if n else pair, np.bincount(edge, minlength=len(key)), forwards


def boundary_edges(faces: Iterable[Int], n: int) -> Int:
    """Edges of exactly one face, directed as in that face, shape (k, 2), by edge."""
    edge = pairs((f, tuple((i, (i + 1) % f.shape[1]) for i in range(f.shape[1]))) for f in faces)
    edge = edge[edge[:, 0] != edge[:, 1]]
    _, first, count = np.unique(keys(edge, n), return_index=True, return_counts=True)
    return edge[first[count == 1]]


def boundary_faces(faces: list[Int]) -> list[Int]:
    """Of blocks of faces of solids, those that occur once, each block keeping its shape and order."""
    return [block[_occurs_once(np.sort(block, axis=1))] if len(block) else block for block in faces]


def components(edges: Int, n: int) -> Int:
    """The number of the connected component of each point, shape (n,), counted from 0 in the order of their first points."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int64)[inverse]


def _ends(edges: Int) -> tuple[Int, Int]:
    """Both directions of each edge, sorted by where they start, then by where they end."""
    near, far = np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]])
    order = np.lexsort((far, near))
    return near[order], far[order]


def _occurs_once(rows: Int) -> NDArray[np.bool_]:
    """Which rows have no equal among the others."""
    order = np.lexsort(rows.T[::-1])
    same = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
    alone = np.ones(len(rows), bool)
    alone[order[1:][same]] = alone[order[:-1][same]] = False
    return alone
