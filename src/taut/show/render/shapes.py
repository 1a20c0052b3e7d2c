"""What is drawn of a body, as triangles whose corners follow its points: a skin, tubes along lines, balls at points.

Each shape is made once, on points at rest, and has a fixed number of corners. `place` puts them where the points are:

    skin     the points themselves; n = Σ A of the triangles around (A: vector area), not across edges that are sharp at rest;
             a second time turned round, with -n: what is seen from behind has light and colour of its own
    tubes    x = a + r (cos φ e₁ + sin φ e₂) and the same at b, around each line a-b, e₁ and e₂ across it
    balls    x = p + r n, n over the unit sphere
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
SIDES = 10  # of a tube
SHARP = np.cos(np.radians(55.0))  # faces that meet at rest under more than this angle have an edge between them
FEW = 4000  # balls: more of them are drawn with fewer triangles


class Shape(Protocol):
    """Triangles that follow points.

    triangles : (k, 3), of its own corners; source : which point each corner belongs to, (c,)
    """

    @property
    def triangles(self) -> Int: ...
    @property
    def source(self) -> Int: ...
    def place(self, x: Float) -> tuple[Float, Float]:
        """Corners [m] and unit normals, both (c, 3), when the points are at x (n, 3) [m]."""
        ...


class Skin:
    """The faces of a body, triangles (k, 3), from both sides; points on edges that are sharp at rest become several corners.

    >>> x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]])
    >>> Skin(x, np.array([[0, 2, 1]])).place(x)[1].tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [-0.0, -1.0, -0.0], [-0.0, -1.0, -0.0], [-0.0, -1.0, -0.0]]
    """

    def __init__(self, rest: Float, triangles: Int) -> None:
        kept, own = np.unique(_smooth_corners(rest, triangles), return_inverse=True)
        self._front: Int = own.reshape(triangles.shape)
        self.corners = triangles  # by the points of the body
        self.triangles: Int = np.concatenate([self._front, self._front[:, ::-1] + len(kept)])
        self.source: Int = np.tile(triangles.ravel()[kept], 2)

    def place(self, x: Float) -> tuple[Float, Float]:
        """Corners [m] and unit normals, both (c, 3), when the points are at x (n, 3) [m]."""
        at = x[self.source]
        a, b, c = (at[self._front[:, i]] for i in range(3))
        area = np.cross(b - a, c - a)
        around = [np.bincount(self._front.ravel(), np.repeat(area[:, i], 3), minlength=len(at) // 2) for i in range(3)]
        normals = _unit(np.column_stack(around))
        return at, np.concatenate([normals, -normals])


def _smooth_corners(rest: Float, triangles: Int) -> Int:
    """For each corner of each triangle (k, 3) the number of the first corner with which it shares its normal."""
    k = len(triangles)
    a, b, c = (rest[triangles[:, i]] for i in range(3))
    normal = _unit(np.cross(b - a, c - a))
    ends = np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    face, first = np.tile(np.arange(k), 3), np.repeat(np.arange(3), k)
    flipped = ends[:, 0] > ends[:, 1]
    low, high = np.where(flipped, (first + 1) % 3, first), np.where(flipped, first, (first + 1) % 3)
    key = np.sort(ends, axis=1) @ np.array([len(rest), 1])
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    left, right = order[:-1][same], order[1:][same]
    smooth = np.einsum("ij,ij->i", normal[face[left]], normal[face[right]]) > SHARP
    left, right = left[smooth], right[smooth]
    joins = [(3 * face[left] + at[left], 3 * face[right] + at[right]) for at in (low, high)]
    return _joined(3 * k, np.concatenate([i for i, _ in joins]), np.concatenate([j for _, j in joins])).reshape(k, 3)


def _joined(n: int, i: Int, j: Int) -> Int:
    """The least number in each set of numbers that pairs join, (n,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, label = connected_components(coo_array((np.ones(len(i)), (i, j)), shape=(n, n)), directed=False)
    least = np.full(label.max(initial=-1) + 1, n)
    np.minimum.at(least, label, np.arange(n))
    return np.asarray(least[label])


class Tubes:
    """Round bars of radius r [m] along lines (k, 2).

    >>> at, normals = Tubes(np.array([[0, 1]]), 0.1).place(np.array([[0.0, 0, 0], [0, 0, 2]]))
    >>> bool(np.allclose(np.hypot(at[:, 0], at[:, 1]), 0.1)), bool(np.allclose(normals[:, 2], 0))
    (True, True)
    """

    def __init__(self, lines: Int, r: float) -> None:
        self.lines, self.r = lines, r
        self.source: Int = np.repeat(lines.ravel(), SIDES)
        i = np.arange(SIDES)
        j = (i + 1) % SIDES
        one = np.concatenate([np.column_stack([i, j, i + SIDES]), np.column_stack([j, j + SIDES, i + SIDES])])
        self.triangles: Int = (2 * SIDES * np.arange(len(lines))[:, None, None] + one).reshape(-1, 3)

    def place(self, x: Float) -> tuple[Float, Float]:
        """Corners [m] and unit normals, both (c, 3), when the points are at x (n, 3) [m]."""
        ends = x[self.lines]
        along = _unit(ends[:, 1] - ends[:, 0])
        axis = np.eye(3)[np.argmin(np.abs(along), axis=1)]  # never along the line
        across = _unit(np.cross(along, axis))
        other = np.cross(along, across)
        phi = 2 * np.pi * np.arange(SIDES) / SIDES
        ring = np.cos(phi)[:, None] * across[:, None, :] + np.sin(phi)[:, None] * other[:, None, :]
        normals = np.broadcast_to(ring[:, None], (len(ends), 2, SIDES, 3))
        return (ends[:, :, None, :] + self.r * normals).reshape(-1, 3), normals.reshape(-1, 3)


class Balls:
    """Balls of radius r [m] at some points, (k,).

    >>> at, normals = Balls(np.array([1]), 0.5).place(np.array([[0.0, 0, 0], [3, 0, 0]]))
    >>> bool(np.allclose(np.linalg.norm(at - [3, 0, 0], axis=1), 0.5))
    True
    """

    def __init__(self, points: Int, r: float) -> None:
        self.points, self.r = points, r
        self._sphere, one = _sphere(2 if len(points) <= FEW else 1 if len(points) <= 10 * FEW else 0)
        self.source: Int = np.repeat(points, len(self._sphere))
        self.triangles: Int = (len(self._sphere) * np.arange(len(points))[:, None, None] + one).reshape(-1, 3)

    def place(self, x: Float) -> tuple[Float, Float]:
        """Corners [m] and unit normals, both (c, 3), when the points are at x (n, 3) [m]."""
        normals = np.broadcast_to(self._sphere, (len(self.points), *self._sphere.shape))
        return (x[self.points][:, None] + self.r * normals).reshape(-1, 3), normals.reshape(-1, 3)


def _sphere(halvings: int) -> tuple[Float, Int]:
    """An octahedron whose edges are halved so many times, on the unit sphere: corners and triangles."""
    x = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=np.float64)
    faces = np.array([[a, b, c] if (a + b + c) % 2 == 0 else [b, a, c] for a in (0, 1) for b in (2, 3) for c in (4, 5)])
    for _ in range(halvings):
        pairs = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        edges, which = np.unique(pairs, axis=0, return_inverse=True)
        ab, bc, ca = (len(x) + which.reshape(3, -1))[:]
        a, b, c = faces.T
        faces = np.concatenate([np.column_stack(t) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        x = np.concatenate([x, _unit(x[edges].sum(axis=1))])
    return x, faces


def _unit(vectors: Float) -> Float:
    """Of length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
