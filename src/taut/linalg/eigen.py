"""The smallest eigenvalues of a symmetric sparse matrix, and exact counts of them.

By Sylvester's law of inertia the number of eigenvalues below s is the number of negative pivots of
A - sI = LDLᵀ. That gives the counts of negative and of zero eigenvalues, it places the shift of the
Lanczos iteration below all eigenvalues, where A - sI is positive definite, and it tells whether
Lanczos missed one. Without pivoting LDLᵀ is safe where A - sI is positive definite and may fail
where it is not: each factor is tested on a system of equations before its pivots are counted. Small
matrices, and those whose factor fails, are solved densely. Every pair (λ, x) that is returned has
passed a test of |Ax - λx|.

A matrix is a scipy.sparse CSC array, or a SparsePlusLowRank A + Σ w g gᵀ, whose LDLᵀ has a border
(`low_rank.py`). That is not safe even where the whole is positive definite, so there too it is
tested on a system of equations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from taut.arrays import EPS, Float
from taut.errors import EigenError
from taut.linalg.low_rank import (
    Factor,
    SparsePlusLowRank,
    bound_negative_eigenvalues,
    has_vector_below,
    infinity_norm,
    max_abs_entry,
    subtract_identity,
)

FLOOR = 8.0  # units of rounding: the few operations between an entry and a residual
DENSE_UP_TO = 300  # rows: faster than Lanczos' method
DENSE_AT_MOST = 3000  # rows of a matrix that is solved densely because its factor failed
NEAR = 0.01  # of an eigenvalue: how far above it the Rayleigh quotient of `find_lowest` may be
MAX_LANCZOS_RUNS = 5  # each looks for eigenvalues that the runs before it missed
MAX_RESIDUAL = 1e-8  # |Ax - λx| of a pair, relative to |λ|, where rounding is below that


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The lower end of a spectrum.

    values : the smallest eigenvalues, ascending, (k,); vectors : their orthonormal eigenvectors,
        columns of (f, k)
    negative, zero : how many eigenvalues of all are below -tol, and how many within ±tol
    bounds : |Ax - λx| of each pair, (k,): an eigenvalue is within it of the value
    exact : whether the counts are exact, by pivots, or of what an iteration found
        (`lowest_eigenvalues.py`)
    """

    values: Float
    vectors: Float
    negative: int
    zero: int
    bounds: Float
    exact: bool = True


class _Unsafe(EigenError):
    """A factor without pivoting that does not represent its matrix."""


def all_eigenvalues_exceed(matrix: Any, shift: float) -> bool:
    """Whether all eigenvalues of a symmetric matrix lie above the shift.

    For a SparsePlusLowRank the shift may be moved by a seventieth, off an eigenvalue of a part.
    Raises EigenError if a large one has no LDLᵀ without pivoting, and no vector proves it wrong.

    >>> from scipy.sparse import diags_array
    >>> matrix = diags_array([3.0, 1.0, 2.0]).tocsc()
    >>> all_eigenvalues_exceed(matrix, 0.5), all_eigenvalues_exceed(matrix, 1.5)
    (True, False)
    """
    return not matrix.shape[0] or _definite(matrix, shift) is not None


def count_below(matrix: Any, shift: float, tol: float) -> int:
    """The number of eigenvalues of a symmetric matrix below the shift.

    The shift may be moved by tol/8, off an eigenvalue. Raises EigenError if LDLᵀ without pivoting
    fails.

    >>> from scipy.sparse import diags_array
    >>> count_below(diags_array([3.0, 1.0, 2.0]).tocsc(), 2.5, 1e-9)
    2
    """
    return _factor(matrix, shift, tol).below if matrix.shape[0] else 0


