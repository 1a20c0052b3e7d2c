"""Which pairs are near just now, as terms of an assembly, and how far bodies can move.

A pair of a point and a triangle, or of two edges, contributes the barrier of its distance. The
distance is that of the closest features, and each kind of them has a law: two points, a point and
an edge, a point and a triangle, two edges. One formula with branches for all features of a pair
lost: its Hessian took minutes to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from taut.arrays import Float, Int
from taut.binding.compiled_law import CompiledLaw
from taut.binding.placed_law import raise_if_not_finite
from taut.collision.proximity import Candidates, ProximityList, find_free_part
from taut.errors import SingularState
from taut.jit.compile import kernels
from taut.laws.edge_edge_contact import edge_edge_contact
from taut.laws.plane_contact import plane_contact
from taut.laws.point_edge_contact import point_edge_contact
from taut.laws.point_point_contact import point_point_contact
from taut.laws.point_triangle_contact import point_triangle_contact
from taut.linalg.blocks import Pattern
from taut.system.contact import CONTACT_NAME, Contact

# ε² in units of range·(range + thickness) (see `edge_edge_contact`). As one edge turns against
# another, the closest points go from end to end while the gap at the ends changes by ε²/distance:
# with less, barriers of thick edges have a kink that Newton's method does not get over.
_SMOOTHING = 0.01
# Part of the gap to a plane that a move may use up
_PLANE_PART = 0.9
_POINT_POINT, _POINT_EDGE, _POINT_TRIANGLE, _EDGE_EDGE, _PLANE = range(5)
_LAWS = (
    (point_point_contact, 2),
    (point_edge_contact, 3),
    (point_triangle_contact, 4),
    (edge_edge_contact, 4),
    (plane_contact, 1),
)
# For each closest feature of a pair (see `distance_kernels`): the law, the columns of the
# quadruple that are its particles, and the offset in units of ε².
_Feature = tuple[int, tuple[int, ...], float]
_OF_POINT_AND_TRIANGLE: tuple[_Feature, ...] = (
    (_POINT_POINT, (0, 1), 0.0),
    (_POINT_POINT, (0, 2), 0.0),
    (_POINT_POINT, (0, 3), 0.0),
    (_POINT_EDGE, (0, 1, 2), 0.0),
    (_POINT_EDGE, (0, 2, 3), 0.0),
    (_POINT_EDGE, (0, 1, 3), 0.0),
    (_POINT_TRIANGLE, (0, 1, 2, 3), 0.0),
)
_OF_EDGES: tuple[_Feature, ...] = (
    (_EDGE_EDGE, (0, 1, 2, 3), 0.0),
    (_POINT_EDGE, (0, 2, 3), 0.25),
    (_POINT_EDGE, (1, 2, 3), 0.25),
    (_POINT_EDGE, (2, 0, 1), 0.25),
    (_POINT_EDGE, (3, 0, 1), 0.25),
    (_POINT_POINT, (0, 2), 0.5),
    (_POINT_POINT, (1, 2), 0.5),
    (_POINT_POINT, (0, 3), 0.5),
    (_POINT_POINT, (1, 3), 0.5),
)
# The second edge is a point, whose parameter is ½.
_OF_EDGE_AND_POINT: tuple[_Feature, ...] = (
    (_POINT_EDGE, (2, 0, 1), 0.0),
    (_POINT_POINT, (0, 2), 0.25),
    (_POINT_POINT, (1, 2), 0.25),
)
_OF_POINTS: tuple[_Feature, ...] = ((_POINT_POINT, (0, 2), 0.0),)


class ContactTerm:
    """One law of contact on the pairs that are near: what an `Assembly` needs of a `Term`.

    law : which, by its place in `_LAWS`; keys : one number for each pair, (m,)
    pairs, places : the four particles of each pair, (m, 4), and which of them are the elements'
        particles, (m, s); of a plane one particle and itself
    split : how many of the four are on the first side, (m,)
    """

    name, form = CONTACT_NAME, "energy"
    outer = active = rank = total = None
    has_constant_gradient, has_hessian, is_load = False, True, False

    def __init__(self, law: int, compiled: CompiledLaw, found: Sequence[_Found]) -> None:
        s = _LAWS[law][1]
        self.law, self.compiled = law, compiled
        pairs = [np.empty((0, 1 if law == _PLANE else 4), np.int64), *(f.pairs for f in found)]
        self.pairs = np.concatenate(pairs)
        self.places = np.concatenate([np.empty((0, s), np.int64), *(f.places for f in found)])
        self.split = np.concatenate([np.empty(0, np.int64), *(f.split for f in found)])
        self.keys = np.concatenate([np.empty(0, np.int64), *(f.keys for f in found)])
        self.elements = np.take_along_axis(self.pairs, self.places, axis=1)
        parameters = [np.empty((0, compiled.width)), *(f.parameters for f in found)]
        self._parameters = np.concatenate(parameters)
        self.pair = None if compiled.pair is None else np.array(compiled.pair)
        self.vectors, self.blocks = compiled.vectors, compiled.blocks
        self.energy = np.zeros(len(self.elements))

    def parameters(self, t: float) -> Float:
        """Return the parameters of its elements, (m, width); they do not depend on time."""
        return self._parameters

    def raise_if_bad(self, bad: Int) -> None:
        """Raise SingularState for the first element whose results are not finite."""
        raise_if_not_finite(self.name, self.elements, bad)

    def find_weights(self, x: Float) -> Float:
        """Return w of the particles of each pair, (m, 4), or (m, 1) of a plane.

        Σ wᵢxᵢ joins the closest points, from the second side to the first, whose weights are
        positive.
        """
        weights = np.zeros(self.pairs.shape)
        np.put_along_axis(weights, self.places, self._find_own_weights(x), axis=1)
        if self.law == _PLANE:
            return weights
        is_first = np.arange(4) < self.split[:, None]
        return weights * np.sign(np.where(is_first, weights, 0.0).sum(axis=1))[:, None]

    def _find_own_weights(self, x: Float) -> Float:
        """Return w of the particles of each element, (m, s), of either sign."""
        corners, ones = x[self.elements], np.ones(len(self.elements))
        if self.law == _PLANE:
            return ones[:, None]
        if self.law == _POINT_POINT:
            return np.stack([ones, -ones], axis=1)
        if self.law == _POINT_EDGE:
            e, r = corners[:, 2] - corners[:, 1], corners[:, 0] - corners[:, 1]
            smoothing = self._parameters[:, 3]
            t = (_dot(r, e) + smoothing / 2) / (_dot(e, e) + smoothing)
            return np.stack([ones, t - 1.0, -t], axis=1)
        if self.law == _POINT_TRIANGLE:
            a, b, r = (corners[:, i] - corners[:, j] for i, j in ((2, 1), (3, 1), (0, 1)))
            n = np.cross(a, b)
            u, v = _dot(np.cross(r, b), n) / _dot(n, n), _dot(np.cross(a, r), n) / _dot(n, n)
            return np.stack([ones, u + v - 1.0, -u, -v], axis=1)
        e, f, r = (corners[:, i] - corners[:, j] for i, j in ((1, 0), (3, 2), (0, 2)))
        smoothing = self._parameters[:, 3]
        a, b, c = _dot(e, e) + smoothing, _dot(f, f) + smoothing, _dot(e, f)
        p, q = _dot(e, r) - smoothing / 2, _dot(f, r) + smoothing / 2
        s, t = (c * q - b * p) / (a * b - c * c), (a * q - c * p) / (a * b - c * c)
        return np.stack([1.0 - s, s, t - 1.0, -t], axis=1)


def _dot(a: Float, b: Float) -> Float:
    return np.einsum("ei,ei->e", a, b)


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


@dataclass(frozen=True, eq=False)
class _Found:
    """Elements of one law: see `ContactTerm`."""

    pairs: Int
    places: Int
    split: Int
    keys: Int
    parameters: Float


class _TermBuilder:
    """Collects elements and parameters of each law."""

    def __init__(self, contact: Contact) -> None:
        self._contact = contact
        self._found: list[list[_Found]] = [[] for _ in _LAWS]

    def add(
        self,
        pairs: Int,
        keys: Int,
        thickness: Float,
        features: Int,
        table: tuple[_Feature, ...],
        *,
        split: int,
        smoothing: Float,
    ) -> None:
        """Add pairs that are near, (m, 4), each by the law of its closest feature."""
        for feature, (law, columns, part) in enumerate(table):
            which = np.flatnonzero(features == feature)
            if len(which):
                own = smoothing[which]
                extra = {
                    _POINT_POINT: [part * own],
                    _POINT_EDGE: [own, part * own],
                    _POINT_TRIANGLE: [],
                    _EDGE_EDGE: [own],
                }[law]
                self.add_elements(
                    law, pairs[which], columns, split, keys[which], thickness[which], extra
                )

    def add_elements(
        self,
        law: int,
        pairs: Int,
        columns: tuple[int, ...],
        split: int,
        keys: Int,
        thickness: Float,
        extra: Sequence[Float | float],
    ) -> None:
        """Add elements of one law, with the parameters after k, thickness and range."""
        contact, m = self._contact, len(pairs)
        assert contact.k is not None and contact.range is not None
        parameters = np.empty((m, 3 + len(extra)))
        for column, values in enumerate((contact.k, thickness, contact.range, *extra)):
            parameters[:, column] = values
        places = np.tile(np.array(columns, dtype=np.int64), (m, 1))
        self._found[law].append(_Found(pairs, places, np.full(m, split), keys, parameters))

    def build(self, compiled: list[CompiledLaw]) -> list[ContactTerm]:
        """Return one term for each law, some without elements."""
        return [ContactTerm(law, own, self._found[law]) for law, own in enumerate(compiled)]


class ContactSearch:
    """Finds the pairs that are near.

    contact : resolved (see `taut.system.contact.resolve`)
    movable : whether each particle can move, (n,)
    """

    def __init__(self, contact: Contact, movable: Float) -> None:
        assert contact.range is not None
        self.contact, self._range = contact, contact.range
        self._radius = np.broadcast_to(contact.thickness / 2.0, len(movable))
        thickest = np.array([2.0 * float(self._radius.max(initial=0.0))])
        reach = contact.range + float(self._smooth(thickest)[1][0])
        self.near = ProximityList(contact.primitives, movable, reach)
        self._pattern: tuple[int, Pattern] | None = None
        self._compiled = []
        for law, s in _LAWS:
            shapes = {name: (3,) if name in law.vectors else () for name in law.parameters}
            self._compiled.append(law.compile("energy", s, shapes))

    def _thickness(self, candidates: Candidates) -> tuple[Float, Float]:
        """Return the distances at which pairs touch [m]: points and triangles; edges."""
        r = self._radius
        first, second = candidates.point_triangle, candidates.edge_edge
        return (
            r[first[:, 0]] + r[first[:, 1:]].max(axis=1, initial=0.0),
            r[second[:, :2]].max(axis=1, initial=0.0) + r[second[:, 2:]].max(axis=1, initial=0.0),
        )

    def _smooth(self, thickness: Float) -> tuple[Float, Float]:
        """Return ε² of edges [m²], and the √F at which they touch [m]: no nearer than they must."""
        squares = _SMOOTHING * self._range * (self._range + thickness)
        return squares, np.sqrt(thickness**2 + squares / 2.0)

    def find_terms(self, x: Float) -> list[ContactTerm]:
        """Return the terms of all pairs within range at positions x [m], (n, 3)."""
        self.near.update(x)
        near = self.near.candidates
        loops = kernels("taut.collision.distance_kernels")
        builder = _TermBuilder(self.contact)
        m = len(near.point_triangle)
        thickness, edge_thickness = self._thickness(near)
        distances, features = np.empty(m), np.empty(m, dtype=np.int8)
        loops.measure_points_and_triangles(x, near.point_triangle, distances, features)
        _raise_if_touching(near.point_triangle, distances - thickness, 1)
        act = np.flatnonzero(distances < thickness + self._range)
        builder.add(
            near.point_triangle[act],
            near.keys[act],
            thickness[act],
            features[act],
            _OF_POINT_AND_TRIANGLE,
            split=1,
            smoothing=np.zeros(len(act)),
        )
        edges, keys = near.edge_edge, near.keys[m:]
        distances, features = np.empty(len(edges)), np.empty(len(edges), dtype=np.int8)
        squares, edge_thickness = self._smooth(edge_thickness)
        loops.measure_edges(x, edges, squares, distances, features)
        _raise_if_touching(edges, distances - edge_thickness, 2)
        is_near = distances < edge_thickness + self._range
        for loose, table in enumerate((_OF_EDGES, _OF_EDGE_AND_POINT, _OF_POINTS)):
            act = np.flatnonzero(is_near & (near.loose == loose))
            builder.add(
                edges[act],
                keys[act],
                edge_thickness[act],
                features[act],
                table,
                split=2,
                smoothing=squares[act],
            )
        self._add_planes(x, builder)
        return builder.build(self._compiled)

    def _add_planes(self, x: Float, builder: _TermBuilder) -> None:
        points = self.contact.primitives.points
        for i, plane in enumerate(self.contact.planes):
            gaps = (x[points] - plane.point) @ plane.normal - self._radius[points]
            near = points[gaps < self._range]
            # Keys of planes are negative, those of pairs are not.
            keys = -1 - near * len(self.contact.planes) - i
            vectors = [*plane.point.tolist(), *plane.normal.tolist()]
            builder.add_elements(_PLANE, near[:, None], (0,), 1, keys, self._radius[near], vectors)

    def pattern(self, n: int) -> Pattern:
        """Return the sparsity pattern of contact among n particles, until the list changes."""
        if self._pattern is None or self._pattern[0] != self.near.version:
            pattern = Pattern.from_pairs(self._find_joined_pairs(), n)
            self._pattern = (self.near.version, pattern)
        return self._pattern[1]

    def _find_joined_pairs(self) -> Int:
        """Return the pairs of movable particles that contact may join until the list changes."""
        near, movable = self.near.candidates, self.near.movable
        pairs = [np.empty((0, 2), dtype=np.int64)]
        for quadruples in (near.point_triangle, near.edge_edge):
            for p, q in combinations(range(4), 2):
                both = movable[quadruples[:, p]] & movable[quadruples[:, q]]
                both &= quadruples[:, p] != quadruples[:, q]
                pairs.append(quadruples[both][:, [p, q]])
        return np.concatenate(pairs)

    def find_free_part(self, x: Float, move: Float) -> float:
        """Return the part of the way x + part·move, both (n, 3) [m], that is free of collisions.

        1 if all of it is; otherwise the gap of each pair keeps a tenth of what it was.
        """
        candidates = self.near.find_between(x, x + move)
        thickness, edge_thickness = self._thickness(candidates)
        squares, edge_thickness = self._smooth(edge_thickness)
        part = find_free_part(x, move, candidates, (thickness, edge_thickness), squares)
        points = self.contact.primitives.points
        for plane in self.contact.planes:
            gaps = (x[points] - plane.point) @ plane.normal - self._radius[points]
            approach = -(move[points] @ plane.normal)
            if (gaps <= 0.0).any():
                return 0.0
            closing = approach * part > _PLANE_PART * gaps
            part = min(
                part, float((_PLANE_PART * gaps[closing] / approach[closing]).min(initial=1.0))
            )
        return part
