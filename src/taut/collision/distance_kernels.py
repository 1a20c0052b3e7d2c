"""Distances of points from triangles and of edges, their closest features, and when they meet.

Of a point and a triangle the feature is a corner (0, 1, 2), an edge (3, 4, 5: from corner 0, 1, 2
to the next), or the face (6).

Of two edges x₀ + s(x₁ - x₀) and x₂ + t(x₃ - x₂) it is where

    F = |x₀ + s(x₁ - x₀) - x₂ - t(x₃ - x₂)|² + ε²((s - ½)² + (t - ½)²)

is least over 0 ≤ s, t ≤ 1. The second part makes the minimum unique where edges are parallel, and
so F continuously differentiable. Features are: inside of both (0), an end of the first and inside
of the second (1: x₀, 2: x₁), an end of the second and inside of the first (3: x₂, 4: x₃), two ends
(5 + i + 2j: x_i and x_{2+j}).

Nearly parallel edges make normal equations nearly singular. Their determinant and right-hand sides
are computed from cross products, by Lagrange's identity |e|²|f|² - (e·f)² = |e × f|², which has no
cancellation, and t from s: an error of s then is one along both edges, where F hardly changes. A
triangle whose corners are in a line, to rounding, is its three edges.

*When they meet.* If a pair is d apart and its two sides approach each other by at most l on the
whole way, then a part (d - kept)/l of the way is free. Such parts, one after another, approach
the first time at which the distance is `kept`, from below (additive advancement, Li et al. 2021).
Roots of a polynomial would need less work, and care to the last bit not to miss one. Positions on
the way are rounded, and so is the distance: a bound on that is subtracted from the gap.
"""

from math import inf, sqrt

import numpy as np
from numba import njit, prange

PAIRS_PER_CHUNK = 256  # taken by a thread at a time
MAX_ADVANCES = 1000  # then a pair stops where it is
CLOSE = 0.1  # a pair stops once its gap is this part of what it was
MIN_ADVANCE = 1e-3  # a pair stops once it advances by less, in units of the way that is left
# Rounding of a distance, in units of the largest coordinate or move: 2⁻⁵³ for each of a position
# and a move and for each of the operations on the way to a distance, some twenty in a row.
ROUNDING = 32.0 * 2.0**-53
# Squared sine of the angle at a corner below which a normal is rounding: the directions of two
# edges are known to 2⁻⁵³ each.
FLAT_ANGLE = 1e-28


@njit(inline="always", error_model="numpy")
def _difference(x, i, j):
    """Return x_i - x_j."""
    return x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]


@njit(inline="always", error_model="numpy")
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(inline="always", error_model="numpy")
def _cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@njit(inline="always", error_model="numpy")
def _clamp(t):
    return min(max(t, 0.0), 1.0)


@njit(inline="always", error_model="numpy")
def _square_along(r, e, t):
    """Return |r - t e|²."""
    u, v, w = r[0] - t * e[0], r[1] - t * e[1], r[2] - t * e[2]
    return u * u + v * v + w * w


@njit(error_model="numpy")
def _closest_on_sides(x, p, a, b, c):
    """Return the distance of point p from the nearest side of a triangle, and the feature."""
    least, feature = inf, 0
    for side in range(3):
        i, j = (a, b) if side == 0 else ((b, c) if side == 1 else (a, c))
        e, r = _difference(x, j, i), _difference(x, p, i)
        square = _dot(e, e)
        t = _clamp(_dot(r, e) / square) if square > 0.0 else 0.0
        value = _square_along(r, e, t)
        if value < least or value != value:
            least, feature = value, 3 + side
            if t == 0.0:
                feature = 1 if side == 1 else 0
            elif t == 1.0:
                feature = 1 if side == 0 else 2
    return sqrt(least), feature


