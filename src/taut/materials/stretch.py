"""The linear stretch test: what a lattice of springs answers to a uniform stress on its boundary.

For small displacements u the springs have the energy ½ uᵀKu, K = DᵀkD with (Du)_e = n_e·(u_j - u_i). A uniform stress B_a loads the
points with F_a = B_a g, g = Σ b the pull of the boundary (`cells`). With K u_a = F_a, all points free,

    S_ab = F_a · u_b / V

is the compliance of the body: its mean strain for each stress. For a continuum the result is its own compliance, whatever its
shape. K is singular, for the body may move, but F is balanced: conjugate gradients find u all the same. They begin with the affine
displacement of a target, so that a lattice that has it is done at once.

Springs are not a continuum: if their boundary is held to the affine displacements of a strain instead, and the points inside find
their balance, the energy is that of a stiffer body. The two moduli are bounds of what other tests say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taut.materials.balance import balanced
from taut.materials.tensors import basis, dense, overlap

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Float = NDArray[np.float64]
Int = NDArray[np.int64]
PULLED = 1e-9  # of the largest pull: points with less are inside


class Stretch:
    """The test for one body: points x (n, d) [m], pull g (n, d), springs and the volume they fill [m^d]."""

    def __init__(self, x: Float, pairs: Int, direction: Float, pull: Float, volume: float) -> None:
        self.n, self.d = x.shape
        self.volume = volume
        self.elongation = elongations(pairs, direction, self.n)
        self.loads: Float = np.stack([dense(pull, b).ravel() for b in basis(self.d)], axis=1)
        centred = x - x.mean(axis=0)  # far coordinates cost no digits
        self._affine = np.stack([dense(centred, b).ravel() for b in basis(self.d)], axis=1)
        size = (pull**2).sum(axis=1)
        self.rim = np.repeat(size > PULLED**2 * size.max(), self.d)  # coordinates of the points that the stress pulls

    def affine(self, compliance: Float) -> Float:
        """The displacements x ↦ εx of a continuum under each stress, shape (n·d, s)."""
        return dense(self._affine, compliance)

    def relaxed(self, k: Float, start: Float, tolerance: float) -> Float:
        """The displacements of the springs under each stress, shape (n·d, s); the residual is `tolerance` of the load."""
        return balanced(self.stiffness(k), self.loads, start, tolerance, self.d)

    def held(self, k: Float, tolerance: float) -> Float:
        """C, shape (s, s), twice the energy for each volume where the boundary keeps to the affine displacements of a strain."""
        stiffness, u = self.stiffness(k), self._affine.copy()
        inside = np.flatnonzero(~self.rim)
        if len(inside):
            force = (stiffness @ u)[inside]
            u[inside] -= balanced(stiffness[inside][:, inside].tocsr(), force, np.zeros_like(force), tolerance, self.d)
        return symmetric(overlap(u, stiffness @ u) / self.volume)

    def stiffness(self, k: Float) -> csr_matrix:
        """K, shape (n·d, n·d)."""
        from scipy.sparse import diags

        return (self.elongation.T @ diags(k) @ self.elongation).tocsr()

    def compliance(self, u: Float) -> Float:
        """S, shape (s, s), from the displacements under each stress."""
        return symmetric(overlap(self.loads, u) / self.volume)


def elongations(pairs: Int, direction: Float, n: int) -> csr_matrix:
    """D, shape (m, n·d), of springs with unit vectors (m, d) between n points."""
    from scipy.sparse import csr_matrix

    m, d = direction.shape
    column = (pairs[:, :, None] * d + np.arange(d)).reshape(m, -1)
    value = np.concatenate([-direction, direction], axis=1)
    return csr_matrix((value.ravel(), (np.repeat(np.arange(m), 2 * d), column.ravel())), shape=(m, n * d))


def symmetric(matrix: Float) -> Float:
    """The symmetric part of matrices (…, s, s)."""
    return np.asarray((matrix + np.swapaxes(matrix, -1, -2)) / 2)
