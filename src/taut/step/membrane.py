"""Membranes of uniform stress (`laws.surface_tension`): what the flatness of the area along the surface asks for.

At a given shape a triangle pulls on its corners as three force densities do, s/2 times the cotangents of its angles: solving the
linear problem of these lowers the area (Pinkall, Polthier 1993). Moving points along the surface hardly changes the area, and where
it does it is the mesh that is answered, not the surface: the discrete area has, in general, no minimum in these directions short of
collapsed triangles. So a point that only triangles hold moves along the surface's normal, and balances there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.mesh.measure import vector_areas

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def areas(q: Float, triangles: Int) -> Float:
    """Of the triangles [m²], (k,).

    >>> areas(np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]), np.array([[0, 1, 2]]))
    array([6.])
    """
    return np.linalg.norm(vector_areas(q, triangles), axis=1)


def normals(q: Float, triangles: Int) -> Float:
    """The unit normal at each point, (n, 3), of triangles consistently turned; zero where there are none or where they cancel.

    >>> normals(np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]), np.array([[0, 1, 2]]))[1]
    array([0., 0., 1.])
    """
    area = vector_areas(q, triangles)
    total = np.zeros_like(q)
    for corner in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(triangles[:, corner], weights=area[:, axis], minlength=len(q))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, length, out=np.zeros_like(total), where=length > 0.0)


def turned_against(triangles: Int, points: Int) -> tuple[int, int] | None:
    """Two triangles that run along a common edge the same way, of those edges that have an end among `points`; None if none do.

    >>> turned_against(np.array([[0, 1, 2], [1, 2, 3]]), np.arange(4))
    (0, 1)
    """
    first: dict[tuple[int, int], int] = {}
    ends = set(points.tolist())
    for number, (a, b, c) in enumerate(triangles.tolist()):
        for edge in ((a, b), (b, c), (c, a)):
            if ends.intersection(edge) and first.setdefault(edge, number) != number:
                return first[edge], number
    return None


def cotangents(q: Float, triangles: Int, stress: Float) -> tuple[Int, Float]:
    """The force densities [N/m] that pull as the triangles do at shape q: edges (3k, 2) and s/2·cot of the angle opposite, (3k,).

    >>> edges, density = cotangents(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]), np.array([2.0]))
    >>> density.round(12)
    array([0., 1., 1.])
    """
    edges, densities = [], []
    for corner in range(3):
        c, a, b = (triangles[:, (corner + k) % 3] for k in range(3))
        u, v = q[a] - q[c], q[b] - q[c]
        edges.append(np.column_stack([a, b]))
        densities.append(stress / 2 * np.einsum("ij,ij->i", u, v) / np.linalg.norm(np.cross(u, v), axis=1))
    return np.concatenate(edges), np.concatenate(densities)
