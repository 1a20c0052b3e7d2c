"""The fastest motions of a system at a state: what limits an explicit step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import NotConverged
from taut.system.blocks import BlockMatrix
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
DENSE = 60  # unknowns up to which all eigenvalues are computed
ACCURACY = 1e-3  # relative, of an estimated frequency: a limit needs no more
SAFETY = 1.0 + 2 * ACCURACY


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
        y = root * system.hold.project(x.reshape(-1, 3))
        return np.asarray(root * system.hold.project(matrix.times(y))).reshape(-1)

    if size <= DENSE:
        columns = np.array([times(e) for e in np.eye(size)])
        return float(np.linalg.eigvalsh((columns + columns.T) / 2)[-1])
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    operator: Any = LinearOperator((size, size), matvec=times, dtype=np.float64)
    start = np.cos(1.0 + np.arange(size))
    if not times(start).any():  # nothing that is stiff can move
        return 0.0
    try:
        return SAFETY * float(eigsh(operator, k=1, which="LA", tol=ACCURACY, v0=start, return_eigenvectors=False)[0])
    except ArpackError as error:
        raise NotConverged(f"the fastest oscillation could not be found: {error}") from error
