"""Pairs of points that join the parts of a mesh: springs on them keep the parts together.

Parts are the connected components of the cells, such as the eyes of a head or the lid of a pot.
They are joined by the smallest gaps that connect them all (a minimum spanning tree). Across each
gap the points of the smaller part that are near are paired with the nearest points of the other
one: four each, so that the pairs point in many directions and the joint is stiff in all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree

from taut.arrays import Float, Int
from taut.mesh.mesh import Mesh

_NEIGHBOURS = 12  # of each point, among which gaps are looked for first
_PARTNERS = 4  # of each point of a joint
_MIN_POINTS, _MAX_POINTS = 4, 40  # of the smaller part in a joint
_DEPTH = (
    0.1  # of the size of the smaller part: how much further away than the gap its points may be
)


class Bridges(NamedTuple):
    """Pairs of points across gaps, (m, 2); how many parts they join, and the widest gap [m]."""

    pairs: Int
    parts: int
    gap: float


def bridge_parts(mesh: Mesh) -> Bridges:
    """Find pairs of points that join all parts of a mesh; none if it has one part.

    >>> import taut
    >>> one = taut.mesh.block(1, 1, 1)
    >>> cells = {"hex": np.concatenate([one.cells["hex"], one.cells["hex"] + one.n])}
    >>> two = Mesh(np.concatenate([one.points, one.points + [0.0, 1.5, 0.0]]), cells)
    >>> found = bridge_parts(two)
    >>> len(found.pairs), found.parts, found.gap
    (16, 2, 0.5)
    """
    used = np.unique(np.concatenate([c.ravel() for c in mesh.cells.values()]))
    _, label = np.unique(mesh.components[used], return_inverse=True)
    count = int(label.max()) + 1 if len(used) else 0
    if count < 2:
        return Bridges(np.empty((0, 2), np.int64), count, 0.0)
    x = mesh.positions[used]
    size = np.bincount(label)
    found, widest = [], 0.0
    for a, b, gap in _find_joints(x, label, count):
        small, large = (a, b) if size[a] <= size[b] else (b, a)
        own, others = np.flatnonzero(label == small), np.flatnonzero(label == large)
        found.append(used[_pair_points(x, own, others, gap)])
        widest = max(widest, gap)
    pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    return Bridges(pairs, count, widest)


def _find_joints(x: Float, label: Int, count: int) -> list[tuple[int, int, float]]:
    """Return the joints (part, part, gap [m]) of the minimum spanning tree of the parts."""
    rows, columns, gaps = _find_near_gaps(x, label)
    while True:
        tree = _spanning_tree(rows, columns, gaps, count)
        if tree.nnz == count - 1:
            break
        # Parts that are far from all others: look for the gap around each group on its own.
        group = _group_parts(tree, count)
        for number in range(int(group.max()) + 1):
            inside = group[label] == number
            tree_outside = cKDTree(x[~inside])
            distance, nearest = map(np.asarray, tree_outside.query(x[inside]))
            best = int(np.argmin(distance))
            other = label[np.flatnonzero(~inside)[nearest[best]]]
            rows = np.append(rows, label[np.flatnonzero(inside)[best]])
            columns = np.append(columns, other)
            gaps = np.append(gaps, distance[best])
    gap_of: dict[tuple[int, int], float] = {}
    for a, b, gap in zip(rows.tolist(), columns.tolist(), gaps.tolist(), strict=True):
        key = (min(a, b), max(a, b))
        gap_of[key] = min(gap, gap_of.get(key, np.inf))
    found = tree.tocoo()
    ends = zip(found.row.tolist(), found.col.tolist(), strict=True)
    return [(a, b, gap_of[min(a, b), max(a, b)]) for a, b in ends]


def _find_near_gaps(x: Float, label: Int) -> tuple[Int, Int, Float]:
    """Return the gaps between points and their nearest neighbours in other parts."""
    k = min(_NEIGHBOURS, len(x))
    distance, neighbour = map(np.asarray, cKDTree(x).query(x, k=k))
    own = np.repeat(label, k)
    other, distance = label[neighbour.ravel()], distance.ravel()
    across = own != other
    return own[across], other[across], distance[across]


def _spanning_tree(rows: Int, columns: Int, gaps: Float, count: int) -> coo_array:
    """Return the minimum spanning forest of the parts, with one entry for each joint."""
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    # Of several gaps between two parts only the smallest: entries of a matrix would add up.
    order = np.lexsort((gaps, high, low))
    low, high, gaps = low[order], high[order], gaps[order]
    first = np.ones(len(low), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    # A gap of zero is no entry of a sparse matrix: all are made a little longer.
    length = gaps[first] + 1e-12 * (1.0 + gaps.max(initial=0.0))
    graph = coo_array((length, (low[first], high[first])), shape=(count, count))
    return minimum_spanning_tree(graph.tocsr()).tocoo()


def _group_parts(tree: coo_array, count: int) -> Int:
    """Return the number of the connected group of each part, (count,)."""
    from scipy.sparse.csgraph import connected_components

    groups: Int = connected_components(tree, directed=False)[1].astype(np.int64)
    return groups


def _pair_points(x: Float, own: Int, others: Int, gap: float) -> Int:
    """Return pairs of points across a gap, (m, 2): from the smaller part to the larger one."""
    partners = min(_PARTNERS, len(others))
    distance, nearest = map(np.asarray, cKDTree(x[others]).query(x[own], k=partners))
    distance, nearest = distance.reshape(len(own), partners), nearest.reshape(len(own), partners)
    size = float(np.linalg.norm(np.ptp(x[own], axis=0)))
    order = np.argsort(distance[:, 0], kind="stable")
    near = int((distance[:, 0] <= gap + _DEPTH * size).sum())
    chosen = order[: min(max(near, _MIN_POINTS), _MAX_POINTS)]
    pairs = np.column_stack([np.repeat(own[chosen], partners), others[nearest[chosen]].ravel()])
    # Points in the same place have no direction; their other partners hold them.
    return pairs[distance[chosen].ravel() > 0.0]
