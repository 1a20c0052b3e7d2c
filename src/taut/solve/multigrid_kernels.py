"""Conjugate gradients around a cycle over the levels of a multigrid: smoothing and transfer between them.

The preconditioner works in single precision, everything else in double. Every sum has an order of its own, whatever the number of
threads. The whole iteration has a single parallel loop over chunks of rows, `_spread`, which does one thing or another by a number:
every further parallel loop takes seconds to compile.
"""

import numpy as np
from numba import njit, prange

from taut.system.block_rows import last_row_times, row_times, sum_rows

CHUNK = 128  # rows a thread takes at a time
SERIAL = 512  # rows up to which a level is done by one thread
PASSES = 5  # of Lanczos' method for the largest eigenvalue of D⁻¹A
MARGIN = 1.2  # on that eigenvalue, which is found from below
SHRINK = 0.7  # of all ω, where the smoothing nevertheless overshoots
ONCE = 1.5  # over that eigenvalue: ω where a level is smoothed once
TWICE = (1.15, 3.95)  # and where it is smoothed twice: the reciprocal roots of Chebyshev's polynomial on its upper 7/8
# what `_spread` does; the answer of a level ends in r. Not literals, for each of which numba would compile everything anew
LOAD, START, RESIDUAL, RESTRICT, PROLONG, SMOOTH, KEEP, EXACT, DIRECTION, PRODUCT, ADVANCE = np.arange(11)
SEED, SCALE, LANCZOS, ORTHOGONAL, NORMAL = np.arange(11, 16)  # by Lanczos' method, with b, r the last two D·x


