"""The smallest eigenvalues of a pencil, A x = λ B x with symmetric A and positive definite B.

By Sylvester's law of inertia the number of eigenvalues below s is the number of negative pivots of
A - sB. It places the shift of Lanczos' method below all of them, and tells whether one was missed.
Every pair has passed a test of |Ax - λBx|. Small pencils are solved densely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import EPS, Float
from taut.errors import EigenError
from taut.linalg.eigen import DENSE_AT_MOST, DENSE_UP_TO, fix_signs
from taut.linalg.low_rank import Factor, infinity_norm

_MAX_DOUBLINGS = 200  # of the distance below zero at which a shift below all eigenvalues is sought
_GAP = 1e-6  # between eigenvalues, relative to the largest: in a wider one pivots are counted
_MAX_RESIDUAL = 1e-8  # |Ax - λBx|/(|A||x|)


def find_smallest_of_pencil(A: Any, B: Any, k: int, near: float) -> tuple[Float, Float]:
    """Return the k smallest eigenvalues (k,) and their vectors, columns of (f, k), xᵀBx = 1.

    A, B : scipy.sparse CSC arrays (f, f), B positive definite
    near : how far below zero a shift is tried first, positive, in the unit of the eigenvalues

    >>> from scipy.sparse import diags_array
    >>> A, B = diags_array([6.0, -1.0, 2.0]).tocsc(), diags_array([2.0, 1.0, 4.0]).tocsc()
    >>> find_smallest_of_pencil(A, B, 2, 1e-3)[0].tolist()
    [-1.0, 0.5]
    """
    size = A.shape[0]
    k = min(k, size)
    if size <= max(DENSE_UP_TO, 2 * k):
        return _verify(A, B, *_solve_densely(A, B, k))
    shift = _find_shift_below(A, B, near)
    values, vectors = _iterate(A, B, k, shift)
    # Once more from a distance like the gaps: where one is much nearer to the shift than the
    # others, such as a zero, these are known to rounding of its inverse only.
    distance = float(values[-1] - values[0]) / 4
    if distance > values[0] - shift:
        values, vectors = _iterate(A, B, k, float(values[0]) - distance)
    if _misses(A, B, values):
        if size > DENSE_AT_MOST:
            raise EigenError("Lanczos' method missed an eigenvalue of the pencil")
        values, vectors = _solve_densely(A, B, k)
    return _verify(A, B, values, vectors)


def _solve_densely(A: Any, B: Any, k: int) -> tuple[Float, Float]:
    from scipy.linalg import eigh

    if not k:
        return np.empty(0), np.empty((A.shape[0], 0))
    try:
        values, vectors = eigh(A.toarray(), B.toarray(), subset_by_index=(0, k - 1))
    except np.linalg.LinAlgError as error:
        raise EigenError(f"the second matrix must be positive definite: {error}") from error
    return values, vectors


def _find_shift_below(A: Any, B: Any, near: float) -> float:
    """Return -near·2^j with the smallest j at which A - sB is positive definite, or a j above."""
    distance = near
    for _ in range(_MAX_DOUBLINGS):
        try:
            if Factor((A + distance * B).tocsc()).above == A.shape[0]:
                return -distance
        except RuntimeError:  # a zero pivot
            pass
        distance *= 2.0
    raise EigenError("no shift below all eigenvalues: the second matrix must be positive definite")


def _iterate(A: Any, B: Any, k: int, shift: float) -> tuple[Float, Float]:
    from scipy.sparse.linalg import LinearOperator, eigsh

    factor = Factor((A - shift * B).tocsc())
    inverse = LinearOperator(A.shape, matvec=lambda b: factor.solve(np.ravel(b)), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(A.shape[0])
    room = min(A.shape[0], max(3 * k + 10, 40))
    values, vectors = eigsh(
        A, k, M=B, sigma=shift, which="LM", v0=start, ncv=room, OPinv=inverse, tol=1e-13
    )
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _misses(A: Any, B: Any, values: Float) -> bool:
    """Whether the pivots in the last gap between the values count more or fewer below it."""
    gaps = np.diff(values)
    wide = np.flatnonzero(gaps > _GAP * np.abs(values).max())
    if not len(wide):
        return True
    last = int(wide[-1])
    try:
        count = Factor((A - (values[last] + gaps[last] / 2) * B).tocsc()).below
    except RuntimeError:  # a zero pivot
        return True
    return count != last + 1


def _verify(A: Any, B: Any, values: Float, vectors: Float) -> tuple[Float, Float]:
    """Return the pairs with fixed signs; raises EigenError if one is none."""
    residuals = np.linalg.norm(A @ vectors - (B @ vectors) * values, axis=0)
    # Eigenvalues are known to rounding of the largest |λ|, of which a Rayleigh quotient tells.
    largest = np.abs(A.diagonal() / B.diagonal()).max(initial=np.abs(values).max(initial=0.0))
    size = infinity_norm(A) if A.nnz else 0.0
    rounding = EPS * A.shape[0] * largest * (infinity_norm(B) if B.nnz else 0.0)
    limits = np.linalg.norm(vectors, axis=0) * (_MAX_RESIDUAL * size + rounding)
    bad = np.flatnonzero(~(residuals <= limits))
    if len(bad):
        raise EigenError(
            f"|Ax - λBx| of the eigenvalue {values[bad[0]]:g} must be at most "
            f"{limits[bad[0]]:.2e}, got {residuals[bad[0]]:.2e}"
        )
    return values, fix_signs(vectors)
