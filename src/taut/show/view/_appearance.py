"""How things look: colours, markers, cameras, and springs coloured by their strain.

A spring is a pair of particles with a rest length l₀; its strain l/l₀ - 1 is shown in blue if it is
shorter, grey at rest, and red if it is longer. The colours end at ± the largest strain of any
spring so far: a range in steps would change all colours at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taut.arrays import Bytes, Float, Int, Mask
from taut.show.colours import BODIES, OBSTACLE, parse_colour
from taut.show.visual_model import VisualBody, VisualModel
from taut.system.system import System

CAMERAS = {
    "three-quarter": (0.55, 0.35, 0.76),
    "front": (0.0, 0.0, 1.0),
    "side": (1.0, 0.0, 0.0),
    "top": (0.0, 1.0, 0.001),  # not quite: straight down, the upward direction is undefined
}
"""Name → direction from the centre of the body to the camera."""
FIELD_OF_VIEW = 40.0
"""Vertical angle of view [degrees]."""
_CAMERA_DISTANCE = 3.8  # in radii of the body
_SHORTER = np.array([38.0, 92.0, 210.0])
_AT_REST = np.array([168.0, 172.0, 180.0])
_LONGER = np.array([200.0, 30.0, 40.0])
_MIN_STRAIN_RANGE = 1e-4


def body_colour(i: int, piece: VisualBody) -> tuple[int, int, int]:
    """Return red, green and blue, 0 to 255, of the i-th body, the same as in pictures."""
    return to_rgb(OBSTACLE if piece.is_obstacle else BODIES[i % len(BODIES)])


def to_rgb(colour: str) -> tuple[int, int, int]:
    """Convert a colour such as "#4a7fb5" to red, green and blue, 0 to 255.

    >>> to_rgb("#ff8000")
    (255, 128, 0)
    """
    red, green, blue = parse_colour(colour).tolist()
    return red, green, blue


def find_obstacles(model: VisualModel) -> Mask:
    """Return which particles belong to obstacles, (n,)."""
    found = np.zeros(model.n, dtype=bool)
    for piece in model.pieces:
        found[piece.start : piece.stop] = piece.is_obstacle
    return found


@dataclass(frozen=True)
class Extent:
    """Bounding sphere of the scene, height of the ground, and size of a cell of its grid.

    centre : [m], (3,); radius, floor, cell : [m]

    >>> extent = Extent.of_points(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]))
    >>> extent.centre.tolist(), extent.radius, extent.cell
    ([1.0, 0.0, 0.0], 1.0, 0.2)
    """

    centre: Float
    radius: float
    floor: float
    cell: float

    @staticmethod
    def of_points(q: Float) -> Extent:
        """Return the extent of positions q [m], (n, 3)."""
        low, high = q.min(axis=0), q.max(axis=0)
        radius = max(float(np.sqrt(((high - low) ** 2).sum())) / 2, 1e-3)
        power = 10.0 ** math.floor(math.log10(radius / 5))
        limit = radius / 5 * (1 + 1e-9)
        cell = max(power * digit for digit in (1.0, 2.0, 5.0) if power * digit <= limit)
        return Extent((low + high) / 2, radius, float(low[1]) - 0.1 * radius, cell)

    def camera_position(self, name: str) -> tuple[float, float, float]:
        """Return the position [m] of one of `CAMERAS`."""
        x, y, z = self.centre + _CAMERA_DISTANCE * self.radius * np.array(CAMERAS[name])
        return float(x), float(y), float(z)


def particle_spacing(q: Float, pairs: Int) -> float:
    """Return a typical distance between particles [m], which sets the size of their markers.

    The median length of the springs (m, 2), within bounds; without springs a share of the body.
    """
    size = float(np.ptp(q, axis=0).max())
    if size <= 0.0:
        size = 1.0
    if not len(pairs):
        return size / max(2.0, math.sqrt(len(q)))
    d = q[pairs[:, 1]] - q[pairs[:, 0]]
    median = float(np.median(np.sqrt(np.einsum("ij,ij->i", d, d))))
    return min(max(median, 0.01 * size), 0.15 * size)


def make_octahedron(radius: float) -> tuple[Float, Int]:
    """Return vertices (6, 3) and faces (8, 3), which face outwards."""
    corners = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    return radius * np.array(corners, dtype=np.float64), np.array(faces)


def make_ball(radius: float) -> tuple[Float, Int]:
    """Return vertices (18, 3) and faces (32, 3): an octahedron with each face cut into four."""
    points, faces = make_octahedron(1.0)
    vertices, triangles = [tuple(p) for p in points], []
    for a, b, c in faces:
        midpoints = []
        for i, j in ((a, b), (b, c), (c, a)):
            p = points[i] + points[j]
            p = tuple(p / np.sqrt(p @ p))
            if p not in vertices:
                vertices.append(p)
            midpoints.append(vertices.index(p))
        ab, bc, ca = midpoints
        triangles += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    return radius * np.array(vertices), np.array(triangles)


@dataclass(frozen=True, eq=False)
class Springs:
    """Springs to draw.

    pairs : particles, (m, 2); rest : rest lengths [m], (m,); laws : name → its part of these
    """

    pairs: Int
    rest: Float
    laws: Mapping[str, slice]

    def __len__(self) -> int:
        return len(self.pairs)

    def find_intact(self, active: Mapping[str, Mask]) -> Mask:
        """Return which springs are not torn, (m,); active : masks of a snapshot."""
        mask = np.ones(len(self.pairs), dtype=bool)
        for name, part in self.laws.items():
            if name in active:
                mask[part] = active[name]
        return mask

    def strains(self, q: Float) -> Float:
        """Return l/l₀ - 1 of each spring, (m,), at positions q [m], (n, 3)."""
        d = q[self.pairs[:, 1]] - q[self.pairs[:, 0]]
        return np.sqrt(np.einsum("ij,ij->i", d, d)) / self.rest - 1.0


def collect_springs(system: System) -> Springs:
    """Collect the elements of a system with two particles and a positive rest length.

    >>> import taut
    >>> spring = taut.laws.spring([[0, 1]], k=1.0)
    >>> rope = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[spring])
    >>> collect_springs(rope).strains(np.array([[0.0, 0, 0], [1.5, 0, 0]])).tolist()
    [0.5]
    """
    pairs: list[Int] = [np.empty((0, 2), np.int64)]
    rest: list[Float] = [np.empty(0)]
    laws: dict[str, slice] = {}
    start = 0
    for name, placed in system._placed_energies.items():
        if placed.particles != 2 or "l0" not in placed.parameters.constant:
            continue
        lengths = np.broadcast_to(placed.parameters.constant["l0"], len(placed.elements))
        if not (lengths > 0.0).all():
            continue
        pairs.append(placed.elements)
        rest.append(np.array(lengths))
        laws[name] = slice(start, start + len(lengths))
        start += len(lengths)
    return Springs(np.concatenate(pairs), np.concatenate(rest), laws)


def collect_lines(model: VisualModel) -> Springs:
    """Collect the lines of the meshes as springs, for a model whose laws are not known."""
    pairs: list[Int] = [np.empty((0, 2), np.int64)]
    rest: list[Float] = [np.empty(0)]
    for piece in model.pieces:
        if piece.embedding is None and len(piece.lines):
            d = piece.mesh.positions[piece.lines[:, 1]] - piece.mesh.positions[piece.lines[:, 0]]
            lengths = np.sqrt(np.einsum("ij,ij->i", d, d))
            kept = lengths > 0.0
            pairs.append(piece.lines[kept] + piece.start)
            rest.append(lengths[kept])
    return Springs(np.concatenate(pairs), np.concatenate(rest), {})


def round_up(value: float) -> float:
    """Return the least of …, 0.5, 1, 2, 5, 10, … that is not below a value ≥ 0; 0 stays 0.

    >>> round_up(0.013), round_up(5.0), round_up(0.0)
    (0.02, 5.0, 0.0)
    """
    if value == 0.0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * digit for digit in (1.0, 2.0, 5.0, 10.0) if power * digit >= value)


class StrainColours:
    """Maps strains to colours, in a range that grows as needed.

    limit : the strain at which the colours end

    >>> colours = StrainColours()
    >>> colours.include(np.array([-0.013, 0.002]))
    >>> colours.limit
    0.013
    """

    def __init__(self) -> None:
        self.limit = _MIN_STRAIN_RANGE

    def include(self, strains: Float) -> None:
        """Extend the range to include strains, (m,)."""
        most = float(np.abs(strains).max(initial=0.0))
        if math.isfinite(most) and most > self.limit:
            self.limit = most

    def map(self, strains: Float) -> Bytes:
        """Return red, green and blue, 0 to 255, of each strain, (m, 3); extend the range first."""
        self.include(strains)
        s = np.clip(np.nan_to_num(strains / self.limit), -1.0, 1.0)[:, None]
        shorter = _AT_REST + (_SHORTER - _AT_REST) * -s
        longer = _AT_REST + (_LONGER - _AT_REST) * s
        return np.where(s < 0.0, shorter, longer).astype(np.uint8)
