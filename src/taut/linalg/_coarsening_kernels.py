"""The coarse levels of the multigrid from new values of A: PᵀAP, D⁻¹, and ω of the smoother."""

from math import frexp

import numpy as np
from numba import float64, int32, int64, prange, types

from taut.linalg._atomics import bind, pointers
from taut.linalg._multigrid_arrays import Coarsening
from taut.linalg._smoother import LEVELS, choose_relaxation
from taut.linalg._worksharing import (
    POOL,
    Pool,
    array_types,
    compiled,
    compiled_inline,
    entry_point,
    parallel_for_blocks,
    parallel_max,
    parallel_sum,
    take_part,
)
from taut.linalg.simd import sum_blocks

COARSENING = array_types(
    Coarsening,
    ap_first=int64,
    ap_start=int32,
    ap_source=int32,
    ap_entry=int32,
    p_weights=float64,
    pap_start=int32,
    pap_source=int32,
    pap_entry=int32,
    r_weights=float64,
    ap=float64,
    coarse_data=float64,
    fine_data=float64,
)


@compiled
def _largest_diagonal_rows(first, last, levels, values):
    """The largest number on the diagonal of the finest A; infinite if one is not a number."""
    largest = 0.0
    for i in range(first, last):
        block = 9 * levels.diagonal[i]
        for k in range(block, block + 9, 4):
            if not values[k] <= largest:
                largest = values[k] if values[k] > largest else np.inf
    return largest, 0.0


@compiled_inline
def _invert_block(i, values, at, scale, inverse):
    """Invert the block at values[at], times a scale, for row i; returns whether it is definite.

    By LDLᵀ, which cancels fewer digits than cofactors do.
    """
    a, b, c = scale * values[at], scale * values[at + 1], scale * values[at + 2]
    over_a = 1.0 / a
    p, q = b * over_a, c * over_a
    d = scale * values[at + 4] - p * b
    over_d = 1.0 / d
    s = (scale * values[at + 5] - p * c) * over_d
    f = scale * values[at + 8] - q * c - s * s * d
    over_f = 1.0 / f
    u = p * s - q  # L⁻¹ has rows (1, 0, 0), (-p, 1, 0), (u, -s, 1)
    k = 9 * i
    inverse[k] = over_a + p * p * over_d + u * u * over_f
    inverse[k + 1] = inverse[k + 3] = -p * over_d - u * s * over_f
    inverse[k + 2] = inverse[k + 6] = u * over_f
    inverse[k + 4] = over_d + s * s * over_f
    inverse[k + 5] = inverse[k + 7] = -s * over_f
    inverse[k + 8] = over_f
    return a > 0.0 and d > 0.0 and f > 0.0


@compiled
def _copy_and_invert_rows(first, last, levels, values, offset, scale):
    """Copy A to single precision, and invert its diagonal blocks.

    Returns how many are not positive definite.
    """
    for k in range(9 * levels.indptr[first], 9 * levels.indptr[last]):
        levels.data[k] = scale * values[k - offset]
    failures = 0.0
    for i in range(first, last):
        at = 9 * levels.diagonal[i] - offset
        if not _invert_block(i, values, at, scale, levels.inverse):
            failures += 1.0
    return failures, 0.0


@compiled
def _ap_blocks(first, last, coarsening, level, values, offset):
    """Blocks of AP; A of the level begins at values[offset]."""
    c = coarsening
    for e in range(first, last):
        s = c.ap_first[level] + e
        begin, end = c.ap_start[s], c.ap_start[s + 1]
        lists = (c.ap_source, c.ap_entry, c.p_weights)
        sum_blocks(values, offset, *lists, begin, end, c.ap, 9 * e)


@compiled
def _pap_blocks(first, last, coarsening, before):
    """Blocks of PᵀAP; `before` counts the blocks of the coarse levels before this one."""
    c = coarsening
    for s in range(before + first, before + last):
        begin, end = c.pap_start[s], c.pap_start[s + 1]
        lists = (c.pap_source, c.pap_entry, c.r_weights)
        sum_blocks(c.ap, 0, *lists, begin, end, c.coarse_data, 9 * s)


