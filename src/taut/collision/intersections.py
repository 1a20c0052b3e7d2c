"""Edges that pass through triangles, decided exactly.

A pair of an edge and a triangle without a common particle intersects if they have a point in
common; to touch is to intersect. Nearly all pairs are decided in floating point, with a bound on
its rounding (`_orientation_kernels`), and the rest in integers: positions are integer multiples of
a power of two, so that the answer is that for the positions as they are stored.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.collision.box_tree import LARGEST, BoxTree, bound_primitives, find_unusable_row
from taut.errors import ModelError
from taut.jit.compile import kernels

_Point = tuple[int, ...]


def find_intersections(x: Float, edges: Int, triangles: Int) -> Int:
    """Return the pairs of an edge and a triangle that intersect, (k, 2), sorted.

    x : positions [m], (n, 3); edges : (m, 2); triangles : (l, 3)

    >>> x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1], [0.2, 0.2, 1], [1, 1, 0]])
    >>> find_intersections(x, np.array([[3, 4], [4, 5]]), np.array([[0, 1, 2]])).tolist()
    [[0, 0]]
    >>> x[4] = [0.2, 0.2, -1e-300]  # ends just below
    >>> find_intersections(x, np.array([[3, 4]]), np.array([[0, 1, 2]])).tolist()
    []
    >>> x[4, 2] = 0.0  # touches
    >>> find_intersections(x, np.array([[3, 4]]), np.array([[0, 1, 2]])).tolist()
    [[0, 0]]
    """
    bad = find_unusable_row(x)
    if bad is not None:
        raise ModelError(
            f"positions must be finite, below {LARGEST:g} m, "
            f"got {x[bad].tolist()} of particle {bad}"
        )
    # Kernels take arrays that are contiguous and writable.
    x = np.array(x, dtype=np.float64, order="C")
    edges = np.array(edges, dtype=np.int64, order="C")
    triangles = np.array(triangles, dtype=np.int64, order="C")
    tree = BoxTree(bound_primitives(edges, x, x))
    pairs = tree.find_meetings(BoxTree(bound_primitives(triangles, x, x))).join()
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    common = (edges[pairs[:, 0]][:, :, None] == triangles[pairs[:, 1]][:, None, :]).any(axis=(1, 2))
    pairs = np.ascontiguousarray(pairs[~common])
    loops = kernels("taut.collision._orientation_kernels")
    answers = np.empty(len(pairs), dtype=np.int8)
    loops.decide(x, edges, triangles, pairs, answers)
    for i in np.flatnonzero(answers == loops.UNDECIDED):
        edge, triangle = pairs[i]
        points = _to_integers(x[[*edges[edge], *triangles[triangle]]])
        answers[i] = _intersect_exactly(points[:2], points[2:])
    return pairs[answers == loops.YES]


def find_enclosed(points: Float, triangles: Float) -> Mask:
    """Return which points, (k, 3) [m], are inside of a closed surface, corners (l, 3, 3) [m].

    Inside, the solid angles of the triangles add up to 4π or more, outside to 0. Points that touch
    the surface are intersections, and may be either here.

    >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> faces = corners[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    >>> find_enclosed(np.array([[0.1, 0.1, 0.1], [1.0, 1.0, 1.0]]), faces).tolist()
    [True, False]
    """
    enclosed = np.zeros(len(points), dtype=bool)
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    for i in np.flatnonzero(((points >= low) & (points <= high)).all(axis=1)):
        a, b, c = (triangles[:, k] - points[i] for k in range(3))
        lengths = [np.sqrt(np.einsum("ei,ei->e", side, side)) for side in (a, b, c)]
        volume = np.einsum("ei,ei->e", a, np.cross(b, c))
        scale = lengths[0] * lengths[1] * lengths[2]
        for one, other, length in ((a, b, lengths[2]), (b, c, lengths[0]), (c, a, lengths[1])):
            scale = scale + np.einsum("ei,ei->e", one, other) * length
        # Half of each solid angle (Van Oosterom and Strackee 1983)
        enclosed[i] = abs(np.arctan2(volume, scale).sum()) > np.pi
    return enclosed


def _to_integers(points: Float) -> list[_Point]:
    """Return points in a unit, a power of two, in which all their coordinates are integers."""
    ratios = [[c.as_integer_ratio() for c in point] for point in points.tolist()]
    unit = max(denominator for point in ratios for _, denominator in point)
    return [tuple(n * (unit // d) for n, d in point) for point in ratios]


def _intersect_exactly(segment: list[_Point], triangle: list[_Point]) -> bool:
    """Whether a segment and a triangle, either of which may be degenerate, have a common point."""
    a, b = segment
    p, q, r = triangle
    sides = [_orientation(p, q, r, a), _orientation(p, q, r, b)]
    if sides[0] * sides[1] > 0:
        return False
    if sides != [0, 0]:
        corners = zip(triangle, triangle[1:] + triangle[:1], strict=True)
        turns = [_orientation(a, b, c, d) for c, d in corners]
        return min(turns) >= 0 or max(turns) <= 0
    # All five points are in one plane. Project along an axis that keeps the triangle's area.
    normal = _cross(_difference(triangle[1], triangle[0]), _difference(triangle[2], triangle[0]))
    axis = next((k for k in range(3) if normal[k] != 0), None)
    if axis is None:
        return any(
            _segments_meet(a, b, triangle[i], triangle[j]) for i, j in ((0, 1), (1, 2), (2, 0))
        )
    flat = [tuple(p[k] for k in range(3) if k != axis) for p in (a, b, *triangle)]
    return _is_inside(flat[0], flat[2:]) or any(
        _flat_segments_meet(flat[0], flat[1], flat[2 + i], flat[2 + j])
        for i, j in ((0, 1), (1, 2), (2, 0))
    )


def _difference(p: _Point, q: _Point) -> _Point:
    return tuple(s - t for s, t in zip(p, q, strict=True))


def _cross(p: _Point, q: _Point) -> _Point:
    return (
        p[1] * q[2] - p[2] * q[1],
        p[2] * q[0] - p[0] * q[2],
        p[0] * q[1] - p[1] * q[0],
    )


def _orientation(a: _Point, b: _Point, c: _Point, d: _Point) -> int:
    """Return the sign of (a - d)·((b - d) × (c - d))."""
    u, v, w = (_difference(p, d) for p in (a, b, c))
    volume = sum(s * t for s, t in zip(u, _cross(v, w), strict=True))
    return (volume > 0) - (volume < 0)


def _turn(a: _Point, b: _Point, c: _Point) -> int:
    """Return the sign of the area of a triangle in the plane."""
    area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (area > 0) - (area < 0)


def _is_inside(point: _Point, triangle: list[_Point]) -> bool:
    turns = [_turn(triangle[i], triangle[(i + 1) % 3], point) for i in range(3)]
    return min(turns) >= 0 or max(turns) <= 0


def _flat_segments_meet(a: _Point, b: _Point, c: _Point, d: _Point) -> bool:
    """Whether two segments in the plane have a common point."""
    turns = (_turn(a, b, c), _turn(a, b, d), _turn(c, d, a), _turn(c, d, b))
    if any(turns) or a != b or c != d:
        if turns[0] * turns[1] > 0 or turns[2] * turns[3] > 0:
            return False
        if any(turns):
            return True
    # Collinear: their intervals meet along both axes.
    return all(
        max(min(a[k], b[k]), min(c[k], d[k])) <= min(max(a[k], b[k]), max(c[k], d[k]))
        for k in range(2)
    )


def _segments_meet(a: _Point, b: _Point, c: _Point, d: _Point) -> bool:
    """Whether two segments in space have a common point."""
    # In one plane they meet if their projections along all axes do: an axis that is not parallel to
    # the plane keeps every gap.
    return _orientation(a, b, c, d) == 0 and all(
        _flat_segments_meet(*(tuple(p[k] for k in range(3) if k != axis) for p in (a, b, c, d)))
        for axis in range(3)
    )
