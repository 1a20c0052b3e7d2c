"""The smoother of the multigrid: damped block Jacobi, x ← x + ω D⁻¹(b - A x).

D has the diagonal blocks of A.

To change the smoother, change `smooth_row`, and `smooth_row_from_zero` for the step from x = 0.
Both write only row i of `out`, so that rows can be done in any order, by any thread. The first may
read x of every row and b of row i; the second only b of row i, because conjugate gradients are
still writing b of other rows when they call it. A Gauss-Seidel smoother would need colours. The
smoother must be symmetric for conjugate gradients: after a coarse correction `_cycle`
smooths in the reverse order of before.

The finest level is smoothed once before and once after the coarser ones, with ω = 1.5/λ. Work on
the others is cheap: each is smoothed twice, with the two ω of a Chebyshev polynomial of degree 2.
λ, the largest eigenvalue of D⁻¹A, is estimated by `choose_relaxation` (Lanczos' method in the inner
product of D).
"""

import numpy as np
from numba import float32, float64, int32, int64

from taut.linalg._atomics import bind
from taut.linalg._multigrid_arrays import LANCZOS_STEPS, Levels
from taut.linalg._worksharing import (
    array_types,
    compiled,
    compiled_inline,
    parallel_for,
    parallel_sum,
)
from taut.linalg.simd import multiply_row

_LAMBDA_MARGIN = 1.2  # Lanczos' method approaches the largest eigenvalue from below
_JACOBI_WEIGHT = 1.5  # ω·λ where a level is smoothed once; from 2 on the smoother diverges
# ω·λ where a level is smoothed twice: the reciprocal roots of Chebyshev's polynomial on the upper
# 7/8 of the spectrum
_CHEBYSHEV_WEIGHTS = (1.15, 3.95)

LEVELS = array_types(
    Levels,
    depth=int,
    rows=int64,
    blocks=int64,
    diagonal=int64,
    indptr=int32,
    indices=int32,
    data=float32,
    inverse=float32,
    omega=float32,
    p_indptr=int32,
    p_indices=int32,
    p_weights=float32,
    r_indptr=int32,
    r_indices=int32,
    r_weights=float32,
    visits=int64,
    b=float32,
    x=float32,
    solution=float32,
    cholesky=float64,
    lanczos=float64,
)


@compiled_inline
def apply_inverse(i, levels, omega, u, v, w, out):
    """out = ω D⁻¹(u, v, w) in row i."""
    inverse = levels.inverse
    for k in range(3):
        out[3 * i + k] = omega * (
            inverse[9 * i + 3 * k] * u
            + inverse[9 * i + 3 * k + 1] * v
            + inverse[9 * i + 3 * k + 2] * w
        )


@compiled_inline
def smooth_row_from_zero(i, levels, omega, out):
    """Smooth from x = 0: out = ω D⁻¹b in row i."""
    b = levels.b
    apply_inverse(i, levels, omega, b[3 * i], b[3 * i + 1], b[3 * i + 2], out)


@compiled_inline
def smooth_row(i, levels, omega, x, out):
    """out = x + ω D⁻¹(b - A x) in row i."""
    b = levels.b
    u, v, w = multiply_row(levels.data, levels.indices, x, levels.indptr[i], levels.indptr[i + 1])
    apply_inverse(i, levels, omega, b[3 * i] - u, b[3 * i + 1] - v, b[3 * i + 2] - w, out)
    for k in range(3 * i, 3 * i + 3):
        out[k] += x[k]


@compiled
def smooth_rows_from_zero(first, last, levels, omega, out):
    for i in range(first, last):
        smooth_row_from_zero(i, levels, omega, out)


@compiled
def smooth_rows(first, last, levels, omega, x, out):
    for i in range(first, last):
        smooth_row(i, levels, omega, x, out)


@compiled
def smooth_rows_and_dot(first, last, levels, omega, x, out, q):
    """Smooth, and return q·out as well: conjugate gradients need it, and out is at hand."""
    s = 0.0
    for i in range(first, last):
        smooth_row(i, levels, omega, x, out)
        for k in range(3 * i, 3 * i + 3):
            s += q[k] * out[k]
    return s, 0.0


# Lanczos' method for the symmetric matrix D^-½ A D^-½, written with x and z = D x so that no root
# of D is needed. z is in `solution`, the z before it in `b`.


@compiled
def _seed_rows(first, last, levels):
    """z = anything but an eigenvector, x = D⁻¹z, and no z before it; returns x·z."""
    b, x, z = levels.b, levels.x, levels.solution
    s = 0.0
    for i in range(first, last):
        for k in range(3):
            b[3 * i + k] = 0.0
            # a linear congruential generator: the same numbers on every machine
            z[3 * i + k] = (((i + 1) * 40503 + (k + 1) * 30011) * 25173 % 65536) / 65536.0 - 0.5
        apply_inverse(i, levels, np.float32(1.0), z[3 * i], z[3 * i + 1], z[3 * i + 2], x)
        for k in range(3 * i, 3 * i + 3):
            s += x[k] * z[k]
    return s, 0.0


