"""Particles that slide: on a line x = p + s d, or in a plane n·(x - p) = 0. Their free directions are d dᵀ, or I - n nᵀ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.constraints.constraint import Constraint, kept
from taut.constraints.paths import numbers
from taut.errors import ModelError

Float = NDArray[np.float64]


def on_line(particles: Any, direction: ArrayLike, through: ArrayLike | None = None, *, until: float | None = None) -> Constraint:
    """Let particles slide along a line with this direction, through a point [m] or through where each starts; `until` [s].

    particles : an index, indices (k,), or a mask (n,)
    direction : of any length other than zero, (3,), or (2,) in the plane; through : (3,) or (2,)

    >>> on_line([1], direction=(0, 1, 0)).free.tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    d = _direction(direction, "direction")
    return Constraint("on_line", kept(particles), np.outer(d, d), through, until=until)


def on_plane(particles: Any, normal: ArrayLike, through: ArrayLike | None = None, *, until: float | None = None) -> Constraint:
    """Let particles slide in a plane with this normal, through a point [m] or through where each starts; `until` [s].

    particles : an index, indices (k,), or a mask (n,)
    normal : of any length other than zero, (3,), or (2,) in the plane; through : (3,) or (2,)

    >>> on_plane([1], normal=(0, 2, 0)).free.tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    d = _direction(normal, "normal")
    return Constraint("on_plane", kept(particles), np.eye(3) - np.outer(d, d), through, until=until)


def _direction(value: ArrayLike, what: str) -> Float:
    d = np.zeros(3)
    given = numbers(value, what)
    if given.shape not in ((2,), (3,)) or not np.isfinite(given).all() or not np.any(given):
        raise ModelError(f"{what} is a vector other than zero, not {value!r}")
    d[: len(given)] = given / np.linalg.norm(given)
    return d
