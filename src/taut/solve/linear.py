"""Linear solvers behind one interface: analyse a pattern once, factor values, solve to a stated residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.system.blocks import BlockMatrix, Pattern

Float = NDArray[np.float64]
SolverName = Literal["auto", "direct", "cg"]
A_WHILE = 5  # iterations


@dataclass(frozen=True, eq=False)
class Solution:
    """What a linear solve gave: the vector, whether the matrix showed itself positive definite, the residuals and the work.

    Where it is not positive definite, x may still lead down, x·b > 0: what conjugate gradients had until they found out.
    """

    x: Float  # (n, 3)
    definite: bool
    residuals: Float  # |b - A x| on each particle, (n,), computed from x itself
    iterations: int

    @property
    def telling(self) -> bool:
        """Whether x says enough of the matrix to be followed: it was definite, or seemed so for a while."""
        return self.definite or self.iterations >= A_WHILE


class LinearSolver(Protocol):
    """Solves A x = b for a symmetric A."""

    @property
    def name(self) -> str:
        """What a report calls it."""

    @property
    def why(self) -> str:
        """Why this one."""

    def analyse(self, pattern: Pattern) -> None:
        """Do what depends on the pattern alone; cheap if the pattern is the same as before."""

    def factor(self, matrix: BlockMatrix) -> bool:
        """Prepare for solving with these values. False: the matrix is not positive definite."""

    def solve(self, b: Float, targets: Float) -> Solution:
        """Solve until each particle's residual is at most its target (n,), or as far as it goes: the Solution says how far."""

    def descend(self, matrix: BlockMatrix, b: Float, targets: Float) -> Solution | None:
        """The same with another matrix of the same pattern, which need not be definite, using what was factored as a guide.

        None: this solver cannot.
        """


def linear_solver(name: SolverName) -> LinearSolver:
    """The solver of that name; "auto" chooses once it knows the pattern (see `taut.solve.auto`)."""
    from taut.solve.auto import Auto
    from taut.solve.direct import Direct
    from taut.solve.multigrid import Multigrid
    from taut.solve.spread import Spread

    if name not in ("auto", "direct", "cg"):
        raise ModelError(f"solver is 'auto', 'direct' or 'cg', not {name!r}")
    return Auto() if name == "auto" else Spread(Direct() if name == "direct" else Multigrid())
