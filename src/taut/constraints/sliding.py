"""Particles that slide on a line x = p + s d or in a plane n·(x - p) = 0.

The projector onto their free directions is d dᵀ, or I - n nᵀ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float
from taut.constraints.constraint import Constraint, to_numbers
from taut.errors import ModelError


def on_line(
    particles: Any,
    direction: ArrayLike,
    through: ArrayLike | None = None,
    *,
    until: float | None = None,
) -> Constraint:
    """Let particles slide along a line.

    particles : an index, indices (k,), or a mask (n,)
    direction : of any length other than zero, (3,), or (2,) in the plane
    through : a point of the line [m], (3,) or (2,) (default: where each particle starts)
    until : [s], when it ends (default: never)

    >>> on_line([1], direction=(0, 1, 0)).free.tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    d = _to_direction(direction, "direction")
    return Constraint("on_line", particles, np.outer(d, d), through, until=until)


def on_plane(
    particles: Any,
    normal: ArrayLike,
    through: ArrayLike | None = None,
    *,
    until: float | None = None,
) -> Constraint:
    """Let particles slide in a plane.

    particles : an index, indices (k,), or a mask (n,)
    normal : of any length other than zero, (3,), or (2,) in the plane
    through : a point of the plane [m], (3,) or (2,) (default: where each particle starts)
    until : [s], when it ends (default: never)

    >>> on_plane([1], normal=(0, 2, 0)).free.tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    d = _to_direction(normal, "normal")
    return Constraint("on_plane", particles, np.eye(3) - np.outer(d, d), through, until=until)


def _to_direction(value: ArrayLike, what: str) -> Float:
    d = np.zeros(3)
    given = to_numbers(value, what)
    if given.shape not in ((2,), (3,)) or not np.isfinite(given).all() or not np.any(given):
        raise ModelError(f"{what} must be three finite numbers, not all zero, got {value!r}")
    d[: len(given)] = given / np.linalg.norm(given)
    return d
