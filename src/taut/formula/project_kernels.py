"""Projection of element Hessians onto the positive semi-definite matrices, by eigenvalues.

For laws without a closed form. An element block that is positive already (to rounding) is left untouched; from any other the
negative eigenpairs are taken away, which gives the nearest positive semi-definite matrix.
"""

from math import sqrt

import numpy as np
from numba import njit, prange

ALREADY = 1e-13  # eigenvalues above -ALREADY·Σ|diagonal| count as not negative
CHUNK = 64  # elements a thread takes at a time


@njit(error_model="numpy")
def _is_positive(a, factor):
    """Whether the symmetric matrix, shifted by rounding, has a Cholesky factor."""
    n = a.shape[0]
    shift = 0.0
    for i in range(n):
        shift += ALREADY * abs(a[i, i])
    for j in range(n):
        d = a[j, j] + shift
        for k in range(j):
            d -= factor[j, k] * factor[j, k]
        if not d > 0.0:
            return False
        d = sqrt(d)
        factor[j, j] = d
        for i in range(j + 1, n):
            s = a[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            factor[i, j] = s / d
    return True


@njit(error_model="numpy")
def _rotate(w, q, i, j):
    """One Jacobi rotation that annihilates w[i, j], collected in the columns of q."""
    theta = (w[j, j] - w[i, i]) / (2.0 * w[i, j])
    t = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    for k in range(w.shape[0]):
        u, v = w[k, i], w[k, j]
        w[k, i], w[k, j] = c * u - s * v, s * u + c * v
    for k in range(w.shape[0]):
        u, v = w[i, k], w[j, k]
        w[i, k], w[j, k] = c * u - s * v, s * u + c * v
        u, v = q[k, i], q[k, j]
        q[k, i], q[k, j] = c * u - s * v, s * u + c * v


@njit(error_model="numpy")
def _remove_negative(a, q, w):
    """a ← a - Σ_{λ<0} λ v vᵀ with the eigenpairs from cyclic Jacobi sweeps; False if those did not converge."""
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            w[i, j] = a[i, j]
            q[i, j] = 1.0 if i == j else 0.0
    converged = False
    for _sweep in range(64):  # converges quadratically, in five or six sweeps
        off, diagonal = 0.0, 0.0
        for i in range(n):
            diagonal += w[i, i] * w[i, i]
            for j in range(i):
                off += w[i, j] * w[i, j]
        if off <= 1e-29 * diagonal:  # off-diagonal entries at rounding
            converged = True
            break
        for i in range(n - 1):
            for j in range(i + 1, n):
                if w[i, j] != 0.0:
                    _rotate(w, q, i, j)
    for e in range(n):
        if w[e, e] < 0.0:
            for i in range(n):
                for j in range(n):
                    a[i, j] -= w[e, e] * q[i, e] * q[j, e]
    return converged


@njit("void(f8[:, :, :, ::1], i8, i8[::1])", parallel=True, cache=True, error_model="numpy", nogil=True)
def project(blocks, vectors, bad):
    """Project each element's Hessian in place.

    blocks : the 3×3 blocks of each upper triangle, row by row, shape (m, vectors·(vectors + 1)/2, 3, 3)
    bad : scratch, one entry per chunk; receives the first element whose eigenvalues were not found, or -1
    """
    m = blocks.shape[0]
    n = 3 * vectors
    for chunk in prange((m + CHUNK - 1) // CHUNK):
        work = np.empty((3, n, n))
        a = work[0]
        bad[chunk] = -1
        for e in range(CHUNK * chunk, min(m, CHUNK * chunk + CHUNK)):
            b = 0
            for p in range(0, n, 3):
                for q in range(p, n, 3):
                    for i in range(3):
                        for j in range(3):
                            a[p + i, q + j] = blocks[e, b, i, j]
                            a[q + j, p + i] = blocks[e, b, i, j]
                    b += 1
            scale = 0.0
            for i in range(n):
                for j in range(n):
                    scale = max(scale, abs(a[i, j]))
            if scale == 0.0:
                continue
            for i in range(n):
                for j in range(n):
                    a[i, j] /= scale
            if _is_positive(a, work[1]):
                continue
            if not _remove_negative(a, work[1], work[2]) and bad[chunk] < 0:
                bad[chunk] = e
            b = 0
            for p in range(0, n, 3):
                for q in range(p, n, 3):
                    for i in range(3):
                        for j in range(3):
                            blocks[e, b, i, j] = 0.5 * scale * (a[p + i, q + j] + a[q + j, p + i])
                    b += 1
