"""One W-cycle over the levels of a multigrid: transfers, sweeps, and the order of the levels.

A function named `…_rows` is the body of a shared loop (`_worksharing`), for the rows from `first`
to `last`. The smoother is in `_smoother`; the arrays are explained in `_multigrid_arrays`.
"""

from numba import float64, int64

from taut.linalg._atomics import bind
from taut.linalg._smoother import smooth_rows, smooth_rows_and_dot, smooth_rows_from_zero
from taut.linalg._worksharing import compiled, parallel_for, parallel_sum
from taut.linalg.simd import multiply_row, sum_rows


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
def precondition(levels, q, pool):
    """solution ≈ A⁻¹b on the finest level by one W-cycle; returns q·solution.

    Each level is visited twice in a row from the one above it, except for the finest, and for the
    coarsest, which is solved exactly. The finest is smoothed once before the cycle (x = ω D⁻¹b, in
    `_advance_rows` of `_multigrid_kernels`) and once after it, the others twice: their work is
    cheap.
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
