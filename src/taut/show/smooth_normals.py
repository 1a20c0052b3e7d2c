"""Normals of a surface that is smooth except across edges that are sharp at rest.

Corners of faces around a point share a normal if a way from one face to the other crosses only
edges at which the faces meet at less than `SHARP_ANGLE`. The normal is the normalised sum of the
vector areas A = ½ Σ xᵢ × xᵢ₊₁ of these faces: n = Σ A / |Σ A|.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int, Mask

SHARP_ANGLE = 55.0
"""Faces that meet at a larger angle [degrees] have a visible edge."""


class SmoothNormals:
    """The normals of faces of any size, given one after the other.

    rest : points at rest [m], (n, 3); counts : corners of each face, (f,)
    corners : points, (c,)
    groups : the normal of each corner, (c,), numbered from 0
    points : the point of each normal, (g,), in ascending order

    >>> square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0]])
    >>> wall = SmoothNormals(square, np.array([4, 4]), np.array([3, 2, 1, 0, 0, 1, 5, 4]))
    >>> wall.groups.tolist(), wall.points.tolist(), wall.is_smooth
    ([5, 4, 2, 0, 1, 3, 7, 6], [0, 0, 1, 1, 2, 3, 4, 5], False)
    >>> wall.at(square)[:2].tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(self, rest: Float, counts: Int, corners: Int) -> None:
        self.corners = corners
        self._starts = np.cumsum(counts) - counts
        self._face: Int = np.repeat(np.arange(len(counts)), counts)
        self._next = find_next_corners(counts)
        label = group_smooth_corners(rest, counts, corners)
        kept, number = np.unique(label, return_inverse=True)
        order = np.argsort(corners[kept], kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self.groups: Int = place[number.reshape(-1)]
        self.points: Int = corners[kept][order]

    @property
    def is_smooth(self) -> bool:
        """Whether each point has one normal."""
        return len(self.points) == len(np.unique(self.points))

    def at(self, x: Float, is_whole: Mask | None = None) -> Float:
        """Return unit normals for points at x [m], (n, 3): (g, 3); (0, 1, 0) without any area.

        is_whole : which faces count, (f,)
        """
        areas = vector_areas(x, self._starts, self._next, self.corners)
        if is_whole is not None:
            areas = np.where(is_whole[:, None], areas, 0.0)
        of_corners = areas[self._face]
        total = np.column_stack(
            [np.bincount(self.groups, column, len(self.points)) for column in of_corners.T]
        )
        length = np.linalg.norm(total, axis=1, keepdims=True)
        return np.where(length > 0, total / np.where(length > 0, length, 1.0), [0.0, 1.0, 0.0])


def find_next_corners(counts: Int) -> Int:
    """Return for each corner the next one of its face, (c,).

    >>> find_next_corners(np.array([3, 4])).tolist()
    [1, 2, 0, 4, 5, 6, 3]
    """
    ends = np.cumsum(counts)
    following = np.arange(1, int(counts.sum()) + 1)
    following[ends - 1] = ends - counts
    return following


def vector_areas(x: Float, starts: Int, following: Int, corners: Int) -> Float:
    """Return twice the vector areas of faces [m²], (f, 3).

    x : points [m], (n, 3); starts : first corner of each face, (f,)
    following : the next corner of each, (c,); corners : points, (c,)
    """
    if not len(starts):
        return np.empty((0, 3))
    counts = np.diff(np.append(starts, len(corners)))
    # From the first corner of the face: far from the origin the products would lose digits.
    y = x[corners] - np.repeat(x[corners[starts]], counts, axis=0)
    return np.add.reduceat(np.cross(y, y[following]), starts, axis=0)


def group_smooth_corners(rest: Float, counts: Int, corners: Int) -> Int:
    """Return for each corner (c,) the first corner with which it shares its normal.

    rest : points [m], (n, 3); counts : corners of each face, (f,); corners : points, (c,)
    """
    c = len(corners)
    following = find_next_corners(counts)
    areas = vector_areas(rest, np.cumsum(counts) - counts, following, corners)
    length = np.linalg.norm(areas, axis=1, keepdims=True)
    normal = np.divide(areas, length, out=np.zeros_like(areas), where=length > 0)
    face = np.repeat(np.arange(len(counts)), counts)
    first, second = np.arange(c), following
    flipped = corners[first] > corners[second]
    low, high = np.where(flipped, second, first), np.where(flipped, first, second)
    # Neighbours along an edge follow each other when edges are sorted by their key.
    key = corners[low] * len(rest) + corners[high]
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    left, right = order[:-1][same], order[1:][same]
    cosine = np.einsum("ij,ij->i", normal[face[left]], normal[face[right]])
    smooth = cosine > np.cos(np.radians(SHARP_ANGLE))
    left, right = left[smooth], right[smooth]
    i, j = np.concatenate([low[left], high[left]]), np.concatenate([low[right], high[right]])
    return _least_in_component(c, i, j)


def _least_in_component(n: int, i: Int, j: Int) -> Int:
    """Return the least node of the component of each of n nodes, (n,), in a graph of edges i-j."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    least = np.full(label.max(initial=-1) + 1, n)
    np.minimum.at(least, label, np.arange(n))
    return np.asarray(least[label])
