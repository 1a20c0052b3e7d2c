"""Conjugate gradients, preconditioned by a multigrid whose levels depend on the pattern alone.

A solve may take minutes. Its compiled loop comes back to Python several times a second, which then
handles signals such as Ctrl-C, and tells a watcher (`taut.watch`). The bits of the result do not
depend on that.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import EPS, Float
from taut.jit.background_compile import compile_in_background
from taut.jit.compile import kernel_source, kernels
from taut.linalg._hierarchy import Hierarchy
from taut.linalg._multigrid_arrays import (
    Iteration,
    Progress,
    allocate_coarsening,
    allocate_levels,
)
from taut.linalg.blocks import BlockMatrix, Pattern, row_norms
from taut.linalg.linear import Solution
from taut.linalg.trust_region import MAX_KRYLOV_VECTORS, QuadraticModel
from taut.watch import report_linear_iterations

# Of one model: an inexact step, and another model, is better than more of them.
MAX_MODEL_ITERATIONS = 500
BLOCKS_PER_PAUSE = 5_000_000  # blocks of A times iterations between two pauses: about 30 ms
MAX_RESTARTS = 4  # with the true residual, when the recurrence has drifted from it


class Multigrid:
    """Conjugate gradients with one W-cycle of smoothed aggregation as preconditioner.

    max_iterations : a solve ends there, converged or not; None: three for each row, at least 1000
    """

    name, reason, is_direct = "cg (multigrid)", "requested", False

    def __init__(self, max_iterations: int | None = None) -> None:
        self.max_iterations = max_iterations
        self._pattern: Pattern | None = None
        self._matrix: BlockMatrix | None = None
        self._power = 1.0  # of two, that A was multiplied by
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
        self._levels, self._coarsening = levels, coarsening
        self._sums = np.zeros(_count_sums(hierarchy))
        # AP is needed while factoring, and the basis of a model after it: one array has room for
        # either. Its pages take memory when they are first written.
        self._shared = np.empty(9 * int(np.diff(hierarchy.ap_first).max(initial=0)))
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
        fine_data = matrix.data.reshape(-1)
        coarsening = self._coarsening._replace(fine_data=fine_data, ap=self._shared)
        kernels("taut.linalg._coarsening_kernels").factor(
            self._count_threads(), pool, self._levels, coarsening, keep_relaxation
        )
        if not pool.result[0]:
            return False
        self._power = float(pool.result[1])
        self._matrix, self._has_relaxation = matrix, True
        return True

    def begin(
        self,
        matrix: BlockMatrix,
        b: Float,
        x: Float,
        residual: Float,
        targets: Float,
        capacity: int = 0,
    ) -> Iteration:
        """Return the arrays of an iteration from x; capacity : preconditioned residuals to keep."""
        if 2 * self._shared.size < capacity * b.size:
            self._shared = np.empty((capacity * b.size + 1) // 2)
        return Iteration(
            constraints=len(matrix.constrained.rows),
            data=matrix.data.reshape(-1),
            b=b.reshape(-1),
            x=x.reshape(-1),
            residual=residual.reshape(-1),
            direction=self._direction,
            product=self._product,
            squared_targets=targets**2,
            constrained=matrix.constrained.rows,
            projectors=matrix.constrained.projectors.reshape(-1),
            capacity=capacity,
            basis=self._shared.view(np.float32),
            coefficients=np.zeros(3 * capacity),
            progress=np.zeros(Progress.SIZE),
        )

    def iterate(
        self, iteration: Iteration, limit: int, *, radius: float = np.inf, begin: bool = True
    ) -> tuple[int, float]:
        """Improve x and its residual in place; returns iterations, and how they ended.

        See `_iterate` in `_multigrid_kernels`.
        """
        from taut.linalg._worksharing import Pool

        solve = kernels("taut.linalg._multigrid_kernels").solve
        pause = max(1, BLOCKS_PER_PAUSE * 9 // len(iteration.data))
        steps = 0
        while True:
            pool = Pool.create(self._sums)
            now = min(pause, limit - steps)
            solve(self._count_threads(), pool, self._levels, iteration, now, radius, begin)
            steps, ending, begin = steps + int(pool.result[0]), float(pool.result[1]), False
            if ending != Progress.UNFINISHED or steps >= limit:
                return steps, ending
            report_linear_iterations(steps)

    def _count_threads(self) -> int:
        """The threads to use: no more than there are chunks of rows."""
        import numba

        from taut.linalg._worksharing import ROWS_PER_CHUNK

        assert self._pattern is not None
        chunks = self._pattern.n // int(ROWS_PER_CHUNK)
        return max(1, min(int(numba.get_num_threads()), chunks))

    def model(self, hessian: BlockMatrix, b: Float, targets: Float) -> QuadraticModel:
        return _MultigridModel(self, hessian, b, targets, self._power)

    def fall_back(self) -> bool:
        return False

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
            iteration = self.begin(matrix, b, x, residual, reachable)
            steps, ending = self.iterate(iteration, limit - total)
            total += steps
            if ending == Progress.UNFINISHED:
                residual[:] = b - matrix.multiply(x)
            if ending == Progress.INDEFINITE:
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


class _MultigridModel(QuadraticModel):
    """A model on the Krylov space of the Hessian preconditioned by a cycle.

    power : the power of two that the multigrid's matrix was multiplied by
    """

    def __init__(
        self, multigrid: Multigrid, hessian: BlockMatrix, b: Float, targets: Float, power: float
    ) -> None:
        b = np.ascontiguousarray(b)
        super().__init__(hessian, b)
        self._x, self._residual = np.zeros_like(b), b.copy()
        self._multigrid, self._targets, self._power = multigrid, targets, power
        self._limit = multigrid.max_iterations or MAX_MODEL_ITERATIONS
        self._iteration = multigrid.begin(
            hessian, b, self._x, self._residual, targets, MAX_KRYLOV_VECTORS
        )

    def _begin(self, radius: float) -> None:
        bound = radius * self._power**0.5 if radius else np.inf
        self.iterations, ending = self._multigrid.iterate(
            self._iteration, self._limit, radius=bound
        )
        self.is_inside = ending in (Progress.CONVERGED, Progress.UNFINISHED)
        self.converged = ending == Progress.CONVERGED
        progress = self._iteration.progress
        square = progress[Progress.XX] if self.is_inside else progress[Progress.LENGTH] ** 2
        self.length = float((square / self._power) ** 0.5)
        self._read_coefficients()

    def _extend(self, count: int) -> None:
        steps, _ = self._multigrid.iterate(self._iteration, count, radius=-1.0, begin=False)
        self.iterations += steps
        self._read_coefficients()

    def _read_coefficients(self) -> None:
        kept = int(self._iteration.progress[Progress.KEPT])
        self.curvatures, self.slopes, self.betas = self._iteration.coefficients.reshape(-1, 3)[
            :kept
        ].T.copy()
        self.squares = self.slopes * (self._iteration.progress[Progress.SCALE] / self._power)

    def _minimum(self) -> Float:
        return self._x

    def _combine(self, weights: Float) -> Float:
        basis = self._iteration.basis.reshape(-1)[: len(weights) * self._x.size]
        # einsum rather than a product of matrices: its bits do not depend on the threads of BLAS
        sums = np.einsum("k,ki->i", weights, basis.reshape(len(weights), -1))
        return np.asarray(sums, dtype=np.float64).reshape(self._x.shape)


def _count_sums(h: Hierarchy) -> int:
    """Room for two partial sums of each chunk of the longest loop, over rows or over blocks."""
    from taut.linalg._worksharing import BLOCKS_PER_CHUNK, ROWS_PER_CHUNK

    blocks = max(int(np.diff(h.blocks).max()), int(np.diff(h.ap_first).max(initial=0)))
    chunks = 1 + int(h.rows[1]) // int(ROWS_PER_CHUNK) + 1 + blocks // int(BLOCKS_PER_CHUNK)
    return 2 * chunks
