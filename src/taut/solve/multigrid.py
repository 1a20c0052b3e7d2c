"""Conjugate gradients preconditioned by a multigrid whose levels are made from the pattern once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.formula.ahead import compile_ahead
from taut.formula.compile import kernel_unit, kernels
from taut.solve.hierarchy import Hierarchy
from taut.solve.linear import Solution
from taut.solve.tolerance import EPS
from taut.system.blocks import BlockMatrix, Pattern, lengths

Float = NDArray[np.float64]
RESTARTS = 4  # with the true residual, when the recurrence has drifted from it


def cycle(levels: int, level: int = 0, *, again: bool = False) -> list[tuple[int, int, int, int]]:
    """One W-cycle from a level down, as a list of (what to do, on which level, with which ω, whether x and r change places).

    The finest level is smoothed once before and once after the coarser ones. Work on those is cheap: each is visited twice from the
    one above it, and is smoothed twice.

    again : go on from what was found on the first visit
    """
    ops = kernels("taut.solve.multigrid_kernels")
    if level == levels - 1:
        return [(ops.EXACT, level, 0, 0)]
    turned = int(level > 0)  # smoothed twice, what is known of the answer is in r, and what is left in x
    below = cycle(levels, level + 1)
    if level + 2 < levels:
        below += cycle(levels, level + 1, again=True)
    below = [(ops.RESIDUAL, level, 0, turned), (ops.RESTRICT, level + 1, 0, turned), *below, (ops.PROLONG, level, 0, turned)]
    if level == 0:
        return [*below, (ops.SMOOTH, level, 0, 0)]  # it has been smoothed before
    start = (ops.SMOOTH, level, 0, 1) if again else (ops.START, level, 0, 0)
    return [start, (ops.SMOOTH, level, 1, 0), *below, (ops.SMOOTH, level, 1, 1), (ops.SMOOTH, level, 0, 0)]


@cache
def _programme(levels: int) -> NDArray[np.int64]:
    """The cycle as the kernels read it."""
    return np.array(cycle(levels), dtype=np.int64).reshape(-1, 4)


class Multigrid:
    """CG with one W-cycle of smoothed aggregation, in single precision, as preconditioner.

    patience : iterations after which a solve ends where it is; None: three for each particle
    """

    name, why, exact = "cg (multigrid)", "asked for", False

    def __init__(self, patience: int | None = None) -> None:
        self.patience = patience
        self._pattern: Pattern | None = None
        self._matrix: BlockMatrix | None = None
        self._damped = False  # whether ω is that of a matrix like the one at hand

    def analyse(self, pattern: Pattern) -> None:
        if pattern is self._pattern:
            return
        compile_ahead([kernel_unit("taut.solve.multigrid_kernels"), kernel_unit("taut.system.product_kernels")])
        h = self._levels = Hierarchy.of(pattern)
        self._pattern, self._matrix, self._damped = pattern, None, False
        self._diagonals = [h.diagonal[h.rows[k] : h.rows[k + 1]] - h.blocks[k] for k in range(h.levels)]
        total, n = int(h.rows[-1]), pattern.n
        self._coarse = np.zeros((int(h.blocks[-1] - h.blocks[1]), 3, 3))
        self._between = [np.zeros((len(ap.start) - 1, 3, 3)) for ap, _ in h.products]
        self._factor = np.zeros((3 * int(h.rows[-1] - h.rows[-2]),) * 2)
        self._data = np.zeros((int(h.blocks[-1]) + 1, 3, 3), dtype=np.float32)  # one is spare
        self._inverse = np.zeros((total, 3, 3), dtype=np.float32)
        self._omega = np.zeros((h.levels, 2), dtype=np.float32)
        self._sums = np.zeros((n + 1, 2))
        self._cycle = [np.zeros((total + 1, 3), dtype=np.float32) for _ in range(3)]  # b, x, r
        self._p, self._q = np.zeros((n + 1, 3)), np.zeros((n, 3))
        up, down = h.interpolation, h.restriction
        self._transfer = (
            up.indptr, up.indices, up.weights.astype(np.float32), down.indptr, down.indices, down.weights.astype(np.float32),
        )  # fmt: skip

    def factor(self, matrix: BlockMatrix, *, near: bool = False) -> bool:
        self.analyse(matrix.pattern)
        h, loops = self._levels, kernels("taut.solve.level_kernels")
        self._matrix, self._damped = None, near and self._damped
        largest = loops.largest(self._diagonals[0], matrix.data.reshape(-1))
        if not 0.0 < largest < np.inf:
            return False
        scale = 2.0 ** -np.frexp(largest)[1]
        fine = matrix.data
        for level in range(h.levels):
            rows, blocks = slice(h.rows[level], h.rows[level + 1]), slice(h.blocks[level], h.blocks[level + 1])
            if loops.invert_blocks(self._diagonals[level], fine, scale, self._inverse[rows]):
                return False
            loops.lower(fine.reshape(-1), scale, self._data[blocks].reshape(-1))
            if level < h.levels - 1:
                first, second = h.products[level]
                coarse = self._coarse[h.blocks[level + 1] - h.blocks[1] : h.blocks[level + 2] - h.blocks[1]]
                loops.combine(first.start, first.source, first.weight, fine, self._between[level])
                loops.combine(second.start, second.source, second.weight, self._between[level], coarse)
                fine = coarse
        if loops.cholesky(h.coarsest.indptr, h.coarsest.indices, fine, scale, self._factor):
            return False
        if not self._damped:
            unused = np.zeros((matrix.pattern.n, 3))
            table = self._table(matrix, unused, unused, unused)
            kernels("taut.solve.multigrid_kernels").damping(h.rows, self._omega, self._sums, table)
        self._matrix, self._damped = matrix, True
        return True

    def _table(self, a: BlockMatrix, y: Float, residual: Float, targets2: Float) -> NDArray[np.int64]:
        """The addresses of all arrays; those given are to be kept as long as it is used."""
        h = self._levels
        arrays: tuple[NDArray[Any], ...] = (
            a.pattern.indptr, a.pattern.indices, a.data, h.indptr, h.indices, self._data, self._inverse, *self._transfer,
            *self._cycle, targets2, y, residual, self._p, self._q,
        )  # fmt: skip
        for array, kind in zip(arrays, kernels("taut.solve.multigrid_kernels").ARRAYS.values(), strict=True):
            assert array.dtype == kind
            assert array.flags.c_contiguous
        return np.array([array.ctypes.data for array in arrays], dtype=np.int64)

    def solve(self, b: Float, targets: Float) -> Solution:
        if self._matrix is None:
            return Solution(np.zeros_like(b), False, lengths(b), 0)
        a, h = self._matrix, self._levels
        limit = self.patience or max(1000, 3 * a.pattern.n)
        iterate = kernels("taut.solve.multigrid_kernels").iterate
        x, r = np.zeros_like(b), np.array(b, order="C")
        best, residuals, total = x.copy(), lengths(r), 0
        for _ in range(1 + RESTARTS):
            aims2 = np.maximum(targets, EPS * residuals.max()) ** 2  # below that the recurrence is no longer the residual
            steps, definite = iterate(
                _programme(h.levels), h.rows, self._omega, self._factor, self._sums, a.held.particles, a.held.free, limit - total,
                self._table(a, x, r, aims2),
            )  # fmt: skip
            total += int(steps)
            if not definite:
                return Solution(best, False, residuals, total)
            r = b - a.times(x)
            now = lengths(r)
            met = bool((now <= targets).all())
            if not met and not now.max() < residuals.max():
                break
            best, residuals = x.copy(), now
            if met or total >= limit:
                break
        return Solution(best, True, residuals, total)
