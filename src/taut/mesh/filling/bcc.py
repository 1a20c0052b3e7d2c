"""The body-centred cubic lattice over a box, and the tetrahedra its points make.

Cubes of side h hold a point at each corner and one at the centre. Two cubes that share a face have their centres joined; that
edge and each of the four sides of the face span one tetrahedron, 12 for each cube, all congruent: two opposite *long* edges of
length h, along the axes, and four *short* ones of length (√3/2) h, from a corner to a centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]


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
        """The lattice centred on the box from `low` to `high` with at least one more cube on each side.

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

    def place(self, index: Int) -> tuple[NDArray[np.bool_], Int]:
        """Whether each point is a centre, and which corner or cube it is along x, y and z, shape (m, 3)."""
        first_centre = int(np.prod(self.corners))
        centre = index >= first_centre
        at_corner = np.unravel_index(np.where(centre, 0, index), self.corners)
        at_cube = np.unravel_index(np.where(centre, index - first_centre, 0), self.cubes)
        return centre, np.where(centre[:, None], np.stack(at_cube, axis=1), np.stack(at_corner, axis=1))

    def positions(self, index: Int) -> Float:
        """Positions [m] of the points `index`, shape (m, 3)."""
        centre, place = self.place(index)
        return self.origin + self.spacing * (place + 0.5 * centre[:, None])

    def colour(self, index: Int) -> Int:
        """0 or 1 for corners, 2 or 3 for centres, such that no two points joined by an edge have the same."""
        centre, place = self.place(index)
        return 2 * centre + place.sum(axis=1) % 2

    def parity(self, one: Int, other: Int) -> Int:
        """The parity of short edges: of the number of coordinates in which the corner exceeds the centre."""
        corner, centre = np.minimum(one, other), np.maximum(one, other)
        return (self.place(corner)[1] > self.place(centre)[1]).sum(axis=1) % 2

    def tets(self) -> Iterator[Int]:
        """All tetrahedra in twelve batches of shape (m, 4): the points 0, 1 and 2, 3 of each end its long edges; positive."""
        corner = np.arange(np.prod(self.corners)).reshape(self.corners)
        centre = np.arange(corner.size, self.count).reshape(self.cubes)
        for axis in range(3):
            # axis first and the other two in cyclic order, so that one formula serves all three and keeps the orientation
            turn = (axis, (axis + 1) % 3, (axis + 2) % 3)
            c, v = centre.transpose(turn), corner.transpose(turn)
            below, above = c[:-1], c[1:]
            face = [v[1:-1, :-1, :-1], v[1:-1, 1:, :-1], v[1:-1, 1:, 1:], v[1:-1, :-1, 1:]]
            for k in range(4):
                yield np.stack([below, above, face[k], face[(k + 1) % 4]], axis=-1).reshape(-1, 4)
