"""How friction changes with the normal forces that it is held with.

The friction of a contact on the particle i is wᵢF, F = μ|p| s(|u|) u, with p the push on its first
side, n = p/|p| its normal, u = (1 - n nᵀ)V the sliding velocity, V = Σ wⱼvⱼ, and s(|u|)|u| the part
of Coulomb's force that acts (see `contact_friction`). While it is held, p and w are those of given
positions. The Hessian of a step with held friction therefore lacks wᵢ (∂F/∂p)(∂p/∂xⱼ) with

    ∂F/∂p = μ (s u nᵀ - (n·V)(s (1 - n nᵀ) + s'/|u| u uᵀ) - s n uᵀ).

That is not symmetric: friction has no energy. ∂p/∂x is a sum of rows of the barrier's Hessian. What
∂w/∂x adds is left out: it is smaller by the ratio of a gap to an edge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taut.arrays import Float
from taut.linalg.blocks import BlockMatrix, row_norms
from taut.system.contact_friction import Friction
from taut.system.contact_terms import ContactTerm

_TINY = 1e-300  # in place of a sliding velocity of zero, which is divided by


def add_coupling(
    matrix: BlockMatrix,
    friction: Friction,
    terms: Sequence[ContactTerm],
    gradients: Sequence[Float],
    hessians: Sequence[Float],
    x: Float,
    velocities: Float,
) -> None:
    """Add wᵢ (∂F/∂p)(∂p/∂xⱼ) to a matrix, but for blocks that are not in its pattern.

    friction : at positions x [m], (n, 3); velocities : with which bodies slide [m/s], (n, 3)
    terms : the contacts there; gradients, hessians : ∂V/∂x [N], (m, s, 3), and ∂²V/∂x² [N/m],
        (m, s, s, 3, 3), of the elements of each
    """
    n, pattern = len(x), matrix.pattern
    known = pattern.rows.astype(np.int64) * n + pattern.indices
    for term, gradient, hessian in zip(terms, gradients, hessians, strict=True):
        is_first = term.is_on_first_side(x).astype(np.float64)
        push = row_norms(np.einsum("es,esi->ei", is_first, gradient))
        slopes = -np.einsum("ea,eabij->ebij", is_first, hessian)  # ∂p/∂x
        for particles, parameters, keys in friction.groups:
            own = np.flatnonzero(np.isin(term.keys, keys))
            if not len(own):
                continue
            at = np.searchsorted(keys, term.keys[own])
            rows, weights = particles[at], parameters[at, 4:-1]
            changes = _differentiate(parameters[at], velocities[rows]) / push[own][:, None, None]
            blocks = np.einsum("er,eij,esjk->ersik", weights, changes, slopes[own])
            wanted = rows[:, :, None] * n + term.elements[own][:, None, :]
            slots = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            has = known[slots] == wanted
            np.add.at(matrix.data, slots[has], blocks[has])


def _differentiate(parameters: Float, velocities: Float) -> Float:
    """Return |p| ∂F/∂p [N], (m, 3, 3).

    parameters : of `contact_friction`, (m, 5 + s); velocities : of the particles, (m, s, 3)
    """
    force, normal = parameters[:, 0], parameters[:, 1:4]
    weights, slip_speed = parameters[:, 4:-1], parameters[:, -1]
    whole = np.einsum("es,esi->ei", weights, velocities)
    across = np.einsum("ei,ei->e", normal, whole)
    sliding = whole - across[:, None] * normal
    speed = np.maximum(row_norms(sliding), _TINY)
    sticks = speed < slip_speed
    part = np.where(sticks, 2.0 - speed / slip_speed, 1.0) / np.where(sticks, slip_speed, speed)
    slope = -1.0 / np.where(sticks, slip_speed, speed) ** 2
    along_normal = np.einsum("ei,ej->eij", sliding, normal)
    tangential = np.eye(3) - np.einsum("ei,ej->eij", normal, normal)
    along = np.einsum("ei,ej->eij", sliding, sliding) / speed[:, None, None]
    turned = part[:, None, None] * tangential + slope[:, None, None] * along
    change = part[:, None, None] * (along_normal - np.swapaxes(along_normal, 1, 2))
    return force[:, None, None] * (change - across[:, None, None] * turned)
