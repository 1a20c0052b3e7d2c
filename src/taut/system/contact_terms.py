"""Contacts as terms of an assembly: each pair that is near, by the law of its closest features.

A pair of a point and a triangle, or of two edges, contributes the barrier of its distance. The
distance is that of the closest features, and each kind of them has a law: two points, a point and
an edge, a point and a triangle, two edges. One formula with branches for all features of a pair
lost: its Hessian took minutes to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int, Mask
from taut.binding.compiled_law import CompiledLaw
from taut.laws.edge_edge_contact import edge_edge_contact
from taut.laws.plane_contact import plane_contact
from taut.laws.point_edge_contact import point_edge_contact
from taut.laws.point_point_contact import point_point_contact
from taut.laws.point_triangle_contact import point_triangle_contact
from taut.system.contact import CONTACT_NAME, Contact
from taut.system.terms import ConstantTerm

_POINT_POINT, _POINT_EDGE, _POINT_TRIANGLE, _EDGE_EDGE, PLANE = range(5)
_LAWS = (
    (point_point_contact, 2),
    (point_edge_contact, 3),
    (point_triangle_contact, 4),
    (edge_edge_contact, 4),
    (plane_contact, 1),
)


def compile_laws() -> list[CompiledLaw]:
    """Return the compiled laws of contact, in the order of terms."""
    compiled = []
    for law, s in _LAWS:
        shapes = {name: (3,) if name in law.vectors else () for name in law.parameters}
        compiled.append(law.compile("energy", s, shapes))
    return compiled


# For each closest feature of a pair (see `distance_kernels`): the law, the columns of the
# quadruple that are its particles, and the offset in units of ε².
Feature = tuple[int, tuple[int, ...], float]
OF_POINT_AND_TRIANGLE: tuple[Feature, ...] = (
    (_POINT_POINT, (0, 1), 0.0),
    (_POINT_POINT, (0, 2), 0.0),
    (_POINT_POINT, (0, 3), 0.0),
    (_POINT_EDGE, (0, 1, 2), 0.0),
    (_POINT_EDGE, (0, 2, 3), 0.0),
    (_POINT_EDGE, (0, 1, 3), 0.0),
    (_POINT_TRIANGLE, (0, 1, 2, 3), 0.0),
)
OF_EDGES: tuple[Feature, ...] = (
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
OF_EDGE_AND_POINT: tuple[Feature, ...] = (
    (_POINT_EDGE, (2, 0, 1), 0.0),
    (_POINT_POINT, (0, 2), 0.25),
    (_POINT_POINT, (1, 2), 0.25),
)
OF_POINTS: tuple[Feature, ...] = ((_POINT_POINT, (0, 2), 0.0),)


# Factors of the smoothing ε² in the last parameters of each law; None: that of the feature
_SMOOTHED: dict[int, tuple[float | None, ...]] = {
    _POINT_POINT: (None,),
    _POINT_EDGE: (1.0, None),
    _POINT_TRIANGLE: (),
    _EDGE_EDGE: (1.0,),
}


class ContactTerm(ConstantTerm):
    """One law of contact on the pairs that are near.

    law : which, by its place in `_LAWS`; keys : one number for each pair, (m,)
    pairs, places : the four particles of each pair, (m, 4), and which of them are the elements'
        particles, (m, s); of a plane one particle and itself
    split : how many of the four are on the first side, (m,)
    by_range : derivatives of the parameters by the range of the contact, (m, width)
    """

    def __init__(self, law: int, compiled: CompiledLaw, found: Sequence[_Found]) -> None:
        self.law = law
        self.pairs = np.concatenate([f.pairs for f in found])
        self.places = np.concatenate([f.places for f in found])
        self.split = np.concatenate([f.split for f in found])
        self.by_range = np.concatenate([f.by_range for f in found])
        keys = np.concatenate([f.keys for f in found])
        parameters = np.concatenate([f.parameters for f in found])
        elements = np.take_along_axis(self.pairs, self.places, axis=1)
        super().__init__(CONTACT_NAME, "energy", compiled, elements, parameters, keys)

    def find_weights(self, x: Float) -> Float:
        """Return w of the particles of each pair, (m, 4), or (m, 1) of a plane.

        Σ wᵢxᵢ joins the closest points, from the second side to the first, whose weights are
        positive.
        """
        weights = np.zeros(self.pairs.shape)
        np.put_along_axis(weights, self.places, self._find_own_weights(x), axis=1)
        if self.law == PLANE:
            return weights
        is_first = np.arange(4) < self.split[:, None]
        return weights * np.sign(np.where(is_first, weights, 0.0).sum(axis=1))[:, None]

    @property
    def leading(self) -> int:
        """How many particles of each element, from its first on, are on the side of its first."""
        return 2 if self.law == _EDGE_EDGE else 1

    def is_on_first_side(self, x: Float) -> Mask:
        """Whether each particle of each element is on the first side, (m, s)."""
        own: Mask = np.take_along_axis(self.find_weights(x), self.places, axis=1) > 0.0
        return own

    def _find_own_weights(self, x: Float) -> Float:
        """Return w of the particles of each element, (m, s), of either sign."""
        corners, ones = x[self.elements], np.ones(len(self.elements))
        if self.law == PLANE:
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


@dataclass(frozen=True, eq=False)
class _Found:
    """Elements of one law: see `ContactTerm`."""

    pairs: Int
    places: Int
    split: Int
    keys: Int
    parameters: Float
    by_range: Float


class TermBuilder:
    """Collects elements and parameters of each law.

    stiffening : factor of the contact's stiffness
    """

    def __init__(self, contact: Contact, stiffening: float) -> None:
        self._contact, self._stiffening = contact, stiffening
        self._found: list[list[_Found]] = [[] for _ in _LAWS]

    def add(
        self,
        pairs: Int,
        keys: Int,
        thickness: Float,
        features: NDArray[np.int8],
        table: tuple[Feature, ...],
        *,
        split: int,
        smoothing: Float,
        slopes: tuple[Float, Float] | None = None,
    ) -> None:
        """Add pairs that are near, (m, 4), each by the law of its closest feature.

        slopes : derivatives of thickness and smoothing by the range of the contact, (m,) each
            (default: 0)
        """
        for feature, (law, columns, part) in enumerate(table):
            which = np.flatnonzero(features == feature)
            if len(which):
                parts = _SMOOTHED[law]
                factors = [part if factor is None else factor for factor in parts]
                extra = [factor * smoothing[which] for factor in factors]
                own = (law, pairs[which], columns, split, keys[which], thickness[which], extra)
                if slopes is None:
                    self.add_elements(*own)
                    continue
                by_range = [slopes[0][which], *(factor * slopes[1][which] for factor in factors)]
                self.add_elements(*own, by_range)

    def add_elements(
        self,
        law: int,
        pairs: Int,
        columns: tuple[int, ...],
        split: int,
        keys: Int,
        thickness: Float,
        extra: Sequence[Float | float],
        by_range: Sequence[Float | float] = (),
    ) -> None:
        """Add elements of one law, with the parameters after k, thickness and range.

        by_range : derivatives of the thickness and of `extra` by the range (default: 0)
        """
        contact, m = self._contact, len(pairs)
        assert contact.k is not None
        assert contact.range is not None
        parameters = np.empty((m, 3 + len(extra)))
        k = self._stiffening * contact.k
        for column, values in enumerate((k, thickness, contact.range, *extra)):
            parameters[:, column] = values
        slopes = np.zeros_like(parameters)
        slopes[:, 2] = 1.0
        for column, values in zip((1, *range(3, 3 + len(extra))), by_range, strict=False):
            slopes[:, column] = values
        places = np.tile(np.array(columns, dtype=np.int64), (m, 1))
        self._found[law].append(_Found(pairs, places, np.full(m, split), keys, parameters, slopes))

    def build(self, compiled: list[CompiledLaw]) -> list[ContactTerm]:
        """Return one term for each law that has elements."""
        return [ContactTerm(law, compiled[law], own) for law, own in enumerate(self._found) if own]
