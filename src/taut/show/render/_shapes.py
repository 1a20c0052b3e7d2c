"""Triangles that follow the points of a body (surface, tubes, spheres).

Each shape is made once, from the points at rest, and has a fixed number of vertices. `place` moves
them to where the points are:

    Surface   the points themselves, with normal n = Σ A over the adjacent triangles (A: vector
              area), except across edges that are sharp at rest; and a second time reversed, with
              normal -n, so that the back side has light and a colour of its own. A surface with a
              thickness has its sides at half of it, x ± ½ t n
    Tubes     x = a + r (cos φ e₁ + sin φ e₂) and the same at b, around each line a-b; e₁ and e₂ are
              perpendicular to the line
    Spheres   x = p + r n, with n on the unit sphere
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from taut.arrays import Float, Int
from taut.show.smooth_normals import group_smooth_corners

_TUBE_SIDES = 10
_MAX_DETAILED_SPHERES = 4000  # more than this are drawn with fewer triangles each


class Shape(Protocol):
    """Triangles that follow points.

    triangles : (k, 3), of its own vertices; source : the point each vertex belongs to, (c,)
    sides : pairs of points of each triangle, (k, s, 2), between which nothing may be torn
    """

    @property
    def triangles(self) -> Int: ...
    @property
    def source(self) -> Int: ...
    @property
    def sides(self) -> Int: ...
    def place(self, x: Float) -> tuple[Float, Float]:
        """Return vertices [m] and unit normals, both (c, 3), for points at x [m], (n, 3)."""
        ...


class Surface:
    """The faces of a body seen from both sides.

    rest : points at rest [m], (n, 3); faces : triangles of these, (k, 3). Points on edges that are
        sharp at rest become several vertices.
    thickness : [m]; the sides are half of it off the points, and boundary edges have a rim
    back : the vertices of the back side

    >>> x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]])
    >>> Surface(x, np.array([[0, 2, 1]])).place(x)[1][[0, 3]].tolist()
    [[0.0, 1.0, 0.0], [-0.0, -1.0, -0.0]]
    >>> Surface(x, np.array([[0, 2, 1]]), 0.2).place(x)[0][[0, 3]].tolist()
    [[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]]
    """

    def __init__(self, rest: Float, faces: Int, thickness: float = 0.0) -> None:
        label = group_smooth_corners(rest, np.full(len(faces), 3), faces.ravel())
        kept, own = np.unique(label, return_inverse=True)
        self.thickness, self._points = thickness, len(rest)
        self._front: Int = own.reshape(faces.shape)
        side = faces.ravel()[kept]
        self.back = slice(len(kept), 2 * len(kept))
        self._rim = np.empty((0, 2), dtype=np.int64)  # boundary edges, as vertices of the front
        if thickness > 0.0:
            self._rim = self._front.reshape(-1)[_find_boundary_sides(faces)]
        m = len(self._rim)
        # The rim of an edge a-b has the vertices a and b in front, a and b at the back.
        corners = 2 * len(kept) + 4 * np.arange(m)[:, None, None]
        rim = (corners + np.array([[0, 2, 1], [1, 2, 3]])).reshape(-1, 3)
        self.triangles: Int = np.concatenate([self._front, self._front[:, ::-1] + len(kept), rim])
        self.source: Int = np.concatenate([side, side, side[np.tile(self._rim, 2)].ravel()])
        edges = np.stack([faces[:, [i, (i + 1) % 3]] for i in range(3)], axis=1)
        rim_edges = np.repeat(side[self._rim], 2, axis=0)[:, None].repeat(3, axis=1)
        self.sides: Int = np.concatenate([edges, edges, rim_edges])

    def place(self, x: Float) -> tuple[Float, Float]:
        """Return vertices [m] and unit normals, both (c, 3), for points at x [m], (n, 3)."""
        n = self.back.start
        points = x[self.source[:n]]
        a, b, c = (points[self._front[:, i]] for i in range(3))
        area = np.repeat(np.cross(b - a, c - a), 3, axis=0)
        normals = _normalise(_sum_by(self._front.ravel(), area, n))
        # All vertices of a point are displaced alike, or sharp edges would gape.
        corners = self.source[self._front.ravel()]
        offset = _normalise(_sum_by(corners, area, self._points))[self.source[:n]]
        front, back = points + self.thickness / 2 * offset, points - self.thickness / 2 * offset
        ends = self._rim
        along = points[ends[:, 1]] - points[ends[:, 0]]
        outwards = _normalise(np.cross(along, offset[ends].sum(axis=1)))
        rim = np.stack([front[ends], back[ends]], axis=1).reshape(-1, 3)
        return (
            np.concatenate([front, back, rim]),
            np.concatenate([normals, -normals, np.repeat(outwards, 4, axis=0)]),
        )


def _sum_by(index: Int, vectors: Float, n: int) -> Float:
    """Return the sum of the vectors (k, 3) of each index 0 to n - 1, (n, 3)."""
    return np.column_stack([np.bincount(index, column, minlength=n) for column in vectors.T])


def _find_boundary_sides(faces: Int) -> Int:
    """Return the sides of triangles (k, 3) that belong to one of them only, (m, 2).

    As pairs of places in the flattened triangles, in the direction of their triangle.
    """
    places = np.arange(faces.size).reshape(faces.shape)
    sides = np.concatenate([places[:, [i, (i + 1) % 3]] for i in range(3)])
    ends = np.sort(faces.ravel()[sides], axis=1)
    _, which, count = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    return sides[count[which.reshape(-1)] == 1]


class Tubes:
    """Tubes of radius r [m] along lines (k, 2).

    >>> x, normals = Tubes(np.array([[0, 1]]), 0.1).place(np.array([[0.0, 0, 0], [0, 0, 2]]))
    >>> bool(np.allclose(np.hypot(x[:, 0], x[:, 1]), 0.1)), bool(np.allclose(normals[:, 2], 0))
    (True, True)
    """

    def __init__(self, lines: Int, r: float) -> None:
        self.lines, self.r = lines, r
        self.source: Int = np.repeat(lines.ravel(), _TUBE_SIDES)
        i = np.arange(_TUBE_SIDES)
        j = (i + 1) % _TUBE_SIDES
        lower = np.column_stack([i, j, i + _TUBE_SIDES])
        upper = np.column_stack([j, j + _TUBE_SIDES, i + _TUBE_SIDES])
        offset = 2 * _TUBE_SIDES * np.arange(len(lines))[:, None, None]
        self.triangles: Int = (offset + np.concatenate([lower, upper])).reshape(-1, 3)
        self.sides: Int = np.repeat(lines[:, None], 2 * _TUBE_SIDES, axis=0)

    def place(self, x: Float) -> tuple[Float, Float]:
        """Return vertices [m] and unit normals, both (c, 3), for points at x [m], (n, 3)."""
        ends = x[self.lines]
        along = _normalise(ends[:, 1] - ends[:, 0])
        axis = np.eye(3)[np.argmin(np.abs(along), axis=1)]  # never parallel to the line
        e1 = _normalise(np.cross(along, axis))
        e2 = np.cross(along, e1)
        phi = 2 * np.pi * np.arange(_TUBE_SIDES) / _TUBE_SIDES
        ring = np.cos(phi)[:, None] * e1[:, None, :] + np.sin(phi)[:, None] * e2[:, None, :]
        normals = np.broadcast_to(ring[:, None], (len(ends), 2, _TUBE_SIDES, 3))
        vertices = ends[:, :, None, :] + self.r * normals
        return vertices.reshape(-1, 3), normals.reshape(-1, 3)


class Spheres:
    """Spheres of radius r [m] at some points, (k,).

    >>> x, normals = Spheres(np.array([1]), 0.5).place(np.array([[0.0, 0, 0], [3, 0, 0]]))
    >>> bool(np.allclose(np.linalg.norm(x - [3, 0, 0], axis=1), 0.5))
    True
    """

    def __init__(self, points: Int, r: float) -> None:
        self.points, self.r = points, r
        subdivisions = 0
        if len(points) <= _MAX_DETAILED_SPHERES:
            subdivisions = 2
        elif len(points) <= 10 * _MAX_DETAILED_SPHERES:
            subdivisions = 1
        self._sphere, triangles = _make_sphere(subdivisions)
        self.source: Int = np.repeat(points, len(self._sphere))
        offset = len(self._sphere) * np.arange(len(points))[:, None, None]
        self.triangles: Int = (offset + triangles).reshape(-1, 3)
        self.sides: Int = np.empty((len(self.triangles), 0, 2), dtype=np.int64)

    def place(self, x: Float) -> tuple[Float, Float]:
        """Return vertices [m] and unit normals, both (c, 3), for points at x [m], (n, 3)."""
        normals = np.broadcast_to(self._sphere, (len(self.points), *self._sphere.shape))
        vertices = x[self.points][:, None] + self.r * normals
        return vertices.reshape(-1, 3), normals.reshape(-1, 3)


def _make_sphere(subdivisions: int) -> tuple[Float, Int]:
    """Subdivide an octahedron on the unit sphere; return vertices and triangles.

    Each subdivision halves the edges and cuts every triangle into four.
    """
    corners = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    x = np.array(corners, dtype=np.float64)
    # One triangle per octant; the order of the corners makes all of them face outwards.
    octants = [
        (0, 2, 4),
        (2, 0, 5),
        (3, 0, 4),
        (0, 3, 5),
        (2, 1, 4),
        (1, 2, 5),
        (1, 3, 4),
        (3, 1, 5),
    ]
    faces = np.array(octants)
    for _ in range(subdivisions):
        sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        edges, edge_of_side = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
        ab, bc, ca = len(x) + edge_of_side.reshape(3, -1)
        a, b, c = faces.T
        quarters = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        faces = np.concatenate([np.column_stack(quarter) for quarter in quarters])
        x = np.concatenate([x, _normalise(x[edges].sum(axis=1))])
    return x, faces


def _normalise(vectors: Float) -> Float:
    """Scale vectors to length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
