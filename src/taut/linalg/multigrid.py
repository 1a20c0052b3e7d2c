"""Conjugate gradients, preconditioned by a multigrid whose levels depend on the pattern alone.

A solve may take minutes. Its compiled loop pauses several times a second and comes back to Python,
which then handles signals such as Ctrl-C, and tells a watcher (`taut.watch`). The bits of the
result do not depend on the pauses.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import EPS, Float
from taut.jit.background_compile import compile_in_background
from taut.jit.compile import kernel_source, kernels
from taut.linalg._hierarchy import Hierarchy
from taut.linalg._multigrid_arrays import (
    PAUSED,
    Iteration,
    allocate_coarsening,
    allocate_levels,
)
from taut.linalg.blocks import BlockMatrix, Pattern, row_norms
from taut.linalg.linear import Solution
from taut.watch import report_linear_iterations

MAX_RESTARTS = 4  # with the true residual, when the recurrence has drifted from it
BLOCKS_PER_PAUSE = 5_000_000  # blocks of A times iterations between two pauses: about 30 ms


class Multigrid:
    """Conjugate gradients with one W-cycle of smoothed aggregation as preconditioner.

    max_iterations : a solve ends there, converged or not; None: three for each row, at least 1000
    """

    name, reason, is_direct = "cg (multigrid)", "requested", False

    def __init__(self, max_iterations: int | None = None) -> None:
        self.max_iterations = max_iterations
        self._pattern: Pattern | None = None
        self._matrix: BlockMatrix | None = None
        self._has_relaxation = False  # whether the smoother's ω are those of a similar matrix

    def __reduce__(self) -> tuple[type[Multigrid], tuple[int | None]]:
        # A copy starts empty. The arrays are many times the matrix, and are rebuilt from it.
        return Multigrid, (self.max_iterations,)

    def analyse(self, pattern: Pattern) -> None:
        if pattern is self._pattern:
            return
        # Compiled by two other processes, while this one compiles what comes first. As one module
        # they would take as long together: Numba optimises shared functions again for each caller.
        for module in ("_coarsening_kernels", "_multigrid_kernels"):
            compile_in_background([kernel_source(f"taut.linalg.{module}")])
        hierarchy = Hierarchy.from_pattern(pattern)
        levels, coarsening = allocate_levels(hierarchy), allocate_coarsening(hierarchy)
        self._hierarchy, self._levels, self._coarsening = hierarchy, levels, coarsening
        self._sums = np.zeros(_count_sums(hierarchy))
        self._direction, self._product = np.zeros(3 * (pattern.n + 1)), np.zeros(3 * pattern.n)
        self._pattern, self._matrix, self._has_relaxation = pattern, None, False

    def factor(self, matrix: BlockMatrix, *, similar: bool = False) -> bool:
        self.analyse(matrix.pattern)
        # The smoother's ω outlive a similar matrix that fails, such as an indefinite Hessian within
        # a step. They do not outlive a fresh start: a resumed run has not seen what came before.
        keep_relaxation = similar and self._has_relaxation
        self._matrix, self._has_relaxation = None, keep_relaxation
        from taut.linalg._worksharing import Pool

        pool = Pool.create(self._sums)
        coarsening = self._coarsening._replace(fine_data=matrix.data.reshape(-1))
        kernels("taut.linalg._coarsening_kernels").factor(
            _count_threads(matrix), pool, self._levels, coarsening, keep_relaxation
        )
        if not pool.result[0]:
            return False
        self._matrix, self._has_relaxation = matrix, True
        return True

    def _iterate(
        self, matrix: BlockMatrix, b: Float, x: Float, residual: Float, targets: Float, limit: int
    ) -> tuple[int, bool]:
        """Improve x and its residual in place; returns iterations, and whether A seems definite."""
        from taut.linalg._worksharing import Pool

        iteration = Iteration(
            constraints=len(matrix.constrained.rows),
            pause=max(1, BLOCKS_PER_PAUSE // len(matrix.data)),
            data=matrix.data.reshape(-1),
            b=b.reshape(-1),
            x=x.reshape(-1),
            residual=residual.reshape(-1),
            direction=self._direction,
            product=self._product,
            squared_targets=targets**2,
            constrained=matrix.constrained.rows,
            projectors=matrix.constrained.projectors.reshape(-1),
            kept=np.zeros(4),
        )
        steps = 0
        while True:
            pool = Pool.create(self._sums)
            kernels("taut.linalg._multigrid_kernels").solve(
                _count_threads(matrix), pool, self._levels, iteration, limit - steps
            )
            steps += int(pool.result[0])
            if pool.result[1] != PAUSED:
                return steps, bool(pool.result[1])
            report_linear_iterations(steps)

    def solve(self, b: Float, targets: Float) -> Solution:
        if self._matrix is None:
            return Solution(np.zeros_like(b), False, row_norms(b), 0)
        matrix = self._matrix
        limit = self.max_iterations or max(1000, 3 * matrix.pattern.n)
        b = np.ascontiguousarray(b)
        x, residual = np.zeros_like(b), b.copy()
        best, best_norms, total = np.zeros_like(b), row_norms(residual), 0
        for _ in range(1 + MAX_RESTARTS):
            # below EPS of the largest, the recurrence is no longer the residual
            reachable = np.maximum(targets, EPS * best_norms.max())
            steps, definite = self._iterate(matrix, b, x, residual, reachable, limit - total)
            total += steps
            if not definite:
                return Solution(best, False, best_norms, total)
            norms = row_norms(residual)
            converged = bool((norms <= targets).all())
            if not converged and not norms.max() < best_norms.max():
                break
            best, best_norms = x, norms
            if converged or total >= limit:
                break
            x = x.copy()
        return Solution(best, True, best_norms, total)


def _count_threads(matrix: BlockMatrix) -> int:
    """The threads to use: no more than there are chunks of rows."""
    import numba

    from taut.linalg._worksharing import ROWS_PER_CHUNK

    chunks = matrix.pattern.n // int(ROWS_PER_CHUNK)
    return max(1, min(int(numba.get_num_threads()), chunks))


def _count_sums(h: Hierarchy) -> int:
    """Room for two partial sums of each chunk of the longest loop, over rows or over blocks."""
    from taut.linalg._worksharing import BLOCKS_PER_CHUNK, ROWS_PER_CHUNK

    blocks = max(int(np.diff(h.blocks).max()), int(np.diff(h.ap_first).max(initial=0)))
    chunks = 1 + int(h.rows[1]) // int(ROWS_PER_CHUNK) + 1 + blocks // int(BLOCKS_PER_CHUNK)
    return 2 * chunks
