"""The nearest triangle or segment to each of many points, and the tetrahedron around it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from taut.arrays import Float, Int


def find_nearest_triangle(x: Float, corners: Float) -> tuple[Int, Float]:
    """Return the nearest triangle to each point and the squared distance [m²], shapes (m,).

    x : points [m], (m, 3)
    corners : of triangles with an area [m], (k, 3, 3), k > 0

    >>> low = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> find_nearest_triangle(np.array([[0.2, 0.2, 0.5]]), np.stack([low, low + [0, 0, 2]]))
    (array([0]), array([0.25]))
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    u, v = b - a, c - a
    normal = np.cross(u, v)
    square = np.einsum("ij,ij->i", normal, normal)
    to_second, to_third = (
        np.cross(v, normal) / square[:, None],
        np.cross(normal, u) / square[:, None],
    )  # gradients of the weights

    def distance(point: Int, triangle: Int) -> Float:
        r = x[point] - a[triangle]
        second, third = _dot(r, to_second[triangle]), _dot(r, to_third[triangle])
        over = (second >= 0) & (third >= 0) & (second + third <= 1)
        found = _dot(r, normal[triangle]) ** 2 / square[triangle]
        outside = np.flatnonzero(~over)
        p, t = x[point[outside]], triangle[outside]
        found[outside] = np.minimum.reduce(
            [_to_segment(p, q[t], e[t]) for q, e in ((a, u), (a, v), (b, c - b))]
        )
        return found

    return _find_nearest(x, corners, distance)


def find_nearest_segment(x: Float, ends: Float) -> tuple[Int, Float]:
    """Return the nearest segment to each point and the squared distance [m²], shapes (m,).

    ends : of segments [m], (k, 2, 3), k > 0

    >>> ends = np.array([[[0.0, 0, 0], [1, 0, 0]], [[0.0, 3, 0], [1, 3, 0]]])
    >>> find_nearest_segment(np.array([[0.5, 1.0, 0.0]]), ends)
    (array([0]), array([1.]))
    """
    start, along = ends[:, 0], ends[:, 1] - ends[:, 0]
    return _find_nearest(
        x, ends, lambda point, segment: _to_segment(x[point], start[segment], along[segment])
    )


def find_containing_tet(x: Float, corners: Float) -> Int:
    """Return the tetrahedron that contains each point, shape (m,), -1 if none does.

    If several do, the one in which the point is deepest.

    x : points [m], (m, 3)
    corners : of tetrahedra with a volume [m], (k, 4, 3), k > 0

    >>> corners = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]])
    >>> find_containing_tet(np.array([[0.1, 0.1, 0.1], [1.0, 1, 1]]), corners)
    array([ 0, -1])
    """
    first, inverse = (
        corners[:, 0],
        np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)),
    )
    deepest, found = np.zeros(len(x)), np.full(len(x), -1)

    def handle(point: Int, tet: Int) -> None:
        weights = np.einsum("pij,pj->pi", inverse[tet], x[point] - first[tet])
        least = np.minimum(weights.min(axis=1), 1 - weights.sum(axis=1))
        inside = least >= 0
        _keep_smallest(deepest, found, point[inside], tet[inside], -least[inside])

    BoxTree(corners.min(axis=1), corners.max(axis=1)).visit(x, np.zeros(len(x)), handle)
    return found


def _find_nearest(
    x: Float, corners: Float, distance: Callable[[Int, Int], Float]
) -> tuple[Int, Float]:
    """Return the item with the smallest squared `distance(points, items)`; corners (k, s, 3).

    With p = Σ wᵢ cᵢ on a item, |x - p|² = Σ wᵢ |x - cᵢ|² - Σ wᵢ wⱼ |cᵢ - cⱼ|², and the last sum is
    at most (s - 1)/2s of the longest edge squared. So the corners alone rule out most of the items
    whose boxes are in reach.
    """
    from scipy.spatial import cKDTree

    size = corners.shape[1]
    edges = corners[:, :, None] - corners[:, None]
    inward = np.einsum("kabi,kabi->kab", edges, edges).max(axis=(1, 2)) * (size - 1) / (2 * size)
    # The item with the nearest centre is a good first guess: few boxes are left within reach.
    found = np.asarray(cKDTree(corners.mean(axis=1)).query(x)[1], dtype=np.int64)
    best = distance(np.arange(len(x)), found)

    def handle(point: Int, item: Int) -> None:
        at = x[point]
        least = np.minimum.reduce(
            [_dot(away, away) for away in (at - corners[item, k] for k in range(size))]
        )
        near = least - inward[item] <= best[point]
        point, item = point[near], item[near]
        _keep_smallest(best, found, point, item, distance(point, item))

    BoxTree(corners.min(axis=1), corners.max(axis=1)).visit(x, best, handle)
    return found, best


