"""Conjugate gradients, preconditioned by one W-cycle over the levels of a multigrid.

One thread runs the algorithm and shares its loops with others (`_worksharing`). A function named
`…_rows` is the body of such a loop, for the rows from `first` to `last`. The smoother is in
`_smoother`; the arrays are explained in `_multigrid_arrays`.
"""

import numpy as np
from numba import float64, int64, prange, types

from taut.linalg._atomics import bind, pointers
from taut.linalg._multigrid_arrays import Iteration
from taut.linalg._smoother import (
    LEVELS,
    smooth_row_from_zero,
    smooth_rows,
    smooth_rows_and_dot,
    smooth_rows_from_zero,
)
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
from taut.linalg.simd import multiply_last_row, multiply_row, sum_rows

_OMEGA_REDUCTION = 0.7  # factor on all ω where the preconditioner proves not to be positive

ITERATION = array_types(
    Iteration,
    constraints=int,
    data=float64,
    b=float64,
    x=float64,
    residual=float64,
    direction=float64,
    product=float64,
    squared_targets=float64,
    constrained=int64,
    projectors=float64,
)


@compiled
def _residual_rows(first, last, levels, x, out):
    """out = b - A x."""
    b, indptr = levels.b, levels.indptr
    for i in range(first, last):
        u, v, w = multiply_row(levels.data, levels.indices, x, indptr[i], indptr[i + 1])
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = (
            b[3 * i] - u,
            b[3 * i + 1] - v,
            b[3 * i + 2] - w,
        )


@compiled
def _restrict_rows(first, last, levels, residual):
    """b = Pᵀ residual, on the coarser level."""
    b, indptr = levels.b, levels.r_indptr
    for i in range(first, last):
        u, v, w = sum_rows(levels.r_weights, levels.r_indices, residual, indptr[i], indptr[i + 1])
        b[3 * i], b[3 * i + 1], b[3 * i + 2] = u, v, w


@compiled
def _interpolate_rows(first, last, levels, x):
    """x += P solution, on the finer level."""
    indptr = levels.p_indptr
    for i in range(first, last):
        u, v, w = sum_rows(
            levels.p_weights, levels.p_indices, levels.solution, indptr[i], indptr[i + 1]
        )
        x[3 * i] += u
        x[3 * i + 1] += v
        x[3 * i + 2] += w


@compiled
def _solve_coarsest(levels):
    """solution = A⁻¹b on the coarsest level, by its Cholesky factor."""
    level, factor = levels.depth - 1, levels.cholesky
    first, size = 3 * levels.rows[level], 3 * (levels.rows[level + 1] - levels.rows[level])
    y = size * size  # a spare row after the factor
    for i in range(size):
        s = float64(levels.b[first + i])
        for j in range(i):
            s -= factor[size * i + j] * factor[y + j]
        factor[y + i] = s / factor[size * i + i]
    for i in range(size - 1, -1, -1):
        s = factor[y + i]
        for j in range(i + 1, size):
            s -= factor[size * j + i] * factor[y + j]
        factor[y + i] = s / factor[size * i + i]
        levels.solution[first + i] = factor[y + i]


@compiled
def _smooth_down(level, levels, pool):
    """Smooth a coarse level twice, before its correction; from zero on its first visit."""
    first, last, work, solution = (
        levels.rows[level],
        levels.rows[level + 1],
        levels.x,
        levels.solution,
    )
    first_omega, second_omega = levels.omega[2 * level], levels.omega[2 * level + 1]
    if levels.visits[level] == 0:
        parallel_for(pool, first, last, bind(smooth_rows_from_zero, (levels, first_omega, work)))
    else:
        smooth = bind(smooth_rows, (levels, first_omega, solution, work))
        parallel_for(pool, first, last, smooth)
    parallel_for(pool, first, last, bind(smooth_rows, (levels, second_omega, work, solution)))


