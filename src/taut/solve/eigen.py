"""The smallest eigenvalues of a symmetric sparse matrix, and exact counts of them.

By Sylvester's law of inertia the number of eigenvalues below s is the number of negative pivots of A - sI = LDLᵀ. That gives the
counts of negative and of zero eigenvalues, it places the shift of the Lanczos iteration below all eigenvalues, where A - sI is
positive definite, and it tells whether Lanczos missed one. Without pivoting LDLᵀ is safe where A - sI is positive definite and may
fail where it is not: each factor is held against a system of equations before its pivots are counted. Small matrices, and those
whose factor fails, are solved densely. Every pair (λ, x) that is returned was held against |Ax - λx|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import EigenError
from taut.solve.tolerance import EPS, FLOOR

Float = NDArray[np.float64]
DENSE_UP_TO = 300  # rows
DENSE_AT_MOST = 3000  # rows of a matrix that is solved densely because its factor failed
NEAR = 0.01  # of an eigenvalue: how far above it the Rayleigh quotient of `lowest` may be
EXACT = 1e-8  # largest |Ax - λx| of a pair, relative to |λ|, where rounding is below that


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


class _Unsafe(EigenError):
    """A factor without pivoting that does not represent its matrix."""


def positive(matrix: Any, shift: float) -> bool:
    """Whether all eigenvalues of a symmetric scipy.sparse CSC array lie above the shift.

    >>> from scipy.sparse import diags_array
    >>> positive(diags_array([3.0, 1.0, 2.0]).tocsc(), 0.5), positive(diags_array([3.0, 1.0, 2.0]).tocsc(), 1.5)
    (True, False)
    """
    if not matrix.shape[0]:
        return True
    try:
        return bool((_ldl(_shifted(matrix, shift)).factors()[1] > 0.0).all())
    except RuntimeError:  # a zero pivot
        return False


def count_below(matrix: Any, shift: float, tol: float) -> int:
    """How many eigenvalues of a symmetric scipy.sparse CSC array lie below the shift (moved by up to tol/8 off an eigenvalue).

    EigenError where LDLᵀ without pivoting cannot tell.

    >>> from scipy.sparse import diags_array
    >>> count_below(diags_array([3.0, 1.0, 2.0]).tocsc(), 2.5, 1e-9)
    2
    """
    return int((_factor(matrix, shift, tol).factors()[1] < 0.0).sum()) if matrix.shape[0] else 0


def lowest(matrix: Any, tol: float) -> tuple[float, Float]:
    """About the lowest eigenvalue of a symmetric scipy.sparse CSC array that is not positive definite, and a unit vector (f,).

    The Rayleigh quotient xᵀAx is within a hundredth of the eigenvalue, or above -tol. Inverse iteration from a shift below the
    spectrum, raised by bisection: all sums have a fixed order.

    >>> from scipy.sparse import diags_array
    >>> value, vector = lowest(diags_array([3.0, 1.0, -2.0]).tocsc(), 1e-9)
    >>> round(value, 1), bool(abs(vector[2]) > 0.99)
    (-2.0, True)
    """
    below = _below(matrix, tol)
    factor = _ldl(_shifted(matrix, below))
    x = _unit(np.random.default_rng(0).standard_normal(matrix.shape[0]))
    while True:
        x = _unit(factor.solve(x))
        value = float(np.einsum("i,i->", x, matrix @ x))
        if value - below <= NEAR * abs(value) or below >= -tol:
            return value, x
        middle = (below + value) / 2
        if positive(matrix, middle):
            below, factor = middle, _ldl(_shifted(matrix, middle))


def _unit(x: Float) -> Float:
    return x / np.sqrt(np.einsum("i,i->", x, x))


def _shifted(matrix: Any, shift: float) -> Any:
    from scipy.sparse import eye_array

    return matrix - shift * eye_array(matrix.shape[0], format="csc")


def _ldl(matrix: Any) -> Any:
    import qdldl
    from scipy.sparse import csc_matrix, triu

    return qdldl.Solver(csc_matrix(triu(matrix, format="csc")), upper=True)


def _factor(matrix: Any, shift: float, tol: float) -> Any:
    """LDLᵀ of A - shift·I, verified. A pivot that is exactly zero is avoided by a shift a little different."""
    for part in (0.0, 0.03, -0.05, 0.11):
        moved = _shifted(matrix, shift + part * tol)
        try:
            factor = _ldl(moved)
        except RuntimeError:  # a zero pivot
            continue
        if _represents(factor, moved, tol):
            return factor
    raise _Unsafe(f"the matrix less {shift:g} has no LDLᵀ factorisation without pivoting")


def _represents(factor: Any, matrix: Any, tol: float) -> bool:
    """Whether LDLᵀ is the matrix but for less than tol, or rounding: from the residual of a system of equations."""
    b = np.random.default_rng(1).standard_normal(matrix.shape[0])
    x = factor.solve(b)
    if not np.isfinite(x).all():
        return False
    rounding = FLOOR * EPS * float(abs(matrix).sum(axis=0).max())
    return bool(np.abs(b - matrix @ x).max() <= max(tol, rounding) * np.abs(x).max() + FLOOR * EPS * np.abs(b).max())


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
        found = _dense(matrix, k, tol)
    elif not abs(matrix).max() > 0.0:
        found = Spectrum(np.zeros(k), np.eye(size, k), 0, size)
    else:
        try:
            found = _sparse(matrix, k, tol)
        except _Unsafe:
            if size > DENSE_AT_MOST:
                raise
            found = _dense(matrix, k, tol)
    _verify(matrix, found.values, found.vectors, tol)
    return Spectrum(found.values, _signed(found.vectors), found.negative, found.zero)


def _dense(matrix: Any, k: int, tol: float) -> Spectrum:
    values, vectors = np.linalg.eigh(matrix.toarray()) if matrix.shape[0] else (np.empty(0), np.empty((0, 0)))
    return Spectrum(values[:k], vectors[:, :k], int((values < -tol).sum()), int((np.abs(values) <= tol).sum()))


def _sparse(matrix: Any, k: int, tol: float) -> Spectrum:
    negative = count_below(matrix, -tol, tol)
    zero = count_below(matrix, tol, tol) - negative
    if zero < 0:
        raise _Unsafe(f"{-zero} eigenvalues fewer were counted below {tol:g} than below {-tol:g}")
    values, vectors = _lanczos(matrix, k, tol, negative, zero)
    _compare(matrix, values, tol, negative, zero)
    return Spectrum(values, vectors, negative, zero)


def _lanczos(matrix: Any, k: int, tol: float, negative: int, zero: int) -> tuple[Float, Float]:
    """Shift-invert Lanczos from a shift below the whole spectrum, about as far below as the wanted eigenvalues are apart."""
    from inspect import signature

    from scipy.sparse.linalg import LinearOperator, eigsh

    size = matrix.shape[0]
    start = np.random.default_rng(0).standard_normal(size)
    low = _below(matrix, tol) if negative else -tol
    if negative or zero:
        reach = _above(matrix, tol, min(k, negative + zero + 1)) - low
    else:
        reach = _least(matrix, _ldl(_shifted(matrix, low)), start)
    shift = low - reach / 4
    factor = _factor(matrix, shift, tol)
    inverse = LinearOperator((size, size), matvec=lambda b: factor.solve(np.ravel(b)), dtype=np.float64)
    room = min(size, max(3 * k + 10, 40))
    # the vectors it begins anew with, where its space is exhausted, are drawn too
    drawn: dict[str, Any] = {"rng": np.random.default_rng(2)} if "rng" in signature(eigsh).parameters else {}
    _, vectors = eigsh(matrix, k, sigma=shift, which="LM", v0=start, ncv=room, OPinv=inverse, **drawn)
    # once more within the space found: orthonormal to the last digit, and eigenvalues that do not carry the shift's rounding
    basis, _ = np.linalg.qr(vectors)
    small = np.einsum("ik,il->kl", basis, matrix @ basis)
    values, turn = np.linalg.eigh((small + small.T) / 2)
    return values, basis @ turn


def _least(matrix: Any, factor: Any, start: Float) -> float:
    """About the smallest eigenvalue of a positive definite matrix, from above: a few steps of inverse iteration."""
    x = _unit(start)
    for _ in range(4):
        x = _unit(factor.solve(x))
    return float(np.einsum("i,i->", x, matrix @ x))


def _below(matrix: Any, tol: float) -> float:
    """-4 tol·1000^j with the smallest j at which it is below all eigenvalues."""
    norm = float(abs(matrix).sum(axis=0).max())
    bound = 4 * tol
    while bound <= norm:
        if positive(matrix, -bound):
            return -bound
        bound *= 1000.0
    return -1.01 * norm  # Gershgorin


def _above(matrix: Any, tol: float, count: int) -> float:
    """4 tol·1000^j with the smallest j at which that many eigenvalues are below it."""
    norm = float(abs(matrix).sum(axis=0).max())
    bound = 4 * tol
    while bound <= norm:
        if count_below(matrix, bound, tol) >= count:
            return bound
        bound *= 1000.0
    return 1.01 * norm  # Gershgorin


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
