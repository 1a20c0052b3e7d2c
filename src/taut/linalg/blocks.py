"""Symmetric sparse matrices of 3×3 blocks, and vectors (n, 3) with one row for each block row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from taut.arrays import Float, Int, Short
from taut.jit.compile import kernels
from taut.linalg.low_rank import RankOne


@dataclass(frozen=True, eq=False)
class Pattern:
    """The positions of blocks: compressed rows with sorted columns.

    The pattern is symmetric, and every diagonal block is present.
    """

    indptr: Short  # (n + 1,)
    indices: Short  # (blocks,)

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    @property
    def rows(self) -> Short:
        """The row of each block, a new array."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def diagonal(self) -> Int:
        """The position of the diagonal block of each row."""
        return np.flatnonzero(self.rows == self.indices)

    @cached_property
    def upper(self) -> Short:
        """The positions of the blocks on and right of the diagonal, row by row."""
        return np.flatnonzero(self.rows <= self.indices).astype(np.int32)

    @cached_property
    def mirror(self) -> Short:
        """The position of the transpose of each block in `upper`."""
        position = np.empty(len(self.indices), dtype=np.int32)
        by_column = np.argsort(self.indices, kind="stable")  # the transposed pattern in row order
        position[by_column] = np.arange(len(by_column), dtype=np.int32)
        return position[self.upper]

    def has_same_blocks(self, other: Pattern) -> bool:
        """Whether another pattern has the same blocks."""
        return np.array_equal(self.indptr, other.indptr) and np.array_equal(
            self.indices, other.indices
        )

    @staticmethod
    def from_pairs(pairs: Int, n: int) -> Pattern:
        """The symmetric pattern with the pairs (i, j), shape (k, 2), and all diagonal blocks."""
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        return Pattern.from_keys(np.unique(low * n + high), n)

    @staticmethod
    def from_keys(keys: Int, n: int) -> Pattern:
        """The same from different pairs as keys i n + j, i ≤ j, shape (k,)."""
        i, j = keys // n, keys % n
        off = i != j
        i, j = i[off], j[off]
        every = np.arange(n)
        rows, columns = np.concatenate([i, j, every]), np.concatenate([j, i, every])
        return _from_keys(np.sort(rows * n + columns), n)


def dot(a: Float, b: Float) -> float:
    """Σ a·b of vectors (n, 3), added in a fixed order whatever the number of threads.

    >>> dot(np.ones((2, 3)), np.full((2, 3), 0.5))
    3.0
    """
    return float(np.einsum("ij,ij->", a, b))


def row_norms(vectors: Float) -> Float:
    """The Euclidean norm of each row of vectors (n, 3), infinite where its square overflows.

    Columns are added one by one: numpy's sum along so short an axis takes four times as long.

    >>> row_norms(np.array([[3.0, 4.0, 0.0]]))
    array([5.])
    """
    # the solution of a nearly singular system may be too large to be squared
    with np.errstate(over="ignore"):
        squares = vectors * vectors
        return np.asarray(np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2]))


def find_nonfinite_rows(vectors: Float) -> Int:
    """The rows of vectors (n, k) that have an entry that is not finite.

    All entries are tested at once first: numpy takes ten times as long to test row by row.

    >>> find_nonfinite_rows(np.array([[0.0, 0.0], [0.0, np.nan]]))
    array([1])
    """
    finite = np.isfinite(vectors)
    if finite.all():
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(~finite.all(axis=1))


def row_norms_l1(vectors: Float) -> Float:
    """|x| + |y| + |z| of each row of vectors (n, 3).

    Columns are added one by one: numpy's sum along so short an axis takes five times as long.

    >>> row_norms_l1(np.array([[3.0, -4.0, 1.0]]))
    array([8.])
    """
    a = np.abs(vectors)
    return np.asarray(a[:, 0] + a[:, 1] + a[:, 2])


def row_norms_max(vectors: Float) -> Float:
    """max(|x|, |y|, |z|) of each row of vectors (n, 3).

    >>> row_norms_max(np.array([[3.0, -4.0, 1.0]]))
    array([4.])
    """
    a = np.abs(vectors)
    return np.asarray(np.maximum(np.maximum(a[:, 0], a[:, 1]), a[:, 2]))


@dataclass(frozen=True, eq=False)
class ConstrainedRows:
    """Rows with constrained directions, (k,), and projectors onto their free ones, (k, 3, 3)."""

    rows: Int
    projectors: Float


