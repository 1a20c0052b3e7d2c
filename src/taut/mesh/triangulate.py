"""Faces cut into triangles.

A quad is cut along the diagonal 0-2, or along 1-3 where only that one lies inside it. A polygon is
cut in a fan from its first corner where that gives no folded triangle, else by cutting off ears.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.measure import vector_areas


def triangulate(x: Float, faces: list[Int]) -> Int:
    """Triangles, shape (k, 3), of blocks of faces (m, s), face by face; x is (n, 3)."""
    return np.concatenate([np.empty((0, 3), np.int64), *(_cut(x, block) for block in faces)])


def _cut(x: Float, block: Int) -> Int:
    corners = block.shape[1]
    if corners == 3:
        return block
    local = np.array([(0, i, i + 1) for i in range(1, corners - 1)])
    triangles = block[:, local]  # (m, corners - 2, 3)
    normal = vector_areas(x, block)
    folded = np.flatnonzero((_along(x, triangles, normal) < 0).any(axis=1))
    if corners == 4:
        other = block[folded][:, np.array([(0, 1, 3), (1, 2, 3)])]
        better = (_along(x, other, normal[folded]) >= 0).all(axis=1)
        triangles[folded[better]] = other[better]
    else:
        for cell in folded:
            triangles[cell] = _ears(x, block[cell], normal[cell])
    return triangles.reshape(-1, 3)


def _along(x: Float, triangles: Int, normal: Float) -> Float:
    """Areas along the normal of the face, (m, k): negative where a triangle is folded over."""
    area = vector_areas(x, triangles.reshape(-1, 3)).reshape(*triangles.shape)
    return np.einsum("mki,mi->mk", area, normal)


def _ears(x: Float, face: Int, normal: Float) -> Int:
    """Cut one concave polygon into triangles by clipping ears."""
    left, found = face.tolist(), []
    while len(left) > 3:
        ring = np.array(left)
        a, b, c = np.roll(ring, 1), ring, np.roll(ring, -1)
        convex = np.flatnonzero(_turn(x, a, b, c, normal) > 0)
        ear = next(
            (i for i in convex if not _holds(x, a[i], b[i], c[i], ring, normal)),
            int(convex[0]) if len(convex) else 0,
        )
        found.append((a[ear], b[ear], c[ear]))
        del left[ear]
    return np.array([*found, left], dtype=np.int64)


def _turn(x: Float, a: Int, b: Int, c: Int, normal: Float) -> Float:
    """Twice the area of a, b, c along the normal."""
    return np.cross(x[b] - x[a], x[c] - x[a]) @ normal


def _holds(x: Float, a: int, b: int, c: int, ring: Int, normal: Float) -> bool:
    """Whether another corner lies in the triangle."""
    others = ring[~np.isin(ring, (a, b, c))]
    sides = [
        _turn(x, np.full_like(others, i), np.full_like(others, j), others, normal)
        for i, j in ((a, b), (b, c), (c, a))
    ]
    return bool(np.logical_and.reduce([s >= 0 for s in sides]).any())
