"""Where to look from, so that everything is in the picture.

A camera looks from e = c + d·f at c, f the unit vector towards it, r to the right and u upwards. A point x = c + p appears at

    (r·p, u·p) / ((d - f·p) tan α)      α half the vertical angle of view; ±1 is the upper edge, ±a the right one (a = width/height)

so that it lies within a share m of the picture for d ≥ f·p + |u·p|/(m tan α) and d ≥ f·p + |r·p|/(m a tan α): the largest of these
over all points frames them. c is moved until the picture is centred.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, did_you_mean

Float = NDArray[np.float64]
ANGLE = 28.0  # vertical angle of view [degrees]
VIEWS = {"three-quarter": (35.0, 22.0), "front": (0.0, 0.0), "side": (90.0, 0.0), "top": (0.0, 89.9)}
"""Name → azimuth (from z towards x) and elevation [degrees]."""
_WAYS = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)])


@dataclass(frozen=True, eq=False)
class Camera:
    """A place to look from: `eye` [m] and `target` [m], both (3,); `angle` is the vertical angle of view [degrees]; y is up.

    >>> camera = Camera(np.array([0.0, 0.0, 10.0]), np.zeros(3), angle=90.0)
    >>> camera.project(np.array([[0.0, 5.0, 0.0]]), (200, 100)).round(9)
    array([[100.,  25.]])
    """

    eye: Float
    target: Float
    angle: float = ANGLE

    def axes(self) -> tuple[Float, Float, Float]:
        """Right, up, and towards the camera, unit vectors (3,)."""
        towards = (self.eye - self.target) / np.linalg.norm(self.eye - self.target)
        right = np.cross((0.0, 1.0, 0.0), towards)
        right /= np.linalg.norm(right)
        return right, np.cross(towards, right), towards

    def project(self, points: Float, size: tuple[int, int]) -> Float:
        """Where points (n, 3) [m] are in a picture of this width and height: pixels from the upper left corner, (n, 2)."""
        right, up, towards = self.axes()
        p = points - self.target
        depth = (np.linalg.norm(self.eye - self.target) - p @ towards) * math.tan(math.radians(self.angle) / 2)
        width, height = size
        return np.column_stack([width / 2 + p @ right / depth * height / 2, height / 2 - p @ up / depth * height / 2])


def view(name: str) -> tuple[float, float]:
    """Azimuth and elevation [degrees] of a view by its name.

    >>> view("side")
    (90.0, 0.0)
    """
    if name not in VIEWS:
        raise ModelError(f"there is no camera '{name}'; there are {', '.join(VIEWS)}{did_you_mean(name, VIEWS)}")
    return VIEWS[name]


def extremes(points: Float) -> Float:
    """The points that are outermost in 26 directions, (k, 3): they frame all of them nearly as all would."""
    return points[np.unique(np.argmax(points @ _WAYS.T, axis=0))]


def framing(points: Float, azimuth: float, elevation: float, *, aspect: float, fill: float = 0.86, free: float = 0.0) -> Camera:
    """The nearest camera in a direction [degrees] that has all points (n, 3) [m] in the picture, centred.

    aspect : width by height; fill : share of width and height that they take up at most
    free : share of the width that is left free at the right side

    >>> points = np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]])
    >>> framing(points, 0.0, 0.0, aspect=2.0, fill=0.5).project(points, (200, 100)).round(6).tolist()
    [[75.0, 75.0], [125.0, 25.0]]
    """
    a, b = math.radians(azimuth), math.radians(elevation)
    towards = np.array([math.sin(a) * math.cos(b), math.sin(b), math.cos(a) * math.cos(b)])
    target = (points.min(axis=0) + points.max(axis=0)) / 2
    slope = math.tan(math.radians(ANGLE) / 2)
    least = 1e-3 * max(1.0, float(np.abs(points).max()))  # for a single point
    camera = Camera(target + towards, target)
    for _ in range(6):  # each time the centre is nearer to the middle; three are enough to see no difference
        right, up, _ = camera.axes()
        p = points - target
        need = np.maximum(np.abs(p @ up), np.abs(p @ right) / (aspect * (1 - free))) / (fill * slope)
        distance = max(float((p @ towards + need).max()), least)
        camera = Camera(target + distance * towards, target)
        seen = camera.project(points, (2, 2)) - 1.0
        middle = (seen.min(axis=0) + seen.max(axis=0)) / 2
        target = target + (middle[0] * right - middle[1] * up) * distance * slope
    aside = aspect * free * float(np.linalg.norm(camera.eye - camera.target)) * slope * camera.axes()[0]
    return Camera(camera.eye + aside, camera.target + aside)