@njit(error_model="numpy")
def closest_on_triangle(x, p, a, b, c):
    """Return the distance of point p from the triangle a, b, c [m], and the closest feature."""
    ab, ac, ap = _difference(x, b, a), _difference(x, c, a), _difference(x, p, a)
    n = _cross(ab, ac)
    area = _dot(n, n)
    if not area > FLAT_ANGLE * _dot(ab, ab) * _dot(ac, ac):
        return _closest_on_sides(x, p, a, b, c)
    d1, d2 = _dot(ab, ap), _dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return sqrt(_dot(ap, ap)), 0
    bp = _difference(x, p, b)
    d3, d4 = _dot(ab, bp), _dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return sqrt(_dot(bp, bp)), 1
    cp = _difference(x, p, c)
    d5, d6 = _dot(ab, cp), _dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return sqrt(_dot(cp, cp)), 2
    if d1 * d4 - d3 * d2 <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return sqrt(_square_along(ap, ab, d1 / (d1 - d3))), 3
    if d3 * d6 - d5 * d4 <= 0.0 and d4 >= d3 and d5 >= d6:
        bc = _difference(x, c, b)
        return sqrt(_square_along(bp, bc, _dot(bp, bc) / _dot(bc, bc))), 4
    if d5 * d2 - d1 * d6 <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return sqrt(_square_along(ap, ac, d2 / (d2 - d6))), 5
    return abs(_dot(n, ap)) / sqrt(area), 6


@njit(inline="always", error_model="numpy")
def _smoothed_square(r, e, f, s, t, square):
    """Return F at s and t; as a polynomial in them it would lose what is left of large terms."""
    u = r[0] + s * e[0] - t * f[0]
    v = r[1] + s * e[1] - t * f[1]
    w = r[2] + s * e[2] - t * f[2]
    return u * u + v * v + w * w + square * ((s - 0.5) ** 2 + (t - 0.5) ** 2)


@njit(error_model="numpy")
def closest_on_edges(x, i, j, k, m, square):
    """Return √F of the edges (i, j) and (k, m), and the closest feature; square : ε² [m²]."""
    e, f, r = _difference(x, j, i), _difference(x, m, k), _difference(x, i, k)
    ee, ff, c, er, fr = _dot(e, e), _dot(f, f), _dot(e, f), _dot(e, r), _dot(f, r)
    a, b = ee + square, ff + square
    p, q = er - 0.5 * square, fr + 0.5 * square
    n = _cross(e, f)
    determinant = _dot(n, n) + square * (ee + ff + square)
    s = (_dot(n, _cross(f, r)) + square * (0.5 * (c + b) - er)) / determinant  # (cq - bp)/(ab - c²)
    t = (q + s * c) / b
    if s >= 0.0 and s <= 1.0 and t >= 0.0 and t <= 1.0:
        return sqrt(_smoothed_square(r, e, f, s, t, square)), 0
    # The minimum is on a side of the square; F is convex, so that the least of the four is it.
    feature, least = 0, inf
    for side in range(4):
        if side < 2:
            s = float(side)
            t = _clamp((q + s * c) / b)
            inside = t > 0.0 and t < 1.0
            code = 1 + side if inside else 5 + side + 2 * int(t)
        else:
            t = float(side - 2)
            s = _clamp((t * c - p) / a)
            inside = s > 0.0 and s < 1.0
            code = 1 + side if inside else 5 + int(s) + 2 * (side - 2)
        value = _smoothed_square(r, e, f, s, t, square)
        if value < least or value != value:
            feature, least = code, value
    return sqrt(least), feature


