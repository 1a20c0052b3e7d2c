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
DIRECT_UP_TO = 5000  # particles up to which "auto" factorises


@dataclass(frozen=True, eq=False)
class Solution:
    """What a linear solve gave: the vector, whether the matrix showed itself positive definite, the residuals and the work."""

    x: Float  # (n, 3)
    definite: bool
    residuals: Float  # |b - A x| on each particle, (n,), computed from x itself
    iterations: int


class LinearSolver(Protocol):
    """Solves A x = b for a symmetric A."""

    name: str

    def analyse(self, pattern: Pattern) -> None:
        """Do what depends on the pattern alone; cheap if the pattern is the same as before."""

    def factor(self, matrix: BlockMatrix) -> bool:
        """Prepare for solving with these values. False: the matrix is not positive definite."""

    def solve(self, b: Float, targets: Float) -> Solution:
        """Solve until each particle's residual is at most its target (n,), or as far as it goes: the Solution says how far."""


def linear_solver(name: SolverName, n: int) -> LinearSolver:
    """The solver for n particles. "auto" chooses by size alone, so that a scene gives the same bits everywhere."""
    from taut.solve.cg import ConjugateGradients
    from taut.solve.direct import Direct
    from taut.solve.spread import Spread

    if name not in ("auto", "direct", "cg"):
        raise ModelError(f"solver is 'auto', 'direct' or 'cg', not {name!r}")
    if name == "direct" or (name == "auto" and n <= DIRECT_UP_TO):
        return Spread(Direct())
    return Spread(ConjugateGradients())
