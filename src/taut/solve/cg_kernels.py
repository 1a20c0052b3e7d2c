"""Conjugate gradients, the whole iteration in one compiled function.

Sums are taken over fixed chunks and then in order, so one thread and two give the same bits.
"""

from math import sqrt

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
        a, b, c, d, e, f = data[m, 0, 0], data[m, 0, 1], data[m, 0, 2], data[m, 1, 1], data[m, 1, 2], data[m, 2, 2]
        p, q, r = d * f - e * e, c * e - b * f, b * e - c * d
        det = a * p + b * q + c * r
        if not (a > 0.0 and a * d - b * b > 0.0 and det > 0.0):
            bad[i] = 1
            continue
        s = 1.0 / det
        inverse[i, 0, 0], inverse[i, 0, 1], inverse[i, 0, 2] = s * p, s * q, s * r
        inverse[i, 1, 0], inverse[i, 1, 1], inverse[i, 1, 2] = s * q, s * (a * f - c * c), s * (b * c - a * e)
        inverse[i, 2, 0], inverse[i, 2, 1], inverse[i, 2, 2] = s * r, s * (b * c - a * e), s * (a * d - b * b)
    return bad.sum()


@njit(
    "Tuple((i8, f8, b1))(i4[::1], i4[::1], f8[:, :, ::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], "
    "f8[:, ::1], f8, i8)",
    parallel=True, cache=True, error_model="numpy", nogil=True,
)  # fmt: skip
def iterate(indptr, indices, data, inverse, x, r, z, p, ap, target, limit):
    """CG from x with residual r, until max|r_i| ≤ target. Returns (iterations, max|r_i|, whether pᵀAp stayed positive)."""
    n = x.shape[0]
    chunks = (n + CHUNK - 1) // CHUNK
    sums = np.zeros(chunks)
    tops = np.zeros(chunks)
    rz = 0.0
    top = 0.0
    for step in range(limit + 1):
        # z = B r, and the two sums over it
        for c in prange(chunks):
            s, t = 0.0, 0.0
            for i in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
                r0, r1, r2 = r[i, 0], r[i, 1], r[i, 2]
                z[i, 0] = inverse[i, 0, 0] * r0 + inverse[i, 0, 1] * r1 + inverse[i, 0, 2] * r2
                z[i, 1] = inverse[i, 1, 0] * r0 + inverse[i, 1, 1] * r1 + inverse[i, 1, 2] * r2
                z[i, 2] = inverse[i, 2, 0] * r0 + inverse[i, 2, 1] * r1 + inverse[i, 2, 2] * r2
                s += r0 * z[i, 0] + r1 * z[i, 1] + r2 * z[i, 2]
                t = max(t, r0 * r0 + r1 * r1 + r2 * r2)
            sums[c], tops[c] = s, t
        old = rz
        rz, top = 0.0, 0.0
        for c in range(chunks):
            rz += sums[c]
            top = max(top, tops[c])
        top = sqrt(top)
        if not top > target or step == limit:  # a residual that is not a number also ends here, and is judged by the caller
            return step, top, True
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
            return step, top, False
        alpha = rz / pap
        for c in prange(chunks):
            for i in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
                for k in range(3):
                    x[i, k] += alpha * p[i, k]
                    r[i, k] -= alpha * ap[i, k]
    return limit, top, True
