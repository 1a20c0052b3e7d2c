"""Direct solution by LDLᵀ factorisation (QDLDL), with the fill-reducing order found once per pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.solve.linear import Solution
from taut.system.blocks import BlockMatrix, Pattern, lengths

Float = NDArray[np.float64]
REFINEMENTS = 5  # each gains several digits; one that gains nothing ends the solve


class Direct:
    """LDLᵀ, with iterative refinement to the residual asked for."""

    name, why, exact = "direct (LDLᵀ)", "asked for", True

    def __init__(self) -> None:
        self._pattern: Pattern | None = None
        self._factor: Any = None
        self._matrix: BlockMatrix | None = None
        self._definite = False

    def analyse(self, pattern: Pattern) -> None:
        if pattern is self._pattern:
            return
        from scipy.sparse import csc_array

        rows = 3 * pattern.rows.astype(np.int64)[:, None, None] + np.arange(3)[:, None]
        columns = 3 * pattern.indices.astype(np.int64)[:, None, None] + np.arange(3)
        rows, columns = (np.broadcast_to(a, (len(pattern.indices), 3, 3)).ravel() for a in (rows, columns))
        kept = np.flatnonzero(rows <= columns)
        self._take = kept[np.lexsort((rows[kept], columns[kept]))]
        size = 3 * pattern.n
        indptr = np.zeros(size + 1, dtype=np.int32)
        indptr[1:] = np.cumsum(np.bincount(columns[kept], minlength=size))
        self._upper = csc_array((np.ones(len(kept)), rows[self._take].astype(np.int32), indptr), shape=(size, size))
        self._pattern, self._factor = pattern, None

    def factor(self, matrix: BlockMatrix, *, near: bool = False) -> bool:
        import qdldl
        from scipy.sparse import csc_matrix

        self.analyse(matrix.pattern)
        self._matrix = matrix
        self._upper.data[:] = matrix.data.reshape(-1)[self._take]
        upper = csc_matrix(self._upper)
        try:
            if self._factor is None:
                self._factor = qdldl.Solver(upper, upper=True)
            else:
                self._factor.update(upper, upper=True)
        except RuntimeError:  # a zero pivot: singular, hence not positive definite
            self._factor = None
            return False
        self._definite = bool((self._factor.factors()[1] > 0).all())
        return self._definite

    def solve(self, b: Float, targets: Float) -> Solution:
        if self._factor is None or self._matrix is None:
            return Solution(np.zeros_like(b), False, lengths(b), 0)
        x = self._factor.solve(b.reshape(-1)).reshape(b.shape)
        residual = b - self._matrix.times(x)
        rounds = 1
        while (lengths(residual) > targets).any() and rounds <= REFINEMENTS:
            better = x + self._factor.solve(residual.reshape(-1)).reshape(b.shape)
            remaining = b - self._matrix.times(better)
            if not lengths(remaining).max() < lengths(residual).max():
                break
            x, residual, rounds = better, remaining, rounds + 1
        return Solution(x, self._definite, lengths(residual), rounds)
