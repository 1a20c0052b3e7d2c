"""The levels of a multigrid, from the pattern of a matrix alone: smoothed aggregation.

Rows are grouped into aggregates; T takes the value of an aggregate to each of its rows. One
smoothing step with the Laplacian L of the pattern's graph and its degrees D, P = (I - ½ D⁻¹L)T,
lets neighbouring aggregates overlap. The coarse matrix is PᵀAP. P has one number for the three
directions: it carries rigid translations exactly, the motions for which a smoother is slow.

P depends on the pattern alone, so it is computed once. New values of A need only two sparse
products along lists that are prepared here: (AP)_iJ = Σ A_ij P_jJ, then (PᵀAP)_IJ = Σ P_iI (AP)_iJ.
The rows of all levels are numbered consecutively, so that one array holds all levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int, Short
from taut.errors import ModelError
from taut.jit.compile import kernels
from taut.linalg.blocks import Pattern

_SMOOTHING = 0.5  # factor of D⁻¹L in P
_COARSEST_ROWS = 24  # levels up to this size are solved directly
# Products per block of A from which on P = T, without overlap: where a row is coupled with many,
# overlapping aggregates would couple everything with everything.
MAX_FILL = 16


@dataclass(frozen=True, eq=False)
class Sparse:
    """A matrix of numbers in compressed rows, with sorted columns."""

    indptr: Short
    indices: Short
    weights: Float
    columns: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    def transpose(self) -> Sparse:
        """The transpose."""
        order = np.argsort(self.indices, kind="stable")  # stable: columns stay sorted
        row = np.repeat(np.arange(self.rows, dtype=np.int32), np.diff(self.indptr))
        sizes = np.bincount(self.indices, minlength=self.columns)
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        return Sparse(indptr, row[order], self.weights[order], self.rows)


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Sums of blocks: out[s] = Σ weight[entry[e]]·block[source[e]], start[s] ≤ e < start[s + 1].

    The weights are those of P or Pᵀ: to list the numbers themselves lost, at twice the memory.
    """

    start: Short
    source: Short
    entry: Short

    @staticmethod
    def concatenate(parts: list[BlockSums], entries_before: Int) -> BlockSums:
        """The sums of several levels in one; sources stay numbered from the first of their own.

        entries_before : weights of the levels before each; parts : empty afterwards, as each is
            forgotten when it is copied
        """
        total = _check_countable(sum(len(part.source) for part in parts))
        start = np.zeros(1 + sum(len(part.start) - 1 for part in parts), dtype=np.int32)
        source, entry = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
        block = first = 0
        for before in entries_before:
            part = parts.pop(0)
            blocks, end = len(part.start) - 1, first + len(part.source)
            start[block + 1 : block + 1 + blocks] = part.start[1:] + np.int32(first)
            source[first:end] = part.source
            np.add(part.entry, np.int32(before), out=entry[first:end])
            block, first = block + blocks, end
        return BlockSums(start, source, entry)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """All levels; level l has rows rows[l]:rows[l + 1] and blocks blocks[l]:blocks[l + 1]."""

    rows: Int  # (levels + 1,)
    blocks: Int  # (levels + 1,)
    indptr: Short  # (total rows + 1,), into indices
    indices: Short  # column of each block, a row of the same level
    diagonal: Int  # the diagonal block of each row
    interpolation: Sparse  # P of all levels: for each row of a finer level, rows of the next
    restriction: Sparse  # Pᵀ of all levels: for each row of a coarser level, rows of the one before
    ap: BlockSums  # how AP of each level but the coarsest is computed from A
    pap: BlockSums  # how PᵀAP is computed from AP, for all blocks of all coarse levels
    ap_first: Int  # (levels,), the first block of each level's AP in `ap`

    @property
    def levels(self) -> int:
        """The number of levels, including the finest and the coarsest."""
        return len(self.rows) - 1

    @staticmethod
    def from_pattern(pattern: Pattern) -> Hierarchy:
        """Build the levels for a pattern.

        >>> line = np.stack([np.arange(99), np.arange(1, 100)], axis=1)
        >>> np.diff(Hierarchy.from_pattern(Pattern.from_pairs(line, 100)).rows).tolist()
        [100, 34, 12]
        """
        patterns, interpolations = [pattern], []
        ap, pap = [], []
        touching = pattern
        while patterns[-1].n > _COARSEST_ROWS:
            group, count = _aggregate(touching)
            p = _interpolate(patterns[-1], group, count)
            coarse, ap_sums, pap_sums = _list_products(patterns[-1], p)
            touching = _find_touching(touching, group, count)
            patterns.append(coarse)
            interpolations.append(p)
            ap.append(ap_sums)
            pap.append(pap_sums)
        return _number_consecutively(patterns, interpolations, ap, pap)