@njit(error_model="numpy", nogil=True)
def _direct(first, factor, b, r):
    """Solve the coarsest level, whose rows begin at `first`, with its Cholesky factor."""
    size = factor.shape[0]
    y = np.empty(size)
    for i in range(size):
        s = np.float64(b[first + i // 3, i % 3])
        for j in range(i):
            s -= factor[i, j] * y[j]
        y[i] = s / factor[i, i]
    for i in range(size - 1, -1, -1):
        s = y[i]
        for j in range(i + 1, size):
            s -= factor[j, i] * y[j]
        y[i] = s / factor[i, i]
        r[first + i // 3, i % 3] = y[i]


@njit(error_model="numpy", nogil=True)
def _damped(i, inverse, omega, u, v, w):
    """ω D⁻¹(u, v, w) of row i."""
    return (
        omega * (inverse[i, 0, 0] * u + inverse[i, 0, 1] * v + inverse[i, 0, 2] * w),
        omega * (inverse[i, 1, 0] * u + inverse[i, 1, 1] * v + inverse[i, 1, 2] * w),
        omega * (inverse[i, 2, 0] * u + inverse[i, 2, 1] * v + inverse[i, 2, 2] * w),
    )


@njit(error_model="numpy", nogil=True)
def _chunk(
    op, first, last, number, omega, fine_indptr, fine_indices, fine_data, indptr, indices, data, inverse, p_indptr, p_indices,
    p_weights, r_indptr, r_indices, r_weights, b, x, r, targets2, y, residual, p, q,
):  # fmt: skip
    """Do `op` on the rows from `first` to `last`; returns two sums over them."""
    s = t = 0.0
    if op == LOAD:  # the residual as the right-hand side, and x = ω D⁻¹b
        for i in range(first, last):
            for k in range(3):
                b[i, k] = number * residual[i, k]
            x[i, 0], x[i, 1], x[i, 2] = _damped(i, inverse, omega, b[i, 0], b[i, 1], b[i, 2])
    elif op == START:
        for i in range(first, last):
            x[i, 0], x[i, 1], x[i, 2] = _damped(i, inverse, omega, b[i, 0], b[i, 1], b[i, 2])
    elif op == RESIDUAL:  # r = b - A x
        for i in range(first, last):
            u, v, w = row_times(data, indices, x, indptr[i], indptr[i + 1])
            r[i, 0], r[i, 1], r[i, 2] = b[i, 0] - u, b[i, 1] - v, b[i, 2] - w
    elif op == RESTRICT:  # b = Pᵀr of the finer level
        for i in range(first, last):
            b[i, 0], b[i, 1], b[i, 2] = sum_rows(r_weights, r_indices, r, r_indptr[i], r_indptr[i + 1])
    elif op == PROLONG:  # x += P r of the coarser level
        for i in range(first, last):
            u, v, w = sum_rows(p_weights, p_indices, r, p_indptr[i], p_indptr[i + 1])
            x[i, 0] += u
            x[i, 1] += v
            x[i, 2] += w
    elif op == SMOOTH:  # r = x + ω D⁻¹(b - A x); s = q·r on the finest level
        for i in range(first, last):
            u, v, w = row_times(data, indices, x, indptr[i], indptr[i + 1])
            u, v, w = _damped(i, inverse, omega, b[i, 0] - u, b[i, 1] - v, b[i, 2] - w)
            r[i, 0], r[i, 1], r[i, 2] = x[i, 0] + u, x[i, 1] + v, x[i, 2] + w
            if i < targets2.shape[0]:
                s += q[i, 0] * r[i, 0] + q[i, 1] * r[i, 1] + q[i, 2] * r[i, 2]
    elif op == KEEP:  # x = r, to go on from there
        for i in range(first, last):
            for k in range(3):
                x[i, k] = r[i, k]
    elif op == DIRECTION:
        for i in range(first, last):
            for k in range(3):
                p[i, k] = r[i, k] + number * p[i, k]
    elif op == PRODUCT:  # q = A p; s = p·q, t = p·residual
        for i in range(first, last):
            if fine_indptr[i + 1] < fine_data.shape[0]:
                u, v, w = row_times(fine_data, fine_indices, p, fine_indptr[i], fine_indptr[i + 1])
            else:
                u, v, w = last_row_times(fine_data, fine_indices, p, fine_indptr[i])
            q[i, 0], q[i, 1], q[i, 2] = u, v, w
            s += p[i, 0] * u + p[i, 1] * v + p[i, 2] * w
            t += p[i, 0] * residual[i, 0] + p[i, 1] * residual[i, 1] + p[i, 2] * residual[i, 2]
    elif op == ADVANCE:  # y += number·p; s = the largest |residual|², t = how many rows are not solved
        for i in range(first, last):
            square = 0.0
            for k in range(3):
                y[i, k] += number * p[i, k]
                left = residual[i, k] - number * q[i, k]
                residual[i, k] = left
                square += left * left
            s = max(s, square)
            if square > targets2[i]:
                t += 1.0
    elif op == SEED:  # r = D x is anything, b = 0; s = x·r
        for i in range(first, last):
            for k in range(3):
                b[i, k] = 0.0
                r[i, k] = (((i + 1) * 40503 + (k + 1) * 30011) * 25173 % 65536) / 65536.0 - 0.5
            x[i, 0], x[i, 1], x[i, 2] = _damped(i, inverse, omega, r[i, 0], r[i, 1], r[i, 2])
            s += x[i, 0] * r[i, 0] + x[i, 1] * r[i, 1] + x[i, 2] * r[i, 2]
    elif op == SCALE:
        for i in range(first, last):
            for k in range(3):
                x[i, k] *= number
                r[i, k] *= number
    elif op == LANCZOS:  # b = A x - number·b; s = x·A x
        for i in range(first, last):
            u, v, w = row_times(data, indices, x, indptr[i], indptr[i + 1])
            s += x[i, 0] * u + x[i, 1] * v + x[i, 2] * w
            b[i, 0], b[i, 1], b[i, 2] = u - number * b[i, 0], v - number * b[i, 1], w - number * b[i, 2]
    elif op == ORTHOGONAL:  # b -= number·r, x = D⁻¹b; s = x·b
        for i in range(first, last):
            for k in range(3):
                b[i, k] -= number * r[i, k]
            x[i, 0], x[i, 1], x[i, 2] = _damped(i, inverse, omega, b[i, 0], b[i, 1], b[i, 2])
            s += x[i, 0] * b[i, 0] + x[i, 1] * b[i, 1] + x[i, 2] * b[i, 2]
    elif op == NORMAL:  # r, b = number·b, r; x *= number
        for i in range(first, last):
            for k in range(3):
                r[i, k], b[i, k] = number * b[i, k], r[i, k]
                x[i, k] *= number
    return s, t


_ARRAYS = (
    "i4[::1], i4[::1], f8[:, :, ::1], i4[::1], i4[::1], f4[:, :, ::1], f4[:, :, ::1], i4[::1], i4[::1], f4[::1], i4[::1], i4[::1], "
    "f4[::1], f4[:, ::1], f4[:, ::1], f4[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1]"
)


@njit(f"UniTuple(f8, 2)(i8, i8, i8, f8, f4, f8[:, ::1], {_ARRAYS})", parallel=True, cache=True, error_model="numpy", nogil=True)
def _spread(
    op, first, last, number, omega, sums, fine_indptr, fine_indices, fine_data, indptr, indices, data, inverse, p_indptr, p_indices,
    p_weights, r_indptr, r_indices, r_weights, b, x, r, targets2, y, residual, p, q,
):  # fmt: skip
    """Do `op` on all rows from `first` to `last`; sums (chunks, 2) is for the sums of each chunk, which are added up in order."""
    chunks = (last - first + CHUNK - 1) // CHUNK
    for c in prange(chunks):
        begin = first + CHUNK * c
        s, t = _chunk(
            op, begin, min(last, begin + CHUNK), number, omega, fine_indptr, fine_indices, fine_data, indptr, indices, data,
            inverse, p_indptr, p_indices, p_weights, r_indptr, r_indices, r_weights, b, x, r, targets2, y, residual, p, q,
        )  # fmt: skip
        sums[c, 0], sums[c, 1] = s, t
    s = t = 0.0
    for c in range(chunks):
        s = max(s, sums[c, 0]) if op == ADVANCE else s + sums[c, 0]
        t += sums[c, 1]
    return s, t


@njit(error_model="numpy", nogil=True)
def _do(op, first, last, number, omega, sums, arrays):
    """The same, on one thread where there are few rows."""
    if last - first <= SERIAL:
        return _chunk(op, first, last, number, omega, *arrays)
    return _spread(op, first, last, number, omega, sums, *arrays)


@njit(error_model="numpy", nogil=True)
def _largest(diagonal, beside, size):
    """The largest eigenvalue of a tridiagonal matrix, by bisection on the number of negative pivots."""
    low, high = diagonal[0], 0.0
    for k in range(size):
        low = max(low, diagonal[k])
        high = max(high, diagonal[k] + (beside[k - 1] if k > 0 else 0.0) + (beside[k] if k < size - 1 else 0.0))
    for _ in range(30):
        middle = 0.5 * (low + high)
        pivot, above = 1.0, False
        for k in range(size):
            pivot = middle - diagonal[k] - (beside[k - 1] * beside[k - 1] / pivot if k > 0 else 0.0)
            above = above or not pivot > 0.0
        if above:
            low = middle
        else:
            high = middle
    return high


@njit(f"void(i8[::1], f4[:, ::1], f8[:, ::1], Tuple(({_ARRAYS})))", cache=True, error_model="numpy", nogil=True)
def damping(rows, omega, sums, arrays):
    """Two ω for each level but the coarsest, from the largest eigenvalue of D⁻¹A, by Lanczos' method in the metric D."""
    diagonal, beside = np.zeros(PASSES), np.zeros(PASSES)
    one = np.float32(1.0)
    for level in range(rows.shape[0] - 2):
        first, last = rows[level], rows[level + 1]
        square, size, back = _do(SEED, first, last, 0.0, one, sums, arrays)[0], 0, 0.0
        scale = square
        if square > 0.0:
            _do(SCALE, first, last, 1.0 / np.sqrt(square), one, sums, arrays)
        while size < PASSES and square > 1e-12 * scale:
            diagonal[size] = _do(LANCZOS, first, last, back, one, sums, arrays)[0]
            square = _do(ORTHOGONAL, first, last, diagonal[size], one, sums, arrays)[0]
            back = np.sqrt(max(square, 0.0))
            beside[size] = back
            size += 1
            if back > 0.0:
                _do(NORMAL, first, last, 1.0 / back, one, sums, arrays)
        largest = _largest(diagonal, beside, size) if size > 0 else 0.0
        for which in range(2):
            omega[level, which] = (ONCE if level == 0 else TWICE[which]) / (MARGIN * largest) if largest > 0.0 else 0.0


@njit(error_model="numpy", nogil=True)
def _hold(held, free, p):
    """Nothing moves where it is held, though the coarse levels know nothing of that."""
    for k in range(held.shape[0]):
        i = held[k]
        u, v, w = p[i, 0], p[i, 1], p[i, 2]
        for c in range(3):
            p[i, c] = free[k, c, 0] * u + free[k, c, 1] * v + free[k, c, 2] * w


@njit(error_model="numpy", nogil=True)
def _cycle(programme, rows, omega, factor, sums, arrays):
    """One cycle over all levels for the right-hand side that was loaded, by a list of (op, level, which ω); returns q·r."""
    s = 0.0
    for step in range(programme.shape[0]):
        op, level, which = programme[step, 0], programme[step, 1], programme[step, 2]
        if op == EXACT:
            _direct(rows[level], factor, arrays[13], arrays[15])
        else:
            s = _do(op, rows[level], rows[level + 1], 0.0, omega[level, which], sums, arrays)[0]
    if rows.shape[0] == 2:
        for i in range(rows[1]):
            for k in range(3):
                s += arrays[20][i, k] * arrays[15][i, k]
    return s


@njit(
    f"Tuple((i8, b1))(i8[:, ::1], i8[::1], f4[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[:, :, ::1], i8, Tuple(({_ARRAYS})))",
    cache=True,
    error_model="numpy",
    nogil=True,
)
def iterate(programme, rows, omega, factor, sums, held, free, limit, arrays):
    """Conjugate gradients on y until each |residual|² is at most its target: (iterations, whether pᵀAp stayed positive).

    A direction is kept conjugate to the last one by the formula that does not rely on an exact preconditioner. A residual that is
    not a number also ends the iteration, and is judged by the caller.
    """
    first, n = rows[0], rows[1]
    p, q = arrays[19], arrays[20]
    p[:] = 0.0
    q[:] = 0.0
    pap = 1.0
    one = np.float32(1.0)
    largest, unsolved = _do(ADVANCE, first, n, 0.0, one, sums, arrays)
    for step in range(limit):
        if not (unsolved > 0.0 and largest < np.inf):
            return step, True
        _do(LOAD, first, n, 1.0 / np.sqrt(largest), omega[0, 0], sums, arrays)
        beta = -_cycle(programme, rows, omega, factor, sums, arrays) / pap
        _do(DIRECTION, first, n, beta, one, sums, arrays)
        _hold(held, free, p)
        pap, pr = _do(PRODUCT, first, n, 0.0, one, sums, arrays)
        if not pap > 0.0:
            return step, False
        if not pr > 0.0:  # the cycle is no longer positive: its smoothing overshoots
            omega *= np.float32(SHRINK)
            p[:] = 0.0
            q[:] = 0.0
            pap = 1.0
            continue
        largest, unsolved = _do(ADVANCE, first, n, pr / pap, one, sums, arrays)
    return limit, True
