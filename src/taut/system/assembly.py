"""Evaluate laws over their elements and add them up into energies, forces and stiffness.

An `Assembly` is built once for a list of laws and their active elements: it holds the sparsity
pattern, the lists that map element results to particles and blocks, and all buffers. Evaluating
writes into the buffers; nothing is allocated that grows with the number of steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from taut.arrays import Float, Int, Short
from taut.binding.compiled_law import ForceName, HessianForm, choose_hessian_form
from taut.errors import SingularState
from taut.formula.source import SourceKind
from taut.jit.compile import kernels
from taut.linalg.blocks import BlockMatrix, Pattern, dot, find_nonfinite_rows, project_elements
from taut.linalg.low_rank import RankOne
from taut.system.any_assembly import AnyAssembly
from taut.system.projector import ConstraintProjector
from taut.system.relaxation import Incidence, find_incidence, relax_region
from taut.system.terms import ElementTerm, Inputs, Lists, group_by_target, near_origin, to_int32


class Assembly:
    """Sums over several laws; results are views of buffers that the next evaluation overwrites."""

    def __init__(self, n: int, terms: Sequence[ElementTerm]) -> None:
        self.n, self.terms = n, list(terms)
        self._one = np.ones(n)
        self._total = np.zeros((n, 3))  # Σ ∂V/∂x
        self._gross = np.zeros((n, 3))  # Σ |∂V_e/∂x|
        counts = [len(t.elements) * t.vectors for t in self.terms]
        self._vector_at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        # One row more: kernels read one number beyond the last vector.
        self._vectors = np.zeros((int(self._vector_at[-1]) + 1, 3))[:-1]
        # The parameters with which the constant gradient of a term has been stored here.
        self._stored_with: list[Float | None] = [None] * len(self.terms)
        block_counts = [len(t.elements) * t.blocks for t in self.terms]
        self._block_at = np.concatenate([[0], np.cumsum(block_counts)]).astype(np.int64)

    def adopt(self, other: AnyAssembly) -> None:
        """Use the pattern and the lists of another assembly if its elements are the same."""
        if isinstance(other, Assembly) and self.has_same_elements(other):
            for name in ("pattern", "_vector_lists", "_block_lists", "_incidences"):
                if name in other.__dict__:
                    self.__dict__[name] = other.__dict__[name]

    def has_same_elements(self, other: Assembly) -> bool:
        """Whether another assembly adds up the same laws on the same elements."""
        return len(self.terms) == len(other.terms) and all(
            a.compiled is b.compiled
            and (a.elements is b.elements or np.array_equal(a.elements, b.elements))
            for a, b in zip(self.terms, other.terms, strict=True)
        )

    def use_pattern(self, pattern: Pattern) -> None:
        """Use a given sparsity pattern from now on; blocks that are not in it are left out."""
        if not self.uses_pattern(pattern):
            for name in ("_block_lists", "matrix"):
                self.__dict__.pop(name, None)
            self.__dict__["pattern"] = pattern

    def uses_pattern(self, pattern: Pattern) -> bool:
        """Whether this is its sparsity pattern."""
        return self.__dict__.get("pattern") is pattern

    def _vectors_of(self, k: int) -> Float:
        t = self.terms[k]
        rows = self._vectors[self._vector_at[k] : self._vector_at[k + 1]]
        return rows.reshape(len(t.elements), t.vectors, 3)

    def _blocks_of(self, k: int) -> Float:
        t = self.terms[k]
        rows = self._blocks[self._block_at[k] : self._block_at[k + 1]]
        return rows.reshape(len(t.elements), t.blocks, 3, 3)

    def gradient(self, inputs: Sequence[Inputs]) -> tuple[float, Float, Float]:
        """Return V [J], ∂V/∂x [N] and the gross force [N], both (n, 3).

        The gross force is the sum of the elements' |∂V_e/∂x|, component by component.
        """
        self._evaluate(inputs)
        return self.sums()

    def scaled_gradient(self, inputs: Sequence[Inputs], scale: Float, out: Float) -> None:
        """Write scale·∂V/∂x into `out` (n, 3), with a scale (n,); sum up nothing else."""
        self._evaluate(inputs, energies=False)
        self._gather(scale, out, gross=False)

    def _evaluate(self, inputs: Sequence[Inputs], *, energies: bool = True) -> None:
        for k, (term, at) in enumerate(zip(self.terms, inputs, strict=True)):
            parameters = term.parameters(at.t)
            if self._stored_with[k] is parameters and not energies:
                continue  # a constant gradient, stored before
            x = near_origin(term, at.x)
            arguments = (x, x if at.y is at.x else at.y, at.h, term.elements, parameters)
            term.raise_if_bad(
                term.compiled.evaluate("gradient", *arguments, (term.energy, self._vectors_of(k)))
            )
            self._stored_with[k] = parameters if term.has_constant_gradient else None
            if term.outer is not None:
                term.total = term.outer.evaluate(term.name, term.energy, parameters)
                term.total.apply(term.energy, self._vectors_of(k))

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
        """Return Σ ∂²V/∂x² + diag(shift) [N/m], shift (n,), in `matrix`.

        `sums` then returns V and its gradient.

        project : make each element's part ≥ 0, the nearest such matrix
        metric : instead of each element's part use its metric, which is ≥ 0 and cheap
        previous, force : positions (n, 3) [m] from which energies of a distance predict the forces
            in their Hessians, and how (see `CompiledLaw.evaluate`)
        """
        form = choose_hessian_form(project=project, metric=metric)
        low_rank: list[RankOne] = []
        # First of all, as building them needs memory that the buffers take afterwards.
        row, lists, slot, mirror = self._block_lists
        for k, at in enumerate(inputs):
            rank = self._evaluate_hessian(k, at, form, previous, force)
            if rank is not None:
                low_rank.append(rank)
        kernels("taut.system.gather_kernels").gather_blocks(
            row, *lists, self._blocks, shift, slot, mirror, self.matrix.data
        )
        self.matrix.low_rank = tuple(rank for rank in low_rank if rank.weight != 0.0)
        return self.matrix

    def _evaluate_hessian(
        self,
        k: int,
        at: Inputs,
        form: HessianForm,
        previous: Float | None = None,
        force: ForceName = "true",
    ) -> RankOne | None:
        """Write the Hessians of the elements of term k; return the rank-one part of a total."""
        term = self.terms[k]
        kind: SourceKind = "hessian" if term.blocks else "gradient"
        x = near_origin(term, at.x)
        parameters = term.parameters(at.t)
        frozen, predicted = (x if at.y is at.x else at.y), force
        if previous is None or term.form != "energy" or term.outer is not None:
            predicted = "true"
        else:
            frozen = previous
        arguments = (x, frozen, at.h, term.elements, parameters)
        outputs: tuple[Float, ...] = (term.energy, self._vectors_of(k))
        if term.blocks:
            outputs = (*outputs, self._blocks_of(k))
        # What is projected of a total is not a share, but its product with Φ', of any sign.
        written = "true" if form == "projected" and term.outer is not None else form
        bad = term.compiled.evaluate(
            kind, *arguments, outputs, hessian_form=written, force=predicted
        )
        term.raise_if_bad(bad)
        self._stored_with[k] = parameters if term.has_constant_gradient else None
        rank = None if term.outer is None else self._apply_outer(k, at.t, form)
        needs_projection = not term.compiled.can_write(form)
        if term.outer is not None:
            needs_projection = form == "projected"
        if term.blocks and needs_projection:
            term.raise_if_bad(project_elements(self._blocks_of(k), term.vectors))
        return rank

    def parts(self, inputs: Sequence[Inputs]) -> list[tuple[Assembly, list[Inputs]]]:
        """Return the sums of laws that this one adds up, with what their kernels read."""
        return [(self, list(inputs))]

    def negative_parts(self, inputs: Sequence[Inputs]) -> tuple[Float, list[RankOne]]:
        """Return how negative the parts of the Hessian are (see `taut.system.negative_curvature`).

        Returns Σ |metric - Hessian| of the elements of each particle [N/m], (n,), and the negative
        parts of totals.
        """
        sums, ranks = np.zeros(self.n), []
        for k, (term, at) in enumerate(zip(self.terms, inputs, strict=True)):
            if not term.has_hessian:
                continue
            self._evaluate_hessian(k, at, "metric")
            metric = self._blocks_of(k).copy()
            rank = self._evaluate_hessian(k, at, "true")
            if rank is not None and rank.weight < 0.0:
                ranks.append(rank)
            if term.blocks:
                weight = 1.0 if term.pair is None else float((term.pair**2).sum())
                kernels("taut.system.gather_kernels").gather_negative_parts(
                    *(metric, self._blocks_of(k), term.vectors, weight, term.elements, sums)
                )
        return sums, ranks

    def _apply_outer(self, k: int, t: float, form: HessianForm) -> RankOne:
        """Turn the shares of an energy of a total, term k, into its energy, gradient and Hessian.

        Returns the rank-one part of the Hessian, which couples all particles.
        """
        term = self.terms[k]
        assert term.outer is not None
        term.total = term.outer.evaluate(term.name, term.energy, term.parameters(t))
        rows, each = term.elements.ravel(), self._vectors_of(k)
        if term.pair is not None:
            each = term.pair[None, :, None] * each
        gradient = np.zeros((self.n, 3))
        for i in range(3):
            gradient[:, i] = np.bincount(rows, weights=each[:, :, i].ravel(), minlength=self.n)
        term.total.apply(term.energy, self._vectors_of(k))
        first, second = term.total.first, term.total.second
        if form == "metric":
            # The total is the one measure of V (see taut.formula.measures). What its shares have
            # besides, such as the norms of areas, counts where Φ' keeps it positive. Without it
            # nothing is left of them: to project Φ' ∂²m by eigenvalues lost, at 10 µs a triangle
            # for a part that is small wherever a tension holds the pressure.
            first = max(first, 0.0) if term.compiled.has_metric else 0.0
            second = abs(second)
        elif form == "projected":
            second = max(second, 0.0)
        if term.blocks:
            self._blocks_of(k)[:] *= first
        term.rank = RankOne(second, gradient)
        return term.rank

    def relax(
        self,
        q: Float,
        inputs: Sequence[Inputs],
        region: Int,
        gradient: Float,
        weights: Float,
        sweeps: int,
    ) -> Float:
        """Return positions (n, 3) [m] lowered in a region (see `taut.system.relaxation`)."""
        terms, incidences = self.terms, self._incidences
        return relax_region(q, terms, incidences, inputs, region, gradient, weights, sweeps)

    def sums(self) -> tuple[float, Float, Float]:
        """Return what `gradient` returns, at the last evaluation."""
        self._gather(self._one, self._total, gross=True)
        value = sum(float(t.energy.sum()) for t in self.terms)
        if not math.isfinite(value):
            raise SingularState("the sum of the energies overflows")
        return value, self._total, self._gross

    def _gather(self, scale: Float, out: Float, *, gross: bool) -> None:
        gather = kernels("taut.system.gather_kernels").gather_vectors
        if gather(*self._vector_lists, self._vectors, scale, out, self._gross, gross):
            where = find_nonfinite_rows(self._gross if gross else out)
            if len(where):
                raise SingularState(f"the sum of the forces overflows at particle {where[0]}")

    def projected_gross_force(self, projector: ConstraintProjector) -> Float:
        """Return Σ |S ∂V_e/∂x|₁ [N], (n,): the gross force in the free directions."""
        c, oblique = projector.constrained_particles, projector.oblique_particles
        gross = self._gross[:, 0] + self._gross[:, 1] + self._gross[:, 2]
        gross[c] = np.einsum(
            "nii,ni->n", projector.constrained_projectors, self._gross[c]
        )  # exact where S is diagonal
        if len(oblique):
            # Elsewhere the force of each element is projected by itself.
            S = projector.find_free_directions(oblique)
            start, source, code, table = self._vector_lists
            counts = np.diff(start)[oblique]
            owner = np.repeat(np.arange(len(oblique)), counts)
            first = np.repeat(start[oblique] - np.cumsum(counts) + counts, counts)
            entries = np.arange(counts.sum()) + first
            forces = table[code[entries], None] * self._vectors[source[entries]]
            parts = np.abs(np.einsum("eij,ej->ei", S[owner], forces)).sum(axis=1)
            gross[oblique] = np.bincount(owner, weights=parts, minlength=len(oblique))
        return gross

    def element_gradients(self) -> list[Float]:
        """Return ∂V/∂x [N] of each law's elements at the last evaluation, (m, s, 3) each."""
        gradients = []
        for k, term in enumerate(self.terms):
            vectors = self._vectors_of(k)
            gradients.append(vectors if term.pair is None else term.pair[None, :, None] * vectors)
        return gradients

    def element_hessians(self) -> list[Float]:
        """Return ∂²V/∂x² [N/m] of each law's elements at the last Hessian, (m, s, s, 3, 3) each."""
        hessians = []
        for k, term in enumerate(self.terms):
            blocks, size = self._blocks_of(k), term.vectors
            hessian = np.empty((len(blocks), size, size, 3, 3))
            for slot, (p, q) in enumerate(combinations_with_replacement(range(size), 2)):
                hessian[:, p, q] = blocks[:, slot]
                hessian[:, q, p] = np.swapaxes(blocks[:, slot], 1, 2)
            if term.pair is not None:
                hessian = np.einsum("p,q,eij->epqij", term.pair, term.pair, hessian[:, 0, 0])
            hessians.append(hessian)
        return hessians

    def magnitude(self) -> float:
        """Return Σ |V_e| [J] of the last evaluation: the scale of rounding in V."""
        return sum(
            float(np.abs(t.energy).sum()) + (t.total.magnitude if t.total else 0.0)
            for t in self.terms
        )

    def energies(self) -> tuple[Float, ...]:
        """Return copies of the elements' energies [J] of each law at the last evaluation."""
        return tuple(term.energy.copy() for term in self.terms)

    def constant_gradient(self) -> Float:
        """Return the part of ∂V/∂x [N], (n, 3), of laws whose gradient is the same everywhere."""
        total = np.zeros((self.n, 3))
        for k, term in enumerate(self.terms):
            if not term.has_constant_gradient:
                continue
            for p in range(term.elements.shape[1]):
                c, vectors = 1.0, self._vectors_of(k)[:, 0]
                if term.pair is None:
                    vectors = self._vectors_of(k)[:, p]
                else:
                    c = term.pair[p]
                for i in range(3):
                    total[:, i] += c * np.bincount(
                        term.elements[:, p], weights=vectors[:, i], minlength=self.n
                    )
        return total

    def works(self, displacement: Float) -> list[float]:
        """Return displacement·∂V/∂x [J] of each law at the last evaluation.

        displacement : (n, 3) [m]; with velocities, the result is in W
        """
        works = []
        for k, term in enumerate(self.terms):
            along = self._gather_to_elements(term, displacement)
            works.append(float(np.einsum("epi,epi->", self._vectors_of(k), along)))
        return works

    def curvatures(self, left: Float, right: Float) -> list[float]:
        """Return left·∂²V/∂x²·right of each law at the last Hessian, for vectors (n, 3)."""
        sums = []
        for k, t in enumerate(self.terms):
            a, b = self._gather_to_elements(t, left), self._gather_to_elements(t, right)
            total = 0.0
            pairs = list(combinations_with_replacement(range(t.vectors), 2)) if t.blocks else []
            for slot, (p, q) in enumerate(pairs):
                block = self._blocks_of(k)[:, slot]
                total += float(np.einsum("ei,eij,ej->", a[:, p], block, b[:, q]))
                if p != q:
                    total += float(np.einsum("ei,eji,ej->", a[:, q], block, b[:, p]))
            if t.rank is not None:
                total += t.rank.weight * dot(t.rank.vector, left) * dot(t.rank.vector, right)
            sums.append(total)
        return sums

    @staticmethod
    def _gather_to_elements(term: ElementTerm, vectors: Float) -> Float:
        """Return what a term's stored vectors multiply: a vector for each particle of an element.

        Of a pair law, which stores one vector per element, their sum with the pair's coefficients.
        """
        each = vectors[term.elements]
        if term.pair is None:
            return each
        return np.einsum("p,epi->ei", term.pair, each)[:, None, :]

    @cached_property
    def _incidences(self) -> list[Incidence]:
        return [find_incidence(term, self.n) for term in self.terms]

    @cached_property
    def matrix(self) -> BlockMatrix:
        """The last Hessian."""
        return BlockMatrix(self.pattern, np.zeros((len(self.pattern.indices), 3, 3)))

    @cached_property
    def _blocks(self) -> Float:
        return np.zeros((int(self._block_at[-1]), 3, 3))

    @cached_property
    def pattern(self) -> Pattern:
        pairs = [np.empty((0, 2), dtype=np.int64)]
        for t in self.terms:
            if t.blocks:
                s = t.elements.shape[1]
                pairs += [
                    t.elements[:, [p, q]]
                    for p in range(s)
                    for q in range(p + 1, s)
                    if t.pair is None or t.pair[p] * t.pair[q]
                ]
        return Pattern.from_pairs(np.concatenate(pairs), self.n)

    @cached_property
    def _vector_lists(self) -> Lists:
        """For each particle, the stored vectors its force is the sum of, with coefficients."""
        target, source, coefficient = [], [], []
        for k, t in enumerate(self.terms):
            m, s = t.elements.shape
            first = self._vector_at[k] + np.arange(m) * t.vectors
            for p in range(s):
                c = 1.0 if t.pair is None else t.pair[p]
                if c:
                    target.append(to_int32(t.elements[:, p]))
                    source.append(to_int32(first + (p if t.pair is None else 0)))
                    coefficient.append(c)
        return group_by_target(target, source, coefficient, self.n)

    @cached_property
    def _block_lists(self) -> tuple[Short, Lists, Short, Short]:
        """For each block on or right of the diagonal, the element blocks it is the sum of.

        Returns where each row begins, the lists (a negative source is transposed), where each block
        is stored in the matrix, and where its transpose is (-1: on the diagonal).
        """
        pattern = self.pattern
        upper_rows = pattern.rows[pattern.upper]
        upper_keys = upper_rows.astype(np.int64) * self.n + pattern.indices[pattern.upper]
        target, source, coefficient = [], [], []
        for k, t in enumerate(self.terms):
            m, s = t.elements.shape
            first = self._block_at[k] + np.arange(m) * t.blocks
            for b, (p, q) in enumerate(combinations_with_replacement(range(s), 2)):
                c = 1.0 if t.pair is None else t.pair[p] * t.pair[q]
                if t.blocks and c:
                    i, j = t.elements[:, p], t.elements[:, q]
                    keys = np.minimum(i, j) * self.n + np.maximum(i, j)
                    slots = np.minimum(np.searchsorted(upper_keys, keys), len(upper_keys) - 1)
                    known = upper_keys[slots] == keys
                    target.append(to_int32(slots[known]))
                    # the one block of a pair is symmetric
                    sources = (
                        np.where(i <= j, first + b, -1 - first - b) if t.pair is None else first
                    )
                    source.append(to_int32(sources[known]))
                    coefficient.append(c)
        row = np.searchsorted(upper_rows, np.arange(self.n + 1, dtype=np.int32))
        del upper_rows, upper_keys
        lists = group_by_target(target, source, coefficient, len(pattern.upper))
        mirror = pattern.mirror.copy()
        mirror[mirror == pattern.upper] = -1
        return to_int32(row), lists, pattern.upper, mirror
