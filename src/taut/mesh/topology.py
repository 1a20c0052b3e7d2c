"""Connectivity from index arrays alone: edges, hinges, boundaries, components.

Cells come as blocks of equal shape, (m, s) each, where needed with their Kind. An undirected edge
{a, b} is encoded as one integer, min·n + max, so that matching edges is a sort of integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError
from taut.mesh.kinds import Kind

GRID_VALENCE = 6  # a point of a regular grid has at most six edges: two in each direction
LINE_VALENCE = 26  # a point of a lattice with all its diagonals has as many lines
# Cosine of the largest turn between two lines that continue each other: 45° where several lines
# meet; nearly 90° where only two do, since there is no other candidate.
CROSSING_COSINE = 0.7071
JOINT_COSINE = 0.01


def pairs(blocks: Iterable[tuple[Int, tuple[tuple[int, ...], ...]]]) -> Int:
    """Pairs of corners given by local corner numbers, in the order of cells, shape (k, 2)."""
    found = [
        cells[:, np.array(local, dtype=np.int64)].reshape(-1, 2)
        for cells, local in blocks
        if len(local)
    ]
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)


def keys(pair: Int, n: int) -> Int:
    """One integer for each undirected pair, shape (k,)."""
    return np.minimum(pair[:, 0], pair[:, 1]) * n + np.maximum(pair[:, 0], pair[:, 1])


def unique_pairs(pair: Int, n: int) -> Int:
    """Each undirected pair once, smaller index first, sorted; loops (a, a) are dropped."""
    found = np.unique(keys(pair[pair[:, 0] != pair[:, 1]], n))
    return np.column_stack([found // n, found % n]) if n else np.empty((0, 2), np.int64)


def exclude(pair: Int, taken: Int, n: int) -> Int:
    """The unique pairs that are not in `taken`."""
    return pair[~np.isin(keys(pair, n), keys(taken, n))] if len(pair) else pair


def cell_edges(blocks: Iterable[tuple[Kind, Int]], n: int) -> Int:
    """The edges of all cells, unique, shape (k, 2)."""
    return unique_pairs(pairs((cells, kind.edges) for kind, cells in blocks), n)


def face_diagonals(blocks: Iterable[tuple[Kind, Int]], n: int) -> Int:
    """Pairs of corners two apart around the faces of cells, unique, shape (k, 2).

    A pair may be an edge of another cell.
    """
    local = []
    for kind, cells in blocks:
        diagonals = [
            (face[i], face[(i + 2) % len(face)])
            for face in kind.faces
            if len(face) > 3
            for i in range(len(face))
        ]
        local.append((cells, tuple(diagonals)))
    return unique_pairs(pairs(local), n)


def hinges(triangles: Int, n: int) -> Int:
    """Pairs of triangles that share an edge as (c, d, a, b), shape (k, 4), sorted by edge.

    a→b is the edge, directed as in the first triangle; c is opposite it there, d opposite it in the
    second. An edge of k triangles makes k - 1 hinges, between successive ones. Triangles with a
    repeated corner make none.
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
    """Successive segments (a, v, b), shape (k, 3), sorted by v, where exactly two segments meet."""
    segments = unique_pairs(lines, n)
    near, far = _ends(segments)
    start = np.searchsorted(near, np.arange(n + 1))
    middle = np.flatnonzero(np.diff(start) == 2)
    return np.column_stack([far[start[middle]], middle, far[start[middle] + 1]])


def skips(x: Float, lines: Int, blocks: Sequence[tuple[Kind, Int]], n: int) -> Int:
    """Skip-one pairs, unique, shape (k, 2): see `Mesh.skips`; a pair may be an edge.

    x : positions [m], shape (n, 3); lines : shape (m, 2); blocks : of faces and solids
    """
    grid = [(kind, cells) for kind, cells in blocks if kind.name in ("quad", "hex")]
    local = [(cells, tuple((i, j) for i in range(k.size) for j in range(i))) for k, cells in grid]
    together = np.unique(keys(pairs(local), n))
    free_lines = exclude(unique_pairs(lines, n), cell_edges(blocks, n), n)
    triangles = [cells for kind, cells in blocks if kind.name == "triangle"]
    found = [
        grid_skips(cell_edges(grid, n), together, n),
        straight_skips(x, free_lines, n),
        *(hinges(cells, n)[:, :2] for cells in triangles),
    ]
    return unique_pairs(np.concatenate(found), n)


