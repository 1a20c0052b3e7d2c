"""What a multigrid does with some rows of a level: smoothing, transfer between levels, and what new values of a matrix mean.

The preconditioner works in single precision, everything else in double. It is one function that does one thing or another by a
number: a function that is handed many arrays takes seconds to compile. So all of them stand in one table of addresses, in the order
of `ARRAYS`, and are read and written as flat ones.
"""

import numpy as np
from numba import njit

from taut.system.block_rows import doubles, indices, last_row_times, longs, row_times, singles, sum_blocks, sum_rows

ARRAYS = {
    "fine_indptr": "i4", "fine_indices": "i4", "fine_data": "f8", "indptr": "i4", "indices": "i4", "data": "f4", "inverse": "f4",
    "p_indptr": "i4", "p_indices": "i4", "p_weights": "f4", "r_indptr": "i4", "r_indices": "i4", "r_weights": "f4",
    "b": "f4", "x": "f4", "r": "f4", "targets2": "f8", "y": "f8", "residual": "f8", "p": "f8", "q": "f8", "rhs": "f8",
    "rows": "i8", "blocks": "i8", "half_blocks": "i8", "diagonal": "i8", "coarse_data": "f8", "sums": "f8", "programme": "i8",
    "omega": "f4", "factor": "f8", "held": "i8", "free": "f8",
}  # fmt: skip
PRODUCTS = {
    "ap_start": "i4", "ap_source": "i4", "ap_weight": "f8", "ap": "f8", "pap_start": "i4", "pap_source": "i4", "pap_weight": "f8",
}  # fmt: skip
"""After them, for each level but the coarsest."""
(
    FINE_INDPTR, FINE_INDICES, FINE_DATA, INDPTR, INDICES, DATA, INVERSE, P_INDPTR, P_INDICES, P_WEIGHTS, R_INDPTR, R_INDICES,
    R_WEIGHTS, B, X, R, TARGETS2, Y, LEFT, P, Q, RHS, ROWS, BLOCKS, HALF_BLOCKS, DIAGONAL, COARSE_DATA, SUMS, PROGRAMME, OMEGA,
    FACTOR, HELD, FREE, LISTS,
) = range(len(ARRAYS) + 1)  # fmt: skip
EACH = len(PRODUCTS)
CHUNK = 128  # rows a thread takes at a time
PIECE = 1024  # blocks of a product that it takes

# what is done; the answer of a level ends in r. Not literals, for each of which numba would compile everything anew
START, RESIDUAL, RESTRICT, PROLONG, SMOOTH, EXACT, DIRECTION, PRODUCT, ADVANCE = np.arange(9)
SEED, SCALE, LANCZOS, ORTHOGONAL, NORMAL = np.arange(9, 14)  # by Lanczos' method, with b, r the last two D·x
LARGEST, LOWER, HALF_COARSE, COARSE = np.arange(14, 18)  # new values


@njit(error_model="numpy", nogil=True)
def _damped(i, inverse, omega, u, v, w, to):
    """to = ω D⁻¹(u, v, w) of row i."""
    for k in range(3):
        to[3 * i + k] = omega * (inverse[9 * i + 3 * k] * u + inverse[9 * i + 3 * k + 1] * v + inverse[9 * i + 3 * k + 2] * w)


@njit(error_model="numpy", nogil=True)
def _invert(i, block, at, scale, inverse):
    """The inverse of the block at a position, times a scale, for row i; returns whether it is positive definite."""
    # LDLᵀ of the block, which cancels less than cofactors do
    a, b, c = scale * block[at], scale * block[at + 1], scale * block[at + 2]
    over_a = 1.0 / a
    p, q = b * over_a, c * over_a
    d = scale * block[at + 4] - p * b
    over_d = 1.0 / d
    s = (scale * block[at + 5] - p * c) * over_d
    f = scale * block[at + 8] - q * c - s * s * d
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


