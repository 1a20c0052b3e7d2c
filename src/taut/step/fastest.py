"""The fastest motions of a system at a state: what limits an explicit step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from taut.errors import EigenError
from taut.system.blocks import BlockMatrix, dot
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
DENSE = 60  # unknowns up to which all eigenvalues are computed
ACCURACY = 1e-3  # relative, of an estimated frequency: a limit needs no more
SAFETY = 1.0 + 2 * ACCURACY
RESIDUAL = 3 * ACCURACY  # relative, of an eigenvector, at which its eigenvalue is within the accuracy: its error is of second order
LONGEST = 2000  # products with the matrix
LOOK_EVERY = 4  # products between two looks at what has been reached
ROUNDING = 1e-14  # relative, at which what is left of a vector is nothing


def fastest(system: System, state: State) -> tuple[float, float]:
    """The largest ω [rad/s] of M⁻¹K and the largest rate [1/s] of M⁻¹D, in the free directions; 0 where there are none."""
    omega_squared = _largest(system, system.stiffness(state, project=False))
    rate = 0.0
    if system.placed_damping:
        rate += _largest(system, system.damping_matrix(state))
    if system.rayleigh is not None:
        rate += _largest(system, system.rayleigh_matrix(state))
    return float(np.sqrt(max(omega_squared, 0.0))), max(rate, 0.0)


def _largest(system: System, matrix: BlockMatrix) -> float:
    """The largest eigenvalue of M^-½ S A S M^-½, from above to within the accuracy."""
    if not (matrix.data.any() or matrix.spread):
        return 0.0
    root = 1.0 / np.sqrt(system.mass)[:, None]
    size = 3 * system.n

    def times(x: Float) -> Float:
        y = root * system.hold.project(x)
        product: Float = root * system.hold.project(matrix.times(y))
        return product

    if size <= DENSE:
        columns = np.array([times(e.reshape(-1, 3)).reshape(-1) for e in np.eye(size)])
        return float(np.linalg.eigvalsh((columns + columns.T) / 2)[-1])
    start = np.cos(1.0 + np.arange(size)).reshape(-1, 3)
    if not times(start).any():  # nothing that is stiff can move
        return 0.0
    return SAFETY * _lanczos(times, start)


def _lanczos(times: Callable[[Float], Float], start: Float) -> float:
    """The largest eigenvalue of a symmetric matrix, given by its products with vectors (n, 3), by Lanczos' method.

    The vectors lose their orthogonality in time, which repeats eigenvalues but does not move the largest.
    """
    from scipy.linalg import eigh_tridiagonal

    before, now, last = np.zeros_like(start), start / np.sqrt(dot(start, start)), 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    for count in range(1, LONGEST + 1):
        product = times(now)
        diagonal.append(dot(now, product))
        product -= diagonal[-1] * now
        product -= last * before
        last = np.sqrt(dot(product, product))
        scale = max(map(abs, [*diagonal, *beside]))
        if count % LOOK_EVERY == 0 or last <= ROUNDING * scale:
            size = len(diagonal)
            values, vectors = eigh_tridiagonal(diagonal, beside, select="i", select_range=(size - 1, size - 1))
            close = RESIDUAL * max(abs(float(values[0])), ACCURACY * scale)  # nothing oscillates where the largest is next to none
            if last * abs(vectors[-1, 0]) <= close or last <= ROUNDING * scale:
                return float(values[0])
        beside.append(last)
        before, now = now, product / last
    raise EigenError(f"the fastest oscillation could not be found in {LONGEST} products with the stiffness")
