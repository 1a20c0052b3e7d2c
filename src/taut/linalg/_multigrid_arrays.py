"""The arrays that the compiled loops of the multigrid work on, by name.

All arrays are flat: a vector of row i is at 3i, a block k at 9k. Arrays that the vector
instructions of `simd` read have one spare row or block at their end. The levels are stored one
after the other: level l has the rows rows[l] to rows[l + 1] and the blocks blocks[l] to
blocks[l + 1] of every array.

The preconditioner works in single precision: its cost is the memory that it reads, and conjugate
gradients in double precision correct its rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:  # the compiled loops import this file, and depend on the text of its imports
    from taut.linalg._hierarchy import Hierarchy

LANCZOS_STEPS = 5


class Levels(NamedTuple):
    """Matrices, transfers and vectors of all levels."""

    depth: int  # number of levels
    rows: Any  # i8, first row of each level
    blocks: Any  # i8, first block of each level
    diagonal: Any  # i8, the diagonal block of each row
    indptr: Any  # i4, first block of each row
    indices: Any  # i4, column of each block
    data: Any  # f4, the blocks of A, times a power of two
    inverse: Any  # f4, inverses of the diagonal blocks of A
    omega: Any  # f4, two relaxation factors of the smoother for each level
    p_indptr: Any  # i4, interpolation P: for each row of a finer level…
    p_indices: Any  # i4, … rows of the next coarser level
    p_weights: Any  # f4
    r_indptr: Any  # i4, restriction Pᵀ: for each row of a coarser level…
    r_indices: Any  # i4, … rows of the next finer level
    r_weights: Any  # f4
    visits: Any  # i8, visits of each level in the W-cycle so far
    b: Any  # f4, right-hand sides
    x: Any  # f4, work vector
    solution: Any  # f4, where each visit of a level leaves its result
    cholesky: Any  # f8, factor of the coarsest A, and one row for the solution with it
    lanczos: Any  # f8, diagonal and off-diagonal of Lanczos' tridiagonal matrix


class Coarsening(NamedTuple):
    """How coarse matrices are computed: AP from A, then PᵀAP from AP, all in double precision.

    Block s of a product is Σ weight[entry[e]]·block source[e] for start[s] ≤ e < start[s + 1];
    sources are numbered from the first block of the level's A or AP.
    """

    ap_first: Any  # i8, first block of each level's AP in ap_start
    ap_start: Any  # i4
    ap_source: Any  # i4
    ap_entry: Any  # i4, into p_weights
    p_weights: Any  # f8, P
    pap_start: Any  # i4, for all blocks of all coarse levels
    pap_source: Any  # i4
    pap_entry: Any  # i4, into r_weights
    r_weights: Any  # f8, Pᵀ
    ap: Any  # f8, AP of the level at hand
    coarse_data: Any  # f8, the blocks of A of all coarse levels
    fine_data: Any  # f8, the blocks of the A that is factored


class Iteration(NamedTuple):
    """Vectors of conjugate gradients on the finest level, in double precision."""

    constraints: int  # constrained rows
    data: Any  # f8, the blocks of A
    b: Any  # f8, right-hand side
    x: Any  # f8, the solution so far
    residual: Any  # f8, b - A x
    direction: Any  # f8, p
    product: Any  # f8, A p
    squared_targets: Any  # f8, the |residual|² that each row must reach
    constrained: Any  # i8, rows with constrained directions
    projectors: Any  # f8, onto their free directions
    capacity: int  # number of preconditioned residuals that `basis` has room for; 0: none is kept
    basis: Any  # f4, the preconditioned residuals z, one after the other
    coefficients: Any  # f8, p·A p, p·r and β of each iteration in `basis`
    progress: Any  # f8, see `Progress`


class Progress:
    """What `Iteration.progress` holds at each of its places."""

    CURVATURE = 0  # p·A p of the last iteration
    SCALE = 1  # factor of the residuals for the preconditioner
    XX, XP, PP = 2, 3, 4  # inner products of x and p in the metric of the preconditioner
    LENGTH = 5  # |x| before the last iteration, in that metric
    KEPT = 6  # number of iterations in `basis`
    SIZE = 7  # of the array

    # How an iteration ended

    CONVERGED = 0.0  # the targets are reached, or a residual is not finite
    UNFINISHED = 1.0  # after the largest number of iterations
    OUTSIDE = 2.0  # |x| has exceeded the radius
    INDEFINITE = 3.0  # a direction with p·A p ≤ 0 was met


def allocate_levels(h: Hierarchy) -> Levels:
    """The arrays of a hierarchy; those that depend on the values of A are zero."""
    rows = int(h.rows[-1])
    b, x, solution = (np.zeros(3 * (rows + 1), dtype=np.float32) for _ in range(3))
    size = 3 * int(h.rows[-1] - h.rows[-2])
    up, down = h.interpolation, h.restriction
    return Levels(
        depth=h.levels,
        rows=h.rows,
        blocks=h.blocks,
        diagonal=h.diagonal,
        indptr=h.indptr,
        indices=h.indices,
        data=np.zeros(9 * (int(h.blocks[-1]) + 1), dtype=np.float32),
        inverse=np.zeros(9 * rows, dtype=np.float32),
        omega=np.zeros(2 * h.levels, dtype=np.float32),
        p_indptr=up.indptr,
        p_indices=up.indices,
        p_weights=up.weights.astype(np.float32),
        r_indptr=down.indptr,
        r_indices=down.indices,
        r_weights=down.weights.astype(np.float32),
        visits=np.zeros(h.levels, dtype=np.int64),
        b=b,
        x=x,
        solution=solution,
        cholesky=np.zeros((size + 1) * size),
        lanczos=np.zeros(2 * LANCZOS_STEPS),
    )


def allocate_coarsening(h: Hierarchy) -> Coarsening:
    """The lists of a hierarchy, room for the coarse matrices, and none for AP and A."""
    return Coarsening(
        ap_first=h.ap_first,
        ap_start=h.ap.start,
        ap_source=h.ap.source,
        ap_entry=h.ap.entry,
        p_weights=h.interpolation.weights,
        pap_start=h.pap.start,
        pap_source=h.pap.source,
        pap_entry=h.pap.entry,
        r_weights=h.restriction.weights,
        ap=np.empty(0),
        coarse_data=np.zeros(9 * int(h.blocks[-1] - h.blocks[1])),
        fine_data=np.empty(0),
    )