@njit(error_model="numpy", nogil=True)
def new_values(op, first, last, scale, level, table):
    """Of the rows (of a product: of the blocks) from `first` to `last` of a level; returns the largest of something, or a count.

    LARGEST : the largest number on the diagonal of the finest level, or 0; infinite if one is not a number
    LOWER : all numbers in single precision, and the diagonal blocks inverted, times a power of two; counts those that cannot be
    HALF_COARSE, COARSE : AP of this level's A, and PᵀAP of that
    """
    s = 0.0
    diagonal, blocks = longs(table, DIAGONAL), longs(table, BLOCKS)
    before = 9 * blocks[level]
    values = doubles(table, FINE_DATA)
    if level > 0:
        values, before = doubles(table, COARSE_DATA), 9 * (blocks[level] - blocks[1])
    if op == LARGEST:
        for i in range(first, last):
            for k in range(9 * diagonal[i], 9 * diagonal[i] + 9, 4):
                if not values[k] <= s:
                    s = values[k] if values[k] > s else np.inf
    elif op == LOWER:
        starts, data, inverse = indices(table, INDPTR), singles(table, DATA), singles(table, INVERSE)
        shift = before - 9 * blocks[level]
        for k in range(9 * starts[first], 9 * starts[last]):
            data[k] = scale * values[k + shift]
        for i in range(first, last):
            if not _invert(i, values, 9 * diagonal[i] + shift, scale, inverse):
                s += 1.0
    elif op == HALF_COARSE:
        k = LISTS + EACH * level
        start, source, weight, out = indices(table, k), indices(table, k + 1), doubles(table, k + 2), doubles(table, k + 3)
        for e in range(first, last):
            sum_blocks(values, before, source, weight, start[e], start[e + 1], out, 9 * e)
    else:
        k = LISTS + EACH * level
        start, source, weight, half = indices(table, k + 4), indices(table, k + 5), doubles(table, k + 6), doubles(table, k + 3)
        out, to = doubles(table, COARSE_DATA), 9 * (blocks[level + 1] - blocks[1])
        for e in range(first, last):
            sum_blocks(half, 0, source, weight, start[e], start[e + 1], out, to + 9 * e)
    return s


@njit(error_model="numpy", nogil=True)
def iteration(op, first, last, number, scale, omega, table):
    """Do `op` on the rows from `first` to `last`; returns two sums over them.

    On the way through the levels x and r change places where `number` is not zero.
    """
    starts, columns, data, inverse = indices(table, INDPTR), indices(table, INDICES), singles(table, DATA), singles(table, INVERSE)
    b, x, r = singles(table, B), singles(table, X), singles(table, R)
    residual, p, q, n = doubles(table, LEFT), doubles(table, P), doubles(table, Q), longs(table, ROWS)[1]
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
        starts, columns, weights = indices(table, R_INDPTR), indices(table, R_INDICES), singles(table, R_WEIGHTS)
        for i in range(first, last):
            b[3 * i], b[3 * i + 1], b[3 * i + 2] = sum_rows(weights, columns, r, starts[i], starts[i + 1])
    elif op == PROLONG:  # x += P r of the coarser level, where x and r never change places
        starts, columns, weights = indices(table, P_INDPTR), indices(table, P_INDICES), singles(table, P_WEIGHTS)
        answer = singles(table, R)
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
        starts, columns, values = indices(table, FINE_INDPTR), indices(table, FINE_INDICES), doubles(table, FINE_DATA)
        for i in range(first, last):
            if i < n - 1:
                u, v, w = row_times(values, columns, p, starts[i], starts[i + 1])
            else:
                u, v, w = last_row_times(values, columns, p, starts[i], starts[i + 1])
            q[3 * i], q[3 * i + 1], q[3 * i + 2] = u, v, w
            for k in range(3 * i, 3 * i + 3):
                s += p[k] * q[k]
                t += p[k] * residual[k]
    elif op == ADVANCE:  # y += number·p, b = scale·residual, x = ω D⁻¹b; s = the largest |residual|², t counts rows not solved
        targets2, y = doubles(table, TARGETS2), doubles(table, Y)
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
