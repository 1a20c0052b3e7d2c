"""A compliance by direction: S_nnnn along unit vectors n, its mean over all of them, its extremes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.materials.tensors import basis, squares

Float = NDArray[np.float64]
FINER = 0.05 * 0.7 ** np.arange(40)  # steps of the search around the best of the directions tried first


def along(s: Float, n: Float) -> Float:
    """S_nnnn of tensors (…, s, s) along unit vectors (m, d), shape (…, m)."""
    q = squares(n)
    return np.asarray(np.einsum("ma,...ab,mb->...m", q, s, q))


def mean_along(s: Float) -> Float:
    """The mean of S_nnnn over all directions, (S_iijj + 2 S_ijij)/(d(d+2)), of tensors (…, s, s)."""
    d = dimension(s)
    return np.asarray((volumetric(s) + 2 * np.einsum("...aa->...", s)) / (d * (d + 2)))


def volumetric(s: Float) -> Float:
    """S_iijj of tensors (…, s, s)."""
    trace = np.einsum("aii->a", basis(dimension(s)))
    return np.asarray(np.einsum("a,...ab,b->...", trace, s, trace))


def dimension(s: Float) -> int:
    """2 for tensors (3, 3) of a sheet, 3 for tensors (6, 6) of a solid."""
    return 2 if s.shape[-1] == 3 else 3


def extremes(s: Float) -> tuple[Float, Float]:
    """The least and the largest 1/S_nnnn of tensors (p, s, s), shape (p,) each."""
    tried = along(s, _all_over(dimension(s)))
    return 1 / _refined(s, tried), 1 / -_refined(-s, -tried)


def _refined(s: Float, tried: Float) -> Float:
    """The largest S_nnnn, sought around the best of the directions that were tried."""
    n = _all_over(dimension(s))[tried.argmax(axis=1)]
    best = tried.max(axis=1)
    steps = np.concatenate([np.eye(n.shape[1]), -np.eye(n.shape[1])])
    for size in FINER:
        around = n[:, None, :] + size * steps
        around /= np.linalg.norm(around, axis=2, keepdims=True)
        q = squares(around.reshape(-1, n.shape[1])).reshape(*around.shape[:2], -1)
        value = np.einsum("pka,pab,pkb->pk", q, s, q)
        better = value.max(axis=1) > best
        n = np.where(better[:, None], around[np.arange(len(n)), value.argmax(axis=1)], n)
        best = np.maximum(best, value.max(axis=1))
    return best


def _all_over(d: int) -> Float:
    """Unit vectors all over the half circle or half sphere."""
    if d == 2:
        angle = np.linspace(0, np.pi, 90, endpoint=False)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    i = np.arange(500)
    height, turn = (i + 0.5) / len(i), i * np.pi * (3 - np.sqrt(5))
    radius = np.sqrt(1 - height**2)
    return np.concatenate([np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1), np.eye(3)])
