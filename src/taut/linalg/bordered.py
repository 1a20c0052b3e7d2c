"""Systems of equations with a border, for paths through singular matrices:

    ⎡ A   p ⎤ ⎡ x ⎤   ⎡ b ⎤
    ⎣ cᵀ  d ⎦ ⎣ ξ ⎦ = ⎣ β ⎦

A is symmetric, sparse, and may be indefinite or, with a null space of one dimension, singular: the
whole is regular if p is not in the range of A, and c not orthogonal to its null space. So it is
factorised as a whole, with pivoting (SuperLU); eliminating A first would lose what is sought.
The low-rank part of A, if there is one, is a further border (`low_rank.py`).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.linalg.low_rank import SparsePlusLowRank

# Pivots smaller than this part of the largest in their column are not taken from the diagonal:
# the order that keeps the factor sparse is a symmetric one.
_PIVOT_THRESHOLD = 0.01


class BorderedMatrix:
    """The factorised matrix [[A, p], [cᵀ, d]].

    Raises `numpy.linalg.LinAlgError` where it is singular.

    matrix : A (f, f), a scipy.sparse CSC array or a SparsePlusLowRank
    column, row : p and c, (f,); corner : d

    >>> from scipy.sparse import csc_array
    >>> singular = csc_array([[1.0, 0.0], [0.0, 0.0]])
    >>> whole = BorderedMatrix(singular, np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.0)
    >>> x, xi = whole.solve(np.array([2.0, 3.0]), 4.0)
    >>> x.tolist(), xi
    ([2.0, 4.0], 3.0)
    """

    def __init__(self, matrix: Any, column: Float, row: Float, corner: float) -> None:
        from scipy.sparse import block_array, csc_array, diags_array
        from scipy.sparse.linalg import MatrixRankWarning, splu

        self._size = len(column)
        # The border in the scale of A, so that pivots compare like with like.
        entries = matrix.sparse.data if _has_low_rank(matrix) else matrix.data
        size = float(np.abs(entries).max(initial=0.0)) or 1.0
        self._column_scale = size / (float(np.abs(column).max()) or 1.0)
        self._row_scale = size / (float(np.hypot(np.abs(row).max(), corner)) or 1.0)
        right = csc_array(self._column_scale * column[:, None])
        below = csc_array(self._row_scale * row[None, :])
        end = csc_array([[self._row_scale * self._column_scale * corner]])
        if _has_low_rank(matrix):
            g, inner = csc_array(matrix.vectors), diags_array(-1.0 / matrix.weights)
            blocks = [[matrix.sparse, g, right], [g.T, inner, None], [below, None, end]]
        else:
            blocks = [[matrix, right], [below, end]]
        self._whole = block_array(blocks, format="csc")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", MatrixRankWarning)
                self._factor = splu(
                    self._whole,
                    permc_spec="MMD_AT_PLUS_A",
                    diag_pivot_thresh=_PIVOT_THRESHOLD,
                    options={"SymmetricMode": True},
                )
        except (RuntimeError, MatrixRankWarning) as error:
            raise np.linalg.LinAlgError(str(error)) from error

    def solve(self, b: Float, beta: float) -> tuple[Float, float]:
        """Return x (f,) and ξ, after one step of iterative refinement."""
        right = np.zeros(self._whole.shape[0])
        right[: self._size], right[-1] = b, self._row_scale * beta
        solution = self._factor.solve(right)
        solution = solution + self._factor.solve(right - self._whole @ solution)
        if not np.isfinite(solution).all():
            raise np.linalg.LinAlgError("the solution is not finite")
        return solution[: self._size], float(self._column_scale * solution[-1])


def _has_low_rank(matrix: Any) -> bool:
    return isinstance(matrix, SparsePlusLowRank)
