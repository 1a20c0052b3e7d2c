"""Elasticity tensors as small matrices, and what springs can make of them.

A symmetric tensor ε (d × d) is written as the s = d(d+1)/2 numbers ε_a = ε : B_a, B_a an orthonormal basis (Mandel's), so that an
elasticity tensor is a symmetric s × s matrix C with σ_a = C_ab ε_b. Springs have a totally symmetric C = Σ k l² n⊗n⊗n⊗n / V, which
has C₁₁₂₂ = C₁₂₁₂ (Cauchy's relation), as long as their points follow the strain. An isotropic one is C_ijkl = μ (δ_ij δ_kl +
δ_ik δ_jl + δ_il δ_jk), whose Poisson ratio is 1/(d + 1), and E = 8μ/3 for d = 2, E = 5μ/2 for d = 3.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
TRACE = {2: 3.0, 3: 6.0}  # C_iijj = Σ k l² / V of isotropic springs with E = 1


@lru_cache(maxsize=2)
def basis(d: int) -> Float:
    """The B_a, shape (s, d, d): first those of the diagonal, then those beside it."""
    made = []
    for i, j in [(a, a) for a in range(d)] + [(a, b) for a in range(d) for b in range(a + 1, d)]:
        unit = np.zeros((d, d))
        unit[i, j] = unit[j, i] = 1.0
        made.append(unit / np.linalg.norm(unit))
    found = np.array(made)
    found.setflags(write=False)
    return found


def dense(a: Float, b: Float) -> Float:
    """The matrix product, summed in a fixed order: that of the linear algebra library depends on its threads."""
    return np.asarray(np.einsum("...ij,...jk->...ik", a, b))


def overlap(a: Float, b: Float) -> Float:
    """aᵀb of tall matrices (n, s), summed in a fixed order."""
    return np.asarray(np.stack([(a[:, i, None] * b).sum(axis=0) for i in range(a.shape[1])]))


def squares(t: Float) -> Float:
    """n⊗n of unit vectors t (m, d) in the basis, shape (m, s)."""
    return np.einsum("mi,mj,aij->ma", t, t, basis(t.shape[1]))


def poisson_of_springs(d: int) -> float:
    """The Poisson ratio of isotropic springs whose points follow the strain: ⅓ in a sheet, ¼ in a solid."""
    return 1.0 / (d + 1)


def isotropic(young: float, d: int, poisson: float | None = None) -> Float:
    """The tensor of this modulus, shape (s, s), with the Poisson ratio that springs have or another.

    >>> isotropic(8.0, 2).round(12).tolist()
    [[9.0, 3.0, 0.0], [3.0, 9.0, 0.0], [0.0, 0.0, 6.0]]
    """
    trace = np.einsum("aii->a", basis(d))
    nu = poisson_of_springs(d) if poisson is None else poisson
    lame = nu / (1 - (d - 1) * nu)
    return young / (1 + nu) * (lame * np.outer(trace, trace) + np.eye(len(trace)))


def woven(warp: float, weft: float, shear: float | None) -> Float:
    """The tensor of a sheet with these moduli along its axes, shape (3, 3), with C₁₁₂₂ = C₁₂₁₂ = c as springs have it.

    c is the shear modulus if one is given. If not, it is a third of the smaller of C₁₁₁₁ and C₂₂₂₂: pulled along its stiffer
    direction the sheet narrows by ⅓ of the strain, and with equal moduli it is isotropic.

    >>> woven(8.0, 8.0, None).round(12).tolist()
    [[9.0, 3.0, 0.0], [3.0, 9.0, 0.0], [0.0, 0.0, 6.0]]
    """
    soft, stiff = min(warp, weft), max(warp, weft)
    if shear is None:
        low = soft / (1 - soft / (9 * stiff))
        high, c = stiff + low / 9, low / 3
        first, second = (high, low) if warp >= weft else (low, high)
    else:
        # E₁ = a - c²/b and E₂ = b - c²/a make a/b = E₁/E₂, and a quadratic equation for b
        ratio, c = warp / weft, shear
        second = (warp + np.sqrt(warp**2 + 4 * c**2 * ratio)) / (2 * ratio)
        first = second * ratio
    return np.array([[first, c, 0.0], [c, second, 0.0], [0.0, 0.0, 2 * c]])


def embedded(tensor: Float, axes: Float) -> Float:
    """Tensors of sheets (3, 3) put into space by the two axes (m, 2, 3) of each, shape (m, 6, 6)."""
    across = np.einsum("mki,mlj,bkl->mbij", axes, axes, basis(2))
    turn = np.einsum("aij,mbij->mab", basis(3), across)
    return dense(dense(turn, tensor), turn.transpose(0, 2, 1))


def upper(tensors: Float) -> Float:
    """The s(s+1)/2 independent numbers of symmetric matrices (…, s, s), those beside the diagonal times √2."""
    i, j = np.triu_indices(tensors.shape[-1])
    return tensors[..., i, j] * np.where(i == j, 1.0, np.sqrt(2.0))


def inverse(tensor: Float) -> Float:
    """The compliance of a tensor, or the tensor of a compliance."""
    return np.asarray(np.linalg.inv(tensor), dtype=np.float64)