def _aggregate(pattern: Pattern) -> tuple[Short, int]:
    """The aggregate of each row, -1 for none, and the number of aggregates."""
    n = pattern.n
    group = np.full(n, -1, dtype=np.int32)
    first, votes = np.empty(n, dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
    count = kernels("taut.linalg._hierarchy_kernels").aggregate(
        pattern.indptr, pattern.indices, group, first, votes
    )
    return group, int(count)


def _multiply_patterns(
    a: Pattern | Sparse, b: Pattern | Sparse, columns: int, total: int
) -> tuple[Short, ...]:
    """The pattern (indptr, indices) of the product a·b, and the lists by which it is computed.

    Entry s of the product is the sum of the products of entries left[e] of a and right[e] of b for
    start[s] ≤ e < start[s + 1]. Returns (indptr, indices, start, left, right).

    columns : of the product; total : number of single products
    """
    count, place = np.zeros(columns, dtype=np.int32), np.zeros(columns, dtype=np.int32)
    start = np.zeros(total + 1, dtype=np.int32)
    indices, left, right = (np.empty(total, dtype=np.int32) for _ in range(3))
    indptr = np.zeros_like(a.indptr)
    lists = kernels("taut.linalg._hierarchy_kernels").product_lists
    entries = lists(
        a.indptr, a.indices, b.indptr, b.indices, count, place, indptr, indices, start, left, right
    )
    return indptr, indices[:entries].copy(), start[: entries + 1].copy(), left, right


def _find_touching(pattern: Pattern, group: Short, count: int) -> Pattern:
    """Which aggregates have coupled rows.

    PᵀAP also couples aggregates that overlap; aggregates formed by that would be too large.
    """
    pairs = np.stack([group[pattern.rows], group[pattern.indices]], axis=1)
    return Pattern.from_pairs(pairs[(pairs >= 0).all(axis=1)].astype(np.int64), count)


def _interpolate(pattern: Pattern, group: Short, count: int) -> Sparse:
    """P = (I - ½ D⁻¹L)T for the aggregates of a level, or T where that would fill PᵀAP."""
    loops = kernels("taut.linalg._hierarchy_kernels")
    grouped = group >= 0
    start = np.concatenate([[0], np.cumsum(grouped)]).astype(np.int32)
    t = Sparse(start, group[grouped], np.ones(int(start[-1])), count)
    total = loops.count_products(pattern.indptr, pattern.indices, t.indptr)
    indptr, indices, first, left, _ = _multiply_patterns(pattern, t, count, total)
    degree = np.diff(pattern.indptr) - 1
    share = _SMOOTHING / np.maximum(degree, 1)[pattern.rows]
    share[pattern.diagonal] = 1.0 - _SMOOTHING
    weights = np.empty(0)
    if len(indices):
        weights = np.add.reduceat(share[left], first[:-1])
    smoothed = Sparse(indptr, indices, weights, t.columns)
    work = loops.count_products(pattern.indptr, pattern.indices, smoothed.indptr)
    if work > MAX_FILL * len(pattern.indices):
        return t
    return smoothed


def _list_products(a: Pattern, p: Sparse) -> tuple[Pattern, BlockSums, BlockSums]:
    """The pattern of PᵀAP, and the lists by which AP and PᵀAP are computed."""
    loops = kernels("taut.linalg._hierarchy_kernels")
    total = _check_countable(loops.count_products(a.indptr, a.indices, p.indptr))
    indptr, indices, start, block, entry = _multiply_patterns(a, p, p.columns, total)
    ap = BlockSums(start, block, entry)
    transposed = p.transpose()
    total = _check_countable(loops.count_products(transposed.indptr, transposed.indices, indptr))
    rows, columns, start, entry, source = _multiply_patterns(
        transposed, Pattern(indptr, indices), p.columns, total
    )
    return Pattern(rows, columns), ap, BlockSums(start, source, entry)


def _check_countable(total: int) -> int:
    """Raise if entries cannot be numbered by 32 bits, which halves the memory of the lists."""
    if total >= 2**31:
        raise ModelError(
            "the multigrid needs fewer than 2**31 products for its coarse levels, "
            f"got {total}; use solver='direct'"
        )
    return total


def _number_consecutively(
    patterns: list[Pattern], interpolations: list[Sparse], ap: list[BlockSums], pap: list[BlockSums]
) -> Hierarchy:
    rows = np.concatenate([[0], np.cumsum([p.n for p in patterns])])
    blocks = np.concatenate([[0], np.cumsum([len(p.indices) for p in patterns])])
    before = zip(patterns, blocks[:-1], strict=True)
    indptr, indices = _stack(patterns, rows[:-1], 0)
    diagonal = np.concatenate([p.diagonal + block for p, block in before])
    transposed = [p.transpose() for p in interpolations]
    entries_before = np.cumsum([0, *(len(p.indices) for p in interpolations)])[:-1]
    return Hierarchy(
        rows=rows,
        blocks=blocks,
        indptr=indptr,
        indices=indices,
        diagonal=diagonal,
        interpolation=_stack_weights(interpolations, rows[1:-1], 0),
        restriction=_stack_weights(transposed, rows[:-2], int(rows[1])),
        ap_first=np.cumsum([0, *(len(sums.start) - 1 for sums in ap)]),
        ap=BlockSums.concatenate(ap, entries_before),
        pap=BlockSums.concatenate(pap, entries_before),
    )


def _stack(parts: Sequence[Pattern | Sparse], shifts: Int, before: int) -> tuple[Short, Short]:
    """Stack patterns after `before` empty rows, the columns of each moved by its shift."""
    ends = np.concatenate([[0], np.cumsum([len(p.indices) for p in parts])])
    _check_countable(int(ends[-1]))
    indptr = [np.zeros(before + 1, dtype=np.int32)]
    indptr += [p.indptr[1:] + np.int32(end) for p, end in zip(parts, ends[:-1], strict=True)]
    indices = [np.empty(0, dtype=np.int32)]
    indices += [p.indices + np.int32(shift) for p, shift in zip(parts, shifts, strict=True)]
    return np.concatenate(indptr), np.concatenate(indices)


def _stack_weights(parts: Sequence[Sparse], shifts: Int, before: int) -> Sparse:
    """Stack matrices in the same way."""
    weights = np.concatenate([np.empty(0), *(p.weights for p in parts)])
    return Sparse(*_stack(parts, shifts, before), weights, 0)
