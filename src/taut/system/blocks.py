"""Symmetric sparse matrices of 3×3 blocks, one row and column of blocks per particle, and vectors (n, 3), one per particle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.formula.compile import kernels

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the blocks are: compressed rows with sorted columns, symmetric, with every diagonal block present."""

    indptr: NDArray[np.int32]  # (n + 1,)
    indices: NDArray[np.int32]  # (blocks,)

    @property
    def n(self) -> int:
        """The number of particles."""
        return len(self.indptr) - 1

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """Row of each block."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def diagonal(self) -> Int:
        """Position of each particle's diagonal block."""
        return np.flatnonzero(self.rows == self.indices)

    @cached_property
    def upper(self) -> Int:
        """Positions of the blocks on and right of the diagonal, row by row."""
        return np.flatnonzero(self.rows <= self.indices)

    @cached_property
    def mirror(self) -> Int:
        """For each block in `upper` the position of its transpose."""
        position = np.empty(len(self.indices), dtype=np.int64)
        by_column = np.lexsort((self.rows, self.indices))  # the transposed pattern in row order
        position[by_column] = np.arange(len(by_column))
        return position[self.upper]

    @staticmethod
    def of(pairs: Int, n: int) -> Pattern:
        """The symmetric pattern with the given pairs (i, j), shape (k, 2), and all diagonal blocks."""
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        keys = np.unique(low * n + high)
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


def lengths(vectors: Float) -> Float:
    """The length of each of the vectors (n, 3), infinite where its square is; a sum along so short an axis would take numpy four
    times as long.

    >>> lengths(np.array([[3.0, 4.0, 0.0]]))
    array([5.])
    """
    with np.errstate(over="ignore"):  # what a solver gives for a matrix that is all but singular may be as large
        squares = vectors * vectors
        return np.asarray(np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2]))


def lost(vectors: Float) -> Int:
    """Which of the vectors (n, k) are not finite; to look at each would take numpy ten times as long as at all of them.

    >>> lost(np.array([[0.0, 0.0], [0.0, np.nan]]))
    array([1])
    """
    finite = np.isfinite(vectors)
    return np.empty(0, dtype=np.int64) if finite.all() else np.flatnonzero(~finite.all(axis=1))


def magnitudes(vectors: Float) -> Float:
    """|x| + |y| + |z| of each of the vectors (n, 3); a sum along so short an axis would take numpy five times as long.

    >>> magnitudes(np.array([[3.0, -4.0, 1.0]]))
    array([8.])
    """
    a = np.abs(vectors)
    return np.asarray(a[:, 0] + a[:, 1] + a[:, 2])


def largest(vectors: Float) -> Float:
    """max(|x|, |y|, |z|) of each of the vectors (n, 3).

    >>> largest(np.array([[3.0, -4.0, 1.0]]))
    array([4.])
    """
    a = np.abs(vectors)
    return np.asarray(np.maximum(np.maximum(a[:, 0], a[:, 1]), a[:, 2]))


@dataclass(frozen=True, eq=False)
class Rank:
    """A matrix w g gᵀ, which joins every particle with every other; g has shape (n, 3)."""

    weight: float
    vector: Float

    def scaled(self, factor: float) -> Rank:
        """factor·w g gᵀ."""
        return Rank(factor * self.weight, self.vector)


@dataclass(frozen=True, eq=False)
class Held:
    """Particles that are held, (k,), and for each the projector onto the directions left to it, (k, 3, 3)."""

    particles: Int
    free: Float


@dataclass(eq=False)
class BlockMatrix:
    """Values on a pattern, data of shape (blocks, 3, 3), and what of a matrix is spread over all particles: Σ w g gᵀ.

    held : the directions that constraints have taken out of it
    """

    pattern: Pattern
    data: Float
    spread: tuple[Rank, ...] = ()
    held: Held = field(default_factory=lambda: Held(np.empty(0, dtype=np.int64), np.empty((0, 3, 3))))

    def copy(self) -> BlockMatrix:
        """The same, with values of its own."""
        return BlockMatrix(self.pattern, self.data.copy(), self.spread, self.held)

    def to_scipy(self) -> Any:
        """A copy as a scipy.sparse array of shape (3n, 3n), BSR where nothing is spread over all particles."""
        from scipy.sparse import bsr_array, csr_array

        size = 3 * self.pattern.n
        matrix = bsr_array((self.data, self.pattern.indices, self.pattern.indptr), shape=(size, size)).copy()
        for rank in self.spread:
            column = csr_array(rank.vector.reshape(-1, 1))
            matrix = matrix + rank.weight * (column @ column.T)
        return matrix

    def times(self, x: Float) -> Float:
        """The product with vectors x of shape (n, 3)."""
        product = np.empty((self.pattern.n, 3))
        padded = np.concatenate([x, np.zeros((1, 3))])
        flat = self.data.reshape(-1), padded.reshape(-1)
        kernels("taut.system.product_kernels").times(self.pattern.indptr, self.pattern.indices, *flat, product)
        for rank in self.spread:
            product += rank.weight * dot(rank.vector, x) * rank.vector
        return product

    def diagonal_trace(self) -> Float:
        """Trace of each diagonal block, shape (n,)."""
        trace = np.trace(self.data[self.pattern.diagonal], axis1=1, axis2=2)
        for rank in self.spread:
            trace = trace + rank.weight * np.einsum("ij,ij->i", rank.vector, rank.vector)
        return trace


class Union:
    """The smallest pattern that contains several, and where their blocks lie in it."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        n = patterns[0].n
        keys = [p.rows.astype(np.int64) * n + p.indices for p in patterns]
        every = np.unique(np.concatenate(keys)) if len(keys) > 1 else keys[0]
        self.parts = tuple(patterns)
        same = [p for p, k in zip(patterns, keys, strict=True) if len(k) == len(every)]
        self.pattern = same[0] if same else _from_keys(every, n)
        self.slots = [np.searchsorted(every, k) for k in keys]

    def fits(self, patterns: Sequence[Pattern]) -> bool:
        """Whether it is the union of these very patterns."""
        return len(patterns) == len(self.parts) and all(a is b for a, b in zip(patterns, self.parts, strict=True))

    def sum(self, matrices: Sequence[BlockMatrix], factors: Sequence[float]) -> BlockMatrix:
        """Σ factor·matrix of matrices on the patterns it was made of, in their order: a new one, on the union's pattern."""
        out = np.empty((len(self.pattern.indices), 3, 3))
        whole = [k for k, part in enumerate(self.parts) if part is self.pattern][:1]  # needs no lists, and is written first
        if not whole:
            out[:] = 0.0
        for k in whole:
            np.multiply(matrices[k].data, factors[k], out=out)
        for k, (matrix, factor, slots) in enumerate(zip(matrices, factors, self.slots, strict=True)):
            if k not in whole:
                out[slots] += factor * matrix.data
        spread = tuple(rank.scaled(factor) for matrix, factor in zip(matrices, factors, strict=True) for rank in matrix.spread)
        return BlockMatrix(self.pattern, out, spread)


def _from_keys(keys: Int, n: int) -> Pattern:
    indptr = np.zeros(n + 1, dtype=np.int32)
    indptr[1:] = np.cumsum(np.bincount(keys // n, minlength=n))
    return Pattern(indptr, (keys % n).astype(np.int32))