@njit(
    "void(f8[:, ::1], i8[:, ::1], f8[::1], i1[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def measure_points_and_triangles(x, quadruples, distances, features):
    """Write distances [m] and closest features of (point, corner, corner, corner), (m, 4)."""
    m = quadruples.shape[0]
    for chunk in prange((m + PAIRS_PER_CHUNK - 1) // PAIRS_PER_CHUNK):
        for i in range(chunk * PAIRS_PER_CHUNK, min(m, (chunk + 1) * PAIRS_PER_CHUNK)):
            p, a, b, c = quadruples[i, 0], quadruples[i, 1], quadruples[i, 2], quadruples[i, 3]
            distances[i], features[i] = closest_on_triangle(x, p, a, b, c)


@njit(
    "void(f8[:, ::1], i8[:, ::1], f8[::1], f8[::1], i1[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def measure_edges(x, quadruples, squares, distances, features):
    """Write √F [m] and closest features of (end, end, end, end), (m, 4); squares : ε² [m²]."""
    m = quadruples.shape[0]
    for chunk in prange((m + PAIRS_PER_CHUNK - 1) // PAIRS_PER_CHUNK):
        for i in range(chunk * PAIRS_PER_CHUNK, min(m, (chunk + 1) * PAIRS_PER_CHUNK)):
            a, b, c, d = quadruples[i, 0], quadruples[i, 1], quadruples[i, 2], quadruples[i, 3]
            distances[i], features[i] = closest_on_edges(x, a, b, c, d, squares[i])


@njit(error_model="numpy")
def _edge_distance(x):
    """Return the distance of the segments x₀x₁ and x₂x₃ [m], parallel or not.

    The least of five distances, each of points on the segments: rounding where they are nearly
    parallel spoils only the first.
    """
    e, f, r = _difference(x, 1, 0), _difference(x, 3, 2), _difference(x, 0, 2)
    a, b, c = _dot(e, e), _dot(f, f), _dot(e, f)
    p, q = _dot(e, r), _dot(f, r)
    n = _cross(e, f)
    determinant = _dot(n, n)
    least = inf
    for case in range(5):
        if case == 0:
            s = _dot(n, _cross(f, r)) / determinant
            t = (q + s * c) / b
            if not (s >= 0.0 and s <= 1.0 and t >= 0.0 and t <= 1.0):
                continue
        elif case < 3:
            s = float(case - 1)
            t = _clamp((q + s * c) / b) if b > 0.0 else 0.0
        else:
            t = float(case - 3)
            s = _clamp((t * c - p) / a) if a > 0.0 else 0.0
        value = _smoothed_square(r, e, f, s, t, 0.0)
        if value < least or value != value:
            least = value
    return sqrt(least)


@njit(error_model="numpy")
def _distance(x, is_edges, square):
    if not is_edges:
        return closest_on_triangle(x, 0, 1, 2, 3)[0]
    if square > 0.0:
        # √F is the least length of vectors that a move of the edges changes by as much at most.
        return closest_on_edges(x, 0, 1, 2, 3, square)[0]
    return _edge_distance(x)


@njit(error_model="numpy")
def _free_part(x, move, particles, thickness, is_edges, square, at, along):
    """Return the part of the way that a pair can go, from 0 to 1; at, along : scratch, (4, 3)."""
    largest = 0.0
    for k in range(3):
        mean = 0.0
        for i in range(4):
            along[i, k] = move[particles[i], k]
            at[i, k] = x[particles[i], k]
            mean += 0.25 * along[i, k]
            largest = max(largest, abs(at[i, k]), abs(along[i, k]))
        for i in range(4):
            along[i, k] -= mean
    first = second = 0.0
    for i in range(4):
        length = sqrt(along[i, 0] ** 2 + along[i, 1] ** 2 + along[i, 2] ** 2)
        if i < (2 if is_edges else 1):
            first = max(first, length)
        else:
            second = max(second, length)
    approach = first + second
    reserve = thickness + ROUNDING * largest
    gap = _distance(at, is_edges, square) - reserve
    if not gap > 0.0:
        return 0.0
    if gap >= approach:
        return 1.0
    kept = CLOSE * gap
    t = 0.0
    for _ in range(MAX_ADVANCES):
        step = (gap - kept) / approach
        if t + step >= 1.0:
            return 1.0
        if step <= MIN_ADVANCE * (1.0 - t) and t > 0.0:
            return t
        t += step
        for i in range(4):
            for k in range(3):
                at[i, k] = x[particles[i], k] + t * along[i, k]
        gap = _distance(at, is_edges, square) - reserve
    return t


@njit(
    "void(f8[:, ::1], f8[:, ::1], i8[:, ::1], f8[::1], b1, f8[::1], f8[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def write_free_parts(x, move, quadruples, thickness, is_edges, squares, parts):
    """Write the part of the way x + part·move that each pair can go without coming too near.

    is_edges : whether a quadruple has the ends of two edges, else a point and a triangle;
    thickness : the distance, of edges √F, that a pair must exceed [m], (m,)
    squares : ε² of edges [m²], (m,); with 0, F is their squared distance
    """
    m = quadruples.shape[0]
    for chunk in prange((m + PAIRS_PER_CHUNK - 1) // PAIRS_PER_CHUNK):
        at, along = np.empty((4, 3)), np.empty((4, 3))
        for i in range(chunk * PAIRS_PER_CHUNK, min(m, (chunk + 1) * PAIRS_PER_CHUNK)):
            parts[i] = _free_part(
                x, move, quadruples[i], thickness[i], is_edges, squares[i], at, along
            )
