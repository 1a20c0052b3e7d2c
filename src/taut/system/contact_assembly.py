"""An assembly whose last term is contact: its elements are the pairs that are near just now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.binding.compiled_law import ForceName, FormName
from taut.linalg.blocks import BlockMatrix, Pattern, PatternUnion
from taut.system.any_assembly import AnyAssembly, AnyTerm
from taut.system.assembly import Assembly
from taut.system.contact import CONTACT_NAME
from taut.system.contact_friction import FRICTION_NAME, Friction
from taut.system.contact_search import ContactSearch
from taut.system.contact_terms import ContactTerm
from taut.system.friction_coupling import add_coupling
from taut.system.projector import ConstraintProjector
from taut.system.terms import AssemblyKind, ConstantTerm, Inputs

_NOTHING, _NOBODY = np.zeros(0), np.zeros(0, dtype=np.int64)  # where no pair is near


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


class _Sum:
    """Contact or friction as one term of an assembly: its energies, under one name."""

    has_hessian, is_load, is_time_dependent = True, False, False

    def __init__(self, name: str, form: FormName) -> None:
        self.name, self.form = name, form
        self.energy = np.zeros(0)


class ContactAssembly:
    """An assembly of laws, and contact and friction as its last terms.

    kind : which laws it adds up: energies have contact, damping laws have friction
    """

    def __init__(self, laws: Assembly, search: ContactSearch, kind: AssemblyKind) -> None:
        self.laws, self.search, self.n = laws, search, laws.n
        self._has_contact = kind != "damping"
        self._friction_form: FormName | None = None
        if search.contact.has_friction and kind != "potential":
            self._friction_form = "rate" if kind == "damping" else "increment"
        sums: list[AnyTerm] = []
        if self._has_contact:
            sums.append(_Sum(CONTACT_NAME, "energy"))
        if self._friction_form is not None:
            sums.append(_Sum(FRICTION_NAME, self._friction_form))
        self._sums = sums
        self.terms: list[AnyTerm] = [*laws.terms, *sums]
        self._zero = np.zeros(self.n)
        self._contacts: Assembly | None = None
        self._contacts_at, self._stiffening = np.zeros((0, 3)), 1.0
        self._friction: tuple[Friction, Assembly] | None = None
        self._union: PatternUnion | None = None
        self._matrix: BlockMatrix | None = None
        self.friction = Friction.none()

    def adopt(self, other: AnyAssembly) -> None:
        """Use the pattern and the lists of another assembly if its elements are the same."""
        if isinstance(other, ContactAssembly):
            self.laws.adopt(other.laws)

    def _find_contacts(self, x: Float) -> Assembly:
        stiffening = self.search.stiffening
        if (
            self._contacts is None
            or self._stiffening != stiffening
            or not np.array_equal(self._contacts_at, x)
        ):
            self._contacts_at, self._stiffening = np.array(x), stiffening
            self._contacts = Assembly(self.n, self.search.find_terms(self._contacts_at))
        return self._contacts

    def _friction_assembly(self) -> Assembly:
        assert self._friction_form is not None
        if self._friction is None or self._friction[0] is not self.friction:
            terms = self.friction.terms(self._friction_form)
            self._friction = (self.friction, Assembly(self.n, terms))
        return self._friction[1]

    def find_friction(self, x: Float) -> Friction:
        """Return the friction of the contacts at positions x [m], (n, 3)."""
        terms = self.search.find_terms(np.array(x))
        contacts = Assembly(self.n, terms)
        contacts.gradient([Inputs(x, x, 0.0, 0.0)] * len(contacts.terms))
        return Friction.at(self.search.contact, x, terms, contacts.element_gradients())

    def add_coupling(self, matrix: BlockMatrix, x: Float, velocities: Float) -> None:
        """Add to a matrix how friction at x [m] changes with its normal forces, both (n, 3)."""
        contacts = Assembly(self.n, self.search.find_terms(np.array(x)))
        contacts.hessian([Inputs(x, x, 0.0, 0.0)] * len(contacts.terms), self._zero)
        terms = [term for term in contacts.terms if isinstance(term, ContactTerm)]
        gradients, hessians = contacts.element_gradients(), contacts.element_hessians()
        friction = Friction.at(self.search.contact, x, terms, gradients)
        add_coupling(matrix, friction, terms, gradients, hessians, x, velocities)

    def parts(self, inputs: Sequence[Inputs]) -> list[tuple[Assembly, list[Inputs]]]:
        """Return the assemblies that are added up, with what their kernels read."""
        count = len(self.laws.terms)
        parts = [(self.laws, list(inputs[:count]))]
        for total, own in zip(self._sums, inputs[count:], strict=True):
            part = (
                self._find_contacts(own.x)
                if total.name == CONTACT_NAME
                else self._friction_assembly()
            )
            parts.append((part, [own] * len(part.terms)))
        return parts

    def _known_parts(self) -> list[Assembly]:
        parts = [self.laws]
        for total in self._sums:
            part = self._contacts if total.name == CONTACT_NAME else self._friction_assembly()
            assert part is not None
            parts.append(part)
        return parts

    @property
    def pattern(self) -> Pattern:
        """The sparsity pattern of the Hessian, until a particle has moved farther than the skin."""
        return self._unite([self.laws.pattern, *self._extra_patterns()]).pattern

    def _extra_patterns(self) -> list[Pattern]:
        patterns = []
        for total in self._sums:
            if total.name == CONTACT_NAME:
                patterns.append(self.search.pattern)
            else:
                patterns.append(self._friction_assembly().pattern)
        return patterns

    def _unite(self, patterns: list[Pattern]) -> PatternUnion:
        if self._union is None or not self._union.is_union_of(patterns):
            known = None if self._union is None else self._union.pattern
            self._union = PatternUnion(patterns, known)
        return self._union

    def gradient(self, inputs: Sequence[Inputs]) -> tuple[float, Float, Float]:
        """Return V [J], ∂V/∂x [N] and the gross force [N], both (n, 3)."""
        for part, own in self.parts(inputs):
            part.gradient(own)
        return self.sums()

    def sums(self) -> tuple[float, Float, Float]:
        """Return what `gradient` returns, at the last evaluation."""
        parts = self._known_parts()
        value, total, gross = parts[0].sums()
        total, gross = total.copy(), gross.copy()
        for own, part in zip(self._sums, parts[1:], strict=True):
            more, push, push_gross = part.sums()
            value += more
            total += push
            gross += push_gross
            own.energy = np.concatenate([_NOTHING, *(t.energy for t in part.terms)])
        return value, total, gross

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
        matrices = []
        parts = self.parts(inputs)
        self._include([part for part, _ in parts[1:]])
        for part, own in parts:
            if part is self.laws:
                matrix = part.hessian(
                    own, shift, project=project, metric=metric, previous=previous, force=force
                )
            else:
                matrix = part.hessian(own, self._zero, project=project, metric=metric)
            matrices.append(matrix)
        union = self._unite([m.pattern for m in matrices])
        self._matrix = union.sum(matrices, [1.0] * len(matrices))
        return self._matrix

    def _include(self, parts: Sequence[Assembly]) -> None:
        """Let the pattern of contact have the blocks of assemblies, and let them use it."""
        if all(part.uses_pattern(self.search.pattern) for part in parts):
            return
        pairs = []
        for term in (term for part in parts for term in part.terms):
            own = term.pairs if isinstance(term, ContactTerm) else term.elements
            if own.shape[1] == 4:  # planes join nothing
                pairs.append(own)
        self.search.include(pairs, self._contacts_at if self._has_contact else None)
        for part in parts:
            part.use_pattern(self.search.pattern)

    @property
    def matrix(self) -> BlockMatrix:
        """The last Hessian."""
        assert self._matrix is not None
        return self._matrix

    def relax(
        self,
        q: Float,
        inputs: Sequence[Inputs],
        region: Int,
        gradient: Float,
        weights: Float,
        sweeps: int,
    ) -> Float:
        """Return positions (n, 3) [m] lowered in a region (see `taut.system.relaxation`).

        Particles in contact stay where they are, and what pushes others counts as constant.
        """
        terms = [term for part in self._known_parts()[1:] for term in part.terms]
        touching = np.concatenate([_NOBODY, *(term.elements.ravel() for term in terms)])
        own = list(inputs[: len(self.laws.terms)])
        return self.laws.relax(q, own, np.setdiff1d(region, touching), gradient, weights, sweeps)

    def projected_gross_force(self, projector: ConstraintProjector) -> Float:
        """Return Σ |S ∂V_e/∂x|₁ [N], (n,): the gross force in the free directions."""
        first, *others = (part.projected_gross_force(projector) for part in self._known_parts())
        return sum(others, first)

    def magnitude(self) -> float:
        """Return Σ |V_e| [J] of the last evaluation: the scale of rounding in V."""
        return sum(part.magnitude() for part in self._known_parts())

    def energies(self) -> tuple[Any, ...]:
        """Return the elements' energies [J] of each law at the last evaluation."""
        laws, *others = self._known_parts()
        pairs = []
        for part in others:
            terms = [term for term in part.terms if isinstance(term, ConstantTerm)]
            keys = np.concatenate([_NOBODY, *(term.keys for term in terms)])
            values = np.concatenate([_NOTHING, *(term.energy for term in terms)])
            pairs.append(PairEnergies(keys, values))
        return (*laws.energies(), *pairs)

    def constant_gradient(self) -> Float:
        """Return the part of ∂V/∂x [N], (n, 3), of laws whose gradient is the same everywhere."""
        return self.laws.constant_gradient()

    def works(self, displacement: Float) -> list[float]:
        """Return displacement·∂V/∂x [J] of each law at the last evaluation."""
        laws, *others = self._known_parts()
        return [*laws.works(displacement), *(sum(part.works(displacement)) for part in others)]

    def curvatures(self, left: Float, right: Float) -> list[float]:
        """Return left·∂²V/∂x²·right of each law at the last Hessian, for vectors (n, 3)."""
        laws, *others = self._known_parts()
        more = [sum(part.curvatures(left, right)) for part in others]
        return [*laws.curvatures(left, right), *more]
