"""Distances of points from triangles and of edges, and their closest features.

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
"""

from math import inf, sqrt

from numba import njit

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
    """Return √F of the edges (i, j) and (k, m), the closest feature, s and t; square : ε² [m²]."""
    e, f, r = _difference(x, j, i), _difference(x, m, k), _difference(x, i, k)
    ee, ff, c, er, fr = _dot(e, e), _dot(f, f), _dot(e, f), _dot(e, r), _dot(f, r)
    a, b = ee + square, ff + square
    p, q = er - 0.5 * square, fr + 0.5 * square
    n = _cross(e, f)
    determinant = _dot(n, n) + square * (ee + ff + square)
    s = (_dot(n, _cross(f, r)) + square * (0.5 * (c + b) - er)) / determinant  # (cq - bp)/(ab - c²)
    t = (q + s * c) / b
    if s >= 0.0 and s <= 1.0 and t >= 0.0 and t <= 1.0:
        return sqrt(_smoothed_square(r, e, f, s, t, square)), 0, s, t
    # The minimum is on a side of the square; F is convex, so that the least of the four is it.
    feature, least, best_s, best_t = 0, inf, s, t
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
            feature, least, best_s, best_t = code, value, s, t
    return sqrt(least), feature, best_s, best_t


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
def measure_pair(x, is_edges, square):
    """Return the distance of the pair x, (4, 3) [m]: two edges, or a point and a triangle.

    square : ε² of edges [m²]; with 0, it is their distance, else √F
    """
    if not is_edges:
        return closest_on_triangle(x, 0, 1, 2, 3)[0]
    if square > 0.0:
        # √F is the least length of vectors that a move of the edges changes by as much at most.
        return closest_on_edges(x, 0, 1, 2, 3, square)[0]
    return _edge_distance(x)


@njit(error_model="numpy")
def write_direction(x, is_edges, square, direction):
    """Write the direction from the second side of the pair x, (4, 3) [m], to the first one.

    A unit vector, (5,); the last two are zero but for smoothed edges: F is the squared distance of
    the segments (x₀ + s(x₁ - x₀), ε(s - ½), 0) and (x₂ + t(x₃ - x₂), 0, ε(½ - t)) in five
    dimensions. Not finite where the sides touch.
    """
    s, t = 0.5, 0.5
    if is_edges:
        _, _, s, t = closest_on_edges(x, 0, 1, 2, 3, square)
        r, e, f = _difference(x, 0, 2), _difference(x, 1, 0), _difference(x, 3, 2)
        for k in range(3):
            direction[k] = r[k] + s * e[k] - t * f[k]
    else:
        _, feature = closest_on_triangle(x, 0, 1, 2, 3)
        ab, ac, ap = _difference(x, 2, 1), _difference(x, 3, 1), _difference(x, 0, 1)
        n = _cross(ab, ac)
        across = _dot(n, ap)
        i = 1 if feature in (0, 3, 5) else (2 if feature in (1, 4) else 3)
        j = 2 if feature == 3 else 3
        r, e = _difference(x, 0, i), _difference(x, j, i)
        along = _dot(r, e) / _dot(e, e) if feature in (3, 4, 5) else 0.0
        for k in range(3):
            direction[k] = across * n[k] if feature == 6 else r[k] - along * e[k]
    direction[3], direction[4] = sqrt(square) * (s - 0.5), sqrt(square) * (t - 0.5)
    length = 0.0
    for k in range(5):
        length += direction[k] ** 2
    for k in range(5):
        direction[k] /= sqrt(length)
