"""The highest frequency and damping rate of a system at a state: what limits an explicit step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from taut.arrays import Float
from taut.errors import EigenError
from taut.linalg.blocks import BlockMatrix, dot
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import Workspace

_MAX_DENSE = 60  # unknowns up to which all eigenvalues are computed
_ACCURACY = 1e-3  # relative, of an estimated eigenvalue: a limit needs no more
_SAFETY = 1.0 + 2 * _ACCURACY
# Relative residual of an eigenvector at which its eigenvalue is within the accuracy, its error
# being of second order.
_RESIDUAL = 3 * _ACCURACY
_MAX_PRODUCTS = 2000
_PRODUCTS_PER_CHECK = 4
_ROUNDING = 1e-14  # relative, at which the rest of a vector counts as zero


def highest_frequency(workspace: Workspace, state: State) -> tuple[float, float]:
    """Return the largest ω [rad/s] of M⁻¹K and the largest rate [1/s] of M⁻¹D, or 0.

    Only the directions that constraints leave free count.
    """
    system = workspace.system
    omega_squared = _largest_eigenvalue(system, workspace.stiffness(state, project=False))
    rate = 0.0
    if system._placed_damping:
        rate += _largest_eigenvalue(system, workspace.damping_matrix(state))
    if system._rayleigh is not None:
        rate += _largest_eigenvalue(system, workspace.rayleigh_matrix(state))
    return float(np.sqrt(max(omega_squared, 0.0))), max(rate, 0.0)


def _largest_eigenvalue(system: System, matrix: BlockMatrix) -> float:
    """Return the largest eigenvalue of M^-½ S A S M^-½, from above to within the accuracy."""
    if not (matrix.data.any() or matrix.low_rank):
        return 0.0
    root = 1.0 / np.sqrt(system.mass)[:, None]
    size = 3 * system.n

    def multiply(x: Float) -> Float:
        y = root * system._projector.project(x)
        product: Float = root * system._projector.project(matrix.multiply(y))
        return product

    if size <= _MAX_DENSE:
        columns = np.array([multiply(e.reshape(-1, 3)).reshape(-1) for e in np.eye(size)])
        return float(np.linalg.eigvalsh((columns + columns.T) / 2)[-1])
    start = np.cos(1.0 + np.arange(size)).reshape(-1, 3)
    if not multiply(start).any():  # no stiff direction is free
        return 0.0
    return _SAFETY * _lanczos(multiply, start)


def _lanczos(multiply: Callable[[Float], Float], start: Float) -> float:
    """Return the largest eigenvalue of a symmetric matrix by Lanczos' method.

    multiply : the product of the matrix with vectors (n, 3)

    The vectors lose their orthogonality in time, which repeats eigenvalues but does not move the
    largest: no reorthogonalisation is needed.
    """
    from scipy.linalg import eigh_tridiagonal

    before, now, last = np.zeros_like(start), start / np.sqrt(dot(start, start)), 0.0
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    for count in range(1, _MAX_PRODUCTS + 1):
        product = multiply(now)
        diagonal.append(dot(now, product))
        product -= diagonal[-1] * now
        product -= last * before
        last = np.sqrt(dot(product, product))
        scale = max(map(abs, [*diagonal, *off_diagonal]))
        if count % _PRODUCTS_PER_CHECK == 0 or last <= _ROUNDING * scale:
            size = len(diagonal)
            values, vectors = eigh_tridiagonal(
                diagonal, off_diagonal, select="i", select_range=(size - 1, size - 1)
            )
            # Relative to the scale where the largest eigenvalue nearly vanishes.
            close = _RESIDUAL * max(abs(float(values[0])), _ACCURACY * scale)
            if last * abs(vectors[-1, 0]) <= close or last <= _ROUNDING * scale:
                return float(values[0])
        off_diagonal.append(last)
        before, now = now, product / last
    raise EigenError(
        f"the fastest oscillation could not be found in {_MAX_PRODUCTS} products with the stiffness"
    )
