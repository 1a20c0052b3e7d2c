"""Symmetric matrices with a low-rank part, A + Σ w g gᵀ, and their LDLᵀ factorisation by a border.

The low-rank part is kept as weights and vectors: written out it would fill the matrix. With G the
columns g and W their weights, in

    ⎡ A   G   ⎤ ⎡ x ⎤   ⎡ b ⎤
    ⎣ Gᵀ -W⁻¹ ⎦ ⎣ y ⎦ = ⎣ 0 ⎦

the second row says y = W Gᵀx, so (A + G W Gᵀ) x = b. Eliminating y instead of x gives the pivots
-1/w and the matrix A + G W Gᵀ: by Sylvester's law of inertia the bordered matrix has the negative
eigenvalues of that, and one more for each w > 0. Row and column of each g are multiplied by a
number c, and -1/w by c², which changes no sign and no x, such that they are not larger than the
entries of A.

No pivot is chosen for its size. That is safe where A with its negative w alone is positive
definite; elsewhere the factor may not represent the matrix, even where A + G W Gᵀ is positive
definite. A vector with xᵀ(A + G W Gᵀ)x < 0 proves that it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float

# of inverse iteration towards a vector that proves a matrix not to be positive definite: a few are
# enough where it is strongly indefinite
MAX_PROOF_STEPS = 40


@dataclass(frozen=True, eq=False)
class RankOne:
    """The matrix w g gᵀ of rank one, which couples all rows; g has shape (n, 3)."""

    weight: float
    vector: Float

    def scaled(self, factor: float) -> RankOne:
        """factor·w g gᵀ."""
        return RankOne(factor * self.weight, self.vector)


@dataclass(frozen=True, eq=False)
class SparsePlusLowRank:
    """A symmetric matrix A + Σ w g gᵀ.

    sparse : A, a scipy.sparse CSC array, shape (f, f)
    weights : w, all non-zero, shape (r,)
    vectors : the vectors g as columns, shape (f, r)

    >>> from scipy.sparse import eye_array
    >>> g = np.array([[1.0], [2.0]])
    >>> matrix = SparsePlusLowRank(eye_array(2, format="csc"), np.array([3.0]), g)
    >>> matrix @ np.array([1.0, 0.0]), matrix.toarray().tolist()
    (array([4., 6.]), [[4.0, 6.0], [6.0, 13.0]])
    """

    sparse: Any
    weights: Float
    vectors: Float

    @property
    def shape(self) -> tuple[int, int]:
        """(f, f)."""
        size = len(self.vectors)
        return size, size

    def __matmul__(self, x: Float) -> Float:
        """The product with x of shape (f,) or (f, k); sums have a fixed order."""
        product: Float = self.sparse @ x
        for weight, g in zip(self.weights, self.vectors.T, strict=True):
            product = product + weight * np.multiply.outer(g, np.einsum("i,i...->...", g, x))
        return product

    def toarray(self) -> Float:
        """Written out, shape (f, f)."""
        full: Float = self.sparse.toarray()
        for weight, g in zip(self.weights, self.vectors.T, strict=True):
            full += weight * np.multiply.outer(g, g)
        return full

    def tocsc(self) -> Any:
        """Written out, as a scipy.sparse CSC array (f, f)."""
        from scipy.sparse import csc_array

        return csc_array(self.toarray())


class Factor:
    """LDLᵀ of a symmetric scipy.sparse CSC array or SparsePlusLowRank (f, f).

    Raises RuntimeError where a pivot is exactly zero.

    below, above : how many eigenvalues are negative, and how many positive

    >>> from scipy.sparse import diags_array
    >>> g = np.array([[0.0], [1.0]])
    >>> matrix = SparsePlusLowRank(diags_array([2.0, -1.0]).tocsc(), np.array([3.0]), g)
    >>> factor = Factor(matrix)
    >>> factor.below, factor.above, factor.solve(np.array([4.0, 6.0]))
    (0, 2, array([2., 3.]))
    """

    def __init__(self, matrix: Any) -> None:
        import qdldl
        from scipy.sparse import csc_matrix, triu

        weights, self._scale, whole = np.empty(0), np.empty(0), matrix
        if isinstance(matrix, SparsePlusLowRank):
            weights, self._scale = matrix.weights, _scale_border(matrix)
            whole = _add_border(matrix, self._scale)
        self._solver = qdldl.Solver(csc_matrix(triu(whole, format="csc")), upper=True)
        pivots = self._solver.factors()[1]
        self.below = int((pivots < 0.0).sum()) - int((weights > 0.0).sum())
        self.above = int((pivots > 0.0).sum()) - int((weights < 0.0).sum())

    def solve(self, b: Float) -> Float:
        """x of A x = b, both (f,)."""
        return self._solve_bordered(b)[0]

    def solve_orthogonal_to(self, known: Float, b: Float) -> Float:
        """Solve without the parts of x and b along known orthonormal vectors, columns of (f, k).

        >>> from scipy.sparse import csc_array
        >>> factor = Factor(csc_array([[2.0, 1.0], [1.0, 3.0]]))
        >>> factor.solve_orthogonal_to(np.array([[1.0], [0.0]]), np.array([7.0, 5.0]))
        array([0., 2.])
        """
        b = np.ravel(b)
        if not known.size:
            return self.solve(b)
        x = self.solve(b - np.einsum("ik,k->i", known, np.einsum("ik,i->k", known, b)))
        return x - np.einsum("ik,k->i", known, np.einsum("ik,i->k", known, x))

    def solve_and_measure(self, matrix: Any, b: Float) -> tuple[Float, float, float]:
        """x of matrix·x = b, its largest residual, and the norm of A to compare its rounding with.

        A residual in the row of a g is that of a g turned by a small angle φ. It moves the number
        of eigenvalues below zero like a change of A by φ|A|, however large w is, so it counts as
        that.
        """
        x, y = self._solve_bordered(b)
        if not isinstance(matrix, SparsePlusLowRank):
            return x, float(np.abs(b - matrix @ x).max()), infinity_norm(matrix)
        size, g = infinity_norm(matrix.sparse), matrix.vectors
        rows = np.abs(b - matrix.sparse @ x - np.einsum("ik,k->i", g, y)).max()
        turned = np.abs(np.einsum("ik,i->k", g, x) - y / matrix.weights) / np.abs(g).sum(axis=0)
        return x, float(np.maximum(rows, size * turned.max())), size

    def _solve_bordered(self, b: Float) -> tuple[Float, Float]:
        """x and y."""
        if not len(self._scale):
            return self._solver.solve(b), self._scale
        both: Float = self._solver.solve(np.concatenate([b, np.zeros(len(self._scale))]))
        return both[: len(b)], self._scale * both[len(b) :]


def _scale_border(matrix: SparsePlusLowRank) -> Float:
    """c, (r,): the largest that makes neither c·g nor c²/w larger than the entries of A."""
    size = float(abs(matrix.sparse).max()) or 1.0
    by_vectors = size / np.abs(matrix.vectors).max(axis=0)
    by_weights = np.sqrt(size) * np.sqrt(np.abs(matrix.weights))
    c: Float = np.minimum(by_vectors, by_weights)
    return c


def _add_border(matrix: SparsePlusLowRank, c: Float) -> Any:
    """The bordered matrix; its lower left part, which is not read, is left out."""
    from scipy.sparse import block_array, csc_array, diags_array

    border, corner = csc_array(matrix.vectors * c), diags_array(-c / matrix.weights * c)
    return block_array([[matrix.sparse, border], [None, corner]], format="csc")


def subtract_identity(matrix: Any, factor: float) -> Any:
    """The matrix minus `factor` times the identity.

    >>> from scipy.sparse import diags_array
    >>> subtract_identity(diags_array([2.0, 1.0]).tocsc(), 0.5).toarray().tolist()
    [[1.5, 0.0], [0.0, 0.5]]
    """
    from scipy.sparse import eye_array

    if isinstance(matrix, SparsePlusLowRank):
        sparse = subtract_identity(matrix.sparse, factor)
        return SparsePlusLowRank(sparse, matrix.weights, matrix.vectors)
    return matrix - factor * eye_array(matrix.shape[0], format="csc")


def max_abs_entry(matrix: Any) -> float:
    """The largest |entry|; for a SparsePlusLowRank an upper bound.

    >>> from scipy.sparse import diags_array
    >>> max_abs_entry(diags_array([2.0, -3.0]).tocsc())
    3.0
    """
    if isinstance(matrix, SparsePlusLowRank):
        squares = np.abs(matrix.vectors).max(axis=0) ** 2
        return max_abs_entry(matrix.sparse) + float((np.abs(matrix.weights) * squares).sum())
    return float(abs(matrix).max()) if matrix.nnz else 0.0


def infinity_norm(matrix: Any) -> float:
    """The largest Σ|entry| of a row, which no |eigenvalue| exceeds (Gershgorin).

    For a SparsePlusLowRank an upper bound.

    >>> from scipy.sparse import diags_array
    >>> infinity_norm(diags_array([2.0, -3.0]).tocsc())
    3.0
    """
    if not isinstance(matrix, SparsePlusLowRank):
        return float(abs(matrix).sum(axis=0).max())
    size = np.abs(matrix.vectors)
    rows = abs(matrix.sparse).sum(axis=0)
    for k, weight in enumerate(np.abs(matrix.weights)):
        rows = rows + weight * size[:, k].sum() * size[:, k]
    return float(rows.max())


def bound_negative_eigenvalues(matrix: Any) -> float:
    """A number d such that no eigenvalue is below -d; a weight w > 0 lowers none.

    >>> from scipy.sparse import diags_array
    >>> weights = np.array([1e9, -1.0])
    >>> matrix = SparsePlusLowRank(diags_array([2.0, -3.0]).tocsc(), weights, np.eye(2))
    >>> bound_negative_eigenvalues(matrix)
    4.0
    """
    if not isinstance(matrix, SparsePlusLowRank):
        return infinity_norm(matrix)
    squares = np.einsum("ik,ik->k", matrix.vectors, matrix.vectors)
    return infinity_norm(matrix.sparse) - float((np.minimum(matrix.weights, 0.0) * squares).sum())


def has_vector_below(matrix: Any, shift: float) -> bool:
    """Whether a vector x with xᵀA x ≤ shift·xᵀx is found.

    By inverse iteration from a shift below all eigenvalues, raised by bisection. A factor that does
    not represent the matrix does no harm here, since the quotient itself is computed.

    >>> from scipy.sparse import diags_array
    >>> matrix = diags_array([3.0, -1.0]).tocsc()
    >>> has_vector_below(matrix, -0.9), has_vector_below(matrix, -1.1)
    (True, False)
    """
    below = -1.01 * bound_negative_eigenvalues(matrix)
    factor = Factor(subtract_identity(matrix, below))
    x = np.random.default_rng(0).standard_normal(matrix.shape[0])
    for _ in range(MAX_PROOF_STEPS):
        x = factor.solve(x)
        x /= np.sqrt(np.einsum("i,i->", x, x))
        value = float(np.einsum("i,i->", x, matrix @ x))
        if value <= shift:
            return True
        middle = (below + value) / 2
        try:
            higher = Factor(subtract_identity(matrix, middle))
        except RuntimeError:  # a zero pivot
            continue
        if higher.above == len(x):
            below, factor = middle, higher
    return False
