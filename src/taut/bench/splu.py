"""SciPy's splu as a linear solver of taut: what is measured against where there is no yardstick in C++.

It keeps to the diagonal for its pivots (SymmetricMode), so that A = LU with U = D Lᵀ: A is positive definite if and only if all
pivots are positive. There is no factorising of new values on a known pattern: each begins anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.solve.linear import Solution
from taut.system.blocks import BlockMatrix, Pattern, lengths

Float = NDArray[np.float64]


def factorised(matrix: Any) -> Any:
    """The factors of a symmetric sparse matrix, as SciPy's SuperLU.

    >>> from scipy.sparse import diags_array
    >>> factorised(diags_array([2.0, 4.0])).solve(np.array([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    return splu(csc_array(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


class Splu:
    """A `taut.solve.linear.LinearSolver`."""

    name, why, exact = "SciPy splu", "asked for", True

    def __init__(self) -> None:
        self._matrix: BlockMatrix | None = None
        self._factors: Any = None
        self._definite = False

    def analyse(self, pattern: Pattern) -> None:
        """Nothing to do: splu orders each matrix anew."""

    def factor(self, matrix: BlockMatrix, *, near: bool = False) -> bool:
        self._matrix, self._factors = matrix, factorised(matrix.to_scipy())
        self._definite = bool((self._factors.U.diagonal() > 0.0).all())
        return self._definite

    def solve(self, b: Float, targets: Float) -> Solution:
        assert self._matrix is not None
        x = self._factors.solve(b.reshape(-1)).reshape(b.shape)
        return Solution(x, self._definite, lengths(b - self._matrix.times(x)), 1)
