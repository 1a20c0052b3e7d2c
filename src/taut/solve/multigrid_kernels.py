"""Conjugate gradients around a cycle over the levels of a multigrid, and the making of these levels from new values.

All is done by a team of threads that stay together (`taut.system.team`), a chunk of rows at a time. Every sum has an order of its
own, whatever the number of threads.
"""

from math import frexp

import numpy as np
from numba import cfunc, float64, int64, njit

# isort: off
from taut.solve.multigrid_rows import (
    ADVANCE, B, BLOCKS, CHUNK, COARSE, COARSE_DATA, DIRECTION, EXACT, FACTOR, FINE_DATA, FREE, HALF_BLOCKS, HALF_COARSE, HELD,
    INDICES, INDPTR, LANCZOS, LARGEST, LEFT, LOWER, NORMAL, OMEGA, ORTHOGONAL, P, PIECE, PRODUCT, PROGRAMME, Q, R, RHS, ROWS,
    SCALE, SEED, SUMS, Y, iteration, new_values,
)  # fmt: skip

# isort: on
from taut.system.block_rows import doubles, indices, longs, singles
from taut.system.team import LEADER, WORK, share

SERIAL = 256  # rows up to which a level is done by one thread
PASSES = 5  # of Lanczos' method for the largest eigenvalue of D⁻¹A
MARGIN = 1.2  # on that eigenvalue, which is found from below
SHRINK = 0.7  # of all ω, where the smoothing nevertheless overshoots
ONCE = 1.5  # over that eigenvalue: ω where a level is smoothed once
TWICE = (1.15, 3.95)  # and where it is smoothed twice: the reciprocal roots of Chebyshev's polynomial on its upper 7/8
TASK = 8  # numbers: what, from which row to which, three numbers for it, the level, and rows in a chunk
JOB = 5  # numbers after these: steps of the programme, levels, how many particles are held, most iterations, whether ω is known;
# in place of the first two it leaves: iterations, and whether the matrix may be positive definite
MAIN = TASK + JOB  # after that, the diagonal of a tridiagonal matrix, and what is beside it, for Lanczos' method
BESIDE = MAIN + PASSES
NUMBERS_IN_ALL = BESIDE + PASSES


@cfunc(WORK, cache=True, error_model="numpy")
def work(c, task, table):
    """Do chunk c of a task, and keep its two sums."""
    op, level, size = int64(task[0]), int64(task[6]), int64(task[7])
    first = int64(task[1]) + size * c
    last = min(int64(task[2]), first + size)
    sums = doubles(table, SUMS)
    if op >= LARGEST:
        sums[2 * c], sums[2 * c + 1] = new_values(op, first, last, task[4], level, table), 0.0
    else:
        sums[2 * c], sums[2 * c + 1] = iteration(op, first, last, task[3], task[4], np.float32(task[5]), table)


@njit(error_model="numpy", nogil=True)
def _added(op, chunks, table):
    sums = doubles(table, SUMS)
    s = t = 0.0
    for c in range(chunks):
        s = max(s, sums[2 * c]) if op in (ADVANCE, LARGEST) else s + sums[2 * c]
        t += sums[2 * c + 1]
    return s, t


@njit(error_model="numpy", nogil=True)
def _spread(op, first, last, number, scale, omega, work, task, table, board):
    """Do `op` on all rows from `first` to `last`, and add up the two sums of each chunk in order."""
    task[0], task[1], task[2], task[3], task[4], task[5], task[7] = op, first, last, number, scale, omega, CHUNK
    chunks = (last - first + CHUNK - 1) // CHUNK
    share(work, chunks, last - first <= SERIAL, task, table, board)
    return _added(op, chunks, table)


@njit(error_model="numpy", nogil=True)
def _product(op, blocks, level, work, task, table, board):
    """Do `op` on all blocks of a product."""
    task[0], task[1], task[2], task[6], task[7] = op, 0, blocks, level, PIECE
    chunks = (blocks + PIECE - 1) // PIECE
    share(work, chunks, blocks <= PIECE, task, table, board)


@njit(error_model="numpy", nogil=True)
def _cholesky(level, rows, blocks, scale, table):
    """The Cholesky factor of the coarsest level, times a scale; returns whether all pivots are positive."""
    indptr, columns, factor = indices(table, INDPTR), indices(table, INDICES), doubles(table, FACTOR)
    values, shift, first = doubles(table, FINE_DATA), 0, rows[level]
    if level > 0:
        values, shift = doubles(table, COARSE_DATA), blocks[1]
    size = 3 * (rows[level + 1] - first)
    for k in range(size * size):
        factor[k] = 0.0
    for i in range(rows[level + 1] - first):
        for k in range(indptr[first + i], indptr[first + i + 1]):
            for a in range(3):
                for b in range(3):
                    factor[size * (3 * i + a) + 3 * (columns[k] - first) + b] = scale * values[9 * (k - shift) + 3 * a + b]
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


