"""Conjugate gradients, preconditioned by one W-cycle over the levels of a multigrid (`_cycle`).

One thread runs the algorithm and shares its loops with others (`_worksharing`). A function named
`…_rows` is the body of such a loop, for the rows from `first` to `last`. The arrays are explained
in `_multigrid_arrays`.
"""

import numpy as np
from numba import float32, float64, int64, prange, types

from taut.linalg._atomics import bind, pointers
from taut.linalg._cycle import precondition
from taut.linalg._multigrid_arrays import Iteration, Progress
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

# Numba knows the global numbers of a file, not those of a class.
_CURVATURE, _SCALE = Progress.CURVATURE, Progress.SCALE
_XX, _XP, _PP = Progress.XX, Progress.XP, Progress.PP
_KEPT, _LENGTH = Progress.KEPT, Progress.LENGTH
_CONVERGED, _UNFINISHED = Progress.CONVERGED, Progress.UNFINISHED
_OUTSIDE, _INDEFINITE = Progress.OUTSIDE, Progress.INDEFINITE
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
    capacity=int,
    basis=float32,
    coefficients=float64,
    progress=float64,
)


@compiled
def _direction_rows(first, last, levels, cg, beta):
    """direction = solution + β·direction."""
    for k in range(3 * first, 3 * last):
        cg.direction[k] = levels.solution[k] + beta * cg.direction[k]


@compiled
def _keep_rows(first, last, levels, cg, place):
    """Keep the preconditioned residual in the basis, from `place` on."""
    for k in range(3 * first, 3 * last):
        cg.basis[place + k] = levels.solution[k]


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
def _begin(levels, cg, pool):
    """Begin at x, whose residual is given; returns the largest |residual|² and how many miss."""
    n = levels.rows[1]
    _reset_direction(n, cg)
    begin = bind(_advance_rows, (levels, cg, 0.0, 1.0, levels.omega[0]))
    square, missed = parallel_max(pool, levels.rows[0], n, begin)
    scale = 1.0
    if 0.0 < square < np.inf:
        scale = 1.0 / np.sqrt(square)  # so that later residuals fit in single precision
    if scale != 1.0:
        again = bind(_advance_rows, (levels, cg, 0.0, scale, levels.omega[0]))
        parallel_max(pool, levels.rows[0], n, again)
    progress = cg.progress
    progress[_CURVATURE], progress[_SCALE], progress[_KEPT] = 1.0, scale, 0.0
    progress[_XX] = progress[_XP] = progress[_PP] = 0.0
    return square, missed


@compiled
def _weaken_smoother(levels, cg, pool):
    """Begin again with smaller ω where the preconditioner is not positive: they overshoot.

    From x; or from zero where the preconditioned residuals are kept, which begin with that of b.
    """
    for k in range(2 * levels.depth):
        levels.omega[k] *= np.float32(_OMEGA_REDUCTION)
    n = levels.rows[1]
    if cg.capacity > 0:
        for k in range(3 * n):
            cg.x[k] = 0.0
    _compute_residual(n, levels, cg, pool)
    _begin(levels, cg, pool)


@compiled
def _iterate(_first, _last, levels, cg, limit, radius, begin, pool):
    """Iterate until each |residual|² is at most its target, `limit` times at most.

    radius : of a trust region, in the norm |x|² = x·M x of the preconditioner M⁻¹; x ends where it
        exceeds it. Infinite: there is none. Negative: whatever |x| and the curvature are, the
        iteration goes on, since further directions are wanted, not x
    begin : at x, whose residual is given; else go on where the last call has ended

    Returns the number of iterations and how they ended, one of the numbers in `Progress`. Once it
    has converged, `residual` is computed from x. To call it again where it is unfinished gives the
    same bits as a larger limit.

    β = -(A p)·z/(pᵀA p), with z the preconditioned residual, keeps directions conjugate although
    the preconditioner, which rounds to single precision, is not exactly symmetric. The usual
    quotient of two z·r assumes that it is.
    """
    n, progress = levels.rows[1], cg.progress
    square, missed = 0.0, 1.0
    if begin:
        square, missed = _begin(levels, cg, pool)
    for step in range(limit):
        if not (missed > 0.0 and square < np.inf):
            _compute_residual(n, levels, cg, pool)
            return float64(step), _CONVERGED
        scale = progress[_SCALE]
        beta = -precondition(levels, cg.product, pool) / progress[_CURVATURE]
        kept = int64(progress[_KEPT])
        if kept < cg.capacity:
            keep = bind(_keep_rows, (levels, cg, 3 * n * kept))
            parallel_for(pool, levels.rows[0], n, keep)
        parallel_for(pool, levels.rows[0], n, bind(_direction_rows, (levels, cg, beta)))
        _project_direction(cg)
        pap, pr = parallel_sum(pool, levels.rows[0], n, bind(_product_rows, (levels, cg)))
        if not pr > 0.0:
            if (kept > 0 or cg.capacity == 0) and not pap > 0.0:
                return float64(step + 1), _INDEFINITE
            _weaken_smoother(levels, cg, pool)
            continue
        if kept < cg.capacity:
            cg.coefficients[3 * kept] = pap
            cg.coefficients[3 * kept + 1] = pr
            cg.coefficients[3 * kept + 2] = beta
            progress[_KEPT] = float64(kept + 1)
        progress[_CURVATURE] = pap
        if pap == 0.0:
            return float64(step + 1), _INDEFINITE
        progress[_LENGTH] = np.sqrt(progress[_XX])
        length = pr / pap
        # Inner products in the metric, by their recurrences: M z = r is all that is known of it.
        xp = beta * progress[_XP]
        pp = scale * pr + beta * beta * progress[_PP]
        progress[_XX] += length * (2.0 * xp + length * pp)
        progress[_XP], progress[_PP] = xp + length * pp, pp
        advance = bind(_advance_rows, (levels, cg, length, scale, levels.omega[0]))
        square, missed = parallel_max(pool, levels.rows[0], n, advance)
        if radius >= 0.0 and not pap > 0.0:
            return float64(step + 1), _INDEFINITE
        if radius >= 0.0 and progress[_XX] > radius * radius:
            return float64(step + 1), _OUTSIDE
    if missed > 0.0:
        return float64(limit), _UNFINISHED
    _compute_residual(n, levels, cg, pool)
    return float64(limit), _CONVERGED


@entry_point(types.void(int64, POOL, int64, int64), parallel=True)
def _run(threads, pool, function, arguments):
    """Run a bound function, with `threads` - 1 others to help."""
    counters, sums, result = pool.counters, pool.sums, pool.result
    for _ in prange(threads):
        take_part(pointers(Pool(counters, sums, result)), (function, arguments))


@entry_point(types.void(int64, POOL, LEVELS, ITERATION, int64, float64, types.boolean))
def solve(threads, pool, levels, iteration, limit, radius, begin):
    """Iterate, see `_iterate`; pool.result is the number of iterations and how they ended."""
    arguments = (pointers(levels), pointers(iteration), limit, radius, begin, pointers(pool))
    _run(threads, pool, *bind(_iterate, arguments))
