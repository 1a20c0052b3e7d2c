"""The preconditioner of `lowest_eigenvalues`: a few cycles of a multigrid for A + sI.

A small s makes the low eigenvalues stand out. One that is too small leaves A + sI indefinite, which
the conjugate gradients of the multigrid notice.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.errors import EigenError
from taut.linalg.blocks import BlockMatrix, dot
from taut.linalg.multigrid import Multigrid

_FIRST_CYCLES, MAX_CYCLES = 8, 128  # of the multigrid for each residual
_ENOUGH = 0.03  # of a residual: the multigrid reduces it no further
_FIRST_SHIFT = 1e-6  # s over the mean Σ|entry| of a row
_MIN_SHIFT = 1e-9  # the same: the multigrid rounds to single precision
_MAX_SHIFT = 1e9  # the same: beyond it the matrix must have numbers that are not finite


class ShiftedMultigrid:
    """(A + sI)⁻¹, nearly, by a few cycles of the multigrid; s grows until A + sI is definite.

    cycles : for each vector
    """

    def __init__(self, matrix: BlockMatrix, size: float) -> None:
        """Prepare for a matrix with rows of about this Σ|entry|."""
        self._matrix, self._size = matrix, size or 1.0
        self._multigrid = Multigrid()
        self._too_small = 0.0  # the largest s at which A + sI proved not to be definite
        self.cycles = _FIRST_CYCLES
        self._set_shift(_FIRST_SHIFT * self._size)

    def follow(self, shift: float) -> None:
        """Use about this s, or a larger one if it is known to be too small."""
        shift = max(shift, 2 * self._too_small, _MIN_SHIFT * self._size)
        if not self._shift / 4 <= shift <= self._shift:
            self._set_shift(shift)

    def _set_shift(self, shift: float) -> None:
        """Use this s, or the next larger one at which the multigrid finds A + sI definite."""
        matrix = self._matrix
        while True:
            if not shift < _MAX_SHIFT * self._size:
                raise EigenError("the multigrid finds no shift that makes the matrix definite")
            data = matrix.data.copy()
            data[matrix.pattern.diagonal] += shift * np.eye(3)
            shifted = BlockMatrix(matrix.pattern, data, constrained=matrix.constrained)
            if self._multigrid.factor(shifted):
                break
            self._too_small, shift = shift, 10 * shift
        self._shift = shift
        self._add_low_rank()

    def _add_low_rank(self) -> None:
        """Prepare Woodbury's formula: a stiff Σ w g gᵀ, ignored, would cost many steps."""
        self._terms: list[tuple[Float, Float]] = []  # g and z = (A + sI)⁻¹g
        weights = []
        for term in self._matrix.low_rank:
            z = self._solve(term.vector) if term.weight > 0.0 and term.vector.any() else None
            if z is not None:
                self._terms.append((term.vector, z))
                weights.append(term.weight)
        products = [[dot(g, z) for _, z in self._terms] for g, _ in self._terms]
        small = np.array(products).reshape(len(weights), len(weights))
        self._small = (small + small.T) / 2 + np.diag(1.0 / np.array(weights))

    def apply(self, b: Float) -> Float:
        """x (n, 3) with (A + sI) x ≈ b; s is raised where it proves too small."""
        x = self._solve(b)
        while x is None:
            self._too_small = self._shift
            self._set_shift(10 * self._shift)
            x = self._solve(b)
        for (_, z), factor in zip(self._terms, self._weigh(x), strict=True):
            x = x - factor * z
        return x

    def _weigh(self, x: Float) -> list[float]:
        if not self._terms:
            return []
        loads = np.array([dot(g, x) for g, _ in self._terms])
        return [float(f) for f in np.linalg.lstsq(self._small, loads, rcond=None)[0]]

    def _solve(self, b: Float) -> Float | None:
        """The multigrid alone; None where A + sI is not positive definite."""
        size = float(np.abs(b).max())
        cycles = self.cycles
        while True:
            self._multigrid.max_iterations = cycles
            solution = self._multigrid.solve(b / size, np.full(len(b), _ENOUGH))
            if not solution.definite:
                return None
            if solution.x.any() and np.isfinite(solution.x).all():
                return size * solution.x
            # It returns zero if the largest residual has not fallen. More cycles lower it.
            if cycles >= MAX_CYCLES:
                return b
            cycles *= 4
