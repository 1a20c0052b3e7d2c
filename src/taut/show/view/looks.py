"""Shapes and places of what is drawn: markers, colours, where the eye stands."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.show.colours import BODIES, bytes_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]
PRESETS = {
    "three-quarter": (0.55, 0.35, 0.76), "front": (0.0, 0.0, 1.0), "side": (1.0, 0.0, 0.0), "top": (0.0, 1.0, 0.001),
}  # fmt: skip
"""Where the eye stands, seen from the middle of the body."""
SKY = "/sky"  # the node of the light from all around
FIELD = 40.0  # degrees that the eye sees, from below to above
AWAY = 3.8  # radii of the body


def colour(i: int) -> tuple[int, int, int]:
    """Red, green and blue, from 0 to 255, of the i-th body: that of its pictures.

    >>> colour(0)
    (90, 146, 203)
    """
    return rgb(BODIES[i % len(BODIES)])


def rgb(colour: str) -> tuple[int, int, int]:
    """A colour such as "#4a7fb5" as red, green and blue.

    >>> rgb("#ff8000")
    (255, 128, 0)
    """
    red, green, blue = bytes_of(colour).tolist()
    return red, green, blue


@dataclass(frozen=True)
class Eye:
    """The middle of a body [m], its radius, the height of the ground and the size of its cells.

    >>> eye = Eye.on(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]))
    >>> eye.centre.tolist(), eye.radius, eye.cell
    ([1.0, 0.0, 0.0], 1.0, 0.2)
    """

    centre: Float
    radius: float
    floor: float
    cell: float

    @staticmethod
    def on(q: Float) -> Eye:
        """For positions (n, 3) [m]."""
        low, high = q.min(axis=0), q.max(axis=0)
        radius = max(float(np.sqrt(((high - low) ** 2).sum())) / 2, 1e-3)
        power = 10.0 ** math.floor(math.log10(radius / 5))
        cell = max(power * digit for digit in (1.0, 2.0, 5.0) if power * digit <= radius / 5 * (1 + 1e-9))
        return Eye((low + high) / 2, radius, float(low[1]) - 0.1 * radius, cell)

    def preset(self, name: str) -> tuple[float, float, float]:
        """Where the eye stands [m] for one of `PRESETS`."""
        x, y, z = self.centre + AWAY * self.radius * np.array(PRESETS[name])
        return float(x), float(y), float(z)


def spacing(q: Float, pairs: Int) -> float:
    """How far particles are apart [m]: the median length of the springs (m, 2), or a share of the body."""
    size = float(np.ptp(q, axis=0).max())
    size = size if size > 0.0 else 1.0
    if not len(pairs):
        return size / max(2.0, math.sqrt(len(q)))
    d = q[pairs[:, 1]] - q[pairs[:, 0]]
    return min(max(float(np.median(np.sqrt(np.einsum("ij,ij->i", d, d)))), 0.01 * size), 0.15 * size)


def jewel(radius: float) -> tuple[Float, Int]:
    """An octahedron: vertices (6, 3) and faces (8, 3)."""
    vertices = radius * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=np.float64)
    faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    return vertices, np.array(faces)


def ball(radius: float) -> tuple[Float, Int]:
    """A sphere of 32 triangles, an octahedron with its faces cut in four."""
    points, faces = jewel(1.0)
    vertices, triangles = [tuple(p) for p in points], []
    for a, b, c in faces:
        middles = []
        for i, j in ((a, b), (b, c), (c, a)):
            p = points[i] + points[j]
            p = tuple(p / np.sqrt(p @ p))
            middles.append(vertices.index(p) if p in vertices else len(vertices))
            if p not in vertices:
                vertices.append(p)
        ab, bc, ca = middles
        triangles += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    return radius * np.array(vertices), np.array(triangles)
