"""Direct solution with a matrix of any signature: LU with row interchanges (SuperLU).

The LDLᵀ of `taut.linalg.direct` exchanges no rows. For an indefinite matrix its pivots may come out
tiny by chance and amplify rounding without bound; interchanges prevent it, at two to four times the
work.

A low-rank part G W Gᵀ becomes a border of the matrix, which stays sparse:

    [A   G ] [x]   [b]
    [Gᵀ -W⁻¹] [y] = [0].

The matrix need not be symmetric: friction makes it so, and an adjoint then needs its transpose.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.linalg.blocks import BlockMatrix, dot, row_norms
from taut.linalg.linear import Solution

_MAX_REFINEMENTS = 5  # each gains several digits; one that gains nothing ends the solve


class GeneralFactors:
    """The factors of a matrix A, for solutions with it and with its transpose."""

    def __init__(self, matrix: BlockMatrix) -> None:
        from scipy.sparse import block_array, csc_array, diags_array
        from scipy.sparse.linalg import splu

        terms = [term for term in matrix.low_rank if term.weight != 0.0 and term.vector.any()]
        blocks = BlockMatrix(matrix.pattern, matrix.data).to_scipy().tocsc()
        self._matrix, self._sparse, self._border = matrix, blocks, len(terms)
        if terms:
            border = csc_array(np.column_stack([term.vector.reshape(-1) for term in terms]))
            corner = diags_array([-1.0 / term.weight for term in terms])
            blocks = block_array([[blocks, border], [border.T, corner]], format="csc")
        self._factors: Any = None  # SuperLU, whose stubs lack the transpose
        with suppress(RuntimeError):  # a pivot is zero: exactly singular
            self._factors = splu(blocks)

    def solve(self, b: Float, *, transposed: bool = False) -> Solution | None:
        """Solve A x = b or Aᵀ x = b, b (n, 3), to rounding; None if A is singular.

        >>> from taut.linalg.blocks import Pattern
        >>> alone = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 1)
        >>> sheared = BlockMatrix(alone, np.array([[[1.0, 2.0, 0.0], [0, 1, 0], [0, 0, 1]]]))
        >>> b = np.array([[1.0, 0.0, 0.0]])
        >>> GeneralFactors(sheared).solve(b, transposed=True).x.tolist()
        [[1.0, -2.0, 0.0]]
        """
        if self._factors is None:
            return None
        x = self._solve_once(b, transposed)
        residual = b - self._multiply(x, transposed)
        rounds = 1
        while residual.any() and rounds <= _MAX_REFINEMENTS:
            refined = x + self._solve_once(residual, transposed)
            remaining = b - self._multiply(refined, transposed)
            if not row_norms(remaining).max() < row_norms(residual).max():
                break
            x, residual, rounds = refined, remaining, rounds + 1
        if not np.isfinite(x).all():
            return None
        return Solution(x, False, row_norms(residual), rounds)

    def _solve_once(self, right: Float, transposed: bool) -> Float:
        bordered = np.concatenate([right.reshape(-1), np.zeros(self._border)])
        x: Float = self._factors.solve(bordered, trans="T" if transposed else "N")
        return x[: right.size].reshape(right.shape)

    def _multiply(self, x: Float, transposed: bool) -> Float:
        if not transposed:
            return self._matrix.multiply(x)
        product: Float = (self._sparse.T @ x.reshape(-1)).reshape(x.shape)
        for rank in self._matrix.low_rank:
            product = product + rank.weight * dot(rank.vector, x) * rank.vector
        return product


def solve_indefinite(matrix: BlockMatrix, b: Float) -> Solution | None:
    """Solve A x = b, b (n, 3), to rounding; None if the matrix is singular.

    >>> from taut.linalg.blocks import Pattern
    >>> alone = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 1)
    >>> saddle = BlockMatrix(alone, np.diag([2.0, -1.0, 4.0])[None])
    >>> solve_indefinite(saddle, np.array([[2.0, 3.0, 4.0]])).x.tolist()
    [[1.0, -3.0, 1.0]]
    """
    return GeneralFactors(matrix).solve(b)
