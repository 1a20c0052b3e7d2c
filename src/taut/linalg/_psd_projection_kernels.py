"""Projection of element Hessians onto the positive semi-definite matrices, by eigenvalues.

A matrix that is positive semi-definite to rounding is left untouched. From any other the negative
eigenpairs are subtracted, which gives the nearest positive semi-definite matrix (in the Frobenius
norm).
"""

from math import sqrt

import numpy as np
from numba import njit, prange

NEGLIGIBLE = 1e-13  # eigenvalues above -NEGLIGIBLE·Σ|diagonal| count as not negative
MAX_SWEEPS = 64  # Jacobi's method converges quadratically, in five or six sweeps
ELEMENTS_PER_CHUNK = 64  # taken by a thread at a time
POSITIVE, PROJECTED, FAILED = 0, 1, 2


@njit(error_model="numpy")
def _has_cholesky_factor(a, q):
    """Whether a + shift·I has a Cholesky factor, written into q; the shift is at rounding."""
    n = a.shape[0]
    shift = 0.0
    for i in range(n):
        shift += NEGLIGIBLE * abs(a[i, i])
    for j in range(n):
        for i in range(j, n):
            s = a[i, j]
            for k in range(j):
                s -= q[i, k] * q[j, k]
            if i == j:
                s += shift
                if not s > 0.0:
                    return False
                q[j, j] = sqrt(s)
            else:
                q[i, j] = s / q[j, j]
    return True


@njit(error_model="numpy")
def _remove_negative(a, q, w):
    """a ← a - Σ_{λ<0} λ v vᵀ; q and w are scratch.

    Returns POSITIVE if a has a Cholesky factor and is left as it is, PROJECTED, or FAILED if
    Jacobi's method did not converge.
    """
    if _has_cholesky_factor(a, q):
        return POSITIVE
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            w[i, j] = a[i, j]
            q[i, j] = 1.0 if i == j else 0.0
    for _sweep in range(MAX_SWEEPS):
        off, diagonal = 0.0, 0.0
        for i in range(n):
            diagonal += w[i, i] * w[i, i]
            for j in range(i):
                off += w[i, j] * w[i, j]
        if off <= 1e-29 * diagonal:  # off-diagonal entries at rounding
            for e in range(n):
                if w[e, e] < 0.0:
                    for i in range(n):
                        for j in range(n):
                            a[i, j] -= w[e, e] * q[i, e] * q[j, e]
            return PROJECTED
        for i in range(n - 1):
            for j in range(i + 1, n):
                if w[i, j] == 0.0:
                    continue
                theta = (w[j, j] - w[i, i]) / (2.0 * w[i, j])
                t = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    u, v = w[k, i], w[k, j]
                    w[k, i] = c * u - s * v
                    w[k, j] = s * u + c * v
                    u, v = q[k, i], q[k, j]
                    q[k, i] = c * u - s * v
                    q[k, j] = s * u + c * v
                for k in range(n):
                    u, v = w[i, k], w[j, k]
                    w[i, k] = c * u - s * v
                    w[j, k] = s * u + c * v
    return FAILED


@njit(
    "void(f8[:, :, :, ::1], i8, i8[::1])",
    parallel=True,
    cache=True,
    error_model="numpy",
    nogil=True,
)
def project(blocks, vectors, bad):
    """Project each element's Hessian in place.

    blocks : the 3×3 blocks of each upper triangle, row by row, shape (m, vectors·(vectors + 1)/2,
        3, 3)
    bad : one entry per chunk; receives the first element that FAILED, or -1
    """
    m, n = blocks.shape[0], 3 * vectors
    for chunk in prange((m + ELEMENTS_PER_CHUNK - 1) // ELEMENTS_PER_CHUNK):
        work = np.empty((3, n, n))
        a = work[0]
        bad[chunk] = -1
        for e in range(
            ELEMENTS_PER_CHUNK * chunk, min(m, ELEMENTS_PER_CHUNK * chunk + ELEMENTS_PER_CHUNK)
        ):
            scale = 0.0
            b = 0
            for p in range(vectors):
                for r in range(p, vectors):
                    for i in range(3):
                        for j in range(3):
                            value = blocks[e, b, i, j]
                            a[3 * p + i, 3 * r + j] = value
                            a[3 * r + j, 3 * p + i] = value
                            scale = max(scale, abs(value))
                    b += 1
            if scale == 0.0:
                continue
            for i in range(n):
                for j in range(n):
                    a[i, j] /= scale
            outcome = _remove_negative(a, work[1], work[2])
            if outcome == POSITIVE:
                continue
            if outcome == FAILED and bad[chunk] < 0:
                bad[chunk] = e
            b = 0
            for p in range(vectors):
                for r in range(p, vectors):
                    for i in range(3):
                        for j in range(3):
                            blocks[e, b, i, j] = (
                                0.5 * scale * (a[3 * p + i, 3 * r + j] + a[3 * r + j, 3 * p + i])
                            )
                    b += 1
