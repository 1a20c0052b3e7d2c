"""A linear solve in compiled code that would take minutes."""

import numpy as np

from taut.linalg.blocks import BlockMatrix, Pattern
from taut.linalg.multigrid import Multigrid

SIDE = 60  # particles along a side of the net


def net_of_unequal_springs():
    """The stiffness of a square net whose springs differ by a factor of up to 10¹²."""
    index = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    right = np.stack([index[:, :-1], index[:, 1:]], axis=-1).reshape(-1, 2)
    down = np.stack([index[:-1], index[1:]], axis=-1).reshape(-1, 2)
    pattern = Pattern.from_pairs(np.concatenate([right, down]), SIDE * SIDE)
    rows, columns = pattern.rows.astype(float), pattern.indices.astype(float)
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    k = 10.0 ** (6.0 + 6.0 * np.sin(12.9898 * low + 78.233 * high))
    k[pattern.diagonal] = 0.0
    sums = np.bincount(pattern.rows, weights=k)
    k *= -1.0
    k[pattern.diagonal] = sums + 1e-3
    return BlockMatrix(pattern, k[:, None, None] * np.eye(3))


def solve_slowly():
    """Solve with it, to a residual that conjugate gradients hardly reach."""
    matrix = net_of_unequal_springs()
    b = np.sin(np.arange(3.0 * matrix.pattern.n)).reshape(-1, 3)
    solver = Multigrid(10**9)
    assert solver.factor(matrix)
    return solver.solve(b, np.full(len(b), 1e-12))
