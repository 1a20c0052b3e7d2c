"""An assembly whose last term is contact: its elements are those pairs that are near just now."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.binding.compiled_law import CompiledLaw, ForceName
from taut.binding.placed_law import raise_if_not_finite
from taut.collision.proximity import Candidates, ProximityList, find_free_part
from taut.jit.compile import kernels
from taut.linalg.blocks import BlockMatrix, Pattern, PatternUnion
from taut.laws.edge_edge_contact import edge_edge_contact
from taut.laws.point_edge_contact import point_edge_contact
from taut.laws.point_point_contact import point_point_contact
from taut.laws.point_triangle_contact import point_triangle_contact
from taut.system.assembly import Assembly
from taut.system.contact import CONTACT_NAME, Contact
from taut.system.projector import ConstraintProjector
from taut.system.terms import Inputs

# ε in units of the range (see `edge_edge_contact`): edges keep ε/√2 more than they must.
_SMOOTHING = 0.1
_LAWS = (
    (point_point_contact, 2, ("k", "thickness", "range", "offset")),
    (point_edge_contact, 3, ("k", "thickness", "range", "smoothing", "offset")),
    (point_triangle_contact, 4, ("k", "thickness", "range")),
    (edge_edge_contact, 4, ("k", "thickness", "range", "smoothing")),
)
# Columns of a quadruple that are the particles of each closest feature, with the law (0 to 3)
_POINT_TRIANGLE = ((0, (0, 1)), (0, (0, 2)), (0, (0, 3)), (1, (0, 1, 2)), (1, (0, 2, 3)),
                   (1, (0, 1, 3)), (2, (0, 1, 2, 3)))
_EDGE_EDGE = ((3, (0, 1, 2, 3)), (1, (0, 2, 3)), (1, (1, 2, 3)), (1, (2, 0, 1)), (1, (3, 0, 1)),
              (0, (0, 2)), (0, (1, 2)), (0, (0, 3)), (0, (1, 3)))


class PairEnergies:
    """Energies of pairs [J], which are subtracted pair by pair, whichever each side has."""

    def __init__(self, keys: Int, values: Float) -> None:
        order = np.argsort(keys, kind="stable")
        self.keys, self.values = keys[order], values[order]

    def __sub__(self, other: PairEnergies) -> Float:
        keys = np.union1d(self.keys, other.keys)
        difference = np.zeros(len(keys))
        difference[np.searchsorted(keys, self.keys)] = self.values
        difference[np.searchsorted(keys, other.keys)] -= other.values
        return difference


class ContactTerm:
    """One law of contact on the pairs that are near just now; `taut.system.terms.Term` for them."""

    form, outer, active, rank, total, has_constant_gradient = "energy", None, None, None, None, False
    name = CONTACT_NAME

    def __init__(self, compiled: CompiledLaw, elements: Int, parameters: Float, keys: Int) -> None:
        self.compiled, self.elements, self._parameters, self.keys = compiled, elements, parameters, keys
        self.pair = None if compiled.pair is None else np.array(compiled.pair)
        self.vectors, self.blocks = compiled.vectors, compiled.blocks
        self.energy = np.zeros(len(elements))

    has_hessian = True

    def parameters(self, t: float) -> Float:
        return self._parameters

    def raise_if_bad(self, bad: Int) -> None:
        raise_if_not_finite(self.name, self.elements, bad)


class ContactSearch:
    """Finds the pairs that are near, as terms."""

    def __init__(self, contact: Contact, n: int, movable: Float) -> None:
        self.contact = contact
        self._radius = np.broadcast_to(contact.radius, n)
        self._smoothing = (_SMOOTHING * contact.range) ** 2
        reach = contact.range + 2.0 * float(self._radius.max(initial=0.0)) + 0.8 * _SMOOTHING * contact.range
        self.near = ProximityList(contact.primitives, movable, reach)
        self._compiled = [law.compile("energy", s, dict.fromkeys(names)) for law, s, names in _LAWS]

    def _thickness(self, candidates: Candidates) -> tuple[Float, Float]:
        r = self._radius
        first, second = candidates.point_triangle, candidates.edge_edge
        return (
            r[first[:, 0]] + r[first[:, 1:]].max(axis=1, initial=0.0),
            r[second[:, :2]].max(axis=1, initial=0.0) + r[second[:, 2:]].max(axis=1, initial=0.0),
        )

    def find_terms(self, x: Float) -> list[ContactTerm]:
        """Return the terms of the pairs within range at positions x [m], (n, 3)."""
        self.near.update(x)
        c, near = self.contact, self.near.candidates
        loops = kernels("taut.collision._distance_kernels")
        thickness = self._thickness(near)
        parts: list[list[tuple[Any, ...]]] = [[], [], [], []]
        distances = np.empty(len(near.point_triangle))
        features = np.empty(len(distances), dtype=np.int8)
        loops.measure_points_and_triangles(x, near.point_triangle, distances, features)
        self._collect(parts, near.point_triangle, near.keys[: len(distances)], thickness[0], distances, features, _POINT_TRIANGLE, 0.0)
        distances = np.empty(len(near.edge_edge))
        features = np.empty(len(distances), dtype=np.int8)
        squares = np.full(len(distances), self._smoothing)
        loops.measure_edges(x, near.edge_edge, squares, distances, features)
        offset = (self._smoothing / 2.0) ** 0.5
        self._collect(parts, near.edge_edge, near.keys[len(near.point_triangle):], thickness[1] + offset, distances, features, _EDGE_EDGE, self._smoothing)
        terms = []
        for (law, s, names), compiled, found in zip(_LAWS, self._compiled, parts, strict=True):
            if found:
                elements = np.concatenate([f[0] for f in found])
                values = {name: np.concatenate([f[1][name] for f in found]) for name in names}
                keys = np.concatenate([f[2] for f in found])
            else:
                elements, keys = np.empty((0, s), dtype=np.int64), np.empty(0, dtype=np.int64)
                values = {name: np.empty(0) for name in names}
            packed = np.column_stack([values[name] for name in names]) if len(elements) else np.empty((0, len(names)))
            terms.append(ContactTerm(compiled, np.ascontiguousarray(elements), np.ascontiguousarray(packed), keys))
        return terms

    def _collect(self, parts, quadruples, keys, thickness, distances, features, table, smoothing):
        active = distances < thickness + self.contact.range
        for feature, (law, columns) in enumerate(table):
            which = np.flatnonzero(active & (features == feature))
            if not len(which):
                continue
            m = len(which)
            # of F: ε²(t - ½)² of each closest point that is an end of its edge, ε²/4
            ends = 0.0 if law == 3 else (0.25 if law == 1 else 0.5)
            values = {
                "k": np.full(m, self.contact.k),
                "thickness": thickness[which],
                "range": np.full(m, self.contact.range),
                "smoothing": np.full(m, smoothing),
                "offset": np.full(m, ends * smoothing),
            }
            parts[law].append((quadruples[which][:, columns], values, keys[which]))

    def pairs(self) -> Int:
        """Return the pairs of movable particles that contact may join before the list changes."""
        near, movable = self.near.candidates, self.near.movable
        pairs = [np.empty((0, 2), dtype=np.int64)]
        for quadruples in (near.point_triangle, near.edge_edge):
            for p, q in combinations(range(4), 2):
                both = movable[quadruples[:, p]] & movable[quadruples[:, q]]
                pairs.append(quadruples[both][:, [p, q]])
        return np.concatenate(pairs)

    def free_part(self, x: Float, move: Float) -> float:
        """Return the part of the way x + part·move that is free of collisions, at most 1."""
        candidates = self.near.between(x, x + move)
        return find_free_part(x, move, candidates, self._thickness(candidates))


class _ContactSum:
    """Contact as one term of an assembly: its energies, under one name."""

    name, form, outer, rank, total, has_constant_gradient = CONTACT_NAME, "energy", None, None, None, False
    elements = np.empty((0, 2), dtype=np.int64)

    def __init__(self) -> None:
        self.energy = np.zeros(0)


class ContactAssembly:
    """An assembly of laws, and contact as its last term."""

    def __init__(self, laws: Assembly, search: ContactSearch) -> None:
        self.laws, self.search, self.n = laws, search, laws.n
        self._sum = _ContactSum()
        self.terms = [*laws.terms, self._sum]
        self._zero = np.zeros(self.n)
        self._contacts: Assembly | None = None
        self._at = np.zeros((0, 3))
        self._pattern: tuple[int, Pattern, PatternUnion] | None = None
        self._matrix: BlockMatrix | None = None

    def adopt(self, other: Any) -> None:
        """Use the pattern and the lists of another assembly if its elements are the same."""
        if isinstance(other, ContactAssembly):
            self.laws.adopt(other.laws)

    def _find(self, x: Float) -> Assembly:
        if self._contacts is None or not np.array_equal(self._at, x):
            self._at = np.array(x)
            terms = self.search.find_terms(self._at)
            self._contacts = Assembly(self.n, terms, self._union().parts[1])
        return self._contacts

    def _union(self) -> PatternUnion:
        version = self.search.near.version
        if self._pattern is None or self._pattern[0] != version:
            pairs = self.search.pairs()
            pattern = Pattern.from_pairs(pairs, self.n)
            self._pattern = (version, pattern, PatternUnion([self.laws.pattern, pattern]))
        return self._pattern[2]

    @property
    def pattern(self) -> Pattern:
        """The sparsity pattern of the Hessian, until a particle has moved farther than the skin."""
        return self._union().pattern

    def gradient(self, inputs: Sequence[Inputs]) -> tuple[float, Float, Float]:
        """Return V [J], ∂V/∂x [N] and the gross force [N], both (n, 3)."""
        self.laws.gradient(inputs[:-1])
        contacts = self._find(inputs[-1].x)
        contacts.gradient([inputs[-1]] * len(contacts.terms))
        return self.sums()

    def sums(self) -> tuple[float, Float, Float]:
        """Return what `gradient` returns, at the last evaluation."""
        value, total, gross = self.laws.sums()
        assert self._contacts is not None
        more, push, push_gross = self._contacts.sums()
        self._sum.energy = np.concatenate([t.energy for t in self._contacts.terms])
        return value + more, total + push, gross + push_gross

    def scaled_gradient(self, inputs: Sequence[Inputs], scale: Float, out: Float) -> None:
        """Write scale·∂V/∂x into `out` (n, 3), with a scale (n,)."""
        out[:] = scale[:, None] * self.gradient(inputs)[1]

    def hessian(
        self,
        inputs: Sequence[Inputs],
        shift: Float,
        *,
        project: bool = False,
        metric: bool = False,
        previous: Float | None = None,
        force: ForceName = "true",
    ) -> BlockMatrix:
        """Return Σ ∂²V/∂x² + diag(shift) [N/m], shift (n,), in `matrix`."""
        own = self.laws.hessian(
            inputs[:-1], shift, project=project, metric=metric, previous=previous, force=force
        )
        contacts = self._find(inputs[-1].x)
        pushes = contacts.hessian(
            [inputs[-1]] * len(contacts.terms), self._zero, project=project, metric=metric
        )
        self._matrix = self._union().sum([own, pushes], [1.0, 1.0])
        return self._matrix

    @property
    def matrix(self) -> BlockMatrix:
        """The last Hessian."""
        assert self._matrix is not None
        return self._matrix

    def projected_gross_force(self, projector: ConstraintProjector) -> Float:
        """Return Σ |S ∂V_e/∂x|₁ [N], (n,): the gross force in the free directions."""
        assert self._contacts is not None
        return self.laws.projected_gross_force(projector) + self._contacts.projected_gross_force(
            projector
        )

    def magnitude(self) -> float:
        """Return Σ |V_e| [J] of the last evaluation: the scale of rounding in V."""
        assert self._contacts is not None
        return self.laws.magnitude() + self._contacts.magnitude()

    def energies(self) -> tuple[Any, ...]:
        """Return the elements' energies [J] of each law at the last evaluation."""
        assert self._contacts is not None
        keys = np.concatenate([t.keys for t in self._contacts.terms])
        values = np.concatenate([t.energy for t in self._contacts.terms])
        return (*self.laws.energies(), PairEnergies(keys, values))

    def constant_gradient(self) -> Float:
        """Return the part of ∂V/∂x [N], (n, 3), of laws whose gradient is the same everywhere."""
        return self.laws.constant_gradient()

    def works(self, displacement: Float) -> list[float]:
        """Return displacement·∂V/∂x [J] of each law at the last evaluation."""
        assert self._contacts is not None
        return [*self.laws.works(displacement), sum(self._contacts.works(displacement))]

    def curvatures(self, left: Float, right: Float) -> list[float]:
        """Return left·∂²V/∂x²·right of each law at the last Hessian, for vectors (n, 3)."""
        assert self._contacts is not None
        return [*self.laws.curvatures(left, right), sum(self._contacts.curvatures(left, right))]