@njit(error_model="numpy", nogil=True)
def _direct(first, size, table):
    """Solve the coarsest level, whose rows begin at `first`, with its Cholesky factor; y, for what is between, stands after it."""
    b, r, factor = singles(table, B), singles(table, R), doubles(table, FACTOR)
    y = size * size
    for i in range(size):
        s = np.float64(b[3 * first + i])
        for j in range(i):
            s -= factor[size * i + j] * factor[y + j]
        factor[y + i] = s / factor[size * i + i]
    for i in range(size - 1, -1, -1):
        s = factor[y + i]
        for j in range(i + 1, size):
            s -= factor[size * j + i] * factor[y + j]
        factor[y + i] = s / factor[size * i + i]
        r[3 * first + i] = factor[y + i]


@njit(error_model="numpy", nogil=True)
def _largest(task, size):
    """The largest eigenvalue of the tridiagonal matrix in a task, by bisection on the number of negative pivots."""
    low, high = task[MAIN], 0.0
    for k in range(size):
        low = max(low, task[MAIN + k])
        high = max(high, task[MAIN + k] + (task[BESIDE + k - 1] if k > 0 else 0.0) + (task[BESIDE + k] if k < size - 1 else 0.0))
    for _ in range(30):
        middle = 0.5 * (low + high)
        pivot, above = 1.0, False
        for k in range(size):
            pivot = middle - task[MAIN + k] - (task[BESIDE + k - 1] * task[BESIDE + k - 1] / pivot if k > 0 else 0.0)
            above = above or not pivot > 0.0
        if above:
            low = middle
        else:
            high = middle
    return high


@njit(error_model="numpy", nogil=True)
def _damping(levels, work, task, table, board):
    """Two ω for each level but the coarsest, from the largest eigenvalue of D⁻¹A, by Lanczos' method in the metric D."""
    rows, omega = longs(table, ROWS), singles(table, OMEGA)
    for level in range(levels - 1):
        first, last = rows[level], rows[level + 1]
        square, size, back = _spread(SEED, first, last, 0.0, 0.0, 1.0, work, task, table, board)[0], 0, 0.0
        scale = square
        if square > 0.0:
            _spread(SCALE, first, last, 1.0 / np.sqrt(square), 0.0, 1.0, work, task, table, board)
        while size < PASSES and square > 1e-12 * scale:
            task[MAIN + size] = _spread(LANCZOS, first, last, back, 0.0, 1.0, work, task, table, board)[0]
            square = _spread(ORTHOGONAL, first, last, task[MAIN + size], 0.0, 1.0, work, task, table, board)[0]
            back = np.sqrt(max(square, 0.0))
            task[BESIDE + size] = back
            size += 1
            if back > 0.0:
                _spread(NORMAL, first, last, 1.0 / back, 0.0, 1.0, work, task, table, board)
        largest = _largest(task, size) if size > 0 else 0.0
        for which in range(2):
            omega[2 * level + which] = (ONCE if level == 0 else TWICE[which]) / (MARGIN * largest) if largest > 0.0 else 0.0


@njit(error_model="numpy", nogil=True)
def _factor(levels, damped, work, task, table, board):
    """All levels from new values of the finest; returns whether it is known not to be indefinite.

    damped : ω is known from a matrix like this one
    """
    rows, blocks = longs(table, ROWS), longs(table, BLOCKS)
    task[6] = 0
    largest = _spread(LARGEST, 0, rows[1], 0.0, 0.0, 0.0, work, task, table, board)[0]
    if not 0.0 < largest < np.inf:
        return False
    scale = 0.5 ** frexp(largest)[1]
    for level in range(levels):
        task[6] = level
        if _spread(LOWER, rows[level], rows[level + 1], 0.0, scale, 0.0, work, task, table, board)[0] > 0.0:
            return False
        if level < levels - 1:
            _product(HALF_COARSE, longs(table, HALF_BLOCKS)[level], level, work, task, table, board)
            _product(COARSE, blocks[level + 2] - blocks[level + 1], level, work, task, table, board)
    if not _cholesky(levels - 1, rows, blocks, scale, table):
        return False
    if not damped:
        _damping(levels, work, task, table, board)
    return True


