"""Triangles that follow the points of a body (surface, tubes, spheres), and their shadow.

Each shape is made once, from the points at rest, and has a fixed number of vertices. `place` moves
them to where the points are:

    Surface   the points themselves, with normal n = Σ A over the adjacent triangles (A: vector
              area), except across edges that are sharp at rest; and a second time reversed, with
              normal -n, so that the back side has light and a colour of its own
    Tubes     x = a + r (cos φ e₁ + sin φ e₂) and the same at b, around each line a-b; e₁ and e₂ are
              perpendicular to the line
    Spheres   x = p + r n, with n on the unit sphere

The shadow on the ground y = g, in light that falls along l, darkens x - l (x_y - g)/l_y for each
point x. It is blurred, the more the higher the mean height of the triangles, as in the light of a
lamp of some width.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from taut.arrays import Bytes, Float, Int
from taut.extras import import_extra

LIGHT = np.array([0.22, -1.0, -0.12])
"""The direction in which light falls on the ground."""
_TUBE_SIDES = 10
_SHARP_COSINE = np.cos(np.radians(55.0))  # faces that meet at a larger angle have a visible edge
_MAX_DETAILED_SPHERES = 4000  # more than this are drawn with fewer triangles each
_SHADOW_PIXELS = 512  # along each side of the picture of the shadow
_SHADOW_OPACITY = 0.28  # share of the light that is missing in a full shadow
_MIN_BLUR = 0.006  # as a share of the width of the picture of the shadow
_BLUR_PER_HEIGHT = 0.03  # further blur, as a share of the height above the ground


class Shape(Protocol):
    """Triangles that follow points.

    triangles : (k, 3), of its own vertices; source : the point each vertex belongs to, (c,)
    """

    @property
    def triangles(self) -> Int: ...
    @property
    def source(self) -> Int: ...
    def place(self, x: Float) -> tuple[Float, Float]:
        """Return vertices [m] and unit normals, both (c, 3), for points at x [m], (n, 3)."""
        ...


class Surface:
    """The faces of a body seen from both sides.

    rest : points at rest [m], (n, 3); faces : triangles of these, (k, 3). Points on edges that are
        sharp at rest become several vertices.

    >>> x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]])
    >>> Surface(x, np.array([[0, 2, 1]])).place(x)[1][[0, 3]].tolist()
    [[0.0, 1.0, 0.0], [-0.0, -1.0, -0.0]]
    """

    def __init__(self, rest: Float, faces: Int) -> None:
        kept, own = np.unique(_group_smooth_corners(rest, faces), return_inverse=True)
        self.faces = faces
        self._front: Int = own.reshape(faces.shape)
        self.triangles: Int = np.concatenate([self._front, self._front[:, ::-1] + len(kept)])
        self.source: Int = np.tile(faces.ravel()[kept], 2)

    def place(self, x: Float) -> tuple[Float, Float]:
        """Return vertices [m] and unit normals, both (c, 3), for points at x [m], (n, 3)."""
        vertices = x[self.source]
        a, b, c = (vertices[self._front[:, i]] for i in range(3))
        area = np.cross(b - a, c - a)
        n = len(vertices) // 2
        summed = [
            np.bincount(self._front.ravel(), np.repeat(area[:, i], 3), minlength=n)
            for i in range(3)
        ]
        normals = _normalise(np.column_stack(summed))
        return vertices, np.concatenate([normals, -normals])


def _group_smooth_corners(rest: Float, triangles: Int) -> Int:
    """Return for each corner (k, 3) the first corner with which it shares its normal."""
    k = len(triangles)
    a, b, c = (rest[triangles[:, i]] for i in range(3))
    normal = _normalise(np.cross(b - a, c - a))
    ends = np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    face = np.tile(np.arange(k), 3)
    first = np.repeat(np.arange(3), k)
    second = (first + 1) % 3
    flipped = ends[:, 0] > ends[:, 1]
    low, high = np.where(flipped, second, first), np.where(flipped, first, second)
    # Neighbours along an edge follow each other when edges are sorted by their key.
    key = np.sort(ends, axis=1) @ np.array([len(rest), 1])
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    left, right = order[:-1][same], order[1:][same]
    smooth = np.einsum("ij,ij->i", normal[face[left]], normal[face[right]]) > _SHARP_COSINE
    left, right = left[smooth], right[smooth]
    i = np.concatenate([3 * face[left] + low[left], 3 * face[left] + high[left]])
    j = np.concatenate([3 * face[right] + low[right], 3 * face[right] + high[right]])
    return _least_in_component(3 * k, i, j).reshape(k, 3)


def _least_in_component(n: int, i: Int, j: Int) -> Int:
    """Return the least node of the component of each of n nodes, (n,), in a graph of edges i-j."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    least = np.full(label.max(initial=-1) + 1, n)
    np.minimum.at(least, label, np.arange(n))
    return np.asarray(least[label])


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


def project_shadow(x: Float, ground: float) -> Float:
    """Project points x [m], (n, 3), along the light onto the ground y = ground [m]: (n, 2) of x, z.

    >>> project_shadow(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 1.0]]), 0.0).tolist()
    [[0.44, -0.24], [1.0, 1.0]]
    """
    return x[:, [0, 2]] - LIGHT[[0, 2]] * ((x[:, 1] - ground) / LIGHT[1])[:, None]


def draw_shadow(x: Float, triangles: Int, ground: float, box: tuple[Float, Float]) -> Bytes:
    """Return how dark the ground is, 0 to 255, (512, 512): row 0 at least z, column 0 at least x.

    x : vertices [m], (n, 3); triangles : (k, 3); ground : its height [m]
    box : least and greatest x and z of the picture of the shadow [m], each (2,)
    """
    blur = import_extra("render", "PIL.ImageFilter", "pictures").GaussianBlur
    low, high = box
    pixels = (project_shadow(x, ground) - low) / (high - low) * _SHADOW_PIXELS
    height = 0.0
    if len(triangles):
        height = float((x[triangles, 1].mean() - ground) / (high - low).max())
    image = import_extra("render", "PIL.Image", "pictures").new(
        "L", (_SHADOW_PIXELS, _SHADOW_PIXELS)
    )
    pen = import_extra("render", "PIL.ImageDraw", "pictures").Draw(image)
    for corners in pixels[triangles].reshape(-1, 6).tolist():
        pen.polygon(corners, fill=255, outline=255)
    blurred = image.filter(blur((_MIN_BLUR + _BLUR_PER_HEIGHT * height) * _SHADOW_PIXELS))
    darkness = np.asarray(blurred, dtype=np.float64) * _SHADOW_OPACITY
    return np.rint(darkness).astype(np.uint8)