def find_lowest(matrix: Any, tol: float) -> tuple[float, Float]:
    """Estimate the lowest eigenvalue of a symmetric matrix that is not positive definite.

    Returns it with a unit vector x, shape (f,). The Rayleigh quotient xᵀAx is within a hundredth of
    the eigenvalue, or above -tol. By inverse iteration from a shift below the spectrum, raised by
    bisection: all sums have a fixed order.

    >>> from scipy.sparse import diags_array
    >>> value, vector = find_lowest(diags_array([3.0, 1.0, -2.0]).tocsc(), 1e-9)
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
        factor = (
            _factor(matrix, shift, abs(shift) / 8)
            if isinstance(matrix, SparsePlusLowRank)
            else Factor(subtract_identity(matrix, shift))
        )
    except RuntimeError:  # a zero pivot
        return None
    except _Unsafe:
        if has_vector_below(matrix, shift):
            return None
        if matrix.shape[0] > DENSE_AT_MOST:
            raise
        return _definite(matrix.tocsc(), shift)
    return factor if factor.above == matrix.shape[0] else None


def _factor(matrix: Any, shift: float, tol: float) -> Factor:
    """LDLᵀ of A - shift·I, tested; a pivot that is exactly zero is avoided by moving the shift."""
    for part in (0.0, 0.03, -0.05, 0.11):
        moved = subtract_identity(matrix, shift + part * tol)
        try:
            factor = Factor(moved)
        except RuntimeError:  # a zero pivot
            continue
        if _represents(factor, moved, tol):
            return factor
    raise _Unsafe(f"the matrix less {shift:g} has no LDLᵀ factorisation without pivoting")


def _represents(factor: Factor, matrix: Any, tol: float) -> bool:
    """Whether LDLᵀ differs from the matrix by less than tol, or rounding.

    Judged by the residual of a system of equations.
    """
    b = np.random.default_rng(1).standard_normal(matrix.shape[0])
    x, residual, size = factor.solve_and_measure(matrix, b)
    if not np.isfinite(x).all():
        return False
    return bool(
        residual <= max(tol, FLOOR * EPS * size) * np.abs(x).max() + FLOOR * EPS * np.abs(b).max()
    )


def find_smallest(matrix: Any, k: int, tol: float) -> Spectrum:
    """The k smallest (or all, if there are fewer) eigenpairs of a symmetric matrix (f, f).

    tol : what counts as zero, in the unit of the matrix; at least the rounding in its entries

    >>> from scipy.sparse import diags_array
    >>> found = find_smallest(diags_array([3.0, 0.0, -2.0, 0.0]).tocsc(), 2, 1e-9)
    >>> found.values, found.negative, found.zero
    (array([-2.,  0.]), 1, 2)
    """
    size = matrix.shape[0]
    k = min(k, size)
    if size <= max(DENSE_UP_TO, 2 * k):
        found = _dense(matrix, k, tol)
    elif not max_abs_entry(matrix) > 0.0:
        found = Spectrum(np.zeros(k), np.eye(size, k), 0, size, np.zeros(k))
    else:
        try:
            found = _sparse(matrix, k, tol)
        except _Unsafe:
            if size > DENSE_AT_MOST:
                raise
            found = _dense(matrix, k, tol)
    bounds = _verify(matrix, found.values, found.vectors, tol)
    return replace(found, vectors=fix_signs(found.vectors), bounds=bounds)


def _dense(matrix: Any, k: int, tol: float) -> Spectrum:
    values, vectors = (
        np.linalg.eigh(matrix.toarray()) if matrix.shape[0] else (np.empty(0), np.empty((0, 0)))
    )
    negative, zero = int((values < -tol).sum()), int((np.abs(values) <= tol).sum())
    return Spectrum(values[:k], vectors[:, :k], negative, zero, np.empty(0))


def _sparse(matrix: Any, k: int, tol: float) -> Spectrum:
    negative = count_below(matrix, -tol, tol)
    zero = count_below(matrix, tol, tol) - negative
    if zero < 0:
        raise _Unsafe(f"{-zero} eigenvalues fewer were counted below {tol:g} than below {-tol:g}")
    values, vectors = _lanczos(matrix, k, tol, negative, zero)
    missed = _missed(matrix, values, tol, negative, zero)
    if missed:
        raise EigenError(missed)
    return Spectrum(values, vectors, negative, zero, np.empty(0))


def _lanczos(matrix: Any, k: int, tol: float, negative: int, zero: int) -> tuple[Float, Float]:
    """Shift-invert Lanczos; the shift is below the spectrum by about the gaps between eigenvalues.

    From one start vector only rounding finds the second of two equal eigenvalues: further runs look
    for what was missed, orthogonal to what was found.
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
    # eigsh draws new start vectors where its space is exhausted: seed them
    seeded: dict[str, Any] = (
        {"rng": np.random.default_rng(2)} if "rng" in signature(eigsh).parameters else {}
    )
    vectors = np.empty((size, 0))
    for again in range(MAX_LANCZOS_RUNS):
        inverse = LinearOperator(
            (size, size), matvec=partial(factor.solve_orthogonal_to, vectors), dtype=np.float64
        )
        _, more = eigsh(
            inverse, k, sigma=shift, which="LM", v0=start, ncv=room, OPinv=inverse, **seeded
        )
        # Rayleigh-Ritz in the space found: vectors orthonormal to the last digit, and eigenvalues
        # without the rounding of the shift
        basis, _ = np.linalg.qr(np.hstack([vectors, more]))
        small = np.einsum("ik,il->kl", basis, matrix @ basis)
        values, turn = np.linalg.eigh((small + small.T) / 2)
        values, vectors = values[:k], basis @ turn[:, :k]
        if not _missed(matrix, values, tol, negative, zero):
            break
        start = np.random.default_rng(3 + again).standard_normal(size)
    return values, vectors


