"""The smallest eigenvalues of a symmetric sparse matrix, and exact counts of them.

By Sylvester's law of inertia the number of eigenvalues below s is the number of negative pivots of A - sI = LDLᵀ. That gives the
counts of negative and of zero eigenvalues, it places the shift of the Lanczos iteration below all eigenvalues, where A - sI is
positive definite, and it tells whether Lanczos missed one. Without pivoting LDLᵀ is safe where A - sI is positive definite and may
fail where it is not: each factor is held against a system of equations before its pivots are counted. Small matrices, and those
whose factor fails, are solved densely. Every pair (λ, x) that is returned was held against |Ax - λx|.

A matrix is a scipy.sparse CSC array, or a SpreadArray A + Σ w g gᵀ, whose LDLᵀ has a border (`bordered.py`). That is not safe even
where the whole is positive definite, so there too it is held against a system of equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import EigenError
from taut.solve.bordered import Factor, depth, largest, less, norm, witness
from taut.solve.tolerance import EPS, FLOOR
from taut.system.reduction import SpreadArray

Float = NDArray[np.float64]
DENSE_UP_TO = 300  # rows
DENSE_AT_MOST = 3000  # rows of a matrix that is solved densely because its factor failed
NEAR = 0.01  # of an eigenvalue: how far above it the Rayleigh quotient of `lowest` may be
AGAIN = 5  # times that Lanczos looks for eigenvalues that it missed
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
    """Whether all eigenvalues of a symmetric matrix lie above the shift.

    For a SpreadArray the shift may be moved by a seventieth, off an eigenvalue of a part. EigenError where a large one has no LDLᵀ
    without pivoting, and no vector shows that it is not so.

    >>> from scipy.sparse import diags_array
    >>> positive(diags_array([3.0, 1.0, 2.0]).tocsc(), 0.5), positive(diags_array([3.0, 1.0, 2.0]).tocsc(), 1.5)
    (True, False)
    """
    return not matrix.shape[0] or _definite(matrix, shift) is not None


def count_below(matrix: Any, shift: float, tol: float) -> int:
    """How many eigenvalues of a symmetric matrix lie below the shift (moved by up to tol/8 off an eigenvalue).

    EigenError where LDLᵀ without pivoting cannot tell.

    >>> from scipy.sparse import diags_array
    >>> count_below(diags_array([3.0, 1.0, 2.0]).tocsc(), 2.5, 1e-9)
    2
    """
    return _factor(matrix, shift, tol).below if matrix.shape[0] else 0


def lowest(matrix: Any, tol: float) -> tuple[float, Float]:
    """About the lowest eigenvalue of a symmetric matrix that is not positive definite, and a unit vector (f,).

    The Rayleigh quotient xᵀAx is within a hundredth of the eigenvalue, or above -tol. Inverse iteration from a shift below the
    spectrum, raised by bisection: all sums have a fixed order.

    >>> from scipy.sparse import diags_array
    >>> value, vector = lowest(diags_array([3.0, 1.0, -2.0]).tocsc(), 1e-9)
    >>> round(value, 1), bool(abs(vector[2]) > 0.99)
    (-2.0, True)
    """
    below, factor = _below(matrix, tol)
    x = _unit(np.random.default_rng(0).standard_normal(matrix.shape[0]))
    while True:
        x = _unit(factor.solve(x))
        value = float(np.einsum("i,i->", x, matrix @ x))
        if value - below <= NEAR * abs(value) or below >= -tol:
            return value, x
        middle = (below + value) / 2
        higher = _definite(matrix, middle)
        if higher is not None:
            below, factor = middle, higher


def _unit(x: Float) -> Float:
    return x / np.sqrt(np.einsum("i,i->", x, x))


def _definite(matrix: Any, shift: float) -> Factor | None:
    """LDLᵀ of A - shift·I if that is positive definite, else None."""
    try:
        factor = _factor(matrix, shift, abs(shift) / 8) if isinstance(matrix, SpreadArray) else Factor(less(matrix, shift))
    except RuntimeError:  # a zero pivot
        return None
    except _Unsafe:
        if witness(matrix, shift):
            return None
        if matrix.shape[0] > DENSE_AT_MOST:
            raise
        return _definite(matrix.tocsc(), shift)
    return factor if factor.above == matrix.shape[0] else None


def _factor(matrix: Any, shift: float, tol: float) -> Factor:
    """LDLᵀ of A - shift·I, verified. A pivot that is exactly zero is avoided by a shift a little different."""
    for part in (0.0, 0.03, -0.05, 0.11):
        moved = less(matrix, shift + part * tol)
        try:
            factor = Factor(moved)
        except RuntimeError:  # a zero pivot
            continue
        if _represents(factor, moved, tol):
            return factor
    raise _Unsafe(f"the matrix less {shift:g} has no LDLᵀ factorisation without pivoting")


def _represents(factor: Factor, matrix: Any, tol: float) -> bool:
    """Whether LDLᵀ is the matrix but for less than tol, or rounding: from the residual of a system of equations."""
    b = np.random.default_rng(1).standard_normal(matrix.shape[0])
    x, residual, size = factor.tried(matrix, b)
    if not np.isfinite(x).all():
        return False
    return bool(residual <= max(tol, FLOOR * EPS * size) * np.abs(x).max() + FLOOR * EPS * np.abs(b).max())


def smallest(matrix: Any, k: int, tol: float) -> Spectrum:
    """The k smallest (or all, if there are fewer) eigenpairs of a symmetric matrix (f, f).

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
    elif not largest(matrix) > 0.0:
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
    missed = _missed(matrix, values, tol, negative, zero)
    if missed:
        raise EigenError(missed)
    return Spectrum(values, vectors, negative, zero)


