"""Linear solvers behind one interface: analyse a pattern once, factor values, solve to a stated residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.system.blocks import BlockMatrix, Pattern

Float = NDArray[np.float64]
SolverName = Literal["auto", "direct", "cg"]


@dataclass(frozen=True, eq=False)
class Solution:
    """What a linear solve gave: the vector, whether the matrix showed itself positive definite, the residuals and the work."""

    x: Float  # (n, 3)
    definite: bool
    residuals: Float  # |b - A x| on each particle, (n,), computed from x itself
    iterations: int


class LinearSolver(Protocol):
    """Solves A x = b for a symmetric A."""

    @property
    def name(self) -> str:
        """What a report calls it."""

    @property
    def why(self) -> str:
        """Why this one."""

    @property
    def exact(self) -> bool:
        """Whether all of its work is in `factor`, so that further solves cost little."""

    def analyse(self, pattern: Pattern) -> None:
        """Do what depends on the pattern alone; cheap if the pattern is the same as before."""

    def factor(self, matrix: BlockMatrix, *, near: bool = False) -> bool:
        """Prepare for solving with these values. False: the matrix is not positive definite.

        near : the matrix is much like the last one, as in the iterations of one step: what only makes solves quick may be kept
        """

    def solve(self, b: Float, targets: Float) -> Solution:
        """Solve until each particle's residual is at most its target (n,), or as far as it goes: the Solution says how far."""


def linear_solver(name: SolverName) -> LinearSolver:
    """The solver of that name; "auto" chooses once it knows the pattern (see `taut.solve.auto`)."""
    from taut.solve.auto import Auto
    from taut.solve.direct import Direct
    from taut.solve.multigrid import Multigrid
    from taut.solve.spread import Spread

    if name not in get_args(SolverName):
        raise ModelError(f"solver is 'auto', 'direct' or 'cg', not {name!r}")
    return Auto() if name == "auto" else Spread(Direct() if name == "direct" else Multigrid())
