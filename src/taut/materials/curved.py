"""The moduli of a curved sheet: the mean over its patches (`patches`).

The rim of a patch is moved as a strain would move it, for the three strains B_a of a basis, and the points inside find their
balance. In the core the mean strain is E_p and the mean stress Σ_p, the sum of k e l n⊗n over the springs in it (e their
elongation) for each area; S_p = E_p Σ_p⁻¹ is the compliance. Without a warp there is no direction that patches have in common. What
their S_p have in common are the two numbers S_iijj and S_ijij, which make an isotropic mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.materials.balance import TIGHT, balanced
from taut.materials.cells import Cells
from taut.materials.lattice import Lattice
from taut.materials.patches import Patches
from taut.materials.stretch import elongations, symmetric
from taut.materials.tensors import basis, dense, inverse, squares

Float = NDArray[np.float64]
THIN = 1e-3  # of the largest eigenvalue of the stress: with a lesser one a patch has too few faces to be measured


class Local(NamedTuple):
    """What patches have."""

    compliance: Float  # (p, 3, 3), in the axes of each
    weight: Float  # (p,), its part of the whole; sums to 1


def patch_compliances(patches: Patches, cells: Cells, lattice: Lattice, k: Float) -> Local:
    """The compliance of every patch for springs of stiffness k (m,) [N/m]."""
    from scipy.sparse import diags

    inside = (patches.faces @ lattice.share).tocoo()
    patch, spring = inside.row.astype(np.int64), inside.col
    pairs = patches.copies(patch, lattice.pairs[spring])
    along = patches.x[pairs[:, 1]] - patches.x[pairs[:, 0]]
    length = np.linalg.norm(along, axis=1)
    direction = along / np.where(length > 0, length, 1.0)[:, None]
    stretch = elongations(pairs, direction, len(patches.x))
    stiffness = (stretch.T @ diags(inside.data * k[spring]) @ stretch).tocsr()
    u = np.stack([dense(patches.x, b).ravel() for b in basis(2)], axis=1)
    free = np.flatnonzero(np.repeat(~patches.rim, 2))
    if len(free):
        force = (stiffness @ u)[free]
        u[free] -= balanced(stiffness[free][:, free].tocsr(), force, np.zeros_like(force), TIGHT, 2)
    within = np.asarray((patches.core @ lattice.share)[patch, spring]).ravel()
    q = squares(direction)
    stress = (within * k[spring] * length)[:, None, None] * q[:, :, None] * (stretch @ u)[:, None, :]
    sigma = patches.sums(patch, stress.reshape(-1, 9)).reshape(-1, 3, 3)
    strain, area = _strains(patches, cells, u)
    values = np.linalg.eigvalsh(symmetric(sigma))
    good = (area > 0) & (values[:, 0] > THIN * values[:, 2])
    if not good.any():
        raise ModelError("this surface has no point around which it is flat enough to measure its springs")
    return Local(symmetric(dense(strain[good], inverse(sigma[good]))), area[good] / area[good].sum())


def _strains(patches: Patches, cells: Cells, u: Float) -> tuple[Float, Float]:
    """The area of each core (p,) and, times that, its mean strain for each displacement, (p, 3, 3)."""
    total, area = np.zeros((patches.many, 9)), np.zeros(patches.many)
    moved = u.reshape(-1, 2, 3)
    for patch, corners in patches.corners(cells, patches.core):
        x = patches.x[corners]
        across = np.roll(x, -1, axis=1) - np.roll(x, 1, axis=1)
        b = np.stack([across[..., 1], -across[..., 0]], axis=-1) / 2
        twice = (x * b).sum(axis=(1, 2))
        b *= np.where(twice < 0, -1.0, 1.0)[:, None, None]  # faces may be turned either way
        gradient = np.einsum("rkia,rkj->rija", moved[corners], b)
        strain = np.einsum("rija,bij->rba", gradient, basis(2)).reshape(-1, 9)
        total += patches.sums(patch, strain)
        area += patches.sums(patch, np.abs(twice)[:, None] / 2)[:, 0]
    return total.reshape(-1, 3, 3), area
