"""The smallest eigenvalues of a symmetric sparse matrix, and exact counts of them.

By Sylvester's law of inertia the number of eigenvalues below s is the number of negative pivots of A - sI = LDLᵀ. That gives the
counts of negative and of zero eigenvalues, it places the shift of the Lanczos iteration below all eigenvalues, where A - sI is
positive definite, and it tells whether Lanczos missed one. Small matrices are solved densely. Every pair (λ, x) that is returned
was held against |Ax - λx|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import TautError
from taut.solve.tolerance import EPS

Float = NDArray[np.float64]
DENSE_UP_TO = 300  # rows
EXACT = 1e-8  # largest |Ax - λx| of a pair, relative to |λ|, where rounding is below that


class EigenError(TautError):
    """Eigenvalues that could not be found or verified."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The lower end of a spectrum.

    values : the smallest eigenvalues, ascending, (k,); vectors : their orthonormal eigenvectors, columns of (f, k)
    negative, zero : how many eigenvalues of all are below -tol, and how many within ±tol
    """

    values: Float
    vectors: Float
    negative: int
    zero: int


def count_below(matrix: Any, shift: float, tol: float) -> int:
    """How many eigenvalues of a symmetric scipy.sparse CSC array lie below the shift (moved by up to tol/8 off an eigenvalue).

    >>> from scipy.sparse import diags_array
    >>> count_below(diags_array([3.0, 1.0, 2.0]).tocsc(), 2.5, 1e-9)
    2
    """
    return int((_factor(matrix, shift, tol).factors()[1] < 0.0).sum()) if matrix.shape[0] else 0


def _factor(matrix: Any, shift: float, tol: float) -> Any:
    """LDLᵀ of A - shift·I. A pivot that is exactly zero is avoided by a shift a little different."""
    import qdldl
    from scipy.sparse import csc_matrix, eye_array, triu

    for part in (0.0, 0.03, -0.05, 0.11):
        moved = matrix - (shift + part * tol) * eye_array(matrix.shape[0], format="csc")
        try:
            return qdldl.Solver(csc_matrix(triu(moved, format="csc")), upper=True)
        except RuntimeError:  # a zero pivot
            continue
    raise EigenError(f"the matrix less {shift:g} has no LDLᵀ factorisation")


def smallest(matrix: Any, k: int, tol: float) -> Spectrum:
    """The k smallest (or all, if there are fewer) eigenpairs of a symmetric scipy.sparse CSC array (f, f).

    tol : what counts as zero, in the unit of the matrix; at least the rounding in its entries

    >>> from scipy.sparse import diags_array
    >>> found = smallest(diags_array([3.0, 0.0, -2.0, 0.0]).tocsc(), 2, 1e-9)
    >>> found.values, found.negative, found.zero
    (array([-2.,  0.]), 1, 2)
    """
    size = matrix.shape[0]
    k = min(k, size)
    if size <= max(DENSE_UP_TO, 2 * k):
        values, vectors = np.linalg.eigh(matrix.toarray()) if size else (np.empty(0), np.empty((0, 0)))
        negative, zero = int((values < -tol).sum()), int((np.abs(values) <= tol).sum())
        values, vectors = values[:k], vectors[:, :k]
    elif not abs(matrix).max() > 0.0:
        values, vectors, negative, zero = np.zeros(k), np.eye(size, k), 0, size
    else:
        negative = count_below(matrix, -tol, tol)
        zero = count_below(matrix, tol, tol) - negative
        values, vectors = _lanczos(matrix, k, tol, negative, zero)
        _compare(matrix, values, tol, negative, zero)
    _verify(matrix, values, vectors, tol)
    return Spectrum(values, _signed(vectors), negative, zero)


def _lanczos(matrix: Any, k: int, tol: float, negative: int, zero: int) -> tuple[Float, Float]:
    """Shift-invert Lanczos from a shift below the whole spectrum, about as far below as the wanted eigenvalues are apart."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    size = matrix.shape[0]
    start = np.random.default_rng(0).standard_normal(size)
    low = _bound(matrix, tol, -1.0, lambda count: count == 0) if negative else -tol
    if negative or zero:
        reach = _bound(matrix, tol, 1.0, lambda count: count >= min(k, negative + zero + 1)) - low
    else:
        reach = _lowest(matrix, _factor(matrix, low, tol), start)
    shift = low - reach / 4
    factor = _factor(matrix, shift, tol)
    inverse = LinearOperator((size, size), matvec=lambda b: factor.solve(np.ravel(b)), dtype=np.float64)
    room = min(size, max(3 * k + 10, 40))
    _, vectors = eigsh(matrix, k, sigma=shift, which="LM", v0=start, ncv=room, OPinv=inverse)
    # once more within the space found: orthonormal to the last digit, and eigenvalues that do not carry the shift's rounding
    basis, _ = np.linalg.qr(vectors)
    small = basis.T @ (matrix @ basis)
    values, turn = np.linalg.eigh((small + small.T) / 2)
    return values, basis @ turn


def _lowest(matrix: Any, factor: Any, start: Float) -> float:
    """About the smallest eigenvalue of a positive definite matrix, from above: a few steps of inverse iteration."""
    x = start / np.linalg.norm(start)
    for _ in range(4):
        x = factor.solve(x)
        x /= np.linalg.norm(x)
    return float(x @ (matrix @ x))


def _bound(matrix: Any, tol: float, sign: float, enough: Any) -> float:
    """±4 tol·1000^j with the smallest j at which the count of eigenvalues below it is as wanted."""
    norm = float(abs(matrix).sum(axis=0).max())
    bound = 4 * tol
    while bound <= norm:
        if enough(count_below(matrix, sign * bound, tol)):
            return sign * bound
        bound *= 1000.0
    return sign * 1.01 * norm  # Gershgorin


def _compare(matrix: Any, values: Float, tol: float, negative: int, zero: int) -> None:
    """The pairs found against the counts: none may be missing."""
    found = int((values < -tol).sum()), int((np.abs(values) <= tol).sum())
    for expected, got, below in ((negative, found[0], 0), (zero, found[1], negative)):
        if got != max(0, min(expected, len(values) - below)):
            raise EigenError(
                f"Lanczos found {got} of {expected} eigenvalues (negative and zero: {found}, of {negative} and {zero})"
            )
    gaps = np.diff(values)
    wide = np.flatnonzero(gaps > 100 * tol + 1e-6 * np.abs(values[1:]))
    if len(wide):
        last = int(wide[-1])
        count = count_below(matrix, float(values[last] + gaps[last] / 2), tol)
        if count != last + 1:
            raise EigenError(f"Lanczos found {last + 1} of {count} eigenvalues below {values[last] + gaps[last] / 2:g}")


def _verify(matrix: Any, values: Float, vectors: Float, tol: float) -> None:
    residuals = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    limits = EXACT * np.abs(values) + 10 * tol + EPS * matrix.shape[0] * float(abs(matrix).max() if matrix.nnz else 0.0)
    bad = np.flatnonzero(~(residuals <= limits))
    if len(bad):
        raise EigenError(
            f"eigenvalue {values[bad[0]]:g} misses its equation by {residuals[bad[0]]:.2e} (allowed: {limits[bad[0]]:.2e})"
        )


def _signed(vectors: Float) -> Float:
    """Each vector with the first of its (nearly) largest components positive."""
    if not vectors.size:
        return vectors
    size = np.abs(vectors)
    first = np.argmax(size >= (1.0 - 1e-6) * size.max(axis=0), axis=0)
    return vectors * np.where(np.take_along_axis(vectors, first[None, :], axis=0) < 0.0, -1.0, 1.0)
