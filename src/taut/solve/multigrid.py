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
from taut.solve.multigrid_table import Table
from taut.solve.tolerance import EPS
from taut.system.blocks import BlockMatrix, Pattern, lengths

Float = NDArray[np.float64]
Operation = tuple[Any, int, int, int]
RESTARTS = 4  # with the true residual, when the recurrence has drifted from it


def cycle(levels: int, level: int = 0, *, again: bool = False) -> list[Operation]:
    """One W-cycle from a level down, as a list of (what to do, on which level, with which ω, whether x and r change places).

    The finest level is smoothed once before and once after the coarser ones. Work on those is cheap: each is visited twice from the
    one above it, and is smoothed twice.

    again : go on from what was found on the first visit
    """
    from taut.solve import multigrid_rows as ops

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

    def __reduce__(self) -> tuple[type[Multigrid], tuple[int | None]]:
        return Multigrid, (self.patience,)  # a copy begins anew: the addresses in the table are those of this one's arrays

    def analyse(self, pattern: Pattern) -> None:
        if pattern is self._pattern:
            return
        compile_ahead([kernel_unit("taut.solve.multigrid_kernels")])
        kernels("taut.system.team_kernels")
        levels = Hierarchy.of(pattern)
        table = Table(levels, pattern, _programme(levels.levels))
        self._levels, self._table, self._pattern, self._matrix, self._damped = levels, table, pattern, None, False

    def factor(self, matrix: BlockMatrix, *, near: bool = False) -> bool:
        self.analyse(matrix.pattern)
        self._matrix, self._damped = None, near and self._damped
        if not self._run(0, matrix, 0)[1]:
            return False
        self._matrix, self._damped = matrix, True
        return True

    def _run(self, steps: int, a: BlockMatrix, limit: int, **given: Float) -> tuple[int, bool]:
        """Do what `multigrid_kernels.leader` does. given : targets2, y, residual, rhs"""
        import numba

        from taut.system.team import BOARD

        loops = kernels("taut.solve.multigrid_kernels")
        self._table.enter(given | {"fine_data": a.data, "held": a.held.particles, "free": a.held.free})
        task, board = np.zeros(loops.NUMBERS_IN_ALL), np.zeros(BOARD, dtype=np.int64)
        job = slice(loops.TASK, loops.TASK + loops.JOB)
        task[job] = steps, self._levels.levels, len(a.held.particles), limit, self._damped
        threads = max(1, min(numba.get_num_threads(), a.pattern.n // loops.CHUNK))  # more would have nothing to do
        run = kernels("taut.system.team_kernels").run
        run(loops.leader.address, loops.work.address, task, self._table.addresses, board, threads)
        count, definite = task[job][:2]
        return int(count), bool(definite)

    def solve(self, b: Float, targets: Float) -> Solution:
        if self._matrix is None:
            return Solution(np.zeros_like(b), False, lengths(b), 0)
        a, h = self._matrix, self._levels
        limit = self.patience or max(1000, 3 * a.pattern.n)
        b = np.ascontiguousarray(b)
        x, r = np.zeros_like(b), b.copy()
        best, residuals, total = np.zeros_like(b), lengths(r), 0
        for _ in range(1 + RESTARTS):
            aims2 = np.maximum(targets, EPS * residuals.max()) ** 2  # below that the recurrence is no longer the residual
            steps, definite = self._run(len(_programme(h.levels)), a, limit - total, targets2=aims2, y=x, residual=r, rhs=b)
            total += steps
            if not definite:
                return Solution(best, False, residuals, total)
            now = lengths(r)
            met = bool((now <= targets).all())
            if not met and not now.max() < residuals.max():
                break
            best, residuals = x, now
            if met or total >= limit:
                break
            x = x.copy()
        return Solution(best, True, residuals, total)
