"""Which pairs of primitives are near, but for those that do not touch, and their gaps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int, Mask
from taut.collision.proximity import Candidates, ProximityList
from taut.jit.compile import kernels
from taut.system.contact import Contact, Plane

# ε² in units of range·(range + thickness) (see `edge_edge_contact`). As one edge turns against
# another, the closest points go from end to end while the gap at the ends changes by ε²/distance:
# with less, barriers of thick edges have a kink that Newton's method does not get over.
_SMOOTHING = 0.01

Features = NDArray[np.int8]
"""Which features of pairs are closest, (m,): see `taut.collision.distance_kernels`."""


class NearPairs:
    """Lists of near pairs, and their distances.

    contact : resolved (see `taut.system.contact.resolve`)
    movable : whether each particle can move, (n,)
    radius : half the thickness of each particle [m], (n,)
    """

    def __init__(self, contact: Contact, movable: Mask) -> None:
        assert contact.range is not None
        assert not isinstance(contact.thickness, Mapping), "resolved contacts have numbers"
        self.contact, self.movable, self._range = contact, movable, contact.range
        self.radius = np.broadcast_to(contact.thickness / 2.0, len(movable))
        # Smoothed edges of no thickness reach farthest beyond theirs.
        reach = contact.range + float(self.smooth(np.zeros(1), np.zeros(1))[1][0])
        self._near = ProximityList(contact.primitives, movable, reach, radius=self.radius)
        self._kept: tuple[Candidates, Candidates] | None = None

    def forget(self) -> None:
        """Forget the lists: what is found next depends on its positions alone."""
        self._near.forget()

    def find(self, x: Float) -> Candidates:
        """Return the pairs that are near at positions x [m], (n, 3)."""
        return self.exclude(self._near.find_near(x))

    def find_between(self, x: Float, end: Float) -> Candidates:
        """Return the pairs that may meet on straight ways from x to end [m], (n, 3)."""
        return self.exclude(self._near.find_between(x, end))

    def find_least_gap(self, x: Float) -> float:
        """Return the least gap of near pairs and of planes at x, (n, 3), or infinity [m]."""
        gaps = self.measure(x, self.find(x))[0]
        least = min(float(own.min(initial=np.inf)) for own in gaps)
        for _, _, heights in self.measure_planes(x):
            least = min(least, float(heights.min(initial=np.inf)))
        return least

    def measure(
        self, x: Float, near: Candidates
    ) -> tuple[tuple[Float, Float], tuple[Float, Float], tuple[Features, Features]]:
        """Return gaps [m], thicknesses [m] and closest features: points and triangles; edges."""
        loops = kernels("taut.collision.distance_kernels")
        m, edges = len(near.point_triangle), near.edge_edge
        thickness, edge_thickness = self.find_thickness(near)
        distances, features = np.empty(m), np.empty(m, dtype=np.int8)
        loops.measure_points_and_triangles(x, near.point_triangle, distances, features)
        edge_distances = np.empty(len(edges))
        edge_features = np.empty(len(edges), dtype=np.int8)
        squares, edge_thickness = self.smooth(edge_thickness, near.loose)
        loops.measure_edges(x, edges, squares, edge_distances, edge_features)
        gaps = (distances - thickness, edge_distances - edge_thickness)
        return gaps, (thickness, edge_thickness), (features, edge_features)

    def measure_planes(self, x: Float) -> list[tuple[Plane, Int, Float]]:
        """Return each plane, the particles that it stops, and their gaps [m] at x, (n, 3)."""
        return [
            (plane, points, plane.measure_gaps(x[points]) - self.radius[points])
            for plane, points in zip(self.contact.planes, self._points_at_planes, strict=True)
        ]

    @cached_property
    def _points_at_planes(self) -> list[Int]:
        """The particles that each plane stops: those that can move and are not exempt."""
        every = []
        for plane in range(len(self.contact.planes)):
            points = self.contact.primitives.points[self.movable[self.contact.primitives.points]]
            for one, other in self.contact.exempt:
                for group, wall in ((one, other), (other, one)):
                    if wall.has_plane(plane):
                        points = points[~group.mask(len(self.movable))[points]]
            every.append(points)
        return every

    def smooth(self, thickness: Float, loose: Float | Int) -> tuple[Float, Float]:
        """Return ε² of edges [m²], and the √F at which they touch [m]: no nearer than they must.

        loose : how many edges of each pair are points: F is exact in their parameter, which is ½
        """
        squares = _SMOOTHING * self._range * (self._range + thickness)
        return squares, np.sqrt(thickness**2 + squares * (0.5 - 0.25 * loose))

    def differentiate_smoothing(self, near: Candidates, thickness: Float) -> tuple[Float, Float]:
        """Return the derivatives by the range of what `smooth` returns, of near edges.

        thickness : √F at which they touch [m]
        """
        squares = _SMOOTHING * (2.0 * self._range + self.find_thickness(near)[1])
        part = 0.5 - 0.25 * near.loose
        return part * squares / (2.0 * np.maximum(thickness, np.finfo(float).tiny)), squares

    def find_thickness(self, candidates: Candidates) -> tuple[Float, Float]:
        """Return the distances at which pairs touch [m]: points and triangles; edges."""
        return candidates.thickness(self.radius)

    def exclude(self, found: Candidates) -> Candidates:
        """Return candidates without neighbours and those that are exempt."""
        if not self._exempt and not len(self.contact.neighbours):
            return found
        if self._kept is None or self._kept[0] is not found:
            pairs, edges, m = found.point_triangle, found.edge_edge, len(found.point_triangle)
            near = np.isin(found.keys, self.contact.neighbours)
            first = ~near[:m] & ~self.is_exempt(pairs[:, :1], pairs[:, 1:])
            second = ~near[m:] & ~self.is_exempt(edges[:, :2], edges[:, 2:])
            keys = found.keys[np.concatenate([first, second])]
            kept = Candidates(pairs[first], edges[second], found.loose[second], keys)
            self._kept = (found, kept)
        return self._kept[1]

    def is_exempt(self, first: Int, second: Int) -> Mask:
        """Whether each pair of two sides, (m, s) each, is exempt from contact."""
        exempt = np.zeros(len(first), dtype=bool)
        for one, other in self._exempt:
            exempt |= one[first].any(axis=1) & other[second].any(axis=1)
            exempt |= other[first].any(axis=1) & one[second].any(axis=1)
        return exempt

    @cached_property
    def _exempt(self) -> list[tuple[Mask, Mask]]:
        """For each exempt pair of groups, whether each particle is in the one and in the other."""
        n = len(self.movable)
        return [(one.mask(n), other.mask(n)) for one, other in self.contact.exempt]