def _keep_smallest(best: Float, found: Int, point: Int, item: Int, value: Float) -> None:
    """Keep each value that is the smallest so far for its point, and its item."""
    np.minimum.at(best, point, value)
    won = value == best[point]
    found[point[won]] = item[won]


def _to_segment(x: Float, start: Float, along: Float) -> Float:
    """Squared distances [m²] to segments, shape (m,); one without length is a point."""
    r = x - start
    square = _dot(along, along)
    t = (_dot(r, along) / np.where(square > 0, square, 1.0)).clip(0.0, 1.0)
    away = r - t[:, None] * along
    return _dot(away, away)


def _dot(a: Float, b: Float) -> Float:
    return np.einsum("ij,ij->i", a, b)


# A tree of bounding boxes that finds, for many points at once, the items within reach.
#
# Items are halved again and again across the axis along which their centres spread most, so that a
# level of the tree is one array of boxes and node i has the children 2i and 2i + 1. All points
# descend together, level by level. No item within reach is missed.

_MAX_PAIRS = 1 << 18  # compared at a time: it bounds the memory


class BoxTree:
    """Boxes from `low` to `high` [m], shapes (k, 3), k > 0.

    >>> tree = BoxTree(np.array([[0.0, 0, 0], [2, 0, 0]]), np.array([[1.0, 1, 1], [3, 1, 1]]))
    >>> points = np.array([[2.5, 0.5, 0.5], [1.5, 0.5, 0.5]])
    >>> tree.visit(points, np.array([0.0, 0.25]), lambda point, box: print(point, box))
    [1 0 1] [0 1 1]
    """

    def __init__(self, low: Float, high: Float) -> None:
        count = len(low)
        depth = count.bit_length() - 1  # so that a leaf holds one or two
        centre = (low + high) / 2
        order = np.arange(count)
        for level in range(depth):
            start = _starts(count, level)
            spread = np.maximum.reduceat(centre[order], start) - np.minimum.reduceat(
                centre[order], start
            )
            segment = np.repeat(np.arange(len(start)), np.diff(start, append=count))
            order = order[np.lexsort((centre[order, spread.argmax(axis=1)[segment]], segment))]
        self.order = order
        self.start = _starts(count, depth)
        self.size = np.diff(self.start, append=count)
        lows, highs = (
            [np.minimum.reduceat(low[order], self.start)],
            [np.maximum.reduceat(high[order], self.start)],
        )
        for _ in range(depth):
            lows.append(lows[-1].reshape(-1, 2, 3).min(axis=1))
            highs.append(highs[-1].reshape(-1, 2, 3).max(axis=1))
        self.low, self.high = lows[::-1], highs[::-1]  # by level, the whole first

    def visit(self, x: Float, reach: Float, handle: Callable[[Int, Int], None]) -> None:
        """Call `handle(points, items)` in batches, for all pairs with a box within reach.

        A few pairs beyond reach may be among them.

        x : points [m], shape (m, 3) reach : squared distances [m²], shape (m,); `handle` may lower
        them as it finds something near
        """
        everything = np.arange(len(x))
        stack = [(0, part, np.zeros_like(part)) for part in _parts(everything)]
        while stack:
            level, point, node = stack.pop()
            outside = np.maximum(
                self.low[level][node] - x[point], x[point] - self.high[level][node]
            ).clip(min=0.0)
            near = np.einsum("ij,ij->i", outside, outside) <= reach[point]
            point, node = point[near], node[near]
            if level == len(self.low) - 1:
                size = self.size[node]
                second = np.flatnonzero(size == 2)
                handle(
                    np.append(point, point[second]),
                    self.order[np.append(self.start[node], self.start[node[second]] + 1)],
                )
            elif len(point):
                both = np.concatenate([point, point]), np.concatenate([2 * node, 2 * node + 1])
                stack += [(level + 1, p, n) for p, n in zip(*map(_parts, both), strict=True)]


def _starts(count: int, level: int) -> Int:
    """Return the starts of 2^level segments of nearly equal length, which the next level halves."""
    return np.arange(2**level) * count >> level


def _parts(array: Int) -> list[Int]:
    return np.array_split(array, -(-len(array) // _MAX_PAIRS)) if len(array) else []
