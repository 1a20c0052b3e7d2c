"""A verified lower bound of the smallest eigenvalue of a symmetric matrix.

For a shift c, factors L D Lᵀ ≈ A - c I are computed in floating point. With D > 0 their exact
product is positive definite, so that

    λ_min(A) ≥ c - ‖A - c I - L D Lᵀ‖,

and the norm is at most the largest sum over a row, computed with a bound on its rounding. The test
of Rump (Verification of positive definiteness, BIT 2006) bounds that norm before the factorisation,
from how a textbook would compute the factors; to multiply them out takes as long again, and relies
on nothing about the program that computed them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, csr_array, diags_array, eye_array, triu

from taut.arrays import Float, Int

_UNIT = 2.0**-53
_SLACK = 1.0 + 1e-9  # of sums of positive numbers that are themselves rounded
_INVERSE_ITERATIONS = 12  # for a shift; the bound does not depend on how good it is
_SHIFTS = (0.95, 0.8, 0.5, 0.2, 0.05)  # of the estimated eigenvalue, tried in turn


def bound_smallest_eigenvalue(matrix: csr_array) -> float:
    """Return a number that is certainly at most λ_min of a symmetric matrix; -inf if none is found.

    A result that is not positive says nothing: the matrix may be positive definite all the same.

    >>> bound = bound_smallest_eigenvalue(csr_array(np.diag([2.0, 3.0])))
    >>> 1.8 < bound <= 2.0
    True
    """
    factors = _factor(matrix)
    if factors is None:
        return -np.inf
    estimate = _estimate(matrix, factors[3])
    if not np.isfinite(estimate):
        return -np.inf
    for part in _SHIFTS:
        shift = part * estimate
        bound = shift - _bound_remainder(matrix, shift)
        if bound > 0.0:
            return float(np.nextafter(bound, -np.inf))
    return -np.inf


def make_solve(matrix: csr_array) -> Callable[[Float], Float] | None:
    """Return b ↦ A⁻¹b in floating point; None unless all pivots are positive."""
    factors = _factor(matrix)
    if factors is None:
        return None
    solver = factors[3]
    return lambda b: np.asarray(solver.solve(b))


def _factor(matrix: csr_array) -> tuple[csr_array, Float, Int, Any] | None:
    """Return L without its unit diagonal, D and the order; None unless D is positive."""
    import qdldl

    try:
        solver = qdldl.Solver(csc_matrix(triu(matrix, format="csc")), upper=True)
    except RuntimeError:  # a zero pivot
        return None
    lower, pivots, order = solver.factors()
    if not (np.isfinite(pivots).all() and (pivots > 0.0).all()):
        return None
    return csr_array(lower), np.asarray(pivots), np.asarray(order, dtype=np.int64), solver


def _estimate(matrix: csr_array, solver: Any) -> float:
    """Return Rayleigh's quotient after a few inverse iterations."""
    size = matrix.shape[0]
    x = np.cos(np.arange(size, dtype=np.float64))  # no eigenvector of a regular grid
    quotient = np.inf
    with np.errstate(all="ignore"):
        for _ in range(_INVERSE_ITERATIONS):
            x = solver.solve(x)
            x /= np.linalg.norm(x)
            quotient = float(x @ (matrix @ x))
    return quotient


def _bound_remainder(matrix: csr_array, shift: float) -> float:
    """Return a bound of ‖A - c I - L D Lᵀ‖ for factors of A - c I; infinite if there are none."""
    size = matrix.shape[0]
    identity = eye_array(size, format="csr")
    shifted = csr_array(matrix - shift * identity)
    factors = _factor(shifted)
    if factors is None:
        return np.inf
    lower, pivots, order, _ = factors
    lower = csr_array(lower + identity)
    product = csr_array((lower @ diags_array(pivots)) @ lower.T)
    remainder = csr_array(shifted[order][:, order] - product)
    ones = np.ones(size)
    # Every entry of the product is a sum of at most k products of three numbers; with u = 2⁻⁵³ its
    # error is at most (k + 2) u/(1 - (k + 2) u) times the sum of their magnitudes.
    k = int(np.diff(lower.indptr).max()) + 4
    gross = abs(lower) @ (pivots * (abs(lower).T @ ones))
    sums = abs(remainder) @ ones * (1.0 + 2.0 * _UNIT) + 2.0 * k * _UNIT * gross
    # The shift was subtracted from the diagonal with one rounding each.
    return float((sums + _UNIT * np.abs(shifted.diagonal())[order]).max()) * _SLACK
