"""The solver that suits a pattern: by the number of particles and by who is joined to whom, never by time or by what is installed.

Numbered well (by Cuthill and McKee's rule), the particles of a rope have neighbours only a few places away, those of a
cloth of n × n a few times n, those of a block n² and more. In this *band* b, a factorisation takes work in proportion to n·b²,
conjugate gradients with multigrid in proportion to n alone: so what is narrow is factorised, however long, and the rest is not.

Ropes sewn into a cloth, or stiffness that differs by many orders of magnitude between neighbours, may be slow to solve by
conjugate gradients. A solve that is not done after `PATIENCE` iterations goes to the factorisation, if that is within reach.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.formula.compile import kernels
from taut.solve.direct import Direct
from taut.solve.linear import LinearSolver, Solution
from taut.solve.multigrid import Multigrid
from taut.solve.spread import Spread
from taut.system.blocks import BlockMatrix, Pattern

Float = NDArray[np.float64]
NARROW = 32  # band up to which a factorisation is the faster way
PATIENCE = 200  # iterations
WITHIN_REACH = 5e8  # n·b² up to which a factorisation takes seconds at most


def bandwidth(pattern: Pattern) -> int:
    """How many places apart neighbours are, at most, when the particles are numbered well.

    >>> bandwidth(Pattern.of(np.array([[0, 5], [5, 1], [1, 4], [4, 2], [2, 3]]), 6))  # a chain in disorder
    1
    """
    starts, place = np.argsort(np.diff(pattern.indptr), kind="stable").astype(np.int64), np.full(pattern.n, -1, dtype=np.int64)
    band = kernels("taut.solve.band_kernels").band
    return int(band(pattern.indptr, pattern.indices, starts, place, np.empty_like(place)))


class Auto:
    """Direct where the pattern is narrow, otherwise conjugate gradients, with the direct solver to fall back on."""

    def __init__(self) -> None:
        self._pattern: Pattern | None = None
        self._matrix: BlockMatrix | None = None
        self._solver: LinearSolver = Spread(Direct())
        self._second: LinearSolver | None = None
        self._why = ""
        self._gave_up = False

    @property
    def name(self) -> str:
        return self._solver.name

    @property
    def why(self) -> str:
        return self._why + (f"; a solve went to a factorisation after {PATIENCE} iterations" if self._gave_up else "")

    @property
    def exact(self) -> bool:
        return self._solver.exact

    def analyse(self, pattern: Pattern) -> None:
        self._gave_up = False  # what is told is told of the solves from here on
        self._choose(pattern)

    def _choose(self, pattern: Pattern) -> None:
        if pattern is not self._pattern:
            band = bandwidth(pattern)
            narrow = band <= NARROW
            within = pattern.n * band**2 <= WITHIN_REACH
            self._solver = Spread(Direct() if narrow else Multigrid(PATIENCE if within else None))
            self._second = None if narrow or not within else Spread(Direct())
            self._why = f"{pattern.n} particles in a band of {band}, {'at most' if narrow else 'more than'} {NARROW}"
            self._pattern = pattern
        self._solver.analyse(pattern)

    def factor(self, matrix: BlockMatrix, *, near: bool = False) -> bool:
        self._choose(matrix.pattern)
        self._matrix = matrix
        return self._solver.factor(matrix, near=near)

    def solve(self, b: Float, targets: Float) -> Solution:
        solution = self._solver.solve(b, targets)
        if self._second is None or self._matrix is None or not solution.definite or (solution.residuals <= targets).all():
            return solution
        self._gave_up = True
        definite = self._second.factor(self._matrix)
        second = self._second.solve(b, targets)
        better = (second.residuals <= targets).all() or second.residuals.max() < solution.residuals.max()
        x, residuals = (second.x, second.residuals) if better else (solution.x, solution.residuals)
        return Solution(x, definite and second.definite, residuals, solution.iterations + second.iterations)
