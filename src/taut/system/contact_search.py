"""Which pairs are near just now, as terms of an assembly, and how far bodies can move."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int, Mask
from taut.binding.compiled_law import CompiledLaw
from taut.collision.crossings import find_crossings
from taut.collision.intersections import find_enclosed, find_intersections
from taut.collision.proximity import Candidates, ProximityList, find_free_part
from taut.errors import ModelError, SingularState
from taut.jit.compile import kernels
from taut.linalg.blocks import Pattern
from taut.system.contact import Contact, Plane
from taut.system.contact_groups import BodyNames
from taut.system.contact_terms import (
    OF_EDGE_AND_POINT,
    OF_EDGES,
    OF_POINT_AND_TRIANGLE,
    OF_POINTS,
    PLANE,
    ContactTerm,
    TermBuilder,
    compile_laws,
)

# ε² in units of range·(range + thickness) (see `edge_edge_contact`). As one edge turns against
# another, the closest points go from end to end while the gap at the ends changes by ε²/distance:
# with less, barriers of thick edges have a kink that Newton's method does not get over.
_SMOOTHING = 0.01
# Part of the gap to a plane that a move may use up
_PLANE_PART = 0.9
_MAX_NAMED_PAIRS = 5  # in an error
# Pairs nearer than this many ranges join the sparsity pattern when it has to change.
_JOINED_RANGES = 2.0
_KINDS = {1: "particle", 2: "edge", 3: "triangle"}  # by the number of particles

Features = NDArray[np.int8]
"""Which features of pairs are closest, (m,): see `taut.collision.distance_kernels`."""


class ContactSearch:
    """Finds the pairs that are near.

    contact : resolved (see `taut.system.contact.resolve`)
    movable : whether each particle can move, (n,)
    seconds : spent on lists, distances and collision times so far
    stiffening : factor of the stiffness k of the contact; 1, but for a while in a step
    """

    def __init__(self, contact: Contact, movable: Mask) -> None:
        assert contact.range is not None
        self.contact, self._range, self._movable = contact, contact.range, movable
        assert not isinstance(contact.thickness, Mapping), "resolved contacts have numbers"
        self.seconds = 0.0
        self._radius = np.broadcast_to(contact.thickness / 2.0, len(movable))
        # Smoothed edges of no thickness reach farthest beyond theirs.
        self._reach = contact.range + float(self._smooth(np.zeros(1), np.zeros(1))[1][0])
        self._near = ProximityList(contact.primitives, movable, self._reach, radius=self._radius)
        self._kept: tuple[Candidates, Candidates] | None = None
        self._joined = np.empty(0, dtype=np.int64)  # see `_find_joined`
        self._pattern: Pattern | None = None
        self._apart: Float | None = None  # positions that a step has ended with
        self.stiffening = 1.0

    @cached_property
    def _compiled(self) -> list[CompiledLaw]:
        return compile_laws()

    @contextmanager
    def _timed(self) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - begun

    def begin_step(self, x: Float) -> None:
        """Begin a step from positions x [m], (n, 3); raise ModelError if bodies touch there.

        The list of near pairs is rebuilt: what a step computes then depends on its start alone,
        and a resumed run has the same bits.
        """
        with self._timed():
            if self._apart is not x:
                self.require_apart(x)
            self._near.forget()
            self._joined, self._pattern = np.empty(0, dtype=np.int64), None
            self.include(self._find_nearly_active(np.array(x)))

    def end_step(self, x: Float) -> None:
        """Remember the positions x [m], (n, 3), with which a step has ended: nothing touches."""
        self._apart = x

    def require_apart(self, x: Float) -> None:
        """Raise ModelError, with the pairs by name, if bodies touch or intersect at x, (n, 3)."""
        problems = self.describe_problems(np.array(x))
        if problems:
            more = len(problems) - _MAX_NAMED_PAIRS
            named = "; ".join(problems[:_MAX_NAMED_PAIRS])
            rest = f" (and {more} other pairs)" if more > 0 else ""
            raise ModelError(f"bodies in contact must be apart, but {named}{rest}")

    def measure_planes(self, x: Float) -> list[tuple[Plane, Int, Float]]:
        """Return each plane, the particles that it stops, and their gaps [m] at x, (n, 3)."""
        return [
            (plane, points, plane.measure_gaps(x[points]) - self._radius[points])
            for plane, points in zip(self.contact.planes, self._points_at_planes, strict=True)
        ]

    def find_least_gap(self, x: Float) -> float:
        """Return the least gap of near pairs and of planes at x, (n, 3), or infinity [m]."""
        gaps = self._measure(x, self._candidates(self._near.find_near(x)))[0]
        least = min(float(own.min(initial=np.inf)) for own in gaps)
        for _, _, heights in self.measure_planes(x):
            least = min(least, float(heights.min(initial=np.inf)))
        return least

    def describe_problems(self, x: Float) -> list[str]:
        """Return what intersects at positions x [m], (n, 3), else what is inside, else touches."""
        return (
            self._describe_intersections(x)
            or self._describe_inside(x)
            or self._describe_touching(x)
        )

    def describe_crossings(self, x: Float, end: Float) -> list[str]:
        """Return which pairs meet on straight ways from x to end [m], (n, 3)."""
        found = self._candidates(self._near.find_between(x, end))
        describe = BodyNames(self.contact.bodies).describe
        problems = []
        for rows, split in ((found.point_triangle, 1), (found.edge_edge, 2)):
            for row in rows[find_crossings(x, end, rows, split)].tolist():
                one, other = (
                    describe(_KINDS[len(set(side))], side) for side in (row[:split], row[split:])
                )
                problems.append(f"{one} and {other} pass through each other")
        return problems

    def _describe_intersections(self, x: Float) -> list[str]:
        describe = BodyNames(self.contact.bodies).describe
        return [
            f"the {describe('edge', edge)} passes through the {describe('triangle', triangle)}"
            for edge, triangle in zip(*(s.tolist() for s in self.find_crossed(x)), strict=True)
        ]

    def find_crossed(self, x: Float) -> tuple[Int, Int]:
        """Return edges (m, 2) and the triangles (m, 3) through which they pass at x, (n, 3)."""
        edges, triangles = self.contact.primitives.edges, self.contact.primitives.triangles
        found = find_intersections(x, edges, triangles)
        first, second = edges[found[:, 0]], triangles[found[:, 1]]
        # Obstacles may intersect each other.
        keep = self._movable[first].any(axis=1) | self._movable[second].any(axis=1)
        keep &= ~self._is_exempt(first, second)
        return first[keep], second[keep]

    def _describe_touching(self, x: Float) -> list[str]:
        describe = BodyNames(self.contact.bodies).describe
        near = self._candidates(self._near.find_near(x))
        problems = []
        for pairs, gaps, split in zip(
            (near.point_triangle, near.edge_edge), self._measure(x, near)[0], (1, 2), strict=True
        ):
            for i in np.flatnonzero(~(gaps > 0.0)):
                one, other = (
                    describe(_KINDS[len(np.unique(side))], side)
                    for side in (pairs[i, :split].tolist(), pairs[i, split:].tolist())
                )
                problems.append(f"the gap between {one} and {other} is {gaps[i]:.3g} m")
        for plane, points, gaps in self.measure_planes(x):
            problems += [
                f"the gap between {describe('particle', [points[j]])} and {plane.name} is "
                f"{gaps[j]:.3g} m"
                for j in np.flatnonzero(~(gaps > 0.0))
            ]
        return problems

    def _describe_inside(self, x: Float) -> list[str]:
        """Return what is inside of one-sided surfaces."""
        describe = BodyNames(self.contact.bodies).describe
        return [
            f"{describe('particle', [particle])} is inside of '{name}'"
            for name, _, enclosed in self.find_inside(x)
            for particle in enclosed.tolist()
        ]

    def find_inside(self, x: Float) -> list[tuple[str, Int, Int]]:
        """Return name, triangles and enclosed particles of each one-sided surface at x, (n, 3)."""
        found = []
        for name, triangles in self.contact.one_sided:
            points = np.setdiff1d(self.contact.primitives.points, triangles)
            wall = np.broadcast_to(np.unique(triangles), (len(points), len(np.unique(triangles))))
            may = self._movable[points] | self._movable[triangles].any()
            points = points[may & ~self._is_exempt(points[:, None], wall)]
            found.append((name, triangles, points[find_enclosed(x[points], x[triangles])]))
        return found

    @cached_property
    def _points_at_planes(self) -> list[Int]:
        """The particles that each plane stops: those that can move and are not exempt."""
        every = []
        for plane in range(len(self.contact.planes)):
            points = self.contact.primitives.points[self._movable[self.contact.primitives.points]]
            for one, other in self.contact.exempt:
                for group, wall in ((one, other), (other, one)):
                    if wall.has_plane(plane):
                        points = points[~group.mask(len(self._movable))[points]]
            every.append(points)
        return every

    def _is_exempt(self, first: Int, second: Int) -> Mask:
        """Whether each pair of two sides, (m, s) each, is exempt from contact."""
        exempt = np.zeros(len(first), dtype=bool)
        for one, other in self._exempt:
            exempt |= one[first].any(axis=1) & other[second].any(axis=1)
            exempt |= other[first].any(axis=1) & one[second].any(axis=1)
        return exempt

    @cached_property
    def _exempt(self) -> list[tuple[Mask, Mask]]:
        """For each exempt pair of groups, whether each particle is in the one and in the other."""
        n = len(self._movable)
        return [(one.mask(n), other.mask(n)) for one, other in self.contact.exempt]

    def _candidates(self, found: Candidates) -> Candidates:
        """Return candidates without neighbours and those that are exempt."""
        if not self._exempt and not len(self.contact.neighbours):
            return found
        if self._kept is None or self._kept[0] is not found:
            pairs, edges, m = found.point_triangle, found.edge_edge, len(found.point_triangle)
            near = np.isin(found.keys, self.contact.neighbours)
            first = ~near[:m] & ~self._is_exempt(pairs[:, :1], pairs[:, 1:])
            second = ~near[m:] & ~self._is_exempt(edges[:, :2], edges[:, 2:])
            keys = found.keys[np.concatenate([first, second])]
            kept = Candidates(pairs[first], edges[second], found.loose[second], keys)
            self._kept = (found, kept)
        return self._kept[1]

    def _thickness(self, candidates: Candidates) -> tuple[Float, Float]:
        """Return the distances at which pairs touch [m]: points and triangles; edges."""
        return candidates.thickness(self._radius)

    def _smooth(self, thickness: Float, loose: Float | Int) -> tuple[Float, Float]:
        """Return ε² of edges [m²], and the √F at which they touch [m]: no nearer than they must.

        loose : how many edges of each pair are points: F is exact in their parameter, which is ½
        """
        squares = _SMOOTHING * self._range * (self._range + thickness)
        return squares, np.sqrt(thickness**2 + squares * (0.5 - 0.25 * loose))

    def _differentiate_smoothing(self, near: Candidates, thickness: Float) -> tuple[Float, Float]:
        """Return the derivatives by the range of what `_smooth` returns, of near edges.

        thickness : √F at which they touch [m]
        """
        squares = _SMOOTHING * (2.0 * self._range + self._thickness(near)[1])
        part = 0.5 - 0.25 * near.loose
        return part * squares / (2.0 * np.maximum(thickness, np.finfo(float).tiny)), squares

    def _measure(
        self, x: Float, near: Candidates
    ) -> tuple[tuple[Float, Float], tuple[Float, Float], tuple[Features, Features]]:
        """Return gaps [m], thicknesses [m] and closest features: points and triangles; edges."""
        loops = kernels("taut.collision.distance_kernels")
        m, edges = len(near.point_triangle), near.edge_edge
        thickness, edge_thickness = self._thickness(near)
        distances, features = np.empty(m), np.empty(m, dtype=np.int8)
        loops.measure_points_and_triangles(x, near.point_triangle, distances, features)
        edge_distances = np.empty(len(edges))
        edge_features = np.empty(len(edges), dtype=np.int8)
        squares, edge_thickness = self._smooth(edge_thickness, near.loose)
        loops.measure_edges(x, edges, squares, edge_distances, edge_features)
        gaps = (distances - thickness, edge_distances - edge_thickness)
        return gaps, (thickness, edge_thickness), (features, edge_features)

    def find_terms(self, x: Float) -> list[ContactTerm]:
        """Return the terms of all pairs within range at positions x [m], (n, 3)."""
        with self._timed():
            near = self._candidates(self._near.find_near(x))
            gaps, thickness, features = self._measure(x, near)
        pairs, edges, m = near.point_triangle, near.edge_edge, len(near.point_triangle)
        _raise_if_touching(pairs, gaps[0], 1)
        _raise_if_touching(edges, gaps[1], 2)
        builder = TermBuilder(self.contact, self.stiffening)
        act = np.flatnonzero(gaps[0] < self._range)
        builder.add(
            pairs[act],
            near.keys[act],
            thickness[0][act],
            features[0][act],
            OF_POINT_AND_TRIANGLE,
            split=1,
            smoothing=np.zeros(len(act)),
        )
        squares = self._smooth(self._thickness(near)[1], near.loose)[0]
        slopes = self._differentiate_smoothing(near, thickness[1])
        for loose, table in enumerate((OF_EDGES, OF_EDGE_AND_POINT, OF_POINTS)):
            act = np.flatnonzero((gaps[1] < self._range) & (near.loose == loose))
            builder.add(
                edges[act],
                near.keys[m:][act],
                thickness[1][act],
                features[1][act],
                table,
                split=2,
                smoothing=squares[act],
                slopes=(slopes[0][act], slopes[1][act]),
            )
        self._add_planes(x, builder)
        return builder.build(self._compiled)

    def find_close_pairs(self, x: Float, gap: float) -> tuple[Int, Float, Float]:
        """Return the pairs with less than a gap [m], at most the range, at x [m], (n, 3).

        Their particles (m, 4), the weights w with which Σ wᵢxᵢ joins their closest points (m, 4),
        and their gaps [m], which may be negative, (m,).
        """
        near = self._candidates(self._near.find_near(x))
        gaps, thickness, features = self._measure(x, near)
        builder = TermBuilder(self.contact, 1.0)
        m = len(near.point_triangle)
        squares = self._smooth(self._thickness(near)[1], near.loose)[0]
        act = np.flatnonzero(gaps[0] < gap)
        builder.add(
            near.point_triangle[act], act, thickness[0][act], features[0][act],
            OF_POINT_AND_TRIANGLE, split=1, smoothing=np.zeros(len(act)),
        )  # fmt: skip
        for loose, table in enumerate((OF_EDGES, OF_EDGE_AND_POINT, OF_POINTS)):
            act = np.flatnonzero((gaps[1] < gap) & (near.loose == loose))
            builder.add(
                near.edge_edge[act], m + act, thickness[1][act], features[1][act],
                table, split=2, smoothing=squares[act],
            )  # fmt: skip
        terms = [term for term in builder.build(self._compiled) if term.law != PLANE]
        if not terms:
            return np.empty((0, 4), dtype=np.int64), np.empty((0, 4)), np.empty(0)
        rows = np.concatenate([term.keys for term in terms])
        return (
            np.concatenate([term.pairs for term in terms]),
            np.concatenate([term.find_weights(x) for term in terms]),
            np.concatenate(gaps)[rows],
        )

    def has_energy(self, x: Float) -> bool:
        """Whether the barriers of all pairs have a value at positions x [m], (n, 3)."""
        try:
            self.find_terms(x)
        except SingularState:
            return False
        return True

    def _add_planes(self, x: Float, builder: TermBuilder) -> None:
        for i, (plane, points, gaps) in enumerate(self.measure_planes(x)):
            near = points[gaps < self._range]
            if not len(near):
                continue
            # Keys of planes are negative, those of pairs are not.
            keys = -1 - near * len(self.contact.planes) - i
            vectors = [*plane.point.tolist(), *plane.normal.tolist()]
            builder.add_elements(PLANE, near[:, None], (0,), 1, keys, self._radius[near], vectors)

    @property
    def pattern(self) -> Pattern:
        """The sparsity pattern of contact in the present step, as far as pairs have come near."""
        if self._pattern is None:
            self._pattern = Pattern.from_keys(self._joined, len(self._movable))
        return self._pattern

    def include(self, groups: Sequence[Int], x: Float | None = None) -> None:
        """Let the pattern have the blocks of pairs of four particles, (m, 4) each.

        x : positions [m], (n, 3), at which more pairs join if any has to

        It grows in a step and does not shrink, so that a solver analyses it again only where a pair
        has come near that was not near before. Then all that are not much farther join it too.
        """
        joined = self._find_joined(groups)
        if np.isin(joined, self._joined, assume_unique=True).all():
            return
        if x is not None:
            joined = np.union1d(joined, self._find_joined(self._find_nearly_active(x)))
        self._joined, self._pattern = np.union1d(self._joined, joined), None

    def _find_nearly_active(self, x: Float) -> list[Int]:
        """Return the pairs not much farther than the range at x: points and triangles; edges."""
        near = self._candidates(self._near.find_near(x))
        gaps, limit = self._measure(x, near)[0], _JOINED_RANGES * self._range
        return [near.point_triangle[gaps[0] < limit], near.edge_edge[gaps[1] < limit]]

    def _find_joined(self, groups: Sequence[Int]) -> Int:
        """Return the movable particles that pairs join, (m, 4) each, as sorted keys i n + j."""
        movable, n = self._movable, len(self._movable)
        keys = [np.empty(0, dtype=np.int64)]
        for quadruples in groups:
            for p, q in combinations(range(4), 2):
                i, j = quadruples[:, p], quadruples[:, q]
                both = movable[i] & movable[j] & (i != j)
                i, j = i[both], j[both]
                keys.append(np.minimum(i, j) * n + np.maximum(i, j))
        return np.unique(np.concatenate(keys))

    def find_free_part(self, x: Float, move: Float) -> float:
        """Return the part of the way x + part·move, both (n, 3) [m], that is free of collisions.

        1 if all of it is; otherwise the gap of each pair keeps a tenth of what it was.
        """
        with self._timed():
            candidates = self._candidates(self._near.find_between(x, x + move))
            thickness, edge_thickness = self._thickness(candidates)
            squares, edge_thickness = self._smooth(edge_thickness, candidates.loose)
            part = find_free_part(x, move, candidates, (thickness, edge_thickness), squares)
        for plane, points, gaps in self.measure_planes(x):
            approach = -(move[points] @ plane.normal)
            if not (gaps > 0.0).all():
                return 0.0
            closing = approach * part > _PLANE_PART * gaps
            part = min(
                part, float((_PLANE_PART * gaps[closing] / approach[closing]).min(initial=1.0))
            )
        return part


def _raise_if_touching(pairs: Int, gaps: Float, split: int) -> None:
    """Raise SingularState for the first pair whose gap is not positive; its sides begin at 0 and
    `split`."""
    bad = np.flatnonzero(~(gaps > 0.0))
    if len(bad):
        first, second = pairs[bad[0], :split].tolist(), pairs[bad[0], split:].tolist()
        raise SingularState(
            f"contact: the gap between particles {first} and {second} must be positive, "
            f"got {gaps[bad[0]]:g} m"
        )
