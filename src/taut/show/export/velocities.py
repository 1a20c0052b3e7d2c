"""How fast the points of a body move.

A point that rides on a mesh, x = Σ wᵢ qᵢ + d n with the unit normal n = a / |a| of a triangle, moves at

    ẋ = Σ wᵢ vᵢ + d (ȧ - n (n·ȧ)) / |a|,    a = (q₁ - q₀) × (q₂ - q₀),
    ȧ = (v₁ - v₀) × (q₂ - q₀) + (q₁ - q₀) × (v₂ - v₀).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.show.subject import Piece

Float = NDArray[np.float64]


def velocities(piece: Piece, q: Float, v: Float) -> Float:
    """Velocities [m/s] of the points of `piece.mesh`, (m, 3), from positions [m] and velocities of all particles, (n, 3).

    >>> import taut
    >>> velocities(Piece("dust", taut.mesh.sheet(1, 1), 0, 4), np.zeros((4, 3)), np.ones((4, 3)))[0].tolist()
    [1.0, 1.0, 1.0]
    """
    own, speed = q[piece.start : piece.stop], v[piece.start : piece.stop]
    riding = piece.embedding
    if riding is None:
        return speed
    corner = speed[riding.indices]
    found = np.einsum("mk,mki->mi", riding.weights, corner)
    if riding.indices.shape[1] != 3:
        return found
    place = own[riding.indices]
    p, r, dp, dr = (at[:, i] - at[:, 0] for at in (place, corner) for i in (1, 2))
    area, change = np.cross(p, r), np.cross(dp, r) + np.cross(p, dr)
    size = np.linalg.norm(area, axis=1, keepdims=True)
    size = np.where(size > 0, size, np.inf)  # a triangle without area has no normal to turn
    normal = area / size
    turn = (change - normal * np.sum(normal * change, axis=1, keepdims=True)) / size
    return found + riding.offsets[:, None] * turn
