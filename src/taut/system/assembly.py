"""Evaluate laws over their elements and add them up into energies, forces and stiffness.

An `Assembly` is made once for a list of laws and their active elements: it holds the sparsity pattern, the lists of what goes
where, and all buffers. Evaluating writes into the buffers; nothing is allocated that grows with the number of steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, SingularState
from taut.formula.compile import kernels
from taut.formula.outer import Total
from taut.formula.project import project_elements
from taut.system.blocks import BlockMatrix, Pattern, Rank, dot, lost
from taut.system.hold import Constraints
from taut.system.terms import Inputs, Term, near_origin

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Short = NDArray[np.int32]
Lists = tuple[Short, Short, NDArray[np.uint16], Float]  # start, source, code, table: see `_sorted_lists`


class Assembly:
    """The sums over several laws. Results are views of buffers that the next evaluation overwrites."""

    def __init__(self, n: int, terms: Sequence[Term]) -> None:
        self.n, self.terms = n, list(terms)
        self._one = np.ones(n)
        self._total = np.zeros((n, 3))  # Σ ∂V/∂x
        self._gross = np.zeros((n, 3))  # Σ |∂V_e/∂x|
        counts = [len(t.elements) * t.vectors for t in self.terms]
        self._vector_at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._vectors = np.zeros((int(self._vector_at[-1]) + 1, 3))[:-1]  # kernels read one number beyond the last
        block_counts = [len(t.elements) * t.blocks for t in self.terms]
        self._block_at = np.concatenate([[0], np.cumsum(block_counts)]).astype(np.int64)

    def adopt(self, other: Assembly) -> None:
        """Take over the pattern and the lists of another assembly if its elements are the same."""
        same = len(self.terms) == len(other.terms) and all(
            a.variant is b.variant and np.array_equal(a.elements, b.elements) for a, b in zip(self.terms, other.terms, strict=True)
        )
        if same:
            for name in ("pattern", "_vector_lists", "_block_lists"):
                if name in other.__dict__:
                    self.__dict__[name] = other.__dict__[name]

    def _vectors_of(self, k: int) -> Float:
        t = self.terms[k]
        return self._vectors[self._vector_at[k] : self._vector_at[k + 1]].reshape(len(t.elements), t.vectors, 3)

    def _blocks_of(self, k: int) -> Float:
        t = self.terms[k]
        return self._blocks[self._block_at[k] : self._block_at[k + 1]].reshape(len(t.elements), t.blocks, 3, 3)

    def gradient(self, inputs: Sequence[Inputs]) -> tuple[float, Float, Float]:
        """V [J], ∂V/∂x [N] and, component by component, the sum of the magnitudes in it, the gross force [N], both (n, 3)."""
        self._evaluate(inputs)
        return self.sums()

    def slope(self, inputs: Sequence[Inputs], scale: Float, out: Float) -> None:
        """scale·∂V/∂x alone, into `out` (n, 3), with a scale (n,) for each particle; energies and gross forces are not added up."""
        self._evaluate(inputs, energies=False)
        self._gather(scale, out, gross=False)

    def _evaluate(self, inputs: Sequence[Inputs], *, energies: bool = True) -> None:
        for k, (term, at) in enumerate(zip(self.terms, inputs, strict=True)):
            parameters = term.parameters(at.t)
            if term.settled is parameters and not energies:
                continue
            x = near_origin(term, at.x)
            arguments = (x, x if at.y is at.x else at.y, at.h, term.elements, parameters)
            term.raise_if_bad(term.variant.gradient.evaluate(*arguments, (term.energy, self._vectors_of(k))))
            term.settled = parameters if term.constant else None
            if term.outer is not None:
                term.total = Total.of(term.name, term.outer, term.energy, parameters)
                term.total.apply(term.energy, self._vectors_of(k))

    def hessian(self, inputs: Sequence[Inputs], shift: Float, *, project: bool) -> BlockMatrix:
        """`matrix`, with the sum Σ ∂²V/∂x² + diag(shift) [N/m], shift (n,); `sums` gives V and its gradient there."""
        spread: list[Rank] = []
        for k, (term, at) in enumerate(zip(self.terms, inputs, strict=True)):
            kernel = term.variant.hessian if term.blocks else term.variant.gradient
            x = near_origin(term, at.x)
            arguments = (x, x if at.y is at.x else at.y, at.h, term.elements, term.parameters(at.t))
            outputs = (term.energy, self._vectors_of(k), *([self._blocks_of(k)] if term.blocks else []))
            term.raise_if_bad(kernel.evaluate(*arguments, outputs, project=project and term.outer is None))
            term.settled = arguments[-1] if term.constant else None
            if term.outer is not None:
                spread.append(self._of_total(k, at.t, project=project))
            if term.blocks and project and not (kernel.closed_form and term.outer is None):
                term.raise_if_bad(project_elements(self._blocks_of(k), term.vectors))
        row, lists, slot, mirror = self._block_lists
        kernels("taut.system.gather_kernels").gather_blocks(row, *lists, self._blocks, shift, slot, mirror, self.matrix.data)
        self.matrix.spread = tuple(rank for rank in spread if rank.weight != 0.0)
        return self.matrix

    def _of_total(self, k: int, t: float, *, project: bool) -> Rank:
        """Make the k-th term's energies, gradients and Hessians of shares those of the total, and give what joins all particles."""
        term = self.terms[k]
        assert term.outer is not None
        term.total = Total.of(term.name, term.outer, term.energy, term.parameters(t))
        rows = term.elements.ravel()
        each = self._vectors_of(k) if term.pair is None else term.pair[None, :, None] * self._vectors_of(k)
        slope = np.zeros((self.n, 3))
        for i in range(3):
            slope[:, i] = np.bincount(rows, weights=each[:, :, i].ravel(), minlength=self.n)
        term.total.apply(term.energy, self._vectors_of(k))
        if term.blocks:
            self._blocks_of(k)[:] *= term.total.slope
        term.rank = Rank(max(term.total.bend, 0.0) if project else term.total.bend, slope)
        return term.rank

    def sums(self) -> tuple[float, Float, Float]:
        """What `gradient` gives, at the last evaluation."""
        self._gather(self._one, self._total, gross=True)
        value = sum(float(t.energy.sum()) for t in self.terms)
        if not math.isfinite(value):
            raise SingularState("the sum of the energies overflows")
        return value, self._total, self._gross

    def _gather(self, scale: Float, out: Float, *, gross: bool) -> None:
        gather = kernels("taut.system.gather_kernels").gather_vectors
        if gather(*self._vector_lists, self._vectors, scale, out, self._gross, gross):
            where = lost(self._gross if gross else out)
            if len(where):
                raise SingularState(f"the sum of the forces overflows at particle {where[0]}")

    def free_gross(self, hold: Constraints) -> Float:
        """Σ |S ∂V_e/∂x|₁ [N], (n,): the gross force of the last evaluation in the directions that the constraints leave free."""
        gross = self._gross[:, 0] + self._gross[:, 1] + self._gross[:, 2]
        gross[hold.among] = np.einsum("nii,ni->n", hold.free[hold.among], self._gross[hold.among])  # exact where S is diagonal
        if len(hold.oblique):
            start, source, code, table = self._vector_lists
            counts = np.diff(start)[hold.oblique]
            owner = np.repeat(np.arange(len(hold.oblique)), counts)
            entries = np.arange(counts.sum()) + np.repeat(start[hold.oblique] - np.cumsum(counts) + counts, counts)
            forces = table[code[entries], None] * self._vectors[source[entries]]
            parts = np.abs(np.einsum("eij,ej->ei", hold.free[hold.oblique][owner], forces)).sum(axis=1)
            gross[hold.oblique] = np.bincount(owner, weights=parts, minlength=len(hold.oblique))
        return gross

    def magnitude(self) -> float:
        """Σ |V_e| [J] of the last evaluation: the scale of rounding in V."""
        return sum(float(np.abs(t.energy).sum()) + (t.total.magnitude if t.total else 0.0) for t in self.terms)

    def works(self, moved: Float) -> list[float]:
        """moved·∂V/∂x [J] of each law at the last evaluation, for displacements (n, 3) [m] (or velocities: [W])."""
        return [float(np.einsum("epi,epi->", self._vectors_of(k), self._spread(t, moved))) for k, t in enumerate(self.terms)]

    def curvatures(self, left: Float, right: Float) -> list[float]:
        """left·∂²V/∂x²·right of each law at the last evaluation with Hessians, for vectors (n, 3)."""
        sums = []
        for k, t in enumerate(self.terms):
            a, b, total = self._spread(t, left), self._spread(t, right), 0.0
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
    def _spread(term: Term, vectors: Float) -> Float:
        """What a term's stored vectors act on: one for each particle of an element, or their sum with the pair's coefficients."""
        each = vectors[term.elements]
        return each if term.pair is None else np.einsum("p,epi->ei", term.pair, each)[:, None, :]

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
                    t.elements[:, [p, q]] for p in range(s) for q in range(p + 1, s) if t.pair is None or t.pair[p] * t.pair[q]
                ]
        return Pattern.of(np.concatenate(pairs), self.n)

    @cached_property
    def _vector_lists(self) -> Lists:
        """For each particle: which stored vectors it adds up, with which coefficients."""
        target, source, coefficient = [], [], []
        for k, t in enumerate(self.terms):
            m, s = t.elements.shape
            first = self._vector_at[k] + np.arange(m) * t.vectors
            for p in range(s):
                c = 1.0 if t.pair is None else t.pair[p]
                if c:
                    target.append(t.elements[:, p])
                    source.append(first + (p if t.pair is None else 0))
                    coefficient.append(c)
        return _sorted_lists(target, source, coefficient, self.n)

    @cached_property
    def _block_lists(self) -> tuple[Short, Lists, Short, Short]:
        """For each block on or right of the diagonal: which element blocks it adds up (negative: transposed), with coefficients.

        Where each row begins among them, the lists, where each lies in the matrix, and where its transpose (-1: on the diagonal).
        """
        pattern = self.pattern
        upper_keys = pattern.rows[pattern.upper].astype(np.int64) * self.n + pattern.indices[pattern.upper]
        target, source, coefficient = [], [], []
        for k, t in enumerate(self.terms):
            m, s = t.elements.shape
            first = self._block_at[k] + np.arange(m) * t.blocks
            for b, (p, q) in enumerate(combinations_with_replacement(range(s), 2)):
                c = 1.0 if t.pair is None else t.pair[p] * t.pair[q]
                if t.blocks and c:
                    i, j = t.elements[:, p], t.elements[:, q]
                    target.append(np.searchsorted(upper_keys, np.minimum(i, j) * self.n + np.maximum(i, j)))
                    # the one block of a pair is symmetric
                    source.append(np.where(i <= j, first + b, -1 - first - b) if t.pair is None else first)
                    coefficient.append(c)
        row = np.searchsorted(pattern.rows[pattern.upper], np.arange(self.n + 1))
        mirror = np.where(pattern.mirror == pattern.upper, -1, pattern.mirror)
        lists = _sorted_lists(target, source, coefficient, len(pattern.upper))
        return _short(row), lists, _short(pattern.upper), _short(mirror)


def _sorted_lists(target: list[Int], source: list[Int], coefficient: list[float], size: int) -> Lists:
    """Group entries by target, keeping their order within each: (start (size + 1,), source, code, table of coefficients)."""
    table, codes = np.unique(np.array(coefficient, dtype=np.float64), return_inverse=True)
    where = np.concatenate([np.empty(0, dtype=np.int64), *target])
    order = np.argsort(where, kind="stable")
    start = np.zeros(size + 1, dtype=np.int64)
    start[1:] = np.cumsum(np.bincount(where, minlength=size))
    sources = np.concatenate([np.empty(0, dtype=np.int64), *source])[order]
    code = np.repeat(codes, [len(t) for t in target])[order]
    return _short(start), _short(sources), code.astype(np.uint16), table


def _short(values: Int) -> Short:
    """Indices in half the space, which the kernels read in half the time."""
    if len(values) and max(values.max(), -values.min()) >= 2**31:
        raise ModelError(f"a system of {len(values)} entries is too large")
    return values.astype(np.int32)