@dataclass(eq=False)
class BlockMatrix:
    """A symmetric matrix: 3×3 blocks on a pattern, plus a low-rank part Σ w g gᵀ.

    data : the values, shape (blocks, 3, 3)
    low_rank : the terms w g gᵀ, which are never written out
    constrained : the rows and directions that constraints have eliminated from the blocks
    """

    pattern: Pattern
    data: Float
    low_rank: tuple[RankOne, ...] = ()
    constrained: ConstrainedRows = field(
        default_factory=lambda: ConstrainedRows(np.empty(0, dtype=np.int64), np.empty((0, 3, 3)))
    )

    def copy(self) -> BlockMatrix:
        """A copy with its own values."""
        return BlockMatrix(self.pattern, self.data.copy(), self.low_rank, self.constrained)

    def to_scipy(self) -> Any:
        """A copy as a scipy.sparse array of shape (3n, 3n), BSR unless there is a low-rank part."""
        from scipy.sparse import bsr_array, csr_array

        size = 3 * self.pattern.n
        matrix = bsr_array(
            (self.data, self.pattern.indices, self.pattern.indptr), shape=(size, size)
        ).copy()
        for rank in self.low_rank:
            column = csr_array(rank.vector.reshape(-1, 1))
            matrix = matrix + rank.weight * (column @ column.T)
        return matrix

    def multiply(self, x: Float) -> Float:
        """The product with vectors x of shape (n, 3)."""
        product = np.empty((self.pattern.n, 3))
        padded = np.concatenate([x, np.zeros((1, 3))])
        flat = self.data.reshape(-1), padded.reshape(-1)
        kernels("taut.linalg._block_kernels").multiply(
            self.pattern.indptr, self.pattern.indices, *flat, product
        )
        for rank in self.low_rank:
            product += rank.weight * dot(rank.vector, x) * rank.vector
        return product

    def diagonal_trace(self) -> Float:
        """Trace of each diagonal block, shape (n,)."""
        trace = np.trace(self.data[self.pattern.diagonal], axis1=1, axis2=2)
        for rank in self.low_rank:
            trace = trace + rank.weight * np.einsum("ij,ij->i", rank.vector, rank.vector)
        return trace


class PatternUnion:
    """The smallest pattern that contains several, and the positions of their blocks in it.

    known : a Pattern to use if it is the same, for what solvers know of it
    """

    def __init__(self, patterns: Sequence[Pattern], known: Pattern | None = None) -> None:
        n = patterns[0].n
        keys = [p.rows.astype(np.int64) * n + p.indices for p in patterns]
        every = np.unique(np.concatenate(keys)) if len(keys) > 1 else keys[0]
        self.parts = tuple(patterns)
        same = [p for p, k in zip(patterns, keys, strict=True) if len(k) == len(every)]
        self.pattern = same[0] if same else _from_keys(every, n)
        if known is not None and self.pattern.has_same_blocks(known):
            self.pattern = known
        self.slots = [np.searchsorted(every, k) for k in keys]

    def is_union_of(self, patterns: Sequence[Pattern]) -> bool:
        """Whether it is the union of these patterns, compared by identity."""
        return len(patterns) == len(self.parts) and all(
            a is b for a, b in zip(patterns, self.parts, strict=True)
        )

    def sum(self, matrices: Sequence[BlockMatrix], factors: Sequence[float]) -> BlockMatrix:
        """Σ factor·matrix on the union's pattern; matrices in the order of the patterns."""
        out = np.empty((len(self.pattern.indices), 3, 3))
        whole = [k for k, part in enumerate(self.parts) if part is self.pattern][
            :1
        ]  # needs no lists, and is written first
        if not whole:
            out[:] = 0.0
        for k in whole:
            np.multiply(matrices[k].data, factors[k], out=out)
        add = kernels("taut.linalg._block_kernels").add_blocks
        for k, (matrix, factor, slots) in enumerate(
            zip(matrices, factors, self.slots, strict=True)
        ):
            if k not in whole:
                add(slots, factor, matrix.data, out)
        low_rank = tuple(
            rank.scaled(factor)
            for matrix, factor in zip(matrices, factors, strict=True)
            for rank in matrix.low_rank
        )
        return BlockMatrix(self.pattern, out, low_rank)


def _from_keys(keys: Int, n: int) -> Pattern:
    indptr = np.zeros(n + 1, dtype=np.int32)
    indptr[1:] = np.cumsum(np.bincount(keys // n, minlength=n))
    return Pattern(indptr, (keys % n).astype(np.int32))


def project_elements(blocks: Float, vectors: int) -> Int:
    """Project each element's Hessian in place onto the positive semi-definite matrices.

    blocks : the 3×3 blocks of each upper triangle, row by row, shape (m, vectors·(vectors + 1)/2,
        3, 3)

    Returns, for each chunk of elements, the first without eigenvalues (it is not finite), or -1.
    """
    module = kernels("taut.linalg._psd_projection_kernels")
    bad = np.full(
        (len(blocks) + module.ELEMENTS_PER_CHUNK - 1) // module.ELEMENTS_PER_CHUNK,
        -1,
        dtype=np.int64,
    )
    module.project(blocks, vectors, bad)
    return bad
