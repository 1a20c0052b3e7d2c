"""The body-centred cubic lattice over a box, and the tetrahedra its points make.

Cubes of side h hold a point at each corner and one at the centre. Two cubes that share a face have
their centres joined; that edge and each of the four sides of the face span one tetrahedron, 12 for
each cube, all congruent: two opposite *long* edges of length h, along the axes, and four *short*
ones of length (√3/2) h, from a corner to a centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from taut.arrays import Float, Int, Mask


@dataclass(frozen=True)
class Lattice:
    """A box of cubes; its points are numbered corners first, then centres, each with z fastest.

    origin : lowest corner [m], shape (3,)
    spacing : side of a cube [m]
    cubes : how many along x, y and z
    """

    origin: Float
    spacing: float
    cubes: tuple[int, int, int]

    @classmethod
    def over(cls, low: Float, high: Float, spacing: float) -> Lattice:
        """Return the lattice centred on the box from `low` to `high`, with a margin of one cube.

        >>> Lattice.over(np.zeros(3), np.array([1.0, 1.0, 0.5]), 0.5).cubes
        (4, 4, 3)
        """
        nx, ny, nz = (int(np.ceil(n)) + 2 for n in (high - low) / spacing)
        origin = (low + high) / 2 - np.array([nx, ny, nz]) * (spacing / 2)
        return cls(origin, spacing, (nx, ny, nz))

    @property
    def corners(self) -> tuple[int, int, int]:
        """How many corners there are along x, y and z."""
        nx, ny, nz = self.cubes
        return nx + 1, ny + 1, nz + 1

    @property
    def count(self) -> int:
        """The number of points: corners and centres."""
        (nx, ny, nz), (mx, my, mz) = self.cubes, self.corners
        return mx * my * mz + nx * ny * nz

    def locate(self, index: Int) -> tuple[Mask, Int]:
        """Whether each point is a cube centre, and its integer coordinates, shape (m, 3)."""
        first_centre = int(np.prod(self.corners))
        centre = index >= first_centre
        at_corner = np.unravel_index(np.where(centre, 0, index), self.corners)
        at_cube = np.unravel_index(np.where(centre, index - first_centre, 0), self.cubes)
        return centre, np.where(
            centre[:, None], np.stack(at_cube, axis=1), np.stack(at_corner, axis=1)
        )

    def positions(self, index: Int) -> Float:
        """Positions [m] of the points `index`, shape (m, 3)."""
        centre, place = self.locate(index)
        return self.origin + self.spacing * (place + 0.5 * centre[:, None])

    def colour(self, index: Int) -> Int:
        """A colouring: 0 or 1 for corners, 2 or 3 for centres; points joined by an edge differ."""
        centre, place = self.locate(index)
        return 2 * centre + place.sum(axis=1) % 2

    def parity(self, one: Int, other: Int) -> Int:
        """Return the parity of short edges (see `stencils`): of the number of coordinates in
        which the corner exceeds the centre.
        """
        corner, centre = np.minimum(one, other), np.maximum(one, other)
        return (self.locate(corner)[1] > self.locate(centre)[1]).sum(axis=1) % 2

    def tets(self) -> Iterator[Int]:
        """Yield all tetrahedra in twelve batches (m, 4), with positive volume.

        The edges 0-1 and 2-3 are long.
        """
        corner = np.arange(np.prod(self.corners)).reshape(self.corners)
        centre = np.arange(corner.size, self.count).reshape(self.cubes)
        for axis in range(3):
            # axis first and the other two in cyclic order, so that one formula serves all three and
            # keeps the orientation
            turn = (axis, (axis + 1) % 3, (axis + 2) % 3)
            c, v = centre.transpose(turn), corner.transpose(turn)
            below, above = c[:-1], c[1:]
            face = [v[1:-1, :-1, :-1], v[1:-1, 1:, :-1], v[1:-1, 1:, 1:], v[1:-1, :-1, 1:]]
            for k in range(4):
                yield np.stack([below, above, face[k], face[(k + 1) % 4]], axis=-1).reshape(-1, 4)


# The part of a lattice tetrahedron inside the surface, as a table that is built once.
#
# The four points are inside (-1), on the surface (0) or outside (+1), and an edge from inside to
# outside has one cut point. The part inside is a tetrahedron, a pyramid or a prism. It is divided
# by pulling its corners in order of rank: the corner of highest rank is joined to all faces that do
# not contain it, each face divided from its own corner of highest rank. The rank
#
#     cut point of a long edge > of an odd short edge > lattice point > of an even short edge
#
# depends on the face alone, so two tetrahedra agree on the face they share. A short edge is odd
# when its corner exceeds its centre in an odd number of coordinates. Every quadrilateral has either
# one cut point on a long edge, or two on short edges, of which one is odd: the parity rule of the
# paper chooses between diagonals of equal merit.

EDGES = np.array([[0, 1], [2, 3], [0, 2], [0, 3], [1, 2], [1, 3]])  # two long, then four short
_FACES = ([0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3])
# A lattice tetrahedron of positive volume, and its corners 0…3 with the cut points 4…9.
_SHAPE = np.array([[-0.5, 0, 0], [0.5, 0, 0], [0, 0.5, 0.5], [0, -0.5, 0.5]])
_PLACES = np.concatenate([_SHAPE, _SHAPE[EDGES].mean(axis=1)])
POWERS = np.array([27, 9, 3, 1])


@cache
def stencils() -> Int:
    """Tetrahedra for every case, shape (2, 81, 3, 4), of corners 0…3 and cut points 4…9; -1: none.

    The first index is the parity of the edge 0-2, the second is (signs + 1) · (27, 9, 3, 1).

    With point 0 inside and point 1 outside, what remains are 0, 2, 3 and the cut point of 0-1:

    >>> stencils()[0, (np.array([-1, 1, 0, 0]) + 1) @ POWERS, 0]
    array([4, 3, 2, 0])
    """
    table = np.full((2, 81, 3, 4), -1)
    for parity, signs in product((0, 1), product((-1, 0, 1), repeat=4)):
        if -1 in signs:
            # Opposite short edges have the same parity.
            same, other = (30, 0) if parity else (0, 30)
            rank = [10, 11, 12, 13, 40, 41, same, other, other + 1, same + 1]
            tets = [_positive(tet) for tet in _divide(signs, rank)]
            table[parity, (np.array(signs) + 1) @ POWERS, : len(tets)] = tets
    return table


def _divide(signs: tuple[int, ...], rank: list[int]) -> list[tuple[int, ...]]:
    """Divide the part inside into tetrahedra."""
    faces = [_clip(face, signs) for face in _FACES]
    corners = {corner for face in faces for corner in face}
    top = max(corners, key=rank.__getitem__)
    whole = [face for face in [*faces, _cap(faces, signs)] if len(face) > 2 and top not in face]
    return [(top, *triangle) for face in whole for triangle in _fan(face, rank)]


def _clip(face: list[int], signs: tuple[int, ...]) -> list[int]:
    """The part of a triangle inside, as a polygon; fewer than three corners if nothing is."""
    polygon = []
    for k in range(3):
        here, there = face[k], face[(k + 1) % 3]
        if signs[here] <= 0:
            polygon.append(here)
        if signs[here] * signs[there] < 0:
            polygon.append(_cut(here, there))
    return polygon


def _cap(faces: list[list[int]], signs: tuple[int, ...]) -> list[int]:
    """The polygon on the surface that closes the clipped faces; its sides belong to one face."""
    on_surface = [i for i in range(10) if i > 3 or signs[i] == 0]
    sides = [
        {a, b}
        for face in faces
        if len(face) > 2
        for a, b in zip(face, face[1:] + face[:1], strict=True)
    ]
    single = [side for side in sides if sides.count(side) == 1 and side <= set(on_surface)]
    if len(single) < 3:
        return []
    polygon = list(single.pop())
    while len(single) > 1:
        side = next(side for side in single if polygon[-1] in side)
        single.remove(side)
        polygon += side - {polygon[-1]}
    return polygon


def _fan(polygon: list[int], rank: list[int]) -> list[tuple[int, int, int]]:
    """Triangles of a polygon, all from its corner of highest rank."""
    start = max(range(len(polygon)), key=lambda k: rank[polygon[k]])
    turned = polygon[start:] + polygon[:start]
    return [(turned[0], turned[k], turned[k + 1]) for k in range(1, len(polygon) - 1)]


def _cut(a: int, b: int) -> int:
    """The number of the cut point of the edge from a to b."""
    return 4 + int(np.flatnonzero((np.sort([a, b]) == EDGES).all(axis=1))[0])


def _positive(tet: tuple[int, ...]) -> tuple[int, ...]:
    """The tetrahedron with its points in an order of positive volume."""
    a, b, c, d = tet
    x = _PLACES[list(tet)]
    return tet if np.linalg.det(x[1:] - x[0]) > 0 else (a, b, d, c)
