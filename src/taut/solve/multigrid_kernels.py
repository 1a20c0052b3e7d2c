"""Conjugate gradients around a cycle over the levels of a multigrid: smoothing and transfer between them.

The preconditioner works in single precision, everything else in double. Every sum has an order of its own, whatever the number of
threads. The whole iteration has a single parallel loop over chunks of rows, `_spread`, which does one thing or another by a number:
every further parallel loop takes seconds to compile, and so does every function that is handed many arrays. So all of them stand in
one table of addresses, in the order of `ARRAYS`, and are read and written as flat ones.
"""

import numpy as np
from numba import njit, prange

from taut.system.block_rows import doubles, indices, last_row_times, row_times, singles, sum_rows

ARRAYS = {
    "fine_indptr": "i4", "fine_indices": "i4", "fine_data": "f8", "indptr": "i4", "indices": "i4", "data": "f4", "inverse": "f4",
    "p_indptr": "i4", "p_indices": "i4", "p_weights": "f4", "r_indptr": "i4", "r_indices": "i4", "r_weights": "f4",
    "b": "f4", "x": "f4", "r": "f4", "targets2": "f8", "y": "f8", "residual": "f8", "p": "f8", "q": "f8",
}  # fmt: skip
CHUNK = 128  # rows a thread takes at a time
SERIAL = 512  # rows up to which a level is done by one thread
PASSES = 5  # of Lanczos' method for the largest eigenvalue of D⁻¹A
MARGIN = 1.2  # on that eigenvalue, which is found from below
SHRINK = 0.7  # of all ω, where the smoothing nevertheless overshoots
ONCE = 1.5  # over that eigenvalue: ω where a level is smoothed once
TWICE = (1.15, 3.95)  # and where it is smoothed twice: the reciprocal roots of Chebyshev's polynomial on its upper 7/8
# what `_spread` does; the answer of a level ends in r. Not literals, for each of which numba would compile everything anew
START, RESIDUAL, RESTRICT, PROLONG, SMOOTH, EXACT, DIRECTION, PRODUCT, ADVANCE = np.arange(9)
SEED, SCALE, LANCZOS, ORTHOGONAL, NORMAL = np.arange(9, 14)  # by Lanczos' method, with b, r the last two D·x


@njit(error_model="numpy", nogil=True)
def _direct(first, factor, table):
    """Solve the coarsest level, whose rows begin at `first`, with its Cholesky factor."""
    b, r = singles(table, 13), singles(table, 15)
    size = factor.shape[0]
    y = np.empty(size)
    for i in range(size):
        s = np.float64(b[3 * first + i])
        for j in range(i):
            s -= factor[i, j] * y[j]
        y[i] = s / factor[i, i]
    for i in range(size - 1, -1, -1):
        s = y[i]
        for j in range(i + 1, size):
            s -= factor[j, i] * y[j]
        y[i] = s / factor[i, i]
        r[3 * first + i] = y[i]


@njit(error_model="numpy", nogil=True)
def _damped(i, inverse, omega, u, v, w, to):
    """to = ω D⁻¹(u, v, w) of row i."""
    for k in range(3):
        to[3 * i + k] = omega * (inverse[9 * i + 3 * k] * u + inverse[9 * i + 3 * k + 1] * v + inverse[9 * i + 3 * k + 2] * w)


