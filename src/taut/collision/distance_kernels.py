"""Distances and closest features of many pairs, which of them come near, and when they meet.

The features are those of `_distances`.

*When they meet.* If a pair is d apart and its two sides approach each other by at most l on the
whole way, then a part (d - kept)/l of the way is free. So is the part on which the sides keep the
distance `kept` along a direction that is held: that from one closest point to the other, which
makes it a long part where they slide past each other. The longer one of the two is taken. Such
parts, one after another, approach the first time at which the distance is `kept`, from below
(additive advancement, Li et al. 2021; without the second, sides that slide along each other with a
small gap stopped after a way of 1,000 gaps). Roots of a polynomial would need less work, and care
to the last bit not to miss one. Positions on the way are rounded, and so is the distance: a bound
on that is subtracted from the gap.
"""

from math import inf, sqrt

import numpy as np
from numba import njit, prange

from taut.collision._distances import (
    closest_on_edges,
    closest_on_triangle,
    measure_pair,
    write_direction,
)

PAIRS_PER_CHUNK = 256  # taken by a thread at a time
MAX_ADVANCES = 1000  # then a pair stops where it is
CLOSE = 0.1  # a pair stops once its gap is this part of what it was
MIN_ADVANCE = 1e-3  # a pair stops once it advances by less, in units of the way that is left
# Rounding of a distance, in units of the largest coordinate or move: 2⁻⁵³ for each of a position
# and a move and for each of the operations on the way to a distance, some twenty in a row.
ROUNDING = 32.0 * 2.0**-53


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
            distances[i], features[i], _, _ = closest_on_edges(x, a, b, c, d, squares[i])


@njit(error_model="numpy")
def _bound_approach(along, is_edges):
    """Return by how much the two sides of a pair approach each other at most [m].

    along : how they move, (4, 3) [m]; what they move in common is removed from it
    """
    for k in range(3):
        mean = 0.25 * (along[0, k] + along[1, k] + along[2, k] + along[3, k])
        for i in range(4):
            along[i, k] -= mean
    first = second = 0.0
    for i in range(4):
        length = sqrt(along[i, 0] ** 2 + along[i, 1] ** 2 + along[i, 2] ** 2)
        if i < (2 if is_edges else 1):
            first = max(first, length)
        else:
            second = max(second, length)
    return first + second


@njit(error_model="numpy")
def _advance_along(direction, at, along, is_edges, square, kept):
    """Return the part of a way on which a pair keeps a distance [m] along a direction, at least.

    The distance of two convex sets along any direction is at most their distance. It is the least
    one of their corners, each of which changes evenly. 0 or less, or not a number, if it is too
    small now; infinity if it does not fall.

    direction : unit vector, (5,), see `write_direction`; at, along : the pair, (4, 3) [m]
    """
    split = 2 if is_edges else 1
    smooth = 0.5 * sqrt(square)
    least = inf
    for i in range(split):
        for j in range(split, 4):
            distance = approach = 0.0
            for k in range(3):
                distance += direction[k] * (at[i, k] - at[j, k])
                approach -= direction[k] * (along[i, k] - along[j, k])
            if is_edges:
                distance += smooth * (direction[3] * (2 * i - 1) + direction[4] * (2 * j - 5))
            if not distance > kept:
                return distance - kept
            if approach > 0.0:
                least = min(least, (distance - kept) / approach)
    return least


@njit(error_model="numpy")
def _free_part(x, move, particles, thickness, is_edges, square, at, along, direction):
    """Return the part of the way that a pair can go, from 0 to 1.

    at, along : scratch, (4, 3); direction : likewise, (5,)
    """
    largest = 0.0
    for i in range(4):
        for k in range(3):
            along[i, k] = move[particles[i], k]
            at[i, k] = x[particles[i], k]
            largest = max(largest, abs(at[i, k]), abs(along[i, k]))
    approach = _bound_approach(along, is_edges)
    reserve = thickness + ROUNDING * largest
    gap = measure_pair(at, is_edges, square) - reserve
    if not gap > 0.0:
        return 0.0
    if gap >= approach:
        return 1.0
    kept = CLOSE * gap
    t = 0.0
    for _ in range(MAX_ADVANCES):
        write_direction(at, is_edges, square, direction)
        part = _advance_along(direction, at, along, is_edges, square, reserve + kept)
        step = (gap - kept) / approach
        if part > step:
            step = part
        if t + step >= 1.0:
            return 1.0
        if step <= MIN_ADVANCE * (1.0 - t) and t > 0.0:
            return t
        t += step
        for i in range(4):
            for k in range(3):
                at[i, k] = x[particles[i], k] + t * along[i, k]
        gap = measure_pair(at, is_edges, square) - reserve
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
        at, along, direction = np.empty((4, 3)), np.empty((4, 3)), np.empty(5)
        for i in range(chunk * PAIRS_PER_CHUNK, min(m, (chunk + 1) * PAIRS_PER_CHUNK)):
            parts[i] = _free_part(
                x, move, quadruples[i], thickness[i], is_edges, squares[i], at, along, direction
            )


@njit(
    "void(f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8, i4[:, ::1], i8[::1], i8[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def keep_near(middle, move, first, second, reach, pairs, start, counts):
    """Keep the pairs that may come nearer than a reach on the way, and have no common particle.

    middle : positions half way [m], (n, 3); move : the whole way [m], (n, 3)
    first, second : particles of what the pairs are of: points, (m, 1), and triangles, or edges
    pairs : in parts, of which start[i] is the first and counts[i] the number; those that are kept
        move to the front of their part

    Half way the distance is at most half of the approach from that at any other time.
    """
    a, b = first.shape[1], second.shape[1]
    is_edges = a == 2
    for part in prange(start.shape[0]):
        at, along = np.empty((4, 3)), np.empty((4, 3))
        kept = start[part]
        for e in range(start[part], start[part] + counts[part]):
            i, j = pairs[e, 0], pairs[e, 1]
            has_common = False
            for p in range(a):
                for q in range(b):
                    has_common |= first[i, p] == second[j, q]
            if has_common:
                continue
            for p in range(4):
                particle = first[i, p] if p < a else second[j, p - a]
                for k in range(3):
                    at[p, k], along[p, k] = middle[particle, k], move[particle, k]
            approach = _bound_approach(along, is_edges)
            if not measure_pair(at, is_edges, 0.0) - 0.5 * approach >= reach:
                pairs[kept, 0], pairs[kept, 1] = i, j
                kept += 1
        counts[part] = kept - start[part]