def _least(matrix: Any, factor: Factor, start: Float) -> float:
    """Estimate the smallest eigenvalue of a positive definite matrix from above.

    By a few steps of inverse iteration.
    """
    x = _unit(start)
    for _ in range(4):
        x = _unit(factor.solve(x))
    return float(np.einsum("i,i->", x, matrix @ x))


def _below(matrix: Any, tol: float) -> tuple[float, Factor]:
    """-4 tol·1000^j with the smallest j at which it is below all eigenvalues, and LDLᵀ there."""
    deepest = bound_negative_eigenvalues(matrix)
    bound = 4 * tol
    while bound <= deepest:
        factor = _definite(matrix, -bound)
        if factor is not None:
            return -bound, factor
        bound *= 1000.0
    return -1.01 * deepest, Factor(subtract_identity(matrix, -1.01 * deepest))


def _above(matrix: Any, tol: float, count: int) -> float:
    """4 tol·1000^j with the smallest j at which that many eigenvalues are below it."""
    highest = infinity_norm(matrix)
    bound = 4 * tol
    while bound <= highest:
        try:
            if count_below(matrix, bound, tol) >= count:
                return bound
        except _Unsafe:  # strongly indefinite: enough eigenvalues are below
            if matrix.shape[0] <= DENSE_AT_MOST and not isinstance(matrix, SparsePlusLowRank):
                raise  # the caller solves it densely
            return bound
        bound *= 1000.0
    return 1.01 * highest


def _missed(matrix: Any, values: Float, tol: float, negative: int, zero: int) -> str:
    """Compare the pairs found with the counts; returns a message if one is missing, else ""."""
    found = int((values < -tol).sum()), int((np.abs(values) <= tol).sum())
    for expected, got, below in ((negative, found[0], 0), (zero, found[1], negative)):
        if got != max(0, min(expected, len(values) - below)):
            return (
                f"Lanczos found {got} of {expected} eigenvalues "
                f"(negative and zero: {found}, of {negative} and {zero})"
            )
    gaps = np.diff(values)
    wide = np.flatnonzero(gaps > 100 * tol + 1e-6 * np.abs(values[1:]))
    if len(wide):
        last = int(wide[-1])
        # the middle may be an eigenvalue of A alone, where the border cancels digits; an error well
        # within the gap changes no count
        error = max(tol, float(gaps[last]) / 8) if isinstance(matrix, SparsePlusLowRank) else tol
        count = count_below(matrix, float(values[last] + gaps[last] / 2), error)
        if count != last + 1:
            middle = values[last] + gaps[last] / 2
            return f"Lanczos found {last + 1} of {count} eigenvalues below {middle:g}"
    return ""


def _verify(matrix: Any, values: Float, vectors: Float, tol: float) -> Float:
    """Raise if a pair is none; returns |Ax - λx| of all, (k,)."""
    residuals = np.asarray(np.linalg.norm(matrix @ vectors - vectors * values, axis=0))
    limits = (
        MAX_RESIDUAL * np.abs(values) + 10 * tol + EPS * matrix.shape[0] * max_abs_entry(matrix)
    )
    bad = np.flatnonzero(~(residuals <= limits))
    if len(bad):
        raise EigenError(
            f"|Ax - λx| of the eigenvalue {values[bad[0]]:g} must be at most "
            f"{limits[bad[0]]:.2e}, got {residuals[bad[0]]:.2e}"
        )
    return residuals


def fix_signs(vectors: Float) -> Float:
    """Make the first of the (nearly) largest components of each vector, a column, positive.

    >>> fix_signs(np.array([[1.0, 0.0], [-2.0, 3.0]])).tolist()
    [[-1.0, 0.0], [2.0, 3.0]]
    """
    if not vectors.size:
        return vectors
    size = np.abs(vectors)
    first = np.argmax(size >= (1.0 - 1e-6) * size.max(axis=0), axis=0)
    return vectors * np.where(np.take_along_axis(vectors, first[None, :], axis=0) < 0.0, -1.0, 1.0)