@compiled
def _smooth_up(level, levels, pool):
    """Smooth a coarse level twice, after its correction: as before it, in reverse order."""
    first, last, work, solution = (
        levels.rows[level],
        levels.rows[level + 1],
        levels.x,
        levels.solution,
    )
    first_omega, second_omega = levels.omega[2 * level], levels.omega[2 * level + 1]
    parallel_for(pool, first, last, bind(smooth_rows, (levels, second_omega, solution, work)))
    parallel_for(pool, first, last, bind(smooth_rows, (levels, first_omega, work, solution)))


@compiled
def _restrict(level, levels, x, residual, pool):
    """The right-hand side of the next coarser level: b = Pᵀ(b - A x), by way of `residual`."""
    rows = levels.rows
    parallel_for(pool, rows[level], rows[level + 1], bind(_residual_rows, (levels, x, residual)))
    restrict = bind(_restrict_rows, (levels, residual))
    parallel_for(pool, rows[level + 1], rows[level + 2], restrict)
    levels.visits[level + 1] = 0


@compiled
def _interpolate(level, levels, x, pool):
    """Correct a level by the solution of the next coarser one: x += P solution."""
    rows = levels.rows
    parallel_for(pool, rows[level], rows[level + 1], bind(_interpolate_rows, (levels, x)))


@compiled
def _precondition(levels, q, pool):
    """solution ≈ A⁻¹b on the finest level by one W-cycle; returns q·solution.

    Each level is visited twice in a row from the one above it, except for the finest, and for the
    coarsest, which is solved exactly. The finest is smoothed once before the cycle (x = ω D⁻¹b, in
    `_advance_rows`) and once after it, the others twice: their work is cheap.
    """
    x, solution, coarsest = levels.x, levels.solution, levels.depth - 1
    n = levels.rows[1]
    if coarsest == 0:
        _solve_coarsest(levels)
        s = 0.0
        for k in range(3 * n):
            s += q[k] * solution[k]
        return s
    level = int64(0)
    _restrict(level, levels, x, solution, pool)
    level += 1
    while level > 0:
        if level == coarsest:
            _solve_coarsest(levels)
        elif levels.visits[level] < 2:
            _smooth_down(level, levels, pool)
            levels.visits[level] += 1
            _restrict(level, levels, solution, x, pool)
            level += 1
            continue
        level -= 1  # the level is solved: its solution corrects the finer one
        if level > 0:
            _interpolate(level, levels, solution, pool)
            _smooth_up(level, levels, pool)
    _interpolate(level, levels, x, pool)
    last = bind(smooth_rows_and_dot, (levels, levels.omega[0], x, solution, q))
    return parallel_sum(pool, levels.rows[0], n, last)[0]


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
    computed from x.

    β = -(A p)·z/(pᵀA p), with z the preconditioned residual, keeps directions conjugate although
    the preconditioner, which rounds to single precision, is not exactly symmetric. The usual
    quotient of two z·r assumes that it is.
    """
    n = levels.rows[1]
    _reset_direction(n, cg)
    pap = 1.0
    begin = bind(_advance_rows, (levels, cg, 0.0, 1.0, levels.omega[0]))
    square, missed = parallel_max(pool, levels.rows[0], n, begin)
    scale = 1.0
    if 0.0 < square < np.inf:
        scale = 1.0 / np.sqrt(square)  # so that later residuals fit in single precision
    if scale != 1.0:
        again = bind(_advance_rows, (levels, cg, 0.0, scale, levels.omega[0]))
        parallel_max(pool, levels.rows[0], n, again)
    for step in range(limit):
        if not (missed > 0.0 and square < np.inf):
            _compute_residual(n, levels, cg, pool)
            return float64(step), 1.0
        beta = -_precondition(levels, cg.product, pool) / pap
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
    """Iterate; pool.result is the number of iterations, and 0 if A is not positive definite."""
    arguments = (pointers(levels), pointers(iteration), limit, pointers(pool))
    _run(threads, pool, *bind(_iterate, arguments))
