"""Conjugate gradients, preconditioned by one W-cycle over the levels of a multigrid (`_cycle`).

One thread runs the algorithm and shares its loops with others (`_worksharing`). A function named
`…_rows` is the body of such a loop, for the rows from `first` to `last`. The arrays are explained
in `_multigrid_arrays`.
"""

import numpy as np
from numba import float64, int64, prange, types

from taut.linalg._atomics import bind, pointers
from taut.linalg._cycle import precondition
from taut.linalg._multigrid_arrays import PAUSED, Iteration
from taut.linalg._smoother import LEVELS, smooth_row_from_zero
from taut.linalg._worksharing import (
    POOL,
    Pool,
    array_types,
    compiled,
    entry_point,
    parallel_for,
    parallel_max,
    parallel_sum,
    take_part,
)
from taut.linalg.simd import multiply_last_row, multiply_row

_OMEGA_REDUCTION = 0.7  # factor on all ω where the preconditioner proves not to be positive

ITERATION = array_types(
    Iteration,
    constraints=int,
    pause=int,
    data=float64,
    b=float64,
    x=float64,
    residual=float64,
    direction=float64,
    product=float64,
    squared_targets=float64,
    constrained=int64,
    projectors=float64,
    kept=float64,
)


@compiled
def _direction_rows(first, last, levels, cg, beta):
    """direction = solution + β·direction."""
    for k in range(3 * first, 3 * last):
        cg.direction[k] = levels.solution[k] + beta * cg.direction[k]


@compiled
def _product_rows(first, last, levels, cg):
    """product = A direction; returns direction·product and direction·residual."""
    indptr, p, q, end = levels.indptr, cg.direction, cg.product, levels.rows[1] - 1
    s = t = 0.0
    for i in range(first, last):
        if i < end:
            u, v, w = multiply_row(cg.data, levels.indices, p, indptr[i], indptr[i + 1])
        else:
            u, v, w = multiply_last_row(cg.data, levels.indices, p, indptr[i], indptr[i + 1])
        q[3 * i], q[3 * i + 1], q[3 * i + 2] = u, v, w
        for k in range(3 * i, 3 * i + 3):
            s += p[k] * q[k]
            t += p[k] * cg.residual[k]
    return s, t


@compiled
def _advance_rows(first, last, levels, cg, length, scale, omega):
    """x += length·direction, and the residual accordingly; b = scale·residual for the next cycle.

    Also its first smoothing, from zero, while b is at hand. Returns the largest |residual|² and
    the number of rows that miss their target.
    """
    largest = missed = 0.0
    for i in range(first, last):
        square = 0.0
        for k in range(3 * i, 3 * i + 3):
            cg.x[k] += length * cg.direction[k]
            left = cg.residual[k] - length * cg.product[k]
            cg.residual[k] = left
            square += left * left
            levels.b[k] = scale * left
        smooth_row_from_zero(i, levels, omega, levels.x)
        largest = max(largest, square)
        if square > cg.squared_targets[i]:
            missed += 1.0
    return largest, missed


@compiled
def _project_direction(cg):
    """Project the direction onto the constraints, which the coarse levels ignore."""
    p, projectors = cg.direction, cg.projectors
    for k in range(cg.constraints):
        i = 3 * cg.constrained[k]
        u, v, w = p[i], p[i + 1], p[i + 2]
        for c in range(9 * k, 9 * k + 9, 3):
            p[i] = projectors[c] * u + projectors[c + 1] * v + projectors[c + 2] * w
            i += 1


@compiled
def _reset_direction(n, cg):
    """Restart: the next direction has none before it."""
    for k in range(3 * n):
        cg.direction[k] = cg.product[k] = 0.0


@compiled
def _compute_residual(n, levels, cg, pool):
    """residual = b - A x, from which the recurrence may have drifted."""
    for k in range(3 * n):
        cg.direction[k] = cg.x[k]
    parallel_sum(pool, levels.rows[0], n, bind(_product_rows, (levels, cg)))
    for k in range(3 * n):
        cg.residual[k] = cg.b[k] - cg.product[k]


@compiled
def _iterate(_first, _last, levels, cg, limit, pool):
    """Iterate until each |residual|² is at most its target, `limit` times at most.

    Returns the number of iterations, and whether pᵀA p stayed positive, as numbers. A residual that
    is not a number ends the iteration too, and is judged by the caller. At the end `residual` is
    computed from x. After `cg.pause` iterations it returns PAUSED instead; the next call goes on
    as if there had been no pause, bit for bit.

    β = -(A p)·z/(pᵀA p), with z the preconditioned residual, keeps directions conjugate although
    the preconditioner, which rounds to single precision, is not exactly symmetric. The usual
    quotient of two z·r assumes that it is.
    """
    n = levels.rows[1]
    pap, scale, square, missed = cg.kept[0], cg.kept[1], cg.kept[2], cg.kept[3]
    if pap == 0.0:
        _reset_direction(n, cg)
        pap = scale = 1.0
        begin = bind(_advance_rows, (levels, cg, 0.0, 1.0, levels.omega[0]))
        square, missed = parallel_max(pool, levels.rows[0], n, begin)
        if 0.0 < square < np.inf:
            scale = 1.0 / np.sqrt(square)  # so that later residuals fit in single precision
        if scale != 1.0:
            again = bind(_advance_rows, (levels, cg, 0.0, scale, levels.omega[0]))
            parallel_max(pool, levels.rows[0], n, again)
    for step in range(limit):
        if not (missed > 0.0 and square < np.inf):
            _compute_residual(n, levels, cg, pool)
            return float64(step), 1.0
        if step == cg.pause:
            cg.kept[0], cg.kept[1], cg.kept[2], cg.kept[3] = pap, scale, square, missed
            return float64(step), PAUSED
        beta = -precondition(levels, cg.product, pool) / pap
        parallel_for(pool, levels.rows[0], n, bind(_direction_rows, (levels, cg, beta)))
        _project_direction(cg)
        pap, pr = parallel_sum(pool, levels.rows[0], n, bind(_product_rows, (levels, cg)))
        if not pap > 0.0:
            return float64(step), 0.0
        length = 0.0
        if pr > 0.0:
            length = pr / pap
        else:  # the preconditioner is not positive: its smoother overshoots
            for k in range(2 * levels.depth):
                levels.omega[k] *= np.float32(_OMEGA_REDUCTION)
            _reset_direction(n, cg)
            pap = 1.0
        advance = bind(_advance_rows, (levels, cg, length, scale, levels.omega[0]))
        square, missed = parallel_max(pool, levels.rows[0], n, advance)
    _compute_residual(n, levels, cg, pool)
    return float64(limit), 1.0


@entry_point(types.void(int64, POOL, int64, int64), parallel=True)
def _run(threads, pool, function, arguments):
    """Run a bound function, with `threads` - 1 others to help."""
    counters, sums, result = pool.counters, pool.sums, pool.result
    for _ in prange(threads):
        take_part(pointers(Pool(counters, sums, result)), (function, arguments))


@entry_point(types.void(int64, POOL, LEVELS, ITERATION, int64))
def solve(threads, pool, levels, iteration, limit):
    """Iterate; pool.result is the number of iterations, and 0 if A is not positive definite.

    Or PAUSED: then call it again, with that many iterations fewer as limit and a new pool.
    """
    arguments = (pointers(levels), pointers(iteration), limit, pointers(pool))
    _run(threads, pool, *bind(_iterate, arguments))
