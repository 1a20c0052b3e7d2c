"""What is left of a lattice tetrahedron when the surface has cut it: a table, made once.

The four points are inside (-1), on the surface (0) or outside (+1), and an edge from inside to outside has one cut point. The part
inside is a tetrahedron, a pyramid or a prism. It is divided by pulling its corners in a fixed order of rank: the corner of highest
rank is joined to all faces it is not on, each face being divided from its own corner of highest rank. The rank

    cut point of a long edge > cut point of an odd short edge > lattice point > cut point of an even short edge

depends on nothing beyond the face, so two tetrahedra agree on the face they share. A short edge is odd when its corner exceeds its
centre in an odd number of coordinates. Every quadrilateral has either one cut point on a long edge, or two on short edges of
which one is odd; there this parity rule of the paper chooses between diagonals of equal merit.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

EDGES = np.array([[0, 1], [2, 3], [0, 2], [0, 3], [1, 2], [1, 3]])  # the first two are the long ones
_FACES = ([0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3])
_SHAPE = np.array([[-0.5, 0, 0], [0.5, 0, 0], [0, 0.5, 0.5], [0, -0.5, 0.5]])  # as in the lattice, positive
_PLACES = np.concatenate([_SHAPE, _SHAPE[EDGES].mean(axis=1)])  # of the points 0…3 and of the cut points 4…9
POWERS = np.array([27, 9, 3, 1])


@cache
def stencils() -> NDArray[np.int64]:
    """Tetrahedra for every case, shape (2, 81, 3, 4): of the points 0…3 and the cut points 4…9 of `EDGES`, -1 where none.

    The first index is the parity of the edge from 0 to 2, the second is (signs + 1) · (27, 9, 3, 1).

    >>> stencils()[0, (np.array([-1, 1, 0, 0]) + 1) @ POWERS, 0]  # point 0 inside: left are it, the points 2 and 3 and a cut point
    array([4, 3, 2, 0])
    """
    table = np.full((2, 81, 3, 4), -1)
    for parity, signs in product((0, 1), product((-1, 0, 1), repeat=4)):
        if -1 in signs:
            same, other = (30, 0) if parity else (0, 30)  # short edges opposite each other have the same parity
            rank = [10, 11, 12, 13, 40, 41, same, other, other + 1, same + 1]
            tets = [_positive(tet) for tet in _divide(signs, rank)]
            table[parity, (np.array(signs) + 1) @ POWERS, : len(tets)] = tets
    return table


def _divide(signs: tuple[int, ...], rank: list[int]) -> list[tuple[int, ...]]:
    """Tetrahedra of the part inside."""
    faces = [_clip(face, signs) for face in _FACES]
    corners = {corner for face in faces for corner in face}
    top = max(corners, key=rank.__getitem__)
    whole = [face for face in [*faces, _cap(faces, signs)] if len(face) > 2 and top not in face]
    return [(top, *triangle) for face in whole for triangle in _fan(face, rank)]


def _clip(face: list[int], signs: tuple[int, ...]) -> list[int]:
    """The part of a triangle that is inside, as a polygon of points and cut points, of fewer than three when nothing is."""
    polygon = []
    for k in range(3):
        here, there = face[k], face[(k + 1) % 3]
        if signs[here] <= 0:
            polygon.append(here)
        if signs[here] * signs[there] < 0:
            polygon.append(_cut(here, there))
    return polygon


def _cap(faces: list[list[int]], signs: tuple[int, ...]) -> list[int]:
    """The polygon on the surface that closes the clipped faces: its sides belong to one face only."""
    on_surface = [i for i in range(10) if i > 3 or signs[i] == 0]
    sides = [{a, b} for face in faces if len(face) > 2 for a, b in zip(face, face[1:] + face[:1], strict=True)]
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
