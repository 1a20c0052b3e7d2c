"""An assembly whose last term is contact: its elements are the pairs that are near just now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.binding.compiled_law import ForceName
from taut.linalg.blocks import BlockMatrix, Pattern, PatternUnion
from taut.system.assembly import Assembly
from taut.system.contact import CONTACT_NAME
from taut.system.contact_search import ContactSearch
from taut.system.projector import ConstraintProjector
from taut.system.terms import Inputs


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


class _ContactSum:
    """Contact as one term of an assembly: its energies, under one name."""

    name, form = CONTACT_NAME, "energy"
    has_constant_gradient, has_hessian, is_load = False, True, False

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
            pairs = self.search.find_joined_pairs()
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
