"""The free coordinates of a system: q = P y + b(t), with P (3n, f) orthonormal.

Each particle's projector S onto the directions in which it may move has an orthonormal basis of 3,
2, 1 or 0 vectors; P holds them all, one column each. PᵀKP is the stiffness in the free coordinates.
Since a particle's mass is one number, PᵀMP is diagonal. The low-rank part of K, Σ w g gᵀ, stays
separate, with Pᵀg for g: as a matrix it would be dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.linalg.blocks import BlockMatrix
from taut.linalg.low_rank import SparsePlusLowRank
from taut.system.projector import ConstraintProjector


@dataclass(frozen=True, eq=False)
class Reduction:
    """The basis of the free directions.

    basis : P, a scipy.sparse CSC array (3n, f)
    particles : whose direction each column is, (f,)

    >>> import taut
    >>> rail = taut.constraints.on_line([1], (0, 3, 0))
    >>> system = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], constraints=[rail])
    >>> free = Reduction.of(system._projector)
    >>> free.size, free.expand(np.array([2.0])).tolist()
    (1, [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    """

    basis: Any
    particles: Int

    @staticmethod
    def of(projector: ConstraintProjector) -> Reduction:
        """Return the basis: axes where possible, else eigenvectors of the projectors."""
        from scipy.sparse import csc_array

        n = len(projector.is_fixed)
        vectors = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()  # the columns of each particle
        kept = np.einsum("nii->ni", projector.free_directions) > 0.5
        if len(projector.oblique_particles):
            values, columns = np.linalg.eigh(
                projector.find_free_directions(projector.oblique_particles)
            )
            largest = np.abs(columns).argmax(axis=1)[:, None, :]
            vectors[projector.oblique_particles] = columns * np.sign(
                np.take_along_axis(columns, largest, axis=1)
            )
            kept[projector.oblique_particles] = values > 0.5
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

    def matrix(self, matrix: BlockMatrix, scale: Float | None = None) -> Any:
        """Return PᵀAP of a symmetric A, (f, f): a scipy.sparse CSC array.

        It is a SparsePlusLowRank where A has a low-rank part.

        scale : of each free coordinate, (f,), for diag(scale) PᵀAP diag(scale)
        """
        from scipy.sparse import diags_array

        sparse = (
            self.basis.T @ BlockMatrix(matrix.pattern, matrix.data).to_scipy().tocsc() @ self.basis
        ).tocsc()
        if scale is not None:
            half = diags_array(scale)
            sparse = (half @ sparse @ half).tocsc()
        columns = [
            self.basis.T @ rank.vector.reshape(-1) * (1.0 if scale is None else scale)
            for rank in matrix.low_rank
        ]
        kept = [
            (rank.weight, g)
            for rank, g in zip(matrix.low_rank, columns, strict=True)
            if rank.weight != 0.0 and g.any()
        ]
        if not kept:
            return sparse
        return SparsePlusLowRank(
            sparse, np.array([w for w, _ in kept]), np.column_stack([g for _, g in kept])
        )

    def expand(self, coordinates: Float) -> Float:
        """P·coordinates: (f,) → (n, 3)."""
        expanded: Float = (self.basis @ coordinates).reshape(-1, 3)
        return expanded
