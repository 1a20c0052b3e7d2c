"""Geometry of a membrane of triangles: areas, normals, qualities, forces along its sides."""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.measure import vector_areas
from taut.mesh.topology import hinges, keys

_FOLDED = 0.0  # cosine between the normals of neighbours: 90°, where no surface is resolved


def sum_at(points: Int, vectors: Float, n: int) -> Float:
    """Add vectors (m, 3) up at points (m,), in their order: (n, 3).

    >>> sum_at(np.array([0, 2, 0]), np.eye(3), 3).tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    total = np.empty((n, 3))
    for axis in range(3):
        total[:, axis] = np.bincount(points, weights=vectors[:, axis], minlength=n)
    return total


def to_unit(vectors: Float) -> Float:
    """Return the vectors (m, 3) divided by their lengths; zero stays zero.

    >>> to_unit(np.array([[0.0, 3, 4], [0, 0, 0]])).tolist()
    [[0.0, 0.6, 0.8], [0.0, 0.0, 0.0]]
    """
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)


def triangle_areas(q: Float, triangles: Int) -> Float:
    """Return the areas of the triangles [m²], (k,).

    >>> triangle_areas(np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]), np.array([[0, 1, 2]]))
    array([6.])
    """
    return np.linalg.norm(vector_areas(q, triangles), axis=1)


def triangle_qualities(q: Float, triangles: Int) -> Float:
    """Return 4√3 area/Σ side² of each triangle, (k,): 1 if equilateral, 0 if it is a line.

    >>> triangle_qualities(np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]), np.array([[0, 1, 2]]))
    array([0.83138439])
    """
    x = q[triangles]
    squares = np.sum((x - np.roll(x, 1, axis=1)) ** 2, axis=(1, 2))
    area = triangle_areas(q, triangles)
    return np.divide(4 * np.sqrt(3) * area, squares, out=np.zeros(len(area)), where=squares > 0.0)


def vertex_normals(q: Float, triangles: Int) -> Float:
    """Return the unit normal at each point, (n, 3), of consistently oriented triangles.

    The sum of the vector areas around it: the direction in which the volume under the surface grows
    fastest. Zero where there are no triangles or where their normals cancel.

    >>> vertex_normals(np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]), np.array([[0, 1, 2]]))[1]
    array([0., 0., 1.])
    """
    area = vector_areas(q, triangles)
    return to_unit(sum_at(triangles.T.ravel(), np.tile(area, (3, 1)), len(q)))


def corner_angles(q: Float, triangles: Int) -> Float:
    """Return the angles of the triangles [rad], (k, 3).

    >>> corner = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> np.degrees(corner_angles(corner, np.array([[0, 1, 2]]))).round(9).tolist()
    [[90.0, 45.0, 45.0]]
    """
    x = q[triangles]
    u, v = np.roll(x, -1, axis=1) - x, np.roll(x, 1, axis=1) - x
    return np.arctan2(np.linalg.norm(np.cross(u, v), axis=2), np.einsum("kci,kci->kc", u, v))


def tension_gradient(q: Float, triangles: Int, stress: Float, pressure: Float) -> Float:
    """Return ∂(Σ stress·area - pressure·volume)/∂q [N], (n, 3).

    stress : [N/m], (k,); pressure : along the normals [Pa], (k,), a third on each corner

    >>> corner = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> tension_gradient(corner, np.array([[0, 1, 2]]), np.array([2.0]), np.array([6.0])).tolist()
    [[-1.0, -1.0, -1.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]
    """
    x, area = q[triangles], vector_areas(q, triangles)
    opposite = np.roll(x, 1, axis=1) - np.roll(x, -1, axis=1)  # side from corner c+1 to c+2
    pull = (stress[:, None] * to_unit(area))[:, None] / 2
    forces = np.cross(pull, opposite) - (pressure[:, None] * area)[:, None] / 3
    return sum_at(triangles.ravel(), forces.reshape(-1, 3), len(q))


def side_densities(triangles: Int, stress: Float) -> tuple[Int, Float]:
    """Return the sides of triangles, each once, (e, 2), and force densities for them [N/m], (e,).

    They are those of equilateral triangles under this stress, s/2·cot 60° from each side of an
    edge.

    >>> sides, density = side_densities(np.array([[0, 1, 2], [2, 1, 3]]), np.array([1.0, 1.0]))
    >>> sides.tolist(), (density * 2 * 3**0.5).round(9).tolist()
    ([[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]], [1.0, 1.0, 2.0, 1.0, 1.0])
    """
    n = int(triangles.max()) + 1
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    found, which = np.unique(keys(pairs, n), return_inverse=True)
    density = np.bincount(which.ravel(), weights=np.tile(stress, 3)) / (2 * np.sqrt(3))
    return np.column_stack([found // n, found % n]), density


def find_opposed_triangles(triangles: Int, points: Int) -> tuple[int, int] | None:
    """Find two triangles that run along a common edge the same way, or None.

    points : only edges with an end among these are looked at

    >>> find_opposed_triangles(np.array([[0, 1, 2], [1, 2, 3]]), np.arange(4))
    (0, 1)
    """
    first: dict[tuple[int, int], int] = {}
    ends = set(points.tolist())
    for number, (a, b, c) in enumerate(triangles.tolist()):
        for edge in ((a, b), (b, c), (c, a)):
            if ends.intersection(edge) and first.setdefault(edge, number) != number:
                return first[edge], number
    return None


def find_folded_edge(q: Float, triangles: Int, points: Int) -> Int | None:
    """Find an edge over which the membrane folds by more than 90°, (2,), or None.

    points : only edges with an end among these are looked at

    >>> q = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.1, 0.8, 0.1]])
    >>> find_folded_edge(q, np.array([[0, 1, 2], [1, 0, 3]]), np.arange(4))
    array([0, 1])
    """
    c, d, a, b = hinges(triangles, len(q)).T
    first = np.cross(q[a] - q[c], q[b] - q[c])
    second = np.cross(q[b] - q[d], q[a] - q[d])
    looked_at = np.isin(a, points) | np.isin(b, points)
    folded = np.einsum("ij,ij->i", first, second) < _FOLDED
    found = np.flatnonzero(folded & looked_at)
    return np.array([a[found[0]], b[found[0]]]) if len(found) else None
