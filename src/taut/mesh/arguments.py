"""Checks of the arguments of generators: counts, lengths, points, planes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, to_floats
from taut.errors import MeshError, did_you_mean

PLANES = {
    "xy": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    # The second axis is -z, so that the normal points up.
    "xz": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]),
    "yz": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
}
MAX_POINTS = 50_000_000  # of a generated mesh; a larger count is taken for a mistake


def check_count(value: Any, name: str, least: int = 1) -> int:
    """Return an integer that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise MeshError(f"{name} must be an integer of at least {least}, got {value!r}")
    check_point_count(int(value))
    return int(value)


def check_point_count(points: int) -> None:
    """Raise if a mesh would have too many points."""
    if points > MAX_POINTS:
        raise MeshError(f"a generated mesh must have at most {MAX_POINTS:,} points, got {points:,}")


def check_length(value: Any, name: str) -> float:
    """Return a positive, finite length [m]."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.number))
        or not 0 < value < np.inf
    ):
        raise MeshError(f"{name} must be a positive length [m], got {value!r}")
    return float(value)


def check_lengths(value: Any, name: str, dimensions: int) -> Float:
    """Return one positive length [m] for each dimension; a single value counts for all."""
    given = [value] * dimensions if np.ndim(value) == 0 else list(value)
    if len(given) != dimensions:
        raise MeshError(f"{name} must be one length [m] or {dimensions} of them, got {value!r}")
    return np.array([check_length(v, name) for v in given])


def check_point(value: ArrayLike, name: str) -> Float:
    """Return a point [m], shape (3,)."""
    try:
        found = to_floats(value)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise MeshError(f"{name} must be a point [m] with three coordinates, got {value!r}")
    return found


def check_choice(value: Any, name: str, among: tuple[str, ...]) -> str:
    """Return one of the allowed words."""
    if not isinstance(value, str) or value not in among:
        raise MeshError(
            f"{name} must be one of {', '.join(among)}, got {value!r}"
            f"{did_you_mean(str(value), among)}"
        )
    return value


def place_in_plane(points: Float, plane: str) -> Float:
    """Place points (n, 2) in a coordinate plane of space, (n, 3); "xz" is horizontal."""
    return points @ PLANES[check_choice(plane, "plane", tuple(PLANES))]
