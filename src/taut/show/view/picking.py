"""Which particle is meant by a point on the screen.

A ray o + s d from the eye meets a triangle a, b, c where o + s d = a + u (b - a) + v (c - a) with u, v ≥ 0 and u + v ≤ 1; the
particle that is meant is the one nearest to the first such point, or, where the ray meets no triangle, the one nearest to the ray.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
FLAT = 1e-14  # of the size of a triangle: seen from the edge, it is not met


def nearest(points: Float, place: ArrayLike) -> int:
    """The point, of (n, 3), that is nearest to a place (3,)."""
    away = points - np.asarray(place, dtype=np.float64)
    return int(np.argmin(np.einsum("ij,ij->i", away, away)))


def met(origin: ArrayLike, direction: ArrayLike, points: Float, triangles: Int) -> Float | None:
    """Where a ray first meets triangles (m, 3) of points (n, 3), or None.

    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> met((0.25, 0.25, 5.0), (0, 0, -1), corners, np.array([[0, 1, 2]])).tolist()
    [0.25, 0.25, 0.0]
    """
    o, d = np.asarray(origin, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    ab, ac = b - a, c - a
    p = np.cross(d, ac)
    size = np.einsum("ij,ij->i", ab, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("ij,ij->i", o - a, p) / size
        q = np.cross(o - a, ab)
        v = q @ d / size
        s = np.einsum("ij,ij->i", ac, q) / size
    hit = (np.abs(size) > FLAT) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (s > 0.0)
    return o + s[hit].min() * d if hit.any() else None


def meant(origin: ArrayLike, direction: ArrayLike, points: Float, triangles: Int, q: Float) -> int:
    """The particle, of positions q (n, 3), that a ray means; points and triangles are of the surface that is drawn."""
    place = met(origin, direction, points, triangles) if len(triangles) else None
    if place is not None:
        return nearest(q, place)
    o, d = np.asarray(origin, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    d = d / max(float(np.sqrt(d @ d)), 1e-300)
    way = q - o
    across = way - np.maximum(way @ d, 0.0)[:, None] * d
    return int(np.argmin(np.einsum("ij,ij->i", across, across)))
