"""Which pairs are near just now, as terms of an assembly, and how far bodies can move."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import combinations

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.binding.compiled_law import CompiledLaw
from taut.collision.proximity import find_free_part
from taut.errors import SingularState
from taut.linalg.blocks import Pattern
from taut.system.contact import Contact
from taut.system.contact_problems import ContactProblems
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
from taut.system.near_pairs import NearPairs

# Part of the gap to a plane that a move may use up
_PLANE_PART = 0.9
# Pairs nearer than this many ranges join the sparsity pattern when it has to change.
_JOINED_RANGES = 2.0


class ContactSearch:
    """Finds the pairs that are near.

    contact : resolved (see `taut.system.contact.resolve`)
    movable : whether each particle can move, (n,)
    pairs : lists of near pairs and their gaps; problems : what intersects or touches, in words
    seconds : spent on lists, distances and collision times so far
    stiffening : factor of the stiffness k of the contact; 1, but for a while in a step
    """

    def __init__(self, contact: Contact, movable: Mask) -> None:
        assert contact.range is not None
        self.contact, self._range, self._movable = contact, contact.range, movable
        self.pairs = NearPairs(contact, movable)
        self.problems = ContactProblems(self.pairs)
        self.seconds = 0.0
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
                self.problems.require_apart(x)
            self.pairs.forget()
            self._joined, self._pattern = np.empty(0, dtype=np.int64), None
            self.include(self._find_nearly_active(np.array(x)))

    def end_step(self, x: Float) -> None:
        """Remember the positions x [m], (n, 3), with which a step has ended: nothing touches."""
        self._apart = x

    def find_terms(self, x: Float) -> list[ContactTerm]:
        """Return the terms of all pairs within range at positions x [m], (n, 3)."""
        with self._timed():
            near = self.pairs.find(x)
            gaps, thickness, features = self.pairs.measure(x, near)
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
        squares = self.pairs.smooth(self.pairs.find_thickness(near)[1], near.loose)[0]
        slopes = self.pairs.differentiate_smoothing(near, thickness[1])
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
        near = self.pairs.find(x)
        gaps, thickness, features = self.pairs.measure(x, near)
        builder = TermBuilder(self.contact, 1.0)
        m = len(near.point_triangle)
        squares = self.pairs.smooth(self.pairs.find_thickness(near)[1], near.loose)[0]
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
        for i, (plane, points, gaps) in enumerate(self.pairs.measure_planes(x)):
            near = points[gaps < self._range]
            if not len(near):
                continue
            # Keys of planes are negative, those of pairs are not.
            keys = -1 - near * len(self.contact.planes) - i
            vectors = [*plane.point.tolist(), *plane.normal.tolist()]
            builder.add_elements(
                PLANE, near[:, None], (0,), 1, keys, self.pairs.radius[near], vectors
            )

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
        near = self.pairs.find(x)
        gaps, limit = self.pairs.measure(x, near)[0], _JOINED_RANGES * self._range
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
            candidates = self.pairs.find_between(x, x + move)
            thickness, edge_thickness = self.pairs.find_thickness(candidates)
            squares, edge_thickness = self.pairs.smooth(edge_thickness, candidates.loose)
            part = find_free_part(x, move, candidates, (thickness, edge_thickness), squares)
        for plane, points, gaps in self.pairs.measure_planes(x):
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
