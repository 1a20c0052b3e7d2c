"""Levels of a multigrid, from the pattern of a matrix alone: which particles make up a coarse one, and with which weights.

Particles are grouped into aggregates; T takes the value of an aggregate to each of its particles. One smoothing step of the graph's
Laplacian L with the degrees D, P = (I - ½ D⁻¹L)T, lets neighbouring aggregates overlap. A coarse matrix is PᵀAP. P has one number
for the three directions: it carries rigid translations exactly, which are what a stiff body is slow to do.

P depends on the pattern alone, so it is made once; new values of A need just two sparse products along lists made here:
(AP)_iJ = Σ A_ij P_jJ, then (PᵀAP)_IJ = Σ P_iI (AP)_iJ. All levels are numbered through, so that one array holds them all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.formula.compile import kernels
from taut.system.blocks import Pattern

Int = NDArray[np.int64]
Int32 = NDArray[np.int32]
Float = NDArray[np.float64]
SMOOTHING = 0.5  # of the step that makes aggregates overlap
COARSEST = 24  # particles that are solved directly
FILL = 16  # products per block of A from which on aggregates are not made to overlap: a particle joined to many fills everything


@dataclass(frozen=True, eq=False)
class Sparse:
    """A matrix of numbers in compressed rows."""

    indptr: Int32
    indices: Int32
    weights: Float
    columns: int

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.indptr) - 1

    def transposed(self) -> Sparse:
        """The transpose, its rows sorted too."""
        order = np.argsort(self.indices, kind="stable")
        owner = np.repeat(np.arange(self.rows, dtype=np.int32), np.diff(self.indptr))
        return Sparse(_starts(self.indices, self.columns), owner[order], self.weights[order], self.rows)


@dataclass(frozen=True, eq=False)
class Sums:
    """Blocks that are sums of others: out[s] = Σ weight·blocks[source] over the entries start[s] to start[s + 1]."""

    start: Int32
    source: Int32
    weight: Float


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """All levels. Rows are numbered through: level l has rows[l] to rows[l + 1], and blocks[l] to blocks[l + 1].

    products : of each level but the last, how AP is made of A, and PᵀAP of AP, with blocks counted from each matrix's first
    """

    rows: Int  # (levels + 1,)
    blocks: Int  # (levels + 1,)
    indptr: Int32  # (total rows + 1,), into indices
    indices: Int32  # rows of the same level, numbered through
    diagonal: Int  # the block of each row
    interpolation: Sparse  # P of all levels: per row of a finer level, rows of the next
    restriction: Sparse  # Pᵀ of all levels: per row of a coarser level, rows of the one before
    products: tuple[tuple[Sums, Sums], ...]

    @property
    def levels(self) -> int:
        """How many there are, the finest and the coarsest counted."""
        return len(self.rows) - 1

    @staticmethod
    def of(pattern: Pattern) -> Hierarchy:
        """The levels for a pattern.

        >>> line = np.stack([np.arange(99), np.arange(1, 100)], axis=1)
        >>> np.diff(Hierarchy.of(Pattern.of(line, 100)).rows).tolist()
        [100, 34, 12]
        """
        patterns, touching, interpolations = [pattern], pattern, []
        products: list[tuple[Sums, Sums]] = []
        while patterns[-1].n > COARSEST:
            group, count = _aggregates(touching)
            p = _interpolation(patterns[-1], group, count)
            coarse, sums = _products(patterns[-1], p)
            touching = _touching(touching, group, count)
            patterns.append(coarse)
            interpolations.append(p)
            products.append(sums)
        return _numbered(patterns, interpolations, products)


def _aggregates(pattern: Pattern) -> tuple[Int32, int]:
    """The aggregate of each row, -1 for none, and how many there are."""
    n = pattern.n
    group, first, votes = np.full(n, -1, dtype=np.int32), np.empty(n, dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
    count = kernels("taut.solve.hierarchy_kernels").aggregate(pattern.indptr, pattern.indices, group, first, votes)
    return group, int(count)


def _product_lists(a: Pattern | Sparse, b: Pattern | Sparse, columns: int, total: int) -> tuple[Int32, ...]:
    """The pattern (indptr, indices) of a product, and of each of its entries the pairs it adds up: (start, left, right).

    columns : of the product; total : pairs in all
    """
    count, place, start = (np.zeros(size, dtype=np.int32) for size in (columns, columns, total + 1))
    indices, left, right = (np.empty(total, dtype=np.int32) for _ in range(3))
    indptr = np.zeros_like(a.indptr)
    lists = kernels("taut.solve.hierarchy_kernels").product_lists
    entries = lists(a.indptr, a.indices, b.indptr, b.indices, count, place, indptr, indices, start, left, right)
    return indptr, indices[:entries].copy(), start[: entries + 1].copy(), left, right


def _touching(pattern: Pattern, group: Int32, count: int) -> Pattern:
    """Which aggregates have particles that are joined. PᵀAP also joins those that overlap: aggregates by that would be too big."""
    pairs = np.stack([group[pattern.rows], group[pattern.indices]], axis=1)
    return Pattern.of(pairs[(pairs >= 0).all(axis=1)].astype(np.int64), count)


def _interpolation(pattern: Pattern, group: Int32, count: int) -> Sparse:
    """P = (I - ½ D⁻¹L)T for the pattern and the aggregates of a level, or T where that would fill the coarse matrix."""
    loops = kernels("taut.solve.hierarchy_kernels")
    grouped = group >= 0
    start = np.concatenate([[0], np.cumsum(grouped)]).astype(np.int32)
    t = Sparse(start, group[grouped], np.ones(int(start[-1])), count)
    total = loops.pairs(pattern.indptr, pattern.indices, t.indptr)
    indptr, indices, first, left, _ = _product_lists(pattern, t, count, total)
    degree = np.diff(pattern.indptr) - 1
    pull = SMOOTHING / np.maximum(degree, 1)[pattern.rows]
    pull[pattern.diagonal] = 1.0 - SMOOTHING
    weights = np.add.reduceat(pull[left], first[:-1]) if len(indices) else np.empty(0)
    smooth = Sparse(indptr, indices, weights, t.columns)
    work = loops.pairs(pattern.indptr, pattern.indices, smooth.indptr)
    return smooth if work <= FILL * len(pattern.indices) else t


def _products(a: Pattern, p: Sparse) -> tuple[Pattern, tuple[Sums, Sums]]:
    """The pattern of PᵀAP and the lists by which it is computed."""
    loops = kernels("taut.solve.hierarchy_kernels")
    total = _countable(loops.pairs(a.indptr, a.indices, p.indptr))
    indptr, indices, start, block, entry = _product_lists(a, p, p.columns, total)
    first = Sums(start, block, p.weights[entry])
    back = p.transposed()
    total = _countable(loops.pairs(back.indptr, back.indices, indptr))
    rows, columns, start, entry, source = _product_lists(back, Pattern(indptr, indices), p.columns, total)
    return Pattern(rows, columns), (first, Sums(start, source, back.weights[entry]))


def _countable(total: int) -> int:
    if total >= 2**31:
        raise ModelError(
            f"the coarse levels of the solver would take {total} products, more than can be counted; use solver='direct'"
        )
    return total


def _numbered(patterns: list[Pattern], interpolations: list[Sparse], products: list[tuple[Sums, Sums]]) -> Hierarchy:
    rows = np.concatenate([[0], np.cumsum([p.n for p in patterns])])
    blocks = np.concatenate([[0], np.cumsum([len(p.indices) for p in patterns])])
    indptr = np.concatenate([[0], *(p.indptr[1:] + b for p, b in zip(patterns, blocks[:-1], strict=True))])
    indices = np.concatenate([p.indices + r for p, r in zip(patterns, rows[:-1], strict=True)])
    diagonal = np.concatenate([p.diagonal + b for p, b in zip(patterns, blocks[:-1], strict=True)])
    down = _stacked([p.transposed() for p in interpolations], rows[:-2], int(rows[1]))
    return Hierarchy(
        rows, blocks, indptr.astype(np.int32), indices.astype(np.int32), diagonal, _stacked(interpolations, rows[1:-1], 0), down,
        tuple(products),
    )  # fmt: skip


def _stacked(parts: list[Sparse], shifts: Int, before: int) -> Sparse:
    """Matrices one below the other after `before` empty rows, the columns of each counted from its shift."""
    ends = np.concatenate([[0], np.cumsum([len(p.indices) for p in parts])])
    indptr = [np.zeros(before + 1, dtype=np.int64), *(p.indptr[1:] + e for p, e in zip(parts, ends[:-1], strict=True))]
    indices = [np.empty(0, dtype=np.int64), *(p.indices + s for p, s in zip(parts, shifts, strict=True))]
    weights = [np.empty(0), *(p.weights for p in parts)]
    return Sparse(np.concatenate(indptr).astype(np.int32), np.concatenate(indices).astype(np.int32), np.concatenate(weights), 0)


def _starts(keys: Int32, size: int) -> Int32:
    return np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))]).astype(np.int32)