def _lanczos(matrix: Any, k: int, tol: float, negative: int, zero: int) -> tuple[Float, Float]:
    """Shift-invert Lanczos from a shift below the whole spectrum, about as far below as the wanted eigenvalues are apart.

    From one start vector only rounding finds the second of two equal eigenvalues: one that is missed is looked for anew, beside
    those found.
    """
    from inspect import signature

    from scipy.sparse.linalg import LinearOperator, eigsh

    size = matrix.shape[0]
    start = np.random.default_rng(0).standard_normal(size)
    low = _below(matrix, tol)[0] if negative else -tol
    if negative or zero:
        reach = _above(matrix, tol, min(k, negative + zero + 1)) - low
    else:
        reach = _least(matrix, _factor(matrix, low, tol), start)
    shift = low - reach / 4
    factor = _factor(matrix, shift, tol)
    room = min(size, max(3 * k + 10, 40))
    # the vectors it begins anew with, where its space is exhausted, are drawn too
    drawn: dict[str, Any] = {"rng": np.random.default_rng(2)} if "rng" in signature(eigsh).parameters else {}
    vectors = np.empty((size, 0))
    for again in range(AGAIN):
        inverse = LinearOperator((size, size), matvec=partial(factor.beside, vectors), dtype=np.float64)
        _, more = eigsh(inverse, k, sigma=shift, which="LM", v0=start, ncv=room, OPinv=inverse, **drawn)
        # once more within the space found: orthonormal to the last digit, and eigenvalues that do not carry the shift's rounding
        basis, _ = np.linalg.qr(np.hstack([vectors, more]))
        small = np.einsum("ik,il->kl", basis, matrix @ basis)
        values, turn = np.linalg.eigh((small + small.T) / 2)
        values, vectors = values[:k], basis @ turn[:, :k]
        if not _missed(matrix, values, tol, negative, zero):
            break
        start = np.random.default_rng(3 + again).standard_normal(size)
    return values, vectors


def _least(matrix: Any, factor: Factor, start: Float) -> float:
    """About the smallest eigenvalue of a positive definite matrix, from above: a few steps of inverse iteration."""
    x = _unit(start)
    for _ in range(4):
        x = _unit(factor.solve(x))
    return float(np.einsum("i,i->", x, matrix @ x))


def _below(matrix: Any, tol: float) -> tuple[float, Factor]:
    """-4 tol·1000^j with the smallest j at which it is below all eigenvalues, and LDLᵀ there."""
    deepest = depth(matrix)
    bound = 4 * tol
    while bound <= deepest:
        factor = _definite(matrix, -bound)
        if factor is not None:
            return -bound, factor
        bound *= 1000.0
    return -1.01 * deepest, Factor(less(matrix, -1.01 * deepest))


def _above(matrix: Any, tol: float, count: int) -> float:
    """4 tol·1000^j with the smallest j at which that many eigenvalues are below it."""
    highest = norm(matrix)
    bound = 4 * tol
    while bound <= highest:
        try:
            if count_below(matrix, bound, tol) >= count:
                return bound
        except _Unsafe:  # strongly indefinite: so many are
            if matrix.shape[0] <= DENSE_AT_MOST and not isinstance(matrix, SpreadArray):
                raise  # it is solved densely
            return bound
        bound *= 1000.0
    return 1.01 * highest


def _missed(matrix: Any, values: Float, tol: float, negative: int, zero: int) -> str:
    """The pairs found against the counts, none may be missing: what is missing, in words, or nothing."""
    found = int((values < -tol).sum()), int((np.abs(values) <= tol).sum())
    for expected, got, below in ((negative, found[0], 0), (zero, found[1], negative)):
        if got != max(0, min(expected, len(values) - below)):
            return f"Lanczos found {got} of {expected} eigenvalues (negative and zero: {found}, of {negative} and {zero})"
    gaps = np.diff(values)
    wide = np.flatnonzero(gaps > 100 * tol + 1e-6 * np.abs(values[1:]))
    if len(wide):
        last = int(wide[-1])
        # the middle may be an eigenvalue of A alone, where the border cancels digits; an error well within the gap changes no count
        error = max(tol, float(gaps[last]) / 8) if isinstance(matrix, SpreadArray) else tol
        count = count_below(matrix, float(values[last] + gaps[last] / 2), error)
        if count != last + 1:
            return f"Lanczos found {last + 1} of {count} eigenvalues below {values[last] + gaps[last] / 2:g}"
    return ""


def _verify(matrix: Any, values: Float, vectors: Float, tol: float) -> None:
    residuals = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    limits = EXACT * np.abs(values) + 10 * tol + EPS * matrix.shape[0] * largest(matrix)
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
