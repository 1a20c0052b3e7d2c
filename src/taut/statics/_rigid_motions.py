"""Rigid motions of a whole system, as far as its constraints leave them free.

δ_i = a + ω × x_i has six parameters; particles on a line have five motions, since the spin about it
moves nothing, and a single particle has three. A motion is free if no constraint stops it, and
neutral if no force resists it either: K δ = 0. They are motions of the whole system: where separate
bodies move against each other, these are mechanisms.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.linalg.blocks import BlockMatrix
from taut.system.projector import ConstraintProjector

_RIGID = 1e-12  # squared part of a rigid motion that constraints may stop and still leave it free
# |K δ| of a unit rigid motion in units of what counts as a zero eigenvalue: rounding in the many
# entries of δ adds to that of a single row.
_NEUTRAL = 8.0


def find_free_motions(
    projector: ConstraintProjector, q: Float, weight: Float
) -> tuple[Float, Float]:
    """Return the free rigid motions δ/weight, orthonormal, (r, n, 3), and their ω [1/m], (r, 3).

    q : positions [m], (n, 3); weight : (n,)
    """
    n = len(q)
    extent = float(np.ptp(q, axis=0).max()) or 1.0
    share = 1.0 / weight**2
    x = (q - np.einsum("i,ij->j", share, q) / share.sum()) / extent
    motions = np.empty((6, n, 3))  # three translations, three rotations
    motions[:3] = np.eye(3)[:, None, :]
    motions[3:] = np.cross(np.eye(3)[:, None, :], x)
    motions /= weight[:, None]
    values, vectors = np.linalg.eigh(np.einsum("aij,bij->ab", motions, motions))
    moves = values > _RIGID * values[-1]  # particles on a line do not move when it spins
    unit = vectors[:, moves] / np.sqrt(values[moves])
    displacements = np.einsum("ak,aij->kij", unit, motions)
    stopped = displacements - np.einsum("nij,knj->kni", projector.free_directions, displacements)
    stopped_parts, mixtures = np.linalg.eigh(np.einsum("aij,bij->ab", stopped, stopped))
    free = mixtures[:, stopped_parts <= _RIGID]
    rotations = (unit[3:] @ free).T / extent
    return np.einsum("ka,kij->aij", free, displacements), rotations


def find_neutral_motions(
    projector: ConstraintProjector, stiffness: BlockMatrix, q: Float, weight: Float, zero: float
) -> Float:
    """Return the rigid motions δ/weight that nothing stops or resists, orthonormal, (r, n, 3).

    stiffness : K [N/m], before constraints; zero : what counts as a zero eigenvalue of
        diag(weight)·K·diag(weight)
    """
    motions, _ = find_free_motions(projector, q, weight)
    if not len(motions):
        return np.empty((0, len(q), 3))
    resisted = [
        weight[:, None] * projector.project(stiffness.multiply(weight[:, None] * motion))
        for motion in motions
    ]
    # Singular values: the eigenvalues of their squares would lose half of the digits.
    mixtures, sizes, _ = np.linalg.svd(
        np.array(resisted).reshape(len(motions), -1), full_matrices=False
    )
    neutral = mixtures[:, sizes <= _NEUTRAL * zero]
    return np.einsum("ka,kij->aij", neutral, motions)


def separate(null: Float, rigid: Float) -> Float:
    """Return an orthonormal basis of what a space has besides rigid motions, (f, z - r).

    null : orthonormal basis of the space, (f, z); rigid : of rigid motions in it, (f, r)
    """
    rest = null - rigid @ (rigid.T @ null)
    left, _, _ = np.linalg.svd(rest, full_matrices=False)
    return np.asarray(left[:, : null.shape[1] - rigid.shape[1]])
