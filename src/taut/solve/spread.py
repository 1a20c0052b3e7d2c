"""Solve with a matrix that has parts spread over all particles, A + Σ w g gᵀ, by a solver for A alone.

With G the columns g and W their weights, (A + G W Gᵀ)⁻¹ b = z - Z C⁻¹ Gᵀz, z = A⁻¹b, Z = A⁻¹G, C = W⁻¹ + GᵀZ (Woodbury). For a
positive definite A the whole is so exactly if C has as many negative eigenvalues as W. An A that is not definite is given up,
though the rest might make up for it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.solve.linear import LinearSolver, Solution
from taut.system.blocks import BlockMatrix, Pattern, Rank, dot, lengths

Float = NDArray[np.float64]
ACCURACY = 1e-12  # of Z, relative to the largest of G
TINY = 1e-300  # in place of a zero on the diagonal of C, whose root is divided by
REFINEMENTS = 10  # each gains the digits of Z; one that gains nothing ends the solve


class Spread:
    """A solver for A, extended to A + Σ w g gᵀ. Where nothing is spread it is the solver itself."""

    def __init__(self, inner: LinearSolver) -> None:
        self.inner, self.name, self.why, self.exact = inner, inner.name, inner.why, inner.exact
        self._matrix: BlockMatrix | None = None
        self._ranks: list[Rank] = []
        self._columns: list[Float] = []  # Z
        self._small = np.zeros((0, 0))  # C
        self._work = 0

    def analyse(self, pattern: Pattern) -> None:
        self.inner.analyse(pattern)

    def factor(self, matrix: BlockMatrix, *, near: bool = False) -> bool:
        self._ranks = [rank for rank in matrix.spread if rank.weight != 0.0 and rank.vector.any()]
        self._matrix, self._work = matrix, 0
        if not self._ranks:
            return self.inner.factor(matrix, near=near)
        definite = self.inner.factor(BlockMatrix(matrix.pattern, matrix.data, held=matrix.held), near=near)
        self._columns = []
        for rank in self._ranks:
            solution = self.inner.solve(rank.vector, np.full(len(rank.vector), ACCURACY * lengths(rank.vector).max()))
            self._columns.append(solution.x)
            self._work += solution.iterations
            definite = definite and solution.definite
        r = range(len(self._ranks))
        self._small = np.array([[dot(self._ranks[i].vector, self._columns[j]) for j in r] for i in r])
        self._small = (self._small + self._small.T) / 2 + np.diag([1.0 / rank.weight for rank in self._ranks])
        if not np.isfinite(self._small).all():
            return False
        below = sum(rank.weight < 0.0 for rank in self._ranks)
        return definite and int((np.linalg.eigvalsh(self._small) < 0.0).sum()) == below

    def solve(self, b: Float, targets: Float) -> Solution:
        if not self._ranks or self._matrix is None:
            return self.inner.solve(b, targets)
        size = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(self._small)), TINY))
        if not np.isfinite(self._small).all() or np.linalg.matrix_rank(size[:, None] * self._small * size) < len(size):
            return Solution(np.zeros_like(b), False, lengths(b), self._work)
        x, residual = np.zeros_like(b), b
        work, definite, self._work = self._work, True, 0
        for _ in range(1 + REFINEMENTS):
            part = self.inner.solve(residual, 0.1 * targets)
            work, definite = work + part.iterations, definite and part.definite
            better = x + self._corrected(part.x)
            remaining = b - self._matrix.times(better)
            if not lengths(remaining).max() < lengths(residual).max():
                break
            x, residual = better, remaining
            if (lengths(residual) <= targets).all():
                break
        return Solution(x, definite, lengths(residual), work)

    def _corrected(self, z: Float) -> Float:
        """z - Z C⁻¹ Gᵀz."""
        loads = np.array([dot(rank.vector, z) for rank in self._ranks])
        for weight, column in zip(np.linalg.solve(self._small, loads).tolist(), self._columns, strict=True):
            z = z - weight * column
        return z
