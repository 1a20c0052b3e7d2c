"""Elasticity tensors as small matrices, their moduli by direction, and what springs can have.

A symmetric tensor ε (d × d) is written as the s = d(d+1)/2 numbers ε_a = ε : B_a, B_a an
orthonormal basis (Mandel's), so that an elasticity tensor is a symmetric s × s matrix C with
σ_a = C_ab ε_b. Springs whose points follow the strain have the totally symmetric

    C = Σ k l² n⊗n⊗n⊗n / V,

which has C₁₁₂₂ = C₁₂₁₂ (Cauchy's relation). An isotropic one is C_ijkl = μ (δ_ij δ_kl + δ_ik δ_jl +
δ_il δ_jk), with the Poisson ratio 1/(d + 1), and E = 8μ/3 for d = 2, E = 5μ/2 for d = 3.

Young's modulus along a unit vector n is 1/S_nnnn, S = C⁻¹ the compliance.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from taut.arrays import Float

ISOTROPIC_TRACE = {2: 3.0, 3: 6.0}  # C_iijj = Σ k l² / V of isotropic springs with E = 1
# Steps of the search around the best of the directions sampled first
_REFINEMENT_STEPS = 0.05 * 0.7 ** np.arange(40)


@lru_cache(maxsize=2)
def basis(d: int) -> Float:
    """Return the B_a, (s, d, d): first the diagonal ones, then the others."""
    diagonal = [(a, a) for a in range(d)]
    off_diagonal = [(a, b) for a in range(d) for b in range(a + 1, d)]
    tensors = []
    for i, j in diagonal + off_diagonal:
        unit = np.zeros((d, d))
        unit[i, j] = unit[j, i] = 1.0
        tensors.append(unit / np.linalg.norm(unit))
    stacked = np.array(tensors)
    stacked.setflags(write=False)
    return stacked


def matmul(a: Float, b: Float) -> Float:
    """Return the matrix product, summed in a fixed order.

    That of the linear algebra library depends on the number of its threads.
    """
    return np.asarray(np.einsum("...ij,...jk->...ik", a, b))


def transpose_product(a: Float, b: Float) -> Float:
    """Return aᵀb of tall matrices (n, s), summed in a fixed order."""
    return np.asarray(np.stack([(a[:, i, None] * b).sum(axis=0) for i in range(a.shape[1])]))


def dyads(n: Float) -> Float:
    """Return n⊗n of unit vectors (m, d) in the basis, (m, s)."""
    return np.einsum("mi,mj,aij->ma", n, n, basis(n.shape[1]))


def symmetrise(matrix: Float) -> Float:
    """Return the symmetric part of matrices (…, s, s)."""
    return np.asarray((matrix + np.swapaxes(matrix, -1, -2)) / 2)


def invert(tensor: Float) -> Float:
    """Return the compliance of a tensor, or the tensor of a compliance."""
    return np.asarray(np.linalg.inv(tensor), dtype=np.float64)


def pack_symmetric(tensors: Float) -> Float:
    """Return the s(s+1)/2 independent entries of symmetric matrices (…, s, s).

    Those off the diagonal are multiplied by √2, which keeps the norm.
    """
    i, j = np.triu_indices(tensors.shape[-1])
    return tensors[..., i, j] * np.where(i == j, 1.0, np.sqrt(2.0))


def poisson_of_springs(d: int) -> float:
    """Return the Poisson ratio of isotropic springs whose points follow the strain, 1/(d + 1)."""
    return 1.0 / (d + 1)


def isotropic_tensor(young: float, d: int, poisson: float | None = None) -> Float:
    """Return the tensor of a Young's modulus, (s, s).

    poisson : default is the one that springs have

    >>> isotropic_tensor(8.0, 2).round(12).tolist()
    [[9.0, 3.0, 0.0], [3.0, 9.0, 0.0], [0.0, 0.0, 6.0]]
    """
    trace = np.einsum("aii->a", basis(d))
    nu = poisson_of_springs(d) if poisson is None else poisson
    lame = nu / (1 - (d - 1) * nu)
    return young / (1 + nu) * (lame * np.outer(trace, trace) + np.eye(len(trace)))


def woven_tensor(warp: float, weft: float, shear: float | None) -> Float:
    """Return the tensor of a sheet with these moduli along its axes, (3, 3).

    C₁₁₂₂ = C₁₂₁₂ = c, as springs have it; c is the shear modulus if one is given. If not, it is a
    third of the smaller of C₁₁₁₁ and C₂₂₂₂: pulled along its stiffer direction the sheet narrows by
    ⅓ of the strain, and with equal moduli it is isotropic.

    >>> woven_tensor(8.0, 8.0, None).round(12).tolist()
    [[9.0, 3.0, 0.0], [3.0, 9.0, 0.0], [0.0, 0.0, 6.0]]
    """
    soft, stiff = min(warp, weft), max(warp, weft)
    if shear is None:
        low = soft / (1 - soft / (9 * stiff))
        high, c = stiff + low / 9, low / 3
        first, second = (high, low) if warp >= weft else (low, high)
    else:
        # E₁ = a - c²/b and E₂ = b - c²/a give a/b = E₁/E₂, and a quadratic equation for b.
        ratio, c = warp / weft, shear
        second = (warp + np.sqrt(warp**2 + 4 * c**2 * ratio)) / (2 * ratio)
        first = second * ratio
    return np.array([[first, c, 0.0], [c, second, 0.0], [0.0, 0.0, 2 * c]])


def embed(tensor: Float, axes: Float) -> Float:
    """Return tensors of sheets (3, 3) in space, (m, 6, 6), given the two axes (m, 2, 3) of each."""
    in_space = np.einsum("mki,mlj,bkl->mbij", axes, axes, basis(2))
    turn = np.einsum("aij,mbij->mab", basis(3), in_space)
    return matmul(matmul(turn, tensor), turn.transpose(0, 2, 1))


def dimension(s: Float) -> int:
    """Return 2 for tensors (3, 3) of a sheet, 3 for tensors (6, 6) of a solid."""
    return 2 if s.shape[-1] == 3 else 3


def compliance_along(s: Float, n: Float) -> Float:
    """Return S_nnnn of tensors (…, s, s) along unit vectors (m, d), (…, m)."""
    q = dyads(n)
    return np.asarray(np.einsum("ma,...ab,mb->...m", q, s, q))


def mean_compliance(s: Float) -> Float:
    """Return the mean of S_nnnn over all directions, (S_iijj + 2 S_ijij)/(d(d+2))."""
    d = dimension(s)
    return np.asarray((volumetric_compliance(s) + 2 * np.einsum("...aa->...", s)) / (d * (d + 2)))


def volumetric_compliance(s: Float) -> Float:
    """Return S_iijj of tensors (…, s, s)."""
    trace = np.einsum("aii->a", basis(dimension(s)))
    return np.asarray(np.einsum("a,...ab,b->...", trace, s, trace))


def extreme_moduli(s: Float) -> tuple[Float, Float]:
    """Return the smallest and the largest 1/S_nnnn of compliances (p, s, s), (p,) each."""
    sampled = compliance_along(s, _sample_directions(dimension(s)))
    return 1 / _maximise(s, sampled), 1 / -_maximise(-s, -sampled)


def _maximise(s: Float, sampled: Float) -> Float:
    """Return the largest S_nnnn, sought around the best of the sampled directions."""
    n = _sample_directions(dimension(s))[sampled.argmax(axis=1)]
    best = sampled.max(axis=1)
    steps = np.concatenate([np.eye(n.shape[1]), -np.eye(n.shape[1])])
    for size in _REFINEMENT_STEPS:
        around = n[:, None, :] + size * steps
        around /= np.linalg.norm(around, axis=2, keepdims=True)
        q = dyads(around.reshape(-1, n.shape[1])).reshape(*around.shape[:2], -1)
        value = np.einsum("pka,pab,pkb->pk", q, s, q)
        better = value.max(axis=1) > best
        n = np.where(better[:, None], around[np.arange(len(n)), value.argmax(axis=1)], n)
        best = np.maximum(best, value.max(axis=1))
    return best


def _sample_directions(d: int) -> Float:
    """Return unit vectors evenly over the half circle, or over the half sphere with its axes."""
    if d == 2:
        angle = np.linspace(0, np.pi, 90, endpoint=False)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    i = np.arange(500)
    height, turn = (i + 0.5) / len(i), i * np.pi * (3 - np.sqrt(5))  # a Fibonacci lattice
    radius = np.sqrt(1 - height**2)
    return np.concatenate(
        [np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1), np.eye(3)]
    )