@njit(error_model="numpy", nogil=True)
def _chunk(op, first, last, number, scale, omega, n, table):
    """Do `op` on the rows from `first` to `last`, the finest level having n; returns two sums over them.

    On the way through the levels x and r change places where `number` is not zero.
    """
    starts, columns, data, inverse = indices(table, 3), indices(table, 4), singles(table, 5), singles(table, 6)
    b, x, r = singles(table, 13), singles(table, 14), singles(table, 15)
    residual, p, q = doubles(table, 18), doubles(table, 19), doubles(table, 20)
    s = t = 0.0
    if op <= SMOOTH and number != 0.0:
        x, r = r, x
    if op == START:  # x = ω D⁻¹b
        for i in range(first, last):
            _damped(i, inverse, omega, b[3 * i], b[3 * i + 1], b[3 * i + 2], x)
    elif op == RESIDUAL:  # r = b - A x
        for i in range(first, last):
            u, v, w = row_times(data, columns, x, starts[i], starts[i + 1])
            r[3 * i], r[3 * i + 1], r[3 * i + 2] = b[3 * i] - u, b[3 * i + 1] - v, b[3 * i + 2] - w
    elif op == RESTRICT:  # b = Pᵀr of the finer level
        starts, columns, weights = indices(table, 10), indices(table, 11), singles(table, 12)
        for i in range(first, last):
            b[3 * i], b[3 * i + 1], b[3 * i + 2] = sum_rows(weights, columns, r, starts[i], starts[i + 1])
    elif op == PROLONG:  # x += P r of the coarser level, where x and r never change places
        starts, columns, weights, answer = indices(table, 7), indices(table, 8), singles(table, 9), singles(table, 15)
        for i in range(first, last):
            u, v, w = sum_rows(weights, columns, answer, starts[i], starts[i + 1])
            x[3 * i] += u
            x[3 * i + 1] += v
            x[3 * i + 2] += w
    elif op == SMOOTH:  # r = x + ω D⁻¹(b - A x); s = q·r on the finest level
        for i in range(first, last):
            u, v, w = row_times(data, columns, x, starts[i], starts[i + 1])
            _damped(i, inverse, omega, b[3 * i] - u, b[3 * i + 1] - v, b[3 * i + 2] - w, r)
            for k in range(3 * i, 3 * i + 3):
                r[k] += x[k]
                if i < n:
                    s += q[k] * r[k]
    elif op == DIRECTION:
        for k in range(3 * first, 3 * last):
            p[k] = r[k] + number * p[k]
    elif op == PRODUCT:  # q = A p; s = p·q, t = p·residual
        starts, columns, values = indices(table, 0), indices(table, 1), doubles(table, 2)
        for i in range(first, last):
            if i < n - 1:
                u, v, w = row_times(values, columns, p, starts[i], starts[i + 1])
            else:
                u, v, w = last_row_times(values, columns, p, starts[i], starts[i + 1])
            q[3 * i], q[3 * i + 1], q[3 * i + 2] = u, v, w
            for k in range(3 * i, 3 * i + 3):
                s += p[k] * q[k]
                t += p[k] * residual[k]
    elif (
        op == ADVANCE
    ):  # y += number·p, b = scale·residual, x = ω D⁻¹b; s = the largest |residual|², t = how many rows are not solved
        targets2, y = doubles(table, 16), doubles(table, 17)
        for i in range(first, last):
            square = 0.0
            for k in range(3 * i, 3 * i + 3):
                y[k] += number * p[k]
                left = residual[k] - number * q[k]
                residual[k] = left
                square += left * left
                b[k] = scale * left
            _damped(i, inverse, omega, b[3 * i], b[3 * i + 1], b[3 * i + 2], x)
            s = max(s, square)
            if square > targets2[i]:
                t += 1.0
    elif op == SEED:  # r = D x is anything, b = 0; s = x·r
        for i in range(first, last):
            for k in range(3):
                b[3 * i + k] = 0.0
                r[3 * i + k] = (((i + 1) * 40503 + (k + 1) * 30011) * 25173 % 65536) / 65536.0 - 0.5
            _damped(i, inverse, omega, r[3 * i], r[3 * i + 1], r[3 * i + 2], x)
            for k in range(3 * i, 3 * i + 3):
                s += x[k] * r[k]
    elif op == SCALE:
        for k in range(3 * first, 3 * last):
            x[k] *= number
            r[k] *= number
    elif op == LANCZOS:  # b = A x - number·b; s = x·A x
        for i in range(first, last):
            u, v, w = row_times(data, columns, x, starts[i], starts[i + 1])
            s += x[3 * i] * u + x[3 * i + 1] * v + x[3 * i + 2] * w
            b[3 * i], b[3 * i + 1], b[3 * i + 2] = u - number * b[3 * i], v - number * b[3 * i + 1], w - number * b[3 * i + 2]
    elif op == ORTHOGONAL:  # b -= number·r, x = D⁻¹b; s = x·b
        for i in range(first, last):
            for k in range(3 * i, 3 * i + 3):
                b[k] -= number * r[k]
            _damped(i, inverse, omega, b[3 * i], b[3 * i + 1], b[3 * i + 2], x)
            for k in range(3 * i, 3 * i + 3):
                s += x[k] * b[k]
    elif op == NORMAL:  # r, b = number·b, r; x *= number
        for k in range(3 * first, 3 * last):
            r[k], b[k] = number * b[k], r[k]
            x[k] *= number
    return s, t


@njit(
    "UniTuple(f8, 2)(i8, i8, i8, f8, f8, f4, i8, f8[:, ::1], i8[::1])", parallel=True, cache=True, error_model="numpy", nogil=True
)
def _spread(op, first, last, number, scale, omega, n, sums, table):
    """Do `op` on all rows from `first` to `last`; sums (chunks, 2) is for the sums of each chunk, which are added up in order.

    Where there are few rows, one thread does them.
    """
    if last - first <= SERIAL:
        return _chunk(op, first, last, number, scale, omega, n, table)
    chunks = (last - first + CHUNK - 1) // CHUNK
    for c in prange(chunks):
        begin = first + CHUNK * c
        sums[c, 0], sums[c, 1] = _chunk(op, begin, min(last, begin + CHUNK), number, scale, omega, n, table)
    s = t = 0.0
    for c in range(chunks):
        s = max(s, sums[c, 0]) if op == ADVANCE else s + sums[c, 0]
        t += sums[c, 1]
    return s, t


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