def grid_skips(edges: Int, together: Int, n: int) -> Int:
    """Ends (a, c) of two successive edges a-b, b-c of a grid line, unique, shape (k, 2).

    Two edges at b continue each other if no cell contains both and neither has another such
    partner.

    together : keys of the pairs of points that share a cell
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


def straight_skips(x: Float, lines: Int, n: int) -> Int:
    """Ends (a, c) of two lines a-b, b-c that continue each other, unique, shape (k, 2).

    Each must be the other's straightest continuation. Where only two lines meet they may turn by
    less than a right angle, elsewhere by less than 45°. x : positions [m], shape (n, 3)
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
        least = CROSSING_COSINE if v > 2 else JOINT_COSINE
        continues = (best[row, best] == i) & (i < best) & (straightness[row, i, best] > least)
        found.append(np.stack([ring, ring[row, best]], axis=2)[continues])
    return unique_pairs(np.concatenate(found), n)


def edge_balance(triangles: Int, n: int) -> tuple[Int, Int, Int]:
    """Edges (k, 2), the number of triangles at each, and the number that run forwards minus back.

    On a closed, consistently oriented surface the last is zero everywhere.
    """
    pair = pairs([(triangles, ((0, 1), (1, 2), (2, 0)))])
    pair = pair[pair[:, 0] != pair[:, 1]]
    key, edge = np.unique(keys(pair, n), return_inverse=True)
    forwards = np.bincount(
        edge, weights=np.where(pair[:, 0] < pair[:, 1], 1, -1), minlength=len(key)
    ).astype(np.int64)
    return (
        np.column_stack([key // n, key % n]) if n else pair,
        np.bincount(edge, minlength=len(key)),
        forwards,
    )


def check_closed(triangles: Int, n: int) -> None:
    """Raise unless the triangles form closed, consistently oriented surfaces."""
    edges, faces, balance = edge_balance(triangles, n)
    for wrong, why in (
        (faces == 1, "belong to one face only"),
        (balance != 0, "have the same direction in both faces (see taut.mesh.oriented)"),
    ):
        if wrong.any():
            a, b = edges[wrong][0].tolist()
            raise MeshError(
                f"the faces enclose no volume: {wrong.sum()} edges {why}, such as {a}-{b}",
                element=f"edge {a}-{b}",
            )


def boundary_edges(faces: Iterable[Int], n: int) -> Int:
    """Edges of exactly one face, directed as in that face, shape (k, 2), sorted."""
    edge = pairs((f, tuple((i, (i + 1) % f.shape[1]) for i in range(f.shape[1]))) for f in faces)
    edge = edge[edge[:, 0] != edge[:, 1]]
    _, first, count = np.unique(keys(edge, n), return_index=True, return_counts=True)
    return edge[first[count == 1]]


def boundary_faces(faces: list[Int]) -> list[Int]:
    """Faces of solids that occur once, block by block, each in its order."""
    return [block[_occurs_once(np.sort(block, axis=1))] if len(block) else block for block in faces]


def components(edges: Int, n: int) -> Int:
    """Connected component of each point, shape (n,), numbered from 0 by their first points."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int64)[inverse]


def _ends(edges: Int) -> tuple[Int, Int]:
    """Both directions of each edge as (tails, heads), sorted by tail, then by head."""
    near, far = (
        np.concatenate([edges[:, 0], edges[:, 1]]),
        np.concatenate([edges[:, 1], edges[:, 0]]),
    )
    order = np.lexsort((far, near))
    return near[order], far[order]


def _occurs_once(rows: Int) -> Mask:
    """Mask of the rows that differ from all others."""
    order = np.lexsort(rows.T[::-1])
    same = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
    alone = np.ones(len(rows), bool)
    alone[order[1:][same]] = alone[order[:-1][same]] = False
    return alone


# Concatenated ranges of different lengths as one array.


def count_up(counts: Int) -> Int:
    """0, 1, … counts[0] - 1, 0, 1, … counts[1] - 1, and so on.

    >>> count_up(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def ranges(starts: Int, counts: Int, strides: Int | int = 1) -> Int:
    """Concatenate starts[i] + strides[i]·(0 … counts[i] - 1) over i; one stride may serve all.

    >>> ranges(np.array([10, 30]), np.array([2, 3])).tolist()
    [10, 11, 30, 31, 32]
    >>> ranges(np.array([10, 30]), np.array([2, 3]), np.array([5, 1])).tolist()
    [10, 15, 30, 31, 32]
    """
    each = strides if isinstance(strides, int) else np.repeat(strides, counts)
    return np.repeat(starts, counts) + each * count_up(counts)
