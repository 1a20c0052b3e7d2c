"""Direct solution by LDLᵀ factorisation (QDLDL), and Woodbury's formula for low-rank parts.

With G the columns g and W their weights, (A + G W Gᵀ)⁻¹ b = z - Z C⁻¹ Gᵀz, z = A⁻¹b, Z = A⁻¹G,
C = W⁻¹ + GᵀZ (Woodbury). If A is positive definite, the whole is so exactly if C has as many
negative eigenvalues as W. If A is not, the whole is reported as not definite, although it might be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.linalg.blocks import BlockMatrix, Pattern, dot, row_norms
from taut.linalg.elimination import Elimination
from taut.linalg.linear import LinearSolver, Solution
from taut.linalg.low_rank import RankOne
from taut.linalg.trust_region import FactoredModel, QuadraticModel

_MAX_REFINEMENTS = 5  # each gains several digits; one that gains nothing ends the solve
_MAX_WOODBURY_REFINEMENTS = 10  # each gains the digits of Z
_COLUMN_ACCURACY = 1e-12  # of Z, relative to the largest vector of G
_PRECONDITIONER_ACCURACY = 1e-4  # relative to the largest row: a rougher one slows the outer loop
_TINY = 1e-300  # in place of a zero on the diagonal of C, whose root is divided by


def find_upper_triangle(pattern: Pattern) -> tuple[Int, Int, Int]:
    """Return the numbers on and above the diagonal of a block matrix, column by column.

    Returns where each is stored among the numbers of the blocks, its row and its column.
    """
    shape = (len(pattern.indices), 3, 3)
    rows = 3 * pattern.rows.astype(np.int64)[:, None, None] + np.arange(3)[:, None]
    columns = 3 * pattern.indices.astype(np.int64)[:, None, None] + np.arange(3)
    rows = np.broadcast_to(rows, shape).ravel()
    columns = np.broadcast_to(columns, shape).ravel()
    upper = np.flatnonzero(rows <= columns)
    stored = upper[np.lexsort((rows[upper], columns[upper]))]
    return stored, rows[stored], columns[stored]


def plan_elimination(pattern: Pattern) -> Elimination:
    """Prepare the factorisation of matrices on a pattern in compiled loops, as `Direct` does it."""
    import qdldl
    from scipy.sparse import csc_matrix

    stored, rows, columns = find_upper_triangle(pattern)
    size = 3 * pattern.n
    # Ones on the diagonal and zeros elsewhere: the order depends on the pattern alone.
    values = (rows == columns).astype(np.float64)
    indptr = np.zeros(size + 1, dtype=np.int32)
    indptr[1:] = np.cumsum(np.bincount(columns, minlength=size))
    upper = csc_matrix((values, rows.astype(np.int32), indptr), shape=(size, size))
    order = np.array(qdldl.Solver(upper, upper=True).factors()[2], dtype=np.int64)
    return Elimination.of(order, rows, columns, stored)


class Direct:
    """LDLᵀ with a fill-reducing order found once per pattern, and iterative refinement."""

    name, reason, is_direct = "direct (LDLᵀ)", "requested", True

    def __init__(self) -> None:
        self._pattern: Pattern | None = None
        self._factor: Any = None
        self._matrix: BlockMatrix | None = None
        self._definite = False

    def analyse(self, pattern: Pattern) -> None:
        if pattern is self._pattern:
            return
        from scipy.sparse import csc_array

        self._order, rows, columns = find_upper_triangle(pattern)
        size = 3 * pattern.n
        indptr = np.zeros(size + 1, dtype=np.int32)
        indptr[1:] = np.cumsum(np.bincount(columns, minlength=size))
        indices = rows.astype(np.int32)
        self._upper = csc_array((np.ones(len(rows)), indices, indptr), shape=(size, size))
        self._pattern, self._factor = pattern, None

    def factor(self, matrix: BlockMatrix, *, similar: bool = False) -> bool:
        import qdldl
        from scipy.sparse import csc_matrix

        self.analyse(matrix.pattern)
        self._matrix = matrix
        self._upper.data[:] = matrix.data.reshape(-1)[self._order]
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
            return Solution(np.zeros_like(b), False, row_norms(b), 0)
        x = self._factor.solve(b.reshape(-1)).reshape(b.shape)
        residual = b - self._matrix.multiply(x)
        rounds = 1
        while (row_norms(residual) > targets).any() and rounds <= _MAX_REFINEMENTS:
            refined = x + self._factor.solve(residual.reshape(-1)).reshape(b.shape)
            remaining = b - self._matrix.multiply(refined)
            if not row_norms(remaining).max() < row_norms(residual).max():
                break
            x, residual, rounds = refined, remaining, rounds + 1
        return Solution(x, self._definite, row_norms(residual), rounds)

    def model(self, hessian: BlockMatrix, b: Float, targets: Float) -> QuadraticModel:
        def precondition(r: Float) -> Float:
            z: Float = self._factor.solve(r.reshape(-1)).reshape(r.shape)
            return z

        return FactoredModel(hessian, precondition, b, targets)

    def fall_back(self) -> bool:
        return False


class Woodbury:
    """Extends a solver for A to A + Σ w g gᵀ; without a low-rank part it is that solver."""

    def __init__(self, inner: LinearSolver) -> None:
        self.inner, self.name, self.is_direct = inner, inner.name, inner.is_direct
        self.reason = inner.reason
        self._matrix: BlockMatrix | None = None
        self._terms: list[RankOne] = []
        self._columns: list[Float] = []  # Z
        self._small = np.zeros((0, 0))  # C
        self._iterations = 0  # spent on Z, reported with the first solve

    def analyse(self, pattern: Pattern) -> None:
        self.inner.analyse(pattern)

    def factor(self, matrix: BlockMatrix, *, similar: bool = False) -> bool:
        self._terms = [term for term in matrix.low_rank if term.weight != 0.0 and term.vector.any()]
        self._matrix, self._iterations = matrix, 0
        if not self._terms:
            return self.inner.factor(matrix, similar=similar)
        blocks = BlockMatrix(matrix.pattern, matrix.data, constrained=matrix.constrained)
        definite = self.inner.factor(blocks, similar=similar)
        self._columns = []
        for term in self._terms:
            accuracy = _COLUMN_ACCURACY * row_norms(term.vector).max()
            solution = self.inner.solve(term.vector, np.full(len(term.vector), accuracy))
            self._columns.append(solution.x)
            self._iterations += solution.iterations
            definite = definite and solution.definite
        products = [[dot(term.vector, z) for z in self._columns] for term in self._terms]
        small = np.array(products)
        weights = np.array([term.weight for term in self._terms])
        self._small = (small + small.T) / 2 + np.diag(1.0 / weights)
        if not np.isfinite(self._small).all():
            return False
        negative = int((np.linalg.eigvalsh(self._small) < 0.0).sum())
        return definite and negative == int((weights < 0.0).sum())

    def solve(self, b: Float, targets: Float) -> Solution:
        if not self._terms or self._matrix is None:
            return self.inner.solve(b, targets)
        if self._is_singular():
            return Solution(np.zeros_like(b), False, row_norms(b), self._iterations)
        x, residual = np.zeros_like(b), b
        iterations, definite, self._iterations = self._iterations, True, 0
        for _ in range(1 + _MAX_WOODBURY_REFINEMENTS):
            part = self.inner.solve(residual, 0.1 * targets)
            iterations, definite = iterations + part.iterations, definite and part.definite
            refined = x + self._correct(part.x)
            remaining = b - self._matrix.multiply(refined)
            if not row_norms(remaining).max() < row_norms(residual).max():
                break
            x, residual = refined, remaining
            if (row_norms(residual) <= targets).all():
                break
        return Solution(x, definite, row_norms(residual), iterations)

    def model(self, hessian: BlockMatrix, b: Float, targets: Float) -> QuadraticModel:
        if not self._terms and not hessian.low_rank:
            return self.inner.model(hessian, b, targets)

        def precondition(r: Float) -> Float:
            accuracy = np.full(len(r), _PRECONDITIONER_ACCURACY * float(row_norms(r).max()))
            return self.solve(r, accuracy).x

        return FactoredModel(hessian, precondition, b, targets)

    def fall_back(self) -> bool:
        return False

    def _is_singular(self) -> bool:
        """Whether C is singular to rounding, after scaling its diagonal to one."""
        if not np.isfinite(self._small).all():
            return True
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(self._small)), _TINY))
        rank = np.linalg.matrix_rank(scale[:, None] * self._small * scale)
        return bool(rank < len(scale))

    def _correct(self, z: Float) -> Float:
        """z - Z C⁻¹ Gᵀz."""
        loads = np.array([dot(term.vector, z) for term in self._terms])
        factors = np.linalg.solve(self._small, loads).tolist()
        for factor, column in zip(factors, self._columns, strict=True):
            z = z - factor * column
        return z
