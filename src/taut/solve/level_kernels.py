"""What new values of a matrix mean for the levels of a multigrid: coarse matrices, inverse blocks, the factor of the coarsest."""

import numpy as np
from numba import njit, prange

from taut.system.block_rows import sum_blocks

CHUNK, PIECE = 128, 2048  # blocks, and numbers, that a thread takes at a time


@njit("f8(i8[::1], f8[::1])", cache=True, error_model="numpy", nogil=True)
def largest(diagonal, data):
    """The largest number on the diagonal of a matrix of blocks, or 0; infinite if one is not a number."""
    found = 0.0
    for i in range(diagonal.shape[0]):
        for k in range(9 * diagonal[i], 9 * diagonal[i] + 9, 4):
            if not data[k] <= found:
                found = data[k] if data[k] > found else np.inf
    return found


@njit("void(f8[::1], f8, f4[::1])", parallel=True, cache=True, error_model="numpy", nogil=True)
def lower(numbers, scale, out):
    """Numbers in single precision, times a power of two."""
    n = numbers.shape[0]
    for c in prange((n + PIECE - 1) // PIECE):
        first, last = PIECE * c, min(n, PIECE * c + PIECE)
        old, new = numbers[first:last], out[first:last]
        for k in range(last - first):
            new[k] = scale * old[k]


@njit("void(i4[::1], i4[::1], f8[::1], f8[:, :, ::1], f8[:, :, ::1])", parallel=True, cache=True, error_model="numpy", nogil=True)
def combine(start, source, weight, blocks, out):
    """out[s] = Σ weight·blocks[source] over the entries of s."""
    n = out.shape[0]
    for c in prange((n + CHUNK - 1) // CHUNK):
        for s in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
            sum_blocks(blocks, source, weight, start[s], start[s + 1], out, s)


@njit("i8(i8[::1], f8[:, :, ::1], f8, f4[:, :, ::1])", parallel=True, cache=True, error_model="numpy", nogil=True)
def invert_blocks(diagonal, data, scale, inverse):
    """Invert the diagonal block of each row, times a scale; returns how many are not positive definite."""
    bad, n = 0, diagonal.shape[0]
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for i in range(CHUNK * chunk, min(n, CHUNK * chunk + CHUNK)):
            m = diagonal[i]
            # LDLᵀ of the block, which cancels less than cofactors do
            a, b, c = scale * data[m, 0, 0], scale * data[m, 0, 1], scale * data[m, 0, 2]
            over_a = 1.0 / a
            p, q = b * over_a, c * over_a
            d = scale * data[m, 1, 1] - p * b
            over_d = 1.0 / d
            s = (scale * data[m, 1, 2] - p * c) * over_d
            f = scale * data[m, 2, 2] - q * c - s * s * d
            over_f = 1.0 / f
            if not (a > 0.0 and d > 0.0 and f > 0.0):
                bad += 1
                continue
            u = p * s - q  # L⁻¹ has rows (1, 0, 0), (-p, 1, 0), (u, -s, 1)
            inverse[i, 0, 0] = over_a + p * p * over_d + u * u * over_f
            inverse[i, 0, 1] = inverse[i, 1, 0] = -p * over_d - u * s * over_f
            inverse[i, 0, 2] = inverse[i, 2, 0] = u * over_f
            inverse[i, 1, 1] = over_d + s * s * over_f
            inverse[i, 1, 2] = inverse[i, 2, 1] = -s * over_f
            inverse[i, 2, 2] = over_f
    return bad


@njit("i8(i4[::1], i4[::1], f8[:, :, ::1], f8, f8[:, ::1])", cache=True, error_model="numpy", nogil=True)
def cholesky(indptr, indices, data, scale, factor):
    """The Cholesky factor of a small matrix, times a scale; returns how many pivots are not positive."""
    size = factor.shape[0]
    factor[:] = 0.0
    for i in range(size // 3):
        for k in range(indptr[i], indptr[i + 1]):
            for a in range(3):
                for b in range(3):
                    factor[3 * i + a, 3 * indices[k] + b] = scale * data[k, a, b]
    for j in range(size):
        s = factor[j, j]
        for k in range(j):
            s -= factor[j, k] * factor[j, k]
        if not s > 0.0:
            return 1
        factor[j, j] = np.sqrt(s)
        for i in range(j + 1, size):
            t = factor[i, j]
            for k in range(j):
                t -= factor[i, k] * factor[j, k]
            factor[i, j] = t / factor[j, j]
    return 0
