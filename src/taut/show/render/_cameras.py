"""Cameras which keep everything in the picture.

A camera looks from e = c + d·f at the target c, with f the unit vector from the target to the
camera, r to the right and u upwards. A point x = c + p appears at

    (r·p, u·p) / ((d - f·p) tan α)

where α is half the vertical angle of view; ±1 is the upper or lower edge of the picture, ±a the
right or left one, a = width/height. The point lies within a share m of the picture if

    d ≥ f·p + |u·p|/(m tan α)   and   d ≥ f·p + |r·p|/(m a tan α).

The largest of these distances over all points frames them. The target is then moved until the
picture is centred.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from taut.arrays import Float, Mask
from taut.errors import ModelError, did_you_mean
from taut.run.open_run import Run
from taut.show.render._fields import Field, value_range, visible_values
from taut.show.visual_model import VisualModel

VERTICAL_ANGLE = 28.0
"""Vertical angle of view [degrees]."""
VIEWS = {
    "three-quarter": (35.0, 22.0),
    "front": (0.0, 0.0),
    "side": (90.0, 0.0),
    "top": (0.0, 89.9),  # at 90 the upward direction y would be parallel to the line of sight
}
"""Name → azimuth (from z towards x) and elevation [degrees]."""
_DIRECTIONS = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)])

ReportProgress = Callable[[str, int, int], None]
"""Called with the name of the task, the number of frames done, and their total."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A perspective camera with y up.

    eye, target : where it is and what it looks at [m], both (3,)
    angle : vertical angle of view [degrees]

    >>> camera = Camera(np.array([0.0, 0.0, 10.0]), np.zeros(3), angle=90.0)
    >>> camera.project(np.array([[0.0, 5.0, 0.0]]), (200, 100)).round(9)
    array([[100.,  25.]])
    """

    eye: Float
    target: Float
    angle: float = VERTICAL_ANGLE

    def axes(self) -> tuple[Float, Float, Float]:
        """Return the unit vectors to the right, upwards, and towards the camera, each (3,)."""
        towards = (self.eye - self.target) / np.linalg.norm(self.eye - self.target)
        right = np.cross((0.0, 1.0, 0.0), towards)
        right /= np.linalg.norm(right)
        return right, np.cross(towards, right), towards

    def project(self, points: Float, size: tuple[int, int]) -> Float:
        """Project points to pixels, (n, 2), counted from the upper left corner.

        points : [m], (n, 3); size : width and height of the picture [pixels]
        """
        right, up, towards = self.axes()
        p = points - self.target
        slope = math.tan(math.radians(self.angle) / 2)
        depth = (np.linalg.norm(self.eye - self.target) - p @ towards) * slope
        width, height = size
        column = width / 2 + p @ right / depth * height / 2
        row = height / 2 - p @ up / depth * height / 2
        return np.column_stack([column, row])


def look_up_view(name: str) -> tuple[float, float]:
    """Return azimuth and elevation [degrees] of a named view.

    >>> look_up_view("side")
    (90.0, 0.0)
    """
    if name not in VIEWS:
        raise ModelError(
            f"unknown camera '{name}'; choose one of {', '.join(VIEWS)}{did_you_mean(name, VIEWS)}"
        )
    return VIEWS[name]


def frame_points(
    points: Float,
    azimuth: float,
    elevation: float,
    *,
    aspect: float,
    fill: float = 0.86,
    right_margin: float = 0.0,
) -> Camera:
    """Place a camera as close as possible with all points in the picture, centred.

    points : [m], (n, 3); azimuth, elevation : the direction to look from [degrees]
    aspect : width / height; fill : largest share of width and height that the points take up
    right_margin : share of the width that stays empty on the right

    >>> points = np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]])
    >>> camera = frame_points(points, 0.0, 0.0, aspect=2.0, fill=0.5)
    >>> camera.project(points, (200, 100)).round(6).tolist()
    [[75.0, 75.0], [125.0, 25.0]]
    """
    a, b = math.radians(azimuth), math.radians(elevation)
    towards = np.array([math.sin(a) * math.cos(b), math.sin(b), math.cos(a) * math.cos(b)])
    target = (points.min(axis=0) + points.max(axis=0)) / 2
    slope = math.tan(math.radians(VERTICAL_ANGLE) / 2)
    # A single point needs no distance at all; this keeps the camera away from it.
    min_distance = 1e-3 * max(1.0, float(np.abs(points).max()))
    camera = Camera(target + towards, target)
    # Centring changes the distance that is needed, so both are repeated. Three rounds leave no
    # visible difference; six are on the safe side.
    for _ in range(6):
        right, up, _ = camera.axes()
        p = points - target
        half_size = np.maximum(np.abs(p @ up), np.abs(p @ right) / (aspect * (1 - right_margin)))
        distance = max(float((p @ towards + half_size / (fill * slope)).max()), min_distance)
        camera = Camera(target + distance * towards, target)
        projected = camera.project(points, (2, 2)) - 1.0
        middle = (projected.min(axis=0) + projected.max(axis=0)) / 2
        target = target + (middle[0] * right - middle[1] * up) * distance * slope
    distance = float(np.linalg.norm(camera.eye - camera.target))
    shift = aspect * right_margin * distance * slope * camera.axes()[0]
    return Camera(camera.eye + shift, camera.target + shift)


@dataclass(frozen=True, eq=False)
class RunExtent:
    """Extent of a run in time, space and colour.

    times : of all frames [s], (f,)
    extreme_points : outermost points of each frame [m], (k, 3), without bits that have left
    centroids : of the main parts in each frame [m], (3,)
    low, high : range of the colours, in the unit of the field
    """

    times: Float
    extreme_points: list[Float]
    centroids: list[Float]
    low: float
    high: float

    @property
    def signed(self) -> bool:
        """Whether zero is in the middle of the colours."""
        return self.low == -self.high

    @property
    def flat(self) -> bool:
        """Whether everything stays in a plane z = const."""
        points = np.concatenate(self.extreme_points)
        z = points[:, 2]
        return bool(np.ptp(z) == 0.0 and len(z) > 1 and np.ptp(points) > 0.0)


def measure_run(
    run: Run, model: VisualModel, field: Field | None, report: ReportProgress
) -> RunExtent:
    """Read all frames of a run once and return their extent.

    field : the quantity that colours show, or None
    """
    times: list[float] = []
    extreme_points: list[Float] = []
    centroids: list[Float] = []
    total = len(run.frames)
    is_main = _find_main_points(model)
    nearby = _Nearby(np.concatenate([p.positions(run.frames[0].q) for p in model.pieces]))

    def measure_frames() -> Iterator[list[Float]]:
        for frame in run.frames[:total]:
            x = np.concatenate([piece.positions(frame.q) for piece in model.pieces])
            times.append(frame.t)
            extreme_points.append(_extreme_points(x[is_main | nearby.contains(x)]))
            centroids.append(x[is_main].mean(axis=0))
            report("measuring", len(times), total)
            if field is None:
                yield [np.empty(0)]
            else:
                yield visible_values(field, model.pieces, frame)

    low, high = value_range(measure_frames(), signed=field is not None and field.signed)
    return RunExtent(np.array(times), extreme_points, centroids, low, high)


def _find_main_points(model: VisualModel) -> Mask:
    """Return which drawn points belong to main parts, (n,): not to bits such as torn-off buttons.

    Main parts have at least half as many points as the largest one.
    """
    counts = []
    for piece in model.pieces:
        component = piece.mesh.components
        counts.append(np.bincount(component)[component])
    count = np.concatenate(counts)
    main: Mask = count >= count.max() / 2
    return main


class _Nearby:
    """The box around the first frame, larger by its diagonal on all sides: what leaves it and is
    no main part would make everything else small, and is not framed."""

    def __init__(self, first: Float) -> None:
        low, high = first.min(axis=0), first.max(axis=0)
        margin = float(np.linalg.norm(high - low))
        self.low, self.high = low - margin, high + margin

    def contains(self, points: Float) -> Mask:
        """Return which points [m], (n, 3), are inside, (n,)."""
        inside: Mask = ((points >= self.low) & (points <= self.high)).all(axis=1)
        return inside


def _extreme_points(points: Float) -> Float:
    """Return the outermost points in 26 directions, (k, 3).

    They frame the picture nearly as all points would, and a long run keeps few of them.
    """
    return points[np.unique(np.argmax(points @ _DIRECTIONS.T, axis=0))]


def place_cameras(
    extent: RunExtent,
    frames: Sequence[int],
    azimuth: float,
    elevation: float,
    *,
    turntable: float,
    follow: bool,
    **framing: float,
) -> list[Camera]:
    """Place a camera for each picture, all at the same distance from their targets.

    frames : the frame of each picture; azimuth, elevation : of the first camera [degrees]
    turntable : angle of the whole turn [degrees]; follow : let the target move with the centroid
    framing : options of `frame_points`
    """
    origin = extent.centroids[frames[0]]
    points = extent.extreme_points
    if follow:
        points = [x - c + origin for x, c in zip(points, extent.centroids, strict=True)]
    all_points = np.concatenate(points)
    turns = [turntable * k / len(frames) for k in range(len(frames))]
    framed = {
        turn: frame_points(all_points, azimuth + turn, elevation, **framing) for turn in turns
    }
    # One distance for all pictures, the largest: bodies must not seem to grow and shrink.
    distance = max(float(np.linalg.norm(camera.eye - camera.target)) for camera in framed.values())
    cameras = []
    for turn, i in zip(turns, frames, strict=True):
        target = framed[turn].target
        if follow:
            target = target + (extent.centroids[i] - origin)
        cameras.append(Camera(target + distance * framed[turn].axes()[2], target))
    return cameras
