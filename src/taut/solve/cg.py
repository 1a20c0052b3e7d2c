"""Conjugate gradients with the inverse diagonal blocks as preconditioner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.formula.compile import kernels
from taut.solve.linear import Solution
from taut.solve.tolerance import EPS, lengths
from taut.system.blocks import BlockMatrix, Pattern

Float = NDArray[np.float64]
RESTARTS = 4  # with the true residual, when the recurrence has drifted from it


class ConjugateGradients:
    """CG preconditioned by the inverse diagonal blocks (block Jacobi)."""

    name = "cg (block Jacobi)"

    def __init__(self) -> None:
        self._pattern: Pattern | None = None
        self._matrix: BlockMatrix | None = None

    def analyse(self, pattern: Pattern) -> None:
        if pattern is not self._pattern:
            self._pattern = pattern
            self._inverse = np.zeros((pattern.n, 3, 3))
            self._z, self._p, self._ap = np.zeros((3, pattern.n, 3))

    def factor(self, matrix: BlockMatrix) -> bool:
        self.analyse(matrix.pattern)
        invert = kernels("taut.solve.cg_kernels").invert_diagonal
        definite = int(invert(matrix.pattern.diagonal, matrix.data, self._inverse)) == 0
        self._matrix = matrix if definite else None
        return definite

    def solve(self, b: Float, targets: Float) -> Solution:
        if self._matrix is None:
            return Solution(np.zeros_like(b), False, lengths(b), 0)
        a = self._matrix
        limit = max(1000, 3 * a.pattern.n)
        iterate = kernels("taut.solve.cg_kernels").iterate
        x, r = np.zeros_like(b), np.array(b, order="C")
        self._p[:] = 0.0
        best, residuals, total = x.copy(), lengths(r), 0
        for _ in range(1 + RESTARTS):
            aims = np.maximum(targets, EPS * residuals.max())  # below that the recurrence is no longer the residual
            steps, definite = iterate(
                a.pattern.indptr, a.pattern.indices, a.data, self._inverse, x, r, self._z, self._p, self._ap, aims**2, limit
            )
            total += int(steps)
            if not definite:
                return Solution(best, False, residuals, total)
            r = b - a.times(x)
            now = lengths(r)
            if not now.max() < residuals.max():
                break
            best, residuals = x.copy(), now
            if (residuals <= targets).all() or total >= limit:
                break
        return Solution(best, True, residuals, total)