@compiled
def _scale_rows(first, last, levels, factor):
    x, z = levels.x, levels.solution
    for k in range(3 * first, 3 * last):
        x[k] *= factor
        z[k] *= factor


@compiled
def _multiply_rows(first, last, levels, beta):
    """b = A x - β·b; returns x·A x."""
    b, x = levels.b, levels.x
    s = 0.0
    for i in range(first, last):
        u, v, w = multiply_row(
            levels.data, levels.indices, x, levels.indptr[i], levels.indptr[i + 1]
        )
        s += x[3 * i] * u + x[3 * i + 1] * v + x[3 * i + 2] * w
        b[3 * i] = u - beta * b[3 * i]
        b[3 * i + 1] = v - beta * b[3 * i + 1]
        b[3 * i + 2] = w - beta * b[3 * i + 2]
    return s, 0.0


@compiled
def _orthogonalise_rows(first, last, levels, alpha):
    """b -= α·z, x = D⁻¹b; returns x·b."""
    b, x, z = levels.b, levels.x, levels.solution
    s = 0.0
    for i in range(first, last):
        for k in range(3 * i, 3 * i + 3):
            b[k] -= alpha * z[k]
        apply_inverse(i, levels, np.float32(1.0), b[3 * i], b[3 * i + 1], b[3 * i + 2], x)
        for k in range(3 * i, 3 * i + 3):
            s += x[k] * b[k]
    return s, 0.0


@compiled
def _normalise_rows(first, last, levels, factor):
    """z, b = factor·b, z and x *= factor: the next vector, and the one before it."""
    b, x, z = levels.b, levels.x, levels.solution
    for k in range(3 * first, 3 * last):
        z[k], b[k] = factor * b[k], z[k]
        x[k] *= factor


@compiled
def _largest_eigenvalue(diagonal_and_off, size):
    """Of a symmetric tridiagonal matrix, by bisection on the number of negative pivots."""
    off = LANCZOS_STEPS  # the off-diagonal begins there
    low, high = diagonal_and_off[0], 0.0
    for k in range(size):
        low = max(low, diagonal_and_off[k])
        bound = diagonal_and_off[k]  # Gershgorin's
        if k > 0:
            bound += diagonal_and_off[off + k - 1]
        if k < size - 1:
            bound += diagonal_and_off[off + k]
        high = max(high, bound)
    for _ in range(30):
        middle = 0.5 * (low + high)
        pivot, above = 1.0, False
        for k in range(size):
            previous = pivot
            pivot = middle - diagonal_and_off[k]
            if k > 0:
                pivot -= diagonal_and_off[off + k - 1] * diagonal_and_off[off + k - 1] / previous
            above = above or not pivot > 0.0
        if above:
            low = middle
        else:
            high = middle
    return high


@compiled
def _estimate_lambda(level, levels, pool):
    """The largest eigenvalue of D⁻¹A on a level, from below."""
    first, last, matrix = levels.rows[level], levels.rows[level + 1], levels.lanczos
    square = parallel_sum(pool, first, last, bind(_seed_rows, (levels,)))[0]
    negligible = 1e-12 * square
    if square > 0.0:
        parallel_for(pool, first, last, bind(_scale_rows, (levels, 1.0 / np.sqrt(square))))
    size, beta = 0, 0.0
    while size < LANCZOS_STEPS and square > negligible:
        alpha = parallel_sum(pool, first, last, bind(_multiply_rows, (levels, beta)))[0]
        square = parallel_sum(pool, first, last, bind(_orthogonalise_rows, (levels, alpha)))[0]
        beta = np.sqrt(max(square, 0.0))
        matrix[size], matrix[LANCZOS_STEPS + size] = alpha, beta
        size += 1
        if beta > 0.0:
            parallel_for(pool, first, last, bind(_normalise_rows, (levels, 1.0 / beta)))
    if size == 0:
        return 0.0
    return _largest_eigenvalue(matrix, size)


@compiled
def choose_relaxation(levels, pool):
    """Set both ω of each level but the coarsest, which is solved directly."""
    for level in range(levels.depth - 1):
        largest = _estimate_lambda(level, levels, pool)
        for k in range(2):
            product = _CHEBYSHEV_WEIGHTS[k]
            if level == 0:
                product = _JACOBI_WEIGHT
            omega = 0.0
            if largest > 0.0:
                omega = product / (_LAMBDA_MARGIN * largest)
            levels.omega[2 * level + k] = omega
