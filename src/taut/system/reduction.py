"""The free coordinates of a system: q = P y + b(t), with P (3n, f) orthonormal.

Each particle's projector S onto the directions in which it may move has an orthonormal basis of 3, 2, 1 or 0 vectors; P holds
them all, one column each. PᵀKP is the stiffness in the free coordinates. Since a particle's mass is one number, PᵀMP is diagonal.
What of K is spread over all particles, Σ w g gᵀ, stays apart, with Pᵀg for g: written out it would fill the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.system.blocks import BlockMatrix
from taut.system.hold import Constraints

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SpreadArray:
    """A symmetric matrix A + Σ w g gᵀ that is not written out.

    sparse : A, a scipy.sparse CSC array (f, f); weights : w, none of them zero, (r,); vectors : the g, columns of (f, r)

    >>> from scipy.sparse import eye_array
    >>> matrix = SpreadArray(eye_array(2, format="csc"), np.array([3.0]), np.array([[1.0], [2.0]]))
    >>> matrix @ np.array([1.0, 0.0]), matrix.toarray().tolist()
    (array([4., 6.]), [[4.0, 6.0], [6.0, 13.0]])
    """

    sparse: Any
    weights: Float
    vectors: Float

    @property
    def shape(self) -> tuple[int, int]:
        """(f, f)."""
        size = len(self.vectors)
        return size, size

    def __matmul__(self, x: Float) -> Float:
        """The product with x of shape (f,) or (f, k); sums have a fixed order."""
        product: Float = self.sparse @ x
        for weight, g in zip(self.weights, self.vectors.T, strict=True):
            product = product + weight * np.multiply.outer(g, np.einsum("i,i...->...", g, x))
        return product

    def toarray(self) -> Float:
        """Written out, (f, f)."""
        full: Float = self.sparse.toarray()
        for weight, g in zip(self.weights, self.vectors.T, strict=True):
            full += weight * np.multiply.outer(g, g)
        return full

    def tocsc(self) -> Any:
        """Written out, a scipy.sparse CSC array (f, f)."""
        from scipy.sparse import csc_array

        return csc_array(self.toarray())


@dataclass(frozen=True, eq=False)
class Reduction:
    """The basis of the free directions.

    basis : P, a scipy.sparse CSC array (3n, f)
    particles : whose direction each column is, (f,)

    >>> import taut
    >>> system = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], constraints=[taut.constraints.on_line([1], (0, 3, 0))])
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

    def matrix(self, matrix: BlockMatrix, scale: Float | None = None) -> Any:
        """PᵀAP of a symmetric A: a scipy.sparse CSC array (f, f), or a SpreadArray where A has a part spread over all particles.

        scale : of each free coordinate, (f,), for diag(scale) PᵀAP diag(scale)
        """
        from scipy.sparse import diags_array

        sparse = (self.basis.T @ BlockMatrix(matrix.pattern, matrix.data).to_scipy().tocsc() @ self.basis).tocsc()
        if scale is not None:
            half = diags_array(scale)
            sparse = (half @ sparse @ half).tocsc()
        columns = [self.basis.T @ rank.vector.reshape(-1) * (1.0 if scale is None else scale) for rank in matrix.spread]
        kept = [(rank.weight, g) for rank, g in zip(matrix.spread, columns, strict=True) if rank.weight != 0.0 and g.any()]
        if not kept:
            return sparse
        return SpreadArray(sparse, np.array([w for w, _ in kept]), np.column_stack([g for _, g in kept]))

    def expand(self, coordinates: Float) -> Float:
        """P·coordinates: (f,) → (n, 3)."""
        expanded: Float = (self.basis @ coordinates).reshape(-1, 3)
        return expanded
