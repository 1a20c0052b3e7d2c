"""The linear stretch test: what a lattice of springs answers to a uniform stress on its boundary.

For small displacements u the springs have the energy ½ uᵀKu, K = DᵀkD with (Du)_e = n_e·(u_j - u_i). A uniform stress B_a loads the
points with F_a = B_a g, g = Σ b the pull of the boundary (`cells`). With K u_a = F_a, all points free,

    S_ab = F_a · u_b / V

is the compliance of the body: its mean strain for each stress. For a continuum the result is its own compliance, whatever its
shape. K is singular, for the body may move, but F is balanced: conjugate gradients find u all the same. They begin with the affine
displacement of a target, so that a lattice that has it is done at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from taut.errors import ModelError
from taut.materials.tensors import basis

Float = NDArray[np.float64]
Int = NDArray[np.int64]
HOLD = 1e4  # of the largest stiffness: what holds the points of a rim
MOST = 20_000  # conjugate gradients: a body that holds together needs far fewer


class Stretch:
    """The test for one body: points x (n, d) [m], pull g (n, d), springs and the volume they fill [m^d]."""

    def __init__(self, x: Float, pairs: Int, direction: Float, pull: Float, volume: float) -> None:
        (self.n, self.d), m = x.shape, len(pairs)
        self.volume = volume
        column = (pairs[:, :, None] * self.d + np.arange(self.d)).reshape(m, -1)
        value = np.concatenate([-direction, direction], axis=1)
        row = np.repeat(np.arange(m), 2 * self.d)
        self.elongation = csr_matrix((value.ravel(), (row, column.ravel())), shape=(m, self.n * self.d))
        self.loads: Float = np.stack([(pull @ b).ravel() for b in basis(self.d)], axis=1)
        centred = x - x.mean(axis=0)  # far coordinates cost no digits
        self._affine = np.stack([(centred @ b).ravel() for b in basis(self.d)], axis=1)

    def affine(self, compliance: Float) -> Float:
        """The displacements x ↦ εx of a continuum under each stress, shape (n·d, s)."""
        return self._affine @ compliance

    def relaxed(self, k: Float, start: Float, tolerance: float) -> Float:
        """The displacements of the springs under each stress, shape (n·d, s); the residual is `tolerance` of the load."""
        stiffness = (self.elongation.T @ diags(k) @ self.elongation).tocsr()
        return _conjugate_gradients(stiffness, self.loads, start, tolerance)

    def held(self, k: Float, rim: NDArray[np.bool_], affine: Float, tolerance: float) -> Float:
        """Twice the energy for each volume, shape (s, s), where the coordinates of the rim (n·d,) keep to affine displacements."""
        stiffness = (self.elongation.T @ diags(k) @ self.elongation).tocsr()
        hold = np.where(rim, HOLD * stiffness.diagonal().max(), 0.0)
        u = _conjugate_gradients((stiffness + diags(hold)).tocsr(), hold[:, None] * affine, affine, tolerance)
        energy = u.T @ (stiffness @ u) / self.volume
        return (energy + energy.T) / 2

    def compliance(self, u: Float) -> Float:
        """S, shape (s, s), from the displacements under each stress."""
        s = self.loads.T @ u / self.volume
        return (s + s.T) / 2


def _conjugate_gradients(a: csr_matrix, f: Float, x: Float, tolerance: float) -> Float:
    """Several right-hand sides at a time, scaled by the diagonal. Sums run in a fixed order: the same bits each time."""
    diagonal = a.diagonal()
    scale = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1.0), 0.0)[:, None]
    r = f - a @ x
    p = z = scale * r
    rz = (r * z).sum(axis=0)
    enough = tolerance**2 * (f * scale * f).sum(axis=0)
    for _ in range(min(20 * len(f) + 100, MOST)):
        if (rz <= enough).all():
            return x
        ap = a @ p
        step = _ratio(rz, (p * ap).sum(axis=0))
        x = x + step * p
        r = r - step * ap
        z = scale * r
        before, rz = rz, (r * z).sum(axis=0)
        p = z + _ratio(rz, before) * p
    raise ModelError("the stretch test found no balance: the springs do not hold the body together")


def _ratio(a: Float, b: Float) -> Float:
    """a/b, and 0 for a column that is done."""
    return np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0)
