"""Arguments of generators, checked: counts, lengths and planes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import MeshError, did_you_mean

Float = NDArray[np.float64]
PLANES = {
    "xy": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "xz": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]),  # its normal points up
    "yz": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
}
MOST = 50_000_000  # points of a generated mesh: more is a slip


def count(value: Any, name: str, least: int = 1) -> int:
    """A whole number, at least so large."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise MeshError(f"{name} is a whole number from {least} on, not {value!r}")
    at_most(int(value))
    return int(value)


def at_most(points: int) -> None:
    """Refuse a mesh with too many points."""
    if points > MOST:
        raise MeshError(f"the mesh would have {points:,} points; a generated one has at most {MOST:,}")


def length(value: Any, name: str) -> float:
    """A positive, finite length [m]."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
        raise MeshError(f"{name} is a positive length [m], not {value!r}")
    return float(value)


def lengths(value: Any, name: str, dimensions: int) -> Float:
    """One positive length [m] for each direction, from one for all or from as many."""
    given = [value] * dimensions if np.ndim(value) == 0 else list(value)
    if len(given) != dimensions:
        raise MeshError(f"{name} is one length [m] or {dimensions}, not {value!r}")
    return np.array([length(v, name) for v in given])


def place(value: ArrayLike, name: str) -> Float:
    """A point [m] in space."""
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise MeshError(f"{name} is a point [m] with three coordinates, not {value!r}")
    return found


def choice(value: Any, name: str, among: tuple[str, ...]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in among:
        raise MeshError(f"{name} is one of {', '.join(among)}, not {value!r}{did_you_mean(str(value), among)}")
    return value


def in_plane(points: Float, plane: str) -> Float:
    """Points (n, 2) put into a coordinate plane of space, (n, 3); "xz" is horizontal."""
    return points @ PLANES[choice(plane, "plane", tuple(PLANES))]
