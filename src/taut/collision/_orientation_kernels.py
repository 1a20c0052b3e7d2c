"""Whether a segment meets a triangle, decided where rounding cannot change the answer.

The sign of six times the volume of a tetrahedron is that of a determinant. Computed in floating
point it is wrong only if its magnitude is below a bound on its rounding error (Shewchuk 1997,
`orient3d`, the static filter). Pairs with such a determinant, as in a flat sheet, are projected
along the axes: if one of their shadows is separated by a side of the triangle or by the segment,
they do not meet. What remains is left UNDECIDED, for exact numbers.
"""

from numba import njit, prange

NO, YES, UNDECIDED = 0, 1, 2
PAIRS_PER_CHUNK = 256  # taken by a thread at a time
# (7 + 56u)u of the permanent, u the unit roundoff
ERROR_BOUND = (7.0 + 56.0 * 2.0**-53) * 2.0**-53
FLAT_ERROR_BOUND = (3.0 + 16.0 * 2.0**-53) * 2.0**-53  # of `orient2d`
# Products below this may have a factor that has underflowed; coordinates are below 1e100.
SMALLEST = 1e-200


@njit(error_model="numpy")
def _orientation(x, a, b, c, d):
    """Return the sign of (a - d)·((b - d) × (c - d)); 2 if rounding could change it."""
    ax, ay, az = x[a, 0] - x[d, 0], x[a, 1] - x[d, 1], x[a, 2] - x[d, 2]
    bx, by, bz = x[b, 0] - x[d, 0], x[b, 1] - x[d, 1], x[b, 2] - x[d, 2]
    cx, cy, cz = x[c, 0] - x[d, 0], x[c, 1] - x[d, 1], x[c, 2] - x[d, 2]
    p, q = bx * cy, cx * by
    r, s = cx * ay, ax * cy
    t, u = ax * by, bx * ay
    determinant = az * (p - q) + bz * (r - s) + cz * (t - u)
    permanent = (
        (abs(p) + abs(q)) * abs(az) + (abs(r) + abs(s)) * abs(bz) + (abs(t) + abs(u)) * abs(cz)
    )
    bound = ERROR_BOUND * permanent + SMALLEST
    if determinant > bound:
        return 1
    if -determinant > bound:
        return -1
    return 2


@njit(error_model="numpy")
def _turn(x, a, b, c, i, j):
    """Return the sign of the area of a triangle's shadow on axes i and j; 0 if not certain."""
    left = (x[a, i] - x[c, i]) * (x[b, j] - x[c, j])
    right = (x[a, j] - x[c, j]) * (x[b, i] - x[c, i])
    bound = FLAT_ERROR_BOUND * (abs(left) + abs(right)) + SMALLEST
    if left - right > bound:
        return 1
    if right - left > bound:
        return -1
    return 0


@njit(error_model="numpy")
def _has_separate_shadow(x, a, b, c, d, e):
    """Whether a shadow of the segment a, b is certainly apart from that of the triangle c, d, e."""
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        first = _turn(x, a, b, c, i, j)
        if first != 0 and first == _turn(x, a, b, d, i, j) and first == _turn(x, a, b, e, i, j):
            return True
        for side in range(3):
            p, q, r = (c, d, e) if side == 0 else ((d, e, c) if side == 1 else (e, c, d))
            own = _turn(x, p, q, r, i, j)
            if own != 0 and _turn(x, p, q, a, i, j) == -own and _turn(x, p, q, b, i, j) == -own:
                return True
    return False


@njit(
    "void(f8[:, ::1], i8[:, ::1], i8[:, ::1], i8[:, ::1], i1[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def decide(x, edges, triangles, pairs, answers):
    """Write for each pair (edge, triangle) whether they meet: NO, YES or UNDECIDED."""
    m = pairs.shape[0]
    for chunk in prange((m + PAIRS_PER_CHUNK - 1) // PAIRS_PER_CHUNK):
        for i in range(chunk * PAIRS_PER_CHUNK, min(m, (chunk + 1) * PAIRS_PER_CHUNK)):
            a, b = edges[pairs[i, 0], 0], edges[pairs[i, 0], 1]
            t = pairs[i, 1]
            c, d, e = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            # The ends of the segment against the plane of the triangle
            first, second = _orientation(x, c, d, e, a), _orientation(x, c, d, e, b)
            if first == second and first != 2:
                answers[i] = NO
                continue
            # The line of the segment against the three edges of the triangle
            u = _orientation(x, a, b, c, d)
            v = _orientation(x, a, b, d, e)
            w = _orientation(x, a, b, e, c)
            least = 1
            greatest = -1
            for side in (u, v, w):
                if side != 2:
                    least = min(least, side)
                    greatest = max(greatest, side)
            if least == -1 and greatest == 1:
                answers[i] = NO
            elif first == 2 or second == 2 or u == 2 or v == 2 or w == 2:
                answers[i] = NO if _has_separate_shadow(x, a, b, c, d, e) else UNDECIDED
            else:
                answers[i] = YES
