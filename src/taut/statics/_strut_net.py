"""The linear problem of a net with struts: force densities of either sign.

    Σ_j d_ij (x_j - x_i) + p_i = 0

With struts (d < 0) the matrix is not positive definite, the energy has no minimum, and where the
matrix is singular there is no form, or there are many: a free tensegrity in self-stress may be
stretched at will. It has one as soon as enough of its points are fixed.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import EPS, Float, Int
from taut.errors import ModelError

_SINGULAR = 1e4 * EPS  # of the largest density: a smaller eigenvalue is rounding
_INVERSE_ITERATIONS = 6  # enough for the smallest eigenvalue to within a few percent, or zero


def solve_net(
    q: Float, edges: Int, density: Float, loads: Float, fixed: Int
) -> tuple[Float, float]:
    """Return the positions [m], (n, 3), at which all points that edges reach are in balance, and
    the smallest magnitude of an eigenvalue of the matrix [N/m], about.

    edges, density : (m, 2) and force densities [N/m], (m,), of either sign
    loads : [N], (n, 3); fixed : the points that stay

    Three fixed corners of a square with two crossing struts determine the fourth:

    >>> square = np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0], [9, 9, 9]])
    >>> edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]])
    >>> density = np.array([1.0, 1, 1, 1, -1, -1])
    >>> points, least = solve_net(square, edges, density, np.zeros((4, 3)), np.arange(3))
    >>> points[3].round(12).tolist(), round(least, 12)
    ([0.0, 1.0, 0.0], 1.0)
    """
    from scipy.sparse import coo_array, eye_array
    from scipy.sparse.linalg import splu

    i, j = edges.T
    n = len(q)
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    values = np.concatenate([-density, -density, density, density])
    matrix = coo_array((values, (rows, columns)), shape=(n, n)).tocsr()
    free = np.setdiff1d(np.unique(edges), fixed)
    if not len(free):
        return q.copy(), np.inf
    inner = matrix[free][:, free].tocsc()
    zero = _SINGULAR * float(np.abs(density).max())
    try:
        factor = splu(inner)
    except RuntimeError:  # exactly singular: a factor of its neighbour tells in which motion
        factor = splu((inner + zero * eye_array(len(free))).tocsc())
    softest, least = np.cos(1.0 + np.arange(len(free))), np.inf
    for _ in range(_INVERSE_ITERATIONS):
        softest = factor.solve(softest / np.linalg.norm(softest))
        least = 1.0 / float(np.linalg.norm(softest))
    if not least > 2.0 * zero:
        raise ModelError(
            f"form_finding: force densities with these struts do not determine where particle "
            f"{free[np.argmax(np.abs(softest))]} lies: their matrix is singular; fix more points, "
            "or change a density"
        )
    solved = q.copy()
    for _ in range(2):  # the second time for what rounding has left
        solved[free] += factor.solve((loads - matrix @ solved)[free])
    return solved, least