@njit("void(i8[::1], f4[:, ::1], f8[:, ::1], i8[::1])", cache=True, error_model="numpy", nogil=True)
def damping(rows, omega, sums, table):
    """Two ω for each level but the coarsest, from the largest eigenvalue of D⁻¹A, by Lanczos' method in the metric D."""
    diagonal, beside = np.zeros(PASSES), np.zeros(PASSES)
    one = np.float32(1.0)
    for level in range(rows.shape[0] - 2):
        first, last = rows[level], rows[level + 1]
        square, size, back = _spread(SEED, first, last, 0.0, 0.0, one, rows[1], sums, table)[0], 0, 0.0
        scale = square
        if square > 0.0:
            _spread(SCALE, first, last, 1.0 / np.sqrt(square), 0.0, one, rows[1], sums, table)
        while size < PASSES and square > 1e-12 * scale:
            diagonal[size] = _spread(LANCZOS, first, last, back, 0.0, one, rows[1], sums, table)[0]
            square = _spread(ORTHOGONAL, first, last, diagonal[size], 0.0, one, rows[1], sums, table)[0]
            back = np.sqrt(max(square, 0.0))
            beside[size] = back
            size += 1
            if back > 0.0:
                _spread(NORMAL, first, last, 1.0 / back, 0.0, one, rows[1], sums, table)
        largest = _largest(diagonal, beside, size) if size > 0 else 0.0
        for which in range(2):
            omega[level, which] = (ONCE if level == 0 else TWICE[which]) / (MARGIN * largest) if largest > 0.0 else 0.0


@njit(error_model="numpy", nogil=True)
def _hold(held, free, table):
    """Nothing moves where it is held, though the coarse levels know nothing of that."""
    p = doubles(table, 19)
    for k in range(held.shape[0]):
        i = held[k]
        u, v, w = p[3 * i], p[3 * i + 1], p[3 * i + 2]
        for c in range(3):
            p[3 * i + c] = free[k, c, 0] * u + free[k, c, 1] * v + free[k, c, 2] * w


@njit(error_model="numpy", nogil=True)
def _forget(n, table):
    """Begin anew: no direction yet."""
    p, q = doubles(table, 19), doubles(table, 20)
    for k in range(3 * n):
        p[k] = q[k] = 0.0


@njit(error_model="numpy", nogil=True)
def _cycle(programme, rows, omega, factor, sums, table):
    """One cycle over all levels for the right-hand side b; returns q·r.

    programme : a list of (op, level, which ω, whether x and r change places)
    """
    s = 0.0
    for step in range(programme.shape[0]):
        op, level, which, turned = programme[step, 0], programme[step, 1], programme[step, 2], programme[step, 3]
        if op == EXACT:
            _direct(rows[level], factor, table)
        else:
            s = _spread(op, rows[level], rows[level + 1], turned, 0.0, omega[level, which], rows[1], sums, table)[0]
    if rows.shape[0] == 2:
        r, q = singles(table, 15), doubles(table, 20)
        for k in range(3 * rows[1]):
            s += q[k] * r[k]
    return s


@njit(
    "Tuple((i8, b1))(i8[:, ::1], i8[::1], f4[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[:, :, ::1], i8, i8[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
)
def iterate(programme, rows, omega, factor, sums, held, free, limit, table):
    """Conjugate gradients on y until each |residual|² is at most its target: (iterations, whether pᵀAp stayed positive).

    A direction is kept conjugate to the last one by the formula that does not rely on an exact preconditioner. A residual that is
    not a number also ends the iteration, and is judged by the caller.
    """
    first, n = rows[0], rows[1]
    _forget(n, table)
    pap = 1.0
    one = np.float32(1.0)
    square, unsolved = _spread(ADVANCE, first, n, 0.0, 1.0, omega[0, 0], rows[1], sums, table)
    scale = 1.0 / np.sqrt(square) if 0.0 < square < np.inf else 1.0  # single precision holds what is left of that later
    if scale != 1.0:
        _spread(ADVANCE, first, n, 0.0, scale, omega[0, 0], rows[1], sums, table)
    for step in range(limit):
        if not (unsolved > 0.0 and square < np.inf):
            return step, True
        beta = -_cycle(programme, rows, omega, factor, sums, table) / pap
        _spread(DIRECTION, first, n, beta, 0.0, one, rows[1], sums, table)
        _hold(held, free, table)
        pap, pr = _spread(PRODUCT, first, n, 0.0, 0.0, one, rows[1], sums, table)
        if not pap > 0.0:
            return step, False
        length = 0.0
        if pr > 0.0:
            length = pr / pap
        else:  # the cycle is no longer positive: its smoothing overshoots
            omega *= np.float32(SHRINK)
            _forget(n, table)
            pap = 1.0
        square, unsolved = _spread(ADVANCE, first, n, length, scale, omega[0, 0], rows[1], sums, table)
    return limit, True