@compiled
def _factor_coarsest(levels, values, offset, scale):
    """The dense Cholesky factor of the coarsest A; returns whether all pivots are positive."""
    level, factor = levels.depth - 1, levels.cholesky
    first = levels.rows[level]
    n = levels.rows[level + 1] - first
    size = 3 * n
    for k in range(size * size):
        factor[k] = 0.0
    for i in range(n):
        for k in range(levels.indptr[first + i], levels.indptr[first + i + 1]):
            column = 3 * (levels.indices[k] - first)
            for a in range(3):
                for b in range(3):
                    entry = values[9 * k - offset + 3 * a + b]
                    factor[size * (3 * i + a) + column + b] = scale * entry
    for j in range(size):
        s = factor[size * j + j]
        for k in range(j):
            s -= factor[size * j + k] * factor[size * j + k]
        if not s > 0.0:
            return False
        factor[size * j + j] = np.sqrt(s)
        for i in range(j + 1, size):
            t = factor[size * i + j]
            for k in range(j):
                t -= factor[size * i + k] * factor[size * j + k]
            factor[size * i + j] = t / factor[size * j + j]
    return True


@compiled
def _compute_levels(_first, _last, levels, coarsening, keep_relaxation, pool):
    """Compute all levels.

    Returns whether A may be positive definite, as a number, and the power of two in `data`.
    """
    rows, blocks, ap_first = levels.rows, levels.blocks, coarsening.ap_first
    # block k of the level at hand is at values[9k - offset]
    values, offset = coarsening.fine_data, int64(0)
    largest = parallel_max(pool, rows[0], rows[1], bind(_largest_diagonal_rows, (levels, values)))[
        0
    ]
    if not 0.0 < largest < np.inf:
        return 0.0, 0.0
    # a power of two loses no digits, and keeps single precision from overflow
    scale = 0.5 ** frexp(largest)[1]
    for level in range(levels.depth):
        lower = bind(_copy_and_invert_rows, (levels, values, offset, scale))
        if parallel_sum(pool, rows[level], rows[level + 1], lower)[0] > 0.0:
            return 0.0, 0.0
        if level < levels.depth - 1:
            ap = bind(_ap_blocks, (coarsening, level, values, 9 * blocks[level] - offset))
            parallel_for_blocks(pool, ap_first[level + 1] - ap_first[level], ap)
            values, offset = coarsening.coarse_data, 9 * blocks[1]
            pap = bind(_pap_blocks, (coarsening, blocks[level + 1] - blocks[1]))
            parallel_for_blocks(pool, blocks[level + 2] - blocks[level + 1], pap)
    if not _factor_coarsest(levels, values, offset, scale):
        return 0.0, 0.0
    if not keep_relaxation:
        choose_relaxation(levels, pool)
    return 1.0, scale


@entry_point(types.void(int64, POOL, int64, int64), parallel=True)
def _run(threads, pool, function, arguments):
    """Run a bound function, with `threads` - 1 others to help."""
    counters, sums, result = pool.counters, pool.sums, pool.result
    for _ in prange(threads):
        take_part(pointers(Pool(counters, sums, result)), (function, arguments))


@entry_point(types.void(int64, POOL, LEVELS, COARSENING, types.boolean))
def factor(threads, pool, levels, coarsening, keep_relaxation):
    """Compute all levels from the blocks of A; pool.result[0] is 0 if A is not positive definite.

    pool.result[1] is the power of two that the stored blocks of A were multiplied by.

    keep_relaxation : keep the ω of a similar matrix
    """
    arguments = (pointers(levels), pointers(coarsening), keep_relaxation, pointers(pool))
    _run(threads, pool, *bind(_compute_levels, arguments))
