"""Where along a membrane its points belong: equal force densities in the tangent planes.

    Σ_j d_ij t·(x_j + u_j - x_i - u_i) = 0    for all t across the normal n_i,  u_i·n_i = 0

The linear problem of a discrete harmonic map, with the normals as they are.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.linalg.blocks import row_norms
from taut.statics._membrane import vertex_normals


def find_tangential_moves(
    q: Float, triangles: Int, sliding: Int, sides: Int, density: Float
) -> Float:
    """Return moves [m], (n, 3), of the sliding points to where the densities would hold them.

    sides, density : of the triangles, (e, 2) and [N/m], (e,)

    >>> q = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.2, 0.7, 0]])
    >>> fan = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    >>> spokes = np.array([[0, 4], [1, 4], [2, 4], [3, 4]])
    >>> find_tangential_moves(q, fan, np.array([4]), spokes, np.ones(4))[4].round(12)
    array([ 0.3, -0.2,  0. ])
    """
    from scipy.sparse import block_diag, coo_array, kron
    from scipy.sparse.linalg import splu

    i, j = sides.T
    n = len(q)
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    values = np.concatenate([-density, -density, density, density])
    laplacian = coo_array((values, (rows, columns)), shape=(n, n)).tocsr()[sliding]
    normals = vertex_normals(q, triangles)[sliding]
    # Two directions across each normal, from the axis that is farthest from it.
    axes = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = np.cross(normals, axes)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    tangents = np.stack([first, np.cross(normals, first)], axis=2)  # (s, 3, 2)
    basis = block_diag(list(tangents), format="csc")
    matrix = basis.T @ kron(laplacian[:, sliding], np.eye(3)).tocsc() @ basis
    pull = basis.T @ (laplacian @ q).reshape(-1)
    moves = np.zeros_like(q)
    moves[sliding] = (basis @ splu(matrix.tocsc()).solve(-pull)).reshape(-1, 3)
    return moves


def find_largest_stretch(q: Float, moves: Float, sides: Int) -> float:
    """Return the largest difference of moves (n, 3) along a side, as a part of its length.

    >>> line = np.array([[0.0, 0, 0], [2, 0, 0]])
    >>> find_largest_stretch(line, np.array([[0.0, 0, 0], [0, 1, 0]]), np.array([[0, 1]]))
    0.5
    """
    i, j = sides.T
    return float((row_norms(moves[j] - moves[i]) / row_norms(q[j] - q[i])).max())
