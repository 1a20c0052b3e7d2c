"""Direct solution with a symmetric matrix of any signature: LU with row interchanges (SuperLU).

The LDLᵀ of `taut.linalg.direct` exchanges no rows. For an indefinite matrix its pivots may come out
tiny by chance and amplify rounding without bound; interchanges prevent it, at two to four times the
work.

A low-rank part G W Gᵀ becomes a border of the matrix, which stays sparse:

    [A   G ] [x]   [b]
    [Gᵀ -W⁻¹] [y] = [0].
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.linalg.blocks import BlockMatrix, row_norms
from taut.linalg.linear import Solution

_MAX_REFINEMENTS = 5  # each gains several digits; one that gains nothing ends the solve


def solve_indefinite(matrix: BlockMatrix, b: Float) -> Solution | None:
    """Solve A x = b, b (n, 3), to rounding; None if the matrix is singular.

    >>> from taut.linalg.blocks import Pattern
    >>> alone = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 1)
    >>> saddle = BlockMatrix(alone, np.diag([2.0, -1.0, 4.0])[None])
    >>> solve_indefinite(saddle, np.array([[2.0, 3.0, 4.0]])).x.tolist()
    [[1.0, -3.0, 1.0]]
    """
    from scipy.sparse import block_array, csc_array, diags_array
    from scipy.sparse.linalg import splu

    terms = [term for term in matrix.low_rank if term.weight != 0.0 and term.vector.any()]
    blocks = BlockMatrix(matrix.pattern, matrix.data).to_scipy().tocsc()
    if terms:
        border = csc_array(np.column_stack([term.vector.reshape(-1) for term in terms]))
        corner = diags_array([-1.0 / term.weight for term in terms])
        blocks = block_array([[blocks, border], [border.T, corner]], format="csc")
    try:
        factors = splu(blocks)
    except RuntimeError:  # a pivot is zero: exactly singular
        return None

    def solve(right: Float) -> Float:
        bordered = np.concatenate([right.reshape(-1), np.zeros(len(terms))])
        x: Float = factors.solve(bordered)[: right.size].reshape(right.shape)
        return x

    x = solve(b)
    residual = b - matrix.multiply(x)
    rounds = 1
    while residual.any() and rounds <= _MAX_REFINEMENTS:
        refined = x + solve(residual)
        remaining = b - matrix.multiply(refined)
        if not row_norms(remaining).max() < row_norms(residual).max():
            break
        x, residual, rounds = refined, remaining, rounds + 1
    if not np.isfinite(x).all():
        return None
    return Solution(x, False, row_norms(residual), rounds)
