"""The winding number of points in a closed surface, by counting crossings along a ray.

A ray in a fixed direction leaves through faces turned along it and enters through faces turned
against it; the difference is how often the surface winds about its start. Seen along the ray, a
triangle covers the start when, on the line v = const through it, one of the two sides which that
line crosses is to the right of the start and one is not. Each side is evaluated in the same way for
both of its triangles, so a ray through an edge or a corner is counted neither twice nor not at all,
and a point with all of the surface on one side of it has the number zero.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.topology import count_up, ranges

_MAX_BINS = 512  # along each side of the grid that finds the triangles in front of a point
_MAX_PAIRS = 1 << 18  # of points and triangles compared at a time: it bounds the memory


class Winding:
    """The winding number of a closed surface, consistently oriented.

    points : [m], shape (n, 3)
    triangles : shape (m, 3), m > 0, each edge run through as often in one direction as in the other

    >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    >>> Winding(corners, faces).at(np.array([[0.1, 0.1, 0.1], [1.0, 1, 1]]))[0]
    array([1, 0])
    """

    def __init__(self, points: Float, triangles: Int) -> None:
        x = points @ _choose_rotation()
        start, end = triangles, np.roll(triangles, -1, axis=1)
        # By index, so that a side has the same ends, and the same rounding, from both triangles.
        self._first = x[np.minimum(start, end)]
        self._last = x[np.maximum(start, end)]
        self._forwards = start < end
        corners = x[triangles, :2]
        # Rounding may put a point of a side just beyond its ends.
        self._margin = 1e-12 * np.ptp(corners, axis=(0, 1)).max()
        self._low, self._high = (
            corners.min(axis=1) - self._margin,
            corners.max(axis=1) + self._margin,
        )
        self._origin, self._end = self._low.min(axis=0), self._high.max(axis=0)
        self._bins = min(int(np.sqrt(len(triangles))) + 1, _MAX_BINS)
        while not self._fill():
            self._bins //= 2

    def _fill(self) -> bool:
        """List the triangles that overlap each bin of the grid; False if they are too many."""
        most = 10 * len(self._low) + _MAX_PAIRS
        low, high = self._bin(self._low), self._bin(self._high)
        tall = high[:, 1] - low[:, 1] + 1
        if tall.sum() > most and self._bins > 1:
            return False
        triangle = np.repeat(np.arange(len(low)), tall)
        row = low[triangle, 1] + count_up(tall)
        left, right = self._columns(triangle, row)
        wide = right - left + 1
        if wide.sum() > most and self._bins > 1:
            return False
        key = ranges(left, wide) * self._bins + np.repeat(row, wide)
        self._triangle = np.repeat(triangle, wide)[np.argsort(key, kind="stable")]
        self._start = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=self._bins**2))])
        return True

    def _columns(self, triangle: Int, row: Int) -> tuple[Int, Int]:
        """First and last column that each triangle overlaps within a row."""
        first, last = self._first[triangle, :, :2], self._last[triangle, :, :2]
        height = (self._end[1] - self._origin[1]) / self._bins
        bottom = (self._origin[1] + row * height - self._margin)[:, None]
        top = bottom + height + 2 * self._margin
        rise = last[:, :, 1] - first[:, :, 1]
        steep = np.abs(rise) > self._margin  # a level side is not cut off
        parts = [
            ((v - first[:, :, 1]) / np.where(steep, rise, 1.0)).clip(0.0, 1.0)
            for v in (bottom, top)
        ]
        u = np.stack(
            [
                first[:, :, 0] + np.where(steep, part, side) * (last - first)[:, :, 0]
                for side, part in enumerate(parts)
            ]
        )
        here = (np.maximum(first, last)[:, :, 1] >= bottom) & (
            np.minimum(first, last)[:, :, 1] <= top
        )
        low, high = (
            np.where(here, u, np.inf).min(axis=(0, 2)),
            np.where(here, u, -np.inf).max(axis=(0, 2)),
        )
        ends = np.stack([low - self._margin, high + self._margin]).clip(
            self._origin[0], self._end[0]
        )
        column = self._bin(
            np.stack([ends, np.broadcast_to(self._origin[1], ends.shape)], axis=-1).reshape(-1, 2)
        )[:, 0]
        return column[: len(row)], column[len(row) :]

    def _bin(self, x: Float) -> Int:
        return (
            ((x[:, :2] - self._origin) / (self._end - self._origin) * self._bins)
            .astype(np.int64)
            .clip(0, self._bins - 1)
        )

    def at(self, points: Float) -> tuple[Int, Float]:
        """Winding numbers about points [m], (m, 3), and distances to the surface along the ray [m].

        Shapes (m,). The number is 0 outside. The distance is infinite where the line of the ray
        misses the surface.
        """
        x = points @ _choose_rotation()
        column, row = self._bin(x).T
        first = self._start[column * self._bins + row]
        count = self._start[column * self._bins + row + 1] - first
        number, distance = np.zeros(len(x), np.int64), np.full(len(x), np.inf)
        ends = np.searchsorted(
            np.cumsum(count), np.arange(_MAX_PAIRS, count.sum(), _MAX_PAIRS), side="right"
        )
        for low, high in zip([0, *ends], [*ends, len(x)], strict=True):
            some = slice(low, high)
            point = np.repeat(np.arange(low, high), count[some])
            triangle = self._triangle[ranges(first[some], count[some])]
            point, ahead, turn = self._find_hits(x, point, triangle)
            np.add.at(number, point, np.where(ahead > 0, turn, 0))
            np.minimum.at(distance, point, np.abs(ahead))
        return number, distance

    def _find_hits(self, x: Float, point: Int, triangle: Int) -> tuple[Int, Float, Int]:
        """Return point, distance ahead and orientation ±1 of each triangle that a ray hits."""
        p = x[point, :2]
        near = ((self._low[triangle] <= p) & (p <= self._high[triangle])).all(axis=1)
        point, triangle = point[near], triangle[near]
        p, first, last = x[point][:, None], self._first[triangle], self._last[triangle]
        below, above = first[:, :, 1] <= p[:, :, 1], last[:, :, 1] <= p[:, :, 1]
        crossed = below != above  # two of the three sides, or none
        part = (p[:, :, 1] - first[:, :, 1]) / np.where(
            crossed, last[:, :, 1] - first[:, :, 1], 1.0
        )
        u = first[:, :, 0] + part * (last[:, :, 0] - first[:, :, 0])
        right = crossed & (u > p[:, :, 0])
        covers = np.flatnonzero(right.sum(axis=1) == 1)
        right, left = right[covers].argmax(axis=1), (crossed & ~right)[covers].argmax(axis=1)
        w = first[:, :, 2] + part * (last[:, :, 2] - first[:, :, 2])
        between = (p[covers, 0, 0] - u[covers, left]) / (u[covers, right] - u[covers, left])
        height = w[covers, left] + (w[covers, right] - w[covers, left]) * between
        upwards = below[covers, right] == self._forwards[triangle[covers], right]
        return point[covers], height - p[covers, 0, 2], np.where(upwards, 1, -1)


def _choose_rotation() -> Float:
    """A rotation to coordinates (u, v, w), w along the ray, oblique to axis-aligned geometry."""
    (a, b), (c, d) = np.array([[0.6, 0.8], [5 / 13, 12 / 13]])
    return np.array([[a, -b, 0.0], [b, a, 0.0], [0.0, 0.0, 1.0]]) @ np.array(
        [[1.0, 0.0, 0.0], [0.0, c, -d], [0.0, d, c]]
    )
