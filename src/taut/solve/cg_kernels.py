"""Conjugate gradients, the whole iteration in one compiled function.

Sums are taken over fixed chunks and then in order, so one thread and two give the same bits.
"""

import numpy as np
from numba import njit, prange

CHUNK = 128  # particles a thread takes at a time


@njit("i8(i8[::1], f8[:, :, ::1], f8[:, :, ::1])", parallel=True, cache=True, error_model="numpy", nogil=True)
def invert_diagonal(diagonal, data, inverse):
    """Invert each particle's 3×3 diagonal block; returns how many are not positive definite."""
    n = diagonal.shape[0]
    bad = np.zeros(n, dtype=np.int64)
    for i in prange(n):
        m = diagonal[i]
        # LDLᵀ of the block, which cancels less than cofactors do
        a, b, c = data[m, 0, 0], data[m, 0, 1], data[m, 0, 2]
        p, q = b / a, c / a
        d = data[m, 1, 1] - p * b
        s = (data[m, 1, 2] - p * c) / d
        f = data[m, 2, 2] - q * c - s * s * d
        if not (a > 0.0 and d > 0.0 and f > 0.0):
            bad[i] = 1
            continue
        u = p * s - q  # L⁻¹ has rows (1, 0, 0), (-p, 1, 0), (u, -s, 1)
        inverse[i, 0, 0] = 1.0 / a + p * p / d + u * u / f
        inverse[i, 0, 1] = inverse[i, 1, 0] = -p / d - u * s / f
        inverse[i, 0, 2] = inverse[i, 2, 0] = u / f
        inverse[i, 1, 1] = 1.0 / d + s * s / f
        inverse[i, 1, 2] = inverse[i, 2, 1] = -s / f
        inverse[i, 2, 2] = 1.0 / f
    return bad.sum()


@njit(
    "Tuple((i8, b1))(i4[::1], i4[::1], f8[:, :, ::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], "
    "f8[:, ::1], f8[::1], i8)",
    parallel=True, cache=True, error_model="numpy", nogil=True,
)  # fmt: skip
def iterate(indptr, indices, data, inverse, x, r, z, p, ap, targets2, limit):
    """CG from x with residual r, until |r_i|² ≤ targets2[i] for all i. Returns (iterations, whether pᵀAp stayed positive)."""
    n = x.shape[0]
    chunks = (n + CHUNK - 1) // CHUNK
    sums = np.zeros(chunks)
    over = np.zeros(chunks, dtype=np.int64)
    rz = 0.0
    for step in range(limit + 1):
        # z = B r, and the two sums over it
        for c in prange(chunks):
            s, t = 0.0, 0
            for i in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
                r0, r1, r2 = r[i, 0], r[i, 1], r[i, 2]
                z[i, 0] = inverse[i, 0, 0] * r0 + inverse[i, 0, 1] * r1 + inverse[i, 0, 2] * r2
                z[i, 1] = inverse[i, 1, 0] * r0 + inverse[i, 1, 1] * r1 + inverse[i, 1, 2] * r2
                z[i, 2] = inverse[i, 2, 0] * r0 + inverse[i, 2, 1] * r1 + inverse[i, 2, 2] * r2
                s += r0 * z[i, 0] + r1 * z[i, 1] + r2 * z[i, 2]
                if r0 * r0 + r1 * r1 + r2 * r2 > targets2[i]:
                    t = 1
            sums[c], over[c] = s, t
        old = rz
        rz, unsolved = 0.0, 0
        for c in range(chunks):
            rz += sums[c]
            unsolved += over[c]
        if unsolved == 0 or step == limit:  # a residual that is not a number also ends here, and is judged by the caller
            return step, True
        beta = rz / old if step > 0 else 0.0
        for c in prange(chunks):
            for i in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
                p[i, 0] = z[i, 0] + beta * p[i, 0]
                p[i, 1] = z[i, 1] + beta * p[i, 1]
                p[i, 2] = z[i, 2] + beta * p[i, 2]
        for c in prange(chunks):
            s = 0.0
            for i in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
                a0, a1, a2 = 0.0, 0.0, 0.0
                for k in range(indptr[i], indptr[i + 1]):
                    j = indices[k]
                    p0, p1, p2 = p[j, 0], p[j, 1], p[j, 2]
                    a0 += data[k, 0, 0] * p0 + data[k, 0, 1] * p1 + data[k, 0, 2] * p2
                    a1 += data[k, 1, 0] * p0 + data[k, 1, 1] * p1 + data[k, 1, 2] * p2
                    a2 += data[k, 2, 0] * p0 + data[k, 2, 1] * p1 + data[k, 2, 2] * p2
                ap[i, 0], ap[i, 1], ap[i, 2] = a0, a1, a2
                s += p[i, 0] * a0 + p[i, 1] * a1 + p[i, 2] * a2
            sums[c] = s
        pap = 0.0
        for c in range(chunks):
            pap += sums[c]
        if not pap > 0.0:
            return step, False
        alpha = rz / pap
        for c in prange(chunks):
            for i in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
                for k in range(3):
                    x[i, k] += alpha * p[i, k]
                    r[i, k] -= alpha * ap[i, k]
    return limit, True