@njit(error_model="numpy", nogil=True)
def _hold(count, table):
    """Nothing moves where it is held, though the coarse levels know nothing of that."""
    p, held, free = doubles(table, P), longs(table, HELD), doubles(table, FREE)
    for k in range(count):
        i = 3 * held[k]
        u, v, w = p[i], p[i + 1], p[i + 2]
        for c in range(3):
            p[i + c] = free[9 * k + 3 * c] * u + free[9 * k + 3 * c + 1] * v + free[9 * k + 3 * c + 2] * w


@njit(error_model="numpy", nogil=True)
def _forget(n, table):
    """Begin anew: no direction yet."""
    p, q = doubles(table, P), doubles(table, Q)
    for k in range(3 * n):
        p[k] = q[k] = 0.0


@njit(error_model="numpy", nogil=True)
def _cycle(steps, levels, work, task, table, board):
    """One cycle over all levels for the right-hand side b; returns q·r.

    It goes by the programme, a list of `steps` (op, level, which ω, whether x and r change places).
    """
    programme, rows, omega = longs(table, PROGRAMME), longs(table, ROWS), singles(table, OMEGA)
    s = 0.0
    for step in range(steps):
        op, level, which, turned = programme[4 * step], programme[4 * step + 1], programme[4 * step + 2], programme[4 * step + 3]
        if op == EXACT:
            _direct(rows[level], 3 * (rows[level + 1] - rows[level]), table)
        else:
            damping = float64(omega[2 * level + which])
            s = _spread(op, rows[level], rows[level + 1], float64(turned), 0.0, damping, work, task, table, board)[0]
    if levels == 1:
        r, q = singles(table, R), doubles(table, Q)
        for k in range(3 * rows[1]):
            s += q[k] * r[k]
    return s


@njit(error_model="numpy", nogil=True)
def _true(n, work, task, table, board):
    """residual = rhs - A y, from which the one of the iteration may have drifted."""
    p, q, y, rhs, residual = doubles(table, P), doubles(table, Q), doubles(table, Y), doubles(table, RHS), doubles(table, LEFT)
    for k in range(3 * n):
        p[k] = y[k]
    _spread(PRODUCT, 0, n, 0.0, 0.0, 1.0, work, task, table, board)
    for k in range(3 * n):
        residual[k] = rhs[k] - q[k]


@njit(error_model="numpy", nogil=True)
def _iterate(steps, levels, held, limit, work, task, table, board):
    """Conjugate gradients on y until each |residual|² is at most its target: (iterations, whether pᵀAp stayed positive).

    A direction is kept conjugate to the last one by the formula that does not rely on an exact preconditioner. A residual that is
    not a number also ends the iteration, and is judged by the caller. In the end `residual` is the true one.
    """
    n, omega = longs(table, ROWS)[1], singles(table, OMEGA)
    _forget(n, table)
    pap = 1.0
    square, unsolved = _spread(ADVANCE, 0, n, 0.0, 1.0, float64(omega[0]), work, task, table, board)
    scale = 1.0 / np.sqrt(square) if 0.0 < square < np.inf else 1.0  # single precision holds what is left of that later
    if scale != 1.0:
        _spread(ADVANCE, 0, n, 0.0, scale, float64(omega[0]), work, task, table, board)
    for step in range(limit):
        if not (unsolved > 0.0 and square < np.inf):
            _true(n, work, task, table, board)
            return step, True
        beta = -_cycle(steps, levels, work, task, table, board) / pap
        _spread(DIRECTION, 0, n, beta, 0.0, 1.0, work, task, table, board)
        _hold(held, table)
        pap, pr = _spread(PRODUCT, 0, n, 0.0, 0.0, 1.0, work, task, table, board)
        if not pap > 0.0:
            return step, False
        length = 0.0
        if pr > 0.0:
            length = pr / pap
        else:  # the cycle is no longer positive: its smoothing overshoots
            for k in range(2 * levels):
                omega[k] *= np.float32(SHRINK)
            _forget(n, table)
            pap = 1.0
        square, unsolved = _spread(ADVANCE, 0, n, length, scale, float64(omega[0]), work, task, table, board)
    _true(n, work, task, table, board)
    return limit, True


@cfunc(LEADER, cache=True, error_model="numpy")
def leader(work, task, table, board):
    """Iterate by a programme of so many steps, or make the levels if there are none: see `JOB`."""
    steps, levels, held, limit, damped = task[TASK], task[TASK + 1], task[TASK + 2], task[TASK + 3], task[TASK + 4]
    if steps > 0.0:
        count, definite = _iterate(int64(steps), int64(levels), int64(held), int64(limit), work, task, table, board)
    else:
        count, definite = 0, _factor(int64(levels), damped != 0.0, work, task, table, board)
    task[TASK], task[TASK + 1] = count, definite
