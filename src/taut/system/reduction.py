"""The free coordinates of a system: q = P y + b(t), with P (3n, f) orthonormal.

Each particle's projector S onto the directions in which it may move has an orthonormal basis of 3, 2, 1 or 0 vectors; P holds
them all, one column each. PᵀKP is the stiffness in the free coordinates. Since a particle's mass is one number, PᵀMP is diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.system.blocks import BlockMatrix
from taut.system.constraints import Constraints

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reduction:
    """The basis of the free directions.

    basis : P, a scipy.sparse CSC array (3n, f)
    particles : whose direction each column is, (f,)

    >>> import taut
    >>> system = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], constraints=[taut.on_line([1], (0, 3, 0))])
    >>> free = Reduction.of(system.hold)
    >>> free.size, free.expand(np.array([2.0])).tolist()
    (1, [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    """

    basis: Any
    particles: NDArray[np.int64]

    @staticmethod
    def of(hold: Constraints) -> Reduction:
        """The basis of what the constraints leave free: the axes where these will do, else eigenvectors of the projectors."""
        from scipy.sparse import csc_array

        n = len(hold.free)
        vectors = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()  # the columns of each particle
        kept = np.einsum("nii->ni", hold.free) > 0.5
        if len(hold.oblique):
            values, columns = np.linalg.eigh(hold.free[hold.oblique])
            largest = np.abs(columns).argmax(axis=1)[:, None, :]
            vectors[hold.oblique] = columns * np.sign(np.take_along_axis(columns, largest, axis=1))
            kept[hold.oblique] = values > 0.5
        particles, which = np.nonzero(kept)
        entries = vectors[particles, :, which]  # (f, 3)
        rows = 3 * particles[:, None] + np.arange(3)
        used = entries != 0.0
        indptr = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        basis = csc_array((entries[used], rows[used], indptr), shape=(3 * n, len(particles)))
        return Reduction(basis, particles.astype(np.int64))

    @property
    def size(self) -> int:
        """The number of free coordinates, f."""
        return len(self.particles)

    def matrix(self, matrix: BlockMatrix) -> Any:
        """PᵀAP of a symmetric A, a scipy.sparse CSC array (f, f)."""
        return (self.basis.T @ matrix.to_scipy().tocsc() @ self.basis).tocsc()

    def expand(self, coordinates: Float) -> Float:
        """P·coordinates: (f,) → (n, 3)."""
        expanded: Float = (self.basis @ coordinates).reshape(-1, 3)
        return expanded
