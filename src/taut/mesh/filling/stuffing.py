"""Isosurface stuffing: tetrahedra inside a surface, on a uniform lattice.

Labelle and Shewchuk, ACM Trans. Graph. 26 (2007) 57:

1. A function, negative inside, is evaluated on a body-centred cubic lattice (`bcc`).
2. Each edge from inside to outside has a cut point where the function changes sign (`crossing`).
3. A lattice point closer to a cut point than α_long of a long edge, or α_short of a short one, is
   moved to it. It is then on the surface, and the other cut points of its edges are dropped.
4. The part of each lattice tetrahedron inside is divided by a fixed table (`stencils`).

All dihedral angles lie between 10.7° and 164.8°, whatever the shape. There are finitely many cases,
each with a few lengths free within bounds set by the two α; a test goes through them. The α here
make the smallest angle as large as it can be: 10.77°. The boundary follows the surface to second
order in h. Creases are rounded off over about h, and what is thinner than h may be lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.mesh.arguments import check_length, check_point
from taut.mesh.filling.bcc import EDGES, POWERS, Lattice, stencils
from taut.mesh.mesh import Mesh

Function = Callable[[Float], ArrayLike]

MAX_LATTICE_POINTS = 20_000_000
ALPHA_LONG, ALPHA_SHORT = 0.285, 0.3985
_BATCH = 1 << 17  # points for which the function is called at a time: it bounds the memory


def stuff(inside: Function, low: ArrayLike, high: ArrayLike, spacing: float) -> Mesh:
    """Fill the part of a shape within a box with tetrahedra.

    inside : a function from positions [m], (m, 3), to values, (m,), negative inside the shape,
        positive outside and zero on the surface; only its sign and where that changes matter
    low, high : opposite corners of the box [m], shape (3,). A shape that reaches beyond is cut off
        there.
    spacing : side of the cubes of the lattice [m], the length of the longest edges away from the
        surface

    All points are used and all volumes are positive. The same call gives the same bits.

    >>> stuff(lambda x: np.linalg.norm(x, axis=1) - 1, [-1, -1, -1], [1, 1, 1], 0.5)
    Mesh(161 points, 552 tet)
    """
    low, high, spacing = _check_arguments(low, high, spacing)
    lattice = Lattice.over(low, high, spacing)

    def cut_off(x: Float) -> Float:
        return np.maximum(_evaluate(inside, x), np.maximum(low - x, x - high).max(axis=1))

    value = np.concatenate([cut_off(lattice.positions(part)) for part in _batches(lattice.count)])
    sign = np.sign(value).astype(np.int8)
    tets = np.concatenate([batch[(sign[batch] < 0).any(axis=1)] for batch in lattice.tets()])
    crossed = (sign[tets] > 0).any(axis=1)
    whole, cut = tets[~crossed], tets[crossed]
    edges, edge_of = _cut_edges(cut, sign, lattice.count)

    ends = lattice.positions(edges.ravel()).reshape(-1, 2, 3)
    fraction = crossings(cut_off, ends[:, 0], ends[:, 1], value[edges[:, 0]], value[edges[:, 1]])
    cut_points = ends[:, 0] + fraction[:, None] * (ends[:, 1] - ends[:, 0])
    moved, target = _warp(edges, fraction, lattice, sign)

    pieces = _cut_pieces(cut, edge_of, sign, lattice)
    whole = whole[(sign[whole] < 0).any(axis=1)]
    used, local = np.unique(np.concatenate([whole, pieces]), return_inverse=True)
    if not len(used):
        raise MeshError(
            f"nothing is inside at a spacing of {spacing:g} m: the shape is thinner than that, "
            "or outside the box"
        )
    on_lattice = used[used < lattice.count]
    points = np.concatenate(
        [lattice.positions(on_lattice), cut_points[used[len(on_lattice) :] - lattice.count]]
    )
    row = np.searchsorted(on_lattice, moved)
    kept = np.append(on_lattice, -1)[row] == moved
    points[row[kept]] = cut_points[target[kept]]
    return Mesh(points, {"tet": local.reshape(-1, 4)})


def _check_arguments(low: ArrayLike, high: ArrayLike, spacing: float) -> tuple[Float, Float, float]:
    lowest, highest, spacing = (
        check_point(low, "low"),
        check_point(high, "high"),
        check_length(spacing, "spacing"),
    )
    if not (lowest < highest).all():
        raise MeshError(
            f"low must be below high, got low {lowest.tolist()} and high {highest.tolist()}"
        )
    sides = (highest - lowest).tolist()

    # In floating point: a tiny spacing would overflow an integer.
    def points(spacing: float) -> float:
        return 2 * math.prod(side / spacing + 3 for side in sides)

    if points(spacing) > MAX_LATTICE_POINTS:
        enough = max(spacing, (2 * math.prod(sides) / MAX_LATTICE_POINTS) ** (1 / 3))
        while points(enough) > MAX_LATTICE_POINTS:
            enough *= 1.01
        raise MeshError(
            f"a spacing of {spacing:g} m takes about {points(spacing):.2g} lattice points, "
            f"over the limit of {MAX_LATTICE_POINTS:,}; a spacing of {enough:.3g} m is enough"
        )
    return lowest, highest, spacing


def _evaluate(inside: Function, x: Float) -> Float:
    value = np.asarray(inside(x), np.float64)
    if value.shape != (len(x),):
        raise MeshError(
            f"the function must return one value per point, shape ({len(x)},), got {value.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(value))
    if len(bad):
        raise MeshError(f"the function must be finite, got {value[bad[0]]} at {x[bad[0]].tolist()}")
    return value


def _batches(count: int) -> list[Int]:
    return [np.arange(first, min(first + _BATCH, count)) for first in range(0, count, _BATCH)]


def _cut_edges(tets: Int, sign: NDArray[np.int8], count: int) -> tuple[Int, Int]:
    """The edges from inside to outside, (k, 2), and their numbers in each tetrahedron, (m, 6).

    The number is -1 for an edge that is not cut.
    """
    pairs = np.sort(tets[:, EDGES], axis=2)
    crossed = sign[pairs[:, :, 0]] * sign[pairs[:, :, 1]] < 0
    keys, number = np.unique(pairs[crossed] @ np.array([count, 1]), return_inverse=True)
    edge_of = np.full(crossed.shape, -1)
    edge_of[crossed] = number
    return np.stack(np.divmod(keys, count), axis=1), edge_of


def _warp(edges: Int, fraction: Float, lattice: Lattice, sign: NDArray[np.int8]) -> tuple[Int, Int]:
    """Move lattice points to cut points that are too close; mark them as on the surface in `sign`.

    A point that moves removes the cut points of its edges from its neighbours, so neighbours must
    not move together: points are processed colour by colour, each moving to its nearest cut point.
    Returns which points moved and to which cut point.
    """
    point = edges.ravel()
    edge = np.repeat(np.arange(len(edges)), 2)
    apart = np.stack([fraction, 1 - fraction], axis=1).ravel()
    colour = lattice.colour(point)
    # A short edge joins a corner to a centre.
    long = np.repeat(colour[0::2] // 2 == colour[1::2] // 2, 2)
    close = np.flatnonzero(apart < np.where(long, ALPHA_LONG, ALPHA_SHORT))
    distance = apart * np.where(long, 1.0, np.sqrt(0.75))
    close = close[np.lexsort((distance[close], point[close]))]
    moved, target = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for now in range(4):
        ready = close[(colour[close] == now) & (sign[point[close ^ 1]] != 0)]
        points, first = np.unique(point[ready], return_index=True)
        sign[points] = 0
        moved.append(points)
        target.append(edge[ready[first]])
    points, targets = np.concatenate(moved), np.concatenate(target)
    order = np.argsort(points)
    return points[order], targets[order]


def _cut_pieces(tets: Int, edge_of: Int, sign: NDArray[np.int8], lattice: Lattice) -> Int:
    """Pieces inside the cut tetrahedra, (m, 4); cut points are numbered after lattice points."""
    table = stencils()[
        lattice.parity(tets[:, 0], tets[:, 2]), (sign[tets].astype(np.int64) + 1) @ POWERS
    ]
    names = np.concatenate([tets, lattice.count + edge_of], axis=1)
    pieces = np.take_along_axis(names, table.reshape(-1, 12), axis=1).reshape(-1, 4)
    return pieces[table.reshape(-1, 4)[:, 0] >= 0]


# Where a function changes sign along segments, for all segments at once, by the ITP method
# (interpolate, truncate, project).
#
# The root stays bracketed between two points of opposite sign. Each step tries the secant, pulled
# towards the middle and kept near it. The bracket is below the tolerance after at most one step
# more than bisection would take, and after a few where the function is smooth. A function that is
# only a sign is bisected.

TOLERANCE = 1e-7  # of the length of the segment: how far the answer may be from a change of sign
# ITP's κ₁ with κ₂ = 2: how far the secant point is moved towards the middle, as a part of the
# bracket squared
_PULL = 0.2


def crossings(
    function: Callable[[Float], Float], start: Float, end: Float, at_start: Float, at_end: Float
) -> Float:
    """The fraction of each segment at which `function` changes sign, shape (m,).

    start, end : ends [m], shape (m, 3)
    at_start, at_end : the function there, of opposite sign, shape (m,)

    >>> start, end = np.zeros((1, 3)), np.full((1, 3), 2.0)
    >>> at_start, at_end = np.array([-2.0]), np.array([2.0])
    >>> crossings(lambda x: x[:, 0] ** 2 - 2, start, end, at_start, at_end).round(5)
    array([0.70711])
    """
    a, b = np.zeros(len(start)), np.ones(len(start))
    fa, fb = at_start.copy(), at_end.copy()
    steps = int(np.ceil(np.log2(0.5 / TOLERANCE))) + 1
    for step in range(steps):
        active = np.flatnonzero(b - a > 2 * TOLERANCE)
        if not len(active):
            break
        low, high, f_low, f_high = a[active], b[active], fa[active], fb[active]
        middle, width = (low + high) / 2, high - low
        secant = (f_high * low - f_low * high) / (f_high - f_low)
        side = np.sign(middle - secant)
        pull = _PULL * width**2
        tried = np.where(pull <= np.abs(middle - secant), secant + side * pull, middle)
        # How far from the middle a step may go and still converge in time.
        reach = TOLERANCE * 2.0 ** (steps - step) - width / 2
        t = np.where(np.abs(tried - middle) <= reach, tried, middle - side * reach)
        f = function(start[active] + t[:, None] * (end[active] - start[active]))
        # Both hold where the function is zero: the bracket then closes.
        lower = f * np.sign(f_low) >= 0
        upper = f * np.sign(f_high) >= 0
        a[active[lower]], fa[active[lower]] = t[lower], f[lower]
        b[active[upper]], fb[active[upper]] = t[upper], f[upper]
    return (a + b) / 2
