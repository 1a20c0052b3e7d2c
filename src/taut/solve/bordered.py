"""LDLᵀ of a symmetric sparse matrix A, and of A + Σ w g gᵀ without writing it out: by a border.

With G the columns g and W their weights, in

    ⎡ A   G   ⎤ ⎡ x ⎤   ⎡ b ⎤
    ⎣ Gᵀ -W⁻¹ ⎦ ⎣ y ⎦ = ⎣ 0 ⎦

the second row says y = W Gᵀx, so (A + G W Gᵀ) x = b. Eliminating y instead of x gives the pivots -1/w and the matrix A + G W Gᵀ: by
Sylvester's law of inertia the whole has the negative eigenvalues of that, and one more for each w > 0. Row and column of each g are
multiplied by a number c, and -1/w by c², which changes no sign and no x, such that they are not larger than the entries of A.

No pivot is chosen for its size. That is safe where A with its negative w alone is positive definite; elsewhere the factor may not
represent the matrix, even where A + G W Gᵀ is positive definite. A vector with xᵀ(A + G W Gᵀ)x < 0 shows that it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.system.reduction import SpreadArray

Float = NDArray[np.float64]
STEPS = 40  # towards a vector that shows a matrix not to be positive definite: a few are enough where it is strongly indefinite


class Factor:
    """LDLᵀ of a symmetric scipy.sparse CSC array or SpreadArray (f, f). RuntimeError where a pivot is exactly zero.

    below, above : how many eigenvalues are negative, and how many positive

    >>> from scipy.sparse import diags_array
    >>> factor = Factor(SpreadArray(diags_array([2.0, -1.0]).tocsc(), np.array([3.0]), np.array([[0.0], [1.0]])))
    >>> factor.below, factor.above, factor.solve(np.array([4.0, 6.0]))
    (0, 2, array([2., 3.]))
    """

    def __init__(self, matrix: Any) -> None:
        import qdldl
        from scipy.sparse import csc_matrix, triu

        weights = matrix.weights if isinstance(matrix, SpreadArray) else np.empty(0)
        self._c = _scale(matrix) if len(weights) else weights
        whole = _bordered(matrix, self._c) if len(weights) else matrix
        self._solver = qdldl.Solver(csc_matrix(triu(whole, format="csc")), upper=True)
        pivots = self._solver.factors()[1]
        self.below = int((pivots < 0.0).sum()) - int((weights > 0.0).sum())
        self.above = int((pivots > 0.0).sum()) - int((weights < 0.0).sum())

    def solve(self, b: Float) -> Float:
        """x of A x = b, both (f,)."""
        return self._both(b)[0]

    def beside(self, known: Float, b: Float) -> Float:
        """The same, x and b without their parts along known orthonormal vectors, columns of (f, k).

        >>> from scipy.sparse import csc_array
        >>> Factor(csc_array([[2.0, 1.0], [1.0, 3.0]])).beside(np.array([[1.0], [0.0]]), np.array([7.0, 5.0]))
        array([0., 2.])
        """
        b = np.ravel(b)
        if not known.size:
            return self.solve(b)
        x = self.solve(b - np.einsum("ik,k->i", known, np.einsum("ik,i->k", known, b)))
        return x - np.einsum("ik,k->i", known, np.einsum("ik,i->k", known, x))

    def tried(self, matrix: Any, b: Float) -> tuple[Float, float, float]:
        """x of matrix·x = b, its largest residual, and the norm of the sparse part, with which rounding is to be compared.

        A residual in the row of a g is one of a g that is a little turned, by an angle φ. That moves the number of eigenvalues
        below zero like a change of A by φ|A|, however large w is, so it counts as that.
        """
        x, y = self._both(b)
        if not isinstance(matrix, SpreadArray):
            return x, float(np.abs(b - matrix @ x).max()), norm(matrix)
        size, g = norm(matrix.sparse), matrix.vectors
        rows = np.abs(b - matrix.sparse @ x - np.einsum("ik,k->i", g, y)).max()
        turned = np.abs(np.einsum("ik,i->k", g, x) - y / matrix.weights) / np.abs(g).sum(axis=0)
        return x, float(np.maximum(rows, size * turned.max())), size

    def _both(self, b: Float) -> tuple[Float, Float]:
        """x and y."""
        if not len(self._c):
            return self._solver.solve(b), self._c
        both: Float = self._solver.solve(np.concatenate([b, np.zeros(len(self._c))]))
        return both[: len(b)], self._c * both[len(b) :]


def _scale(matrix: SpreadArray) -> Float:
    """c, (r,): the largest that makes neither c·g nor c²/w larger than the entries of A."""
    size = float(abs(matrix.sparse).max()) or 1.0
    c: Float = np.minimum(size / np.abs(matrix.vectors).max(axis=0), np.sqrt(size) * np.sqrt(np.abs(matrix.weights)))
    return c


def _bordered(matrix: SpreadArray, c: Float) -> Any:
    """The bordered matrix, its upper triangle at least."""
    from scipy.sparse import block_array, csc_array, diags_array

    return block_array([[matrix.sparse, csc_array(matrix.vectors * c)], [None, diags_array(-c / matrix.weights * c)]], format="csc")


def less(matrix: Any, shift: float) -> Any:
    """The matrix less shift times the identity.

    >>> from scipy.sparse import diags_array
    >>> less(diags_array([2.0, 1.0]).tocsc(), 0.5).toarray().tolist()
    [[1.5, 0.0], [0.0, 0.5]]
    """
    from scipy.sparse import eye_array

    if isinstance(matrix, SpreadArray):
        return SpreadArray(less(matrix.sparse, shift), matrix.weights, matrix.vectors)
    return matrix - shift * eye_array(matrix.shape[0], format="csc")


def largest(matrix: Any) -> float:
    """The largest |entry|; of a SpreadArray a number not below it.

    >>> from scipy.sparse import diags_array
    >>> largest(diags_array([2.0, -3.0]).tocsc())
    3.0
    """
    if isinstance(matrix, SpreadArray):
        return largest(matrix.sparse) + float((np.abs(matrix.weights) * np.abs(matrix.vectors).max(axis=0) ** 2).sum())
    return float(abs(matrix).max()) if matrix.nnz else 0.0


def norm(matrix: Any) -> float:
    """The largest sum of |entries| of a row, which no |eigenvalue| exceeds (Gershgorin); of a SpreadArray a number not below it.

    >>> from scipy.sparse import diags_array
    >>> norm(diags_array([2.0, -3.0]).tocsc())
    3.0
    """
    if not isinstance(matrix, SpreadArray):
        return float(abs(matrix).sum(axis=0).max())
    size = np.abs(matrix.vectors)
    rows = abs(matrix.sparse).sum(axis=0)
    for k, weight in enumerate(np.abs(matrix.weights)):
        rows = rows + weight * size[:, k].sum() * size[:, k]
    return float(rows.max())


def depth(matrix: Any) -> float:
    """A number such that no eigenvalue is below its negative: a weight w > 0 lowers none.

    >>> from scipy.sparse import diags_array
    >>> depth(SpreadArray(diags_array([2.0, -3.0]).tocsc(), np.array([1e9, -1.0]), np.eye(2)))
    4.0
    """
    if not isinstance(matrix, SpreadArray):
        return norm(matrix)
    squares = np.einsum("ik,ik->k", matrix.vectors, matrix.vectors)
    return norm(matrix.sparse) - float((np.minimum(matrix.weights, 0.0) * squares).sum())


def witness(matrix: Any, shift: float) -> bool:
    """Whether a vector x is found with xᵀAx ≤ shift·xᵀx: inverse iteration from a shift below all eigenvalues, raised by bisection.

    What raises it need not be safe, since the quotient itself is computed.

    >>> from scipy.sparse import diags_array
    >>> witness(diags_array([3.0, -1.0]).tocsc(), -0.9), witness(diags_array([3.0, -1.0]).tocsc(), -1.1)
    (True, False)
    """
    below = -1.01 * depth(matrix)
    factor = Factor(less(matrix, below))
    x = np.random.default_rng(0).standard_normal(matrix.shape[0])
    for _ in range(STEPS):
        x = factor.solve(x)
        x /= np.sqrt(np.einsum("i,i->", x, x))
        value = float(np.einsum("i,i->", x, matrix @ x))
        if value <= shift:
            return True
        middle = (below + value) / 2
        try:
            higher = Factor(less(matrix, middle))
        except RuntimeError:  # a zero pivot
            continue
        if higher.above == len(x):
            below, factor = middle, higher
    return False
