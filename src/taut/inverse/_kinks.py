"""Elements at a kink of their formula, where the force has no derivative."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taut.arrays import Float, Mask
from taut.binding.law_products import Place
from taut.inverse._part import Part

# How far, relative to their size, elements near a kink are stretched and compressed, and by which
# part their stiffness must differ between the two to be a kink
_KINK_STEP, _KINK_JUMP = 1e-6, 1e-3


def find_kinks(
    parts: Sequence[Part], x: Float, y: Float, h: float, t: float, margin: float
) -> list[tuple[str, int]]:
    """Return (law, element) of elements whose stiffness jumps within a relative margin.

    Those near a comparison of their formula are tested: many compare without a jump.
    """
    found = []
    for part in parts:
        if not part.products.has_kinks:
            continue
        at = part.place(x, y, h, t)
        near = np.flatnonzero(part.products.measure_kinks(at) <= margin)
        if not len(near):
            continue
        jumps = near[_has_jump(part, Place(at.x[near], at.y[near], h, at.p[near]))]
        rows = jumps if part.rows is None else part.rows[jumps]
        found += [(part.name, int(row)) for row in rows]
    return found


def _has_jump(part: Part, at: Place) -> Mask:
    """Whether the stiffness of elements differs between two places close to them, (m,)."""
    moves = at.x - at.x.mean(axis=1, keepdims=True)
    z = np.cos(np.arange(at.x[0].size, dtype=np.float64)).reshape(at.x[0].shape) + 0.0 * at.x
    sides = [
        part.products.pull_force(at._replace(x=at.x + step * moves), z).x
        for step in (_KINK_STEP, -_KINK_STEP)
    ]
    change = np.abs(sides[0] - sides[1]).max(axis=(1, 2))
    size = np.maximum(np.abs(sides[0]), np.abs(sides[1])).max(axis=(1, 2))
    return np.asarray(change > _KINK_JUMP * size)
