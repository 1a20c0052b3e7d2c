"""Linear solvers behind one interface, and the choice of one.

`Auto` chooses by the pattern alone, never by time or by what is installed, so that the same matrix
is solved in the same way everywhere. Numbered by the rule of Cuthill and McKee, the rows of a rope
have neighbours only a few places away, those of a cloth of n × n a few times n, those of a solid n²
and more. With this bandwidth b, a factorisation takes work in proportion to n·b², conjugate
gradients with multigrid in proportion to n: narrow patterns are factorised, the others are not.

Conjugate gradients may be slow for ropes sewn into a cloth, or where stiffness differs by many
orders of magnitude between neighbours. A solve that does not converge goes to the factorisation, if
that is affordable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.jit.compile import kernels
from taut.linalg.blocks import BlockMatrix, Pattern
from taut.linalg.trust_region import QuadraticModel

SolverName = Literal["auto", "direct", "cg"]

_NARROW_BAND = 32  # bandwidth up to which a factorisation is faster than conjugate gradients
MAX_CG_ITERATIONS = 200  # after which a solve goes to the factorisation
_MAX_FACTOR_WORK = 5e8  # n·b² up to which a factorisation takes seconds at most


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a linear solve."""

    x: Float  # (n, 3)
    definite: bool  # False: the matrix proved not to be positive definite
    residuals: Float  # |b - A x| of each row, (n,), computed from x itself
    iterations: int


class LinearSolver(Protocol):
    """Solves A x = b for a symmetric A."""

    @property
    def name(self) -> str:
        """The solver's name in reports."""

    @property
    def reason(self) -> str:
        """Why this solver was chosen."""

    @property
    def is_direct(self) -> bool:
        """Whether it factorises, so that another `solve` with the same matrix costs little."""

    def analyse(self, pattern: Pattern) -> None:
        """Do the work that depends on the pattern alone; free if it is the last one again."""

    def factor(self, matrix: BlockMatrix, *, similar: bool = False) -> bool:
        """Prepare for solving with these values; returns False if A is not positive definite.

        similar : the matrix differs little from the last one, as in the iterations of one step;
            the solver may keep whatever affects only its speed
        """

    def solve(self, b: Float, targets: Float) -> Solution:
        """Solve until each row's |b - A x| is at most its target, shape (n,).

        If that cannot be reached, the Solution states the residuals that were.
        """

    def model(self, hessian: BlockMatrix, b: Float, targets: Float) -> QuadraticModel:
        """Return the model ½x·H x - b·x, in the metric of the matrix that was factored.

        H may be indefinite. The model is minimised until each row's |b - H x| is at most its
        target, (n,). The next model of this solver, or matrix factored by it, overwrites it.
        """

    def fall_back(self) -> bool:
        """Switch to a more robust solver until the next `analyse`; False if there is none."""


def make_solver(name: SolverName) -> LinearSolver:
    """The solver of that name."""
    from taut.linalg.direct import Direct, Woodbury
    from taut.linalg.multigrid import Multigrid

    if name not in get_args(SolverName):
        raise ModelError(f"solver must be 'auto', 'direct' or 'cg', got {name!r}")
    if name == "auto":
        return Auto()
    if name == "direct":
        return Woodbury(Direct())
    return Woodbury(Multigrid())


def bandwidth(pattern: Pattern) -> int:
    """The largest distance |i - j| of coupled rows when numbered by the rule of Cuthill and McKee.

    >>> chain = np.array([[0, 5], [5, 1], [1, 4], [4, 2], [2, 3]])
    >>> bandwidth(Pattern.from_pairs(chain, 6))
    1
    """
    by_degree = np.argsort(np.diff(pattern.indptr), kind="stable").astype(np.int64)
    place = np.full(pattern.n, -1, dtype=np.int64)
    compute = kernels("taut.linalg._bandwidth_kernels").compute_bandwidth
    return int(compute(pattern.indptr, pattern.indices, by_degree, place, np.empty_like(place)))


class Auto:
    """Direct for narrow patterns, else conjugate gradients with a factorisation in reserve."""

    def __init__(self) -> None:
        self._pattern: Pattern | None = None
        self._matrix: BlockMatrix | None = None
        self._solver: LinearSolver = make_solver("direct")
        self._fallback: LinearSolver | None = None
        self._active = self._solver  # the solver or, for the rest of a step, the fallback
        self._reason = ""
        self._fell_back = False

    @property
    def name(self) -> str:
        return self._active.name

    @property
    def reason(self) -> str:
        if self._fell_back:
            return (
                f"{self._reason}; a solve went to a factorisation after "
                f"{MAX_CG_ITERATIONS} iterations"
            )
        return self._reason

    @property
    def is_direct(self) -> bool:
        return self._active.is_direct

    def analyse(self, pattern: Pattern) -> None:
        # A step begins with this call: what happened in the last one is forgotten, since a resumed
        # run has not seen it.
        self._fell_back = False
        self._choose(pattern)
        self._active = self._solver

    def _choose(self, pattern: Pattern) -> None:
        from taut.linalg.direct import Woodbury
        from taut.linalg.multigrid import Multigrid

        if pattern is not self._pattern:
            band = bandwidth(pattern)
            self._fallback = None
            if band <= _NARROW_BAND:
                self._solver, relation = make_solver("direct"), "at most"
            else:
                limit, relation = None, "more than"
                if pattern.n * band**2 <= _MAX_FACTOR_WORK:
                    limit, self._fallback = MAX_CG_ITERATIONS, make_solver("direct")
                self._solver = Woodbury(Multigrid(limit))
            self._active = self._solver
            self._reason = f"{pattern.n} particles in a band of {band}, {relation} {_NARROW_BAND}"
            self._pattern = pattern
        self._solver.analyse(pattern)

    def factor(self, matrix: BlockMatrix, *, similar: bool = False) -> bool:
        self._choose(matrix.pattern)
        self._matrix = matrix
        return self._active.factor(matrix, similar=similar)

    def solve(self, b: Float, targets: Float) -> Solution:
        first = self._active.solve(b, targets)
        if self._fallback is None or self._active is self._fallback or self._matrix is None:
            return first
        if not first.definite or (first.residuals <= targets).all():
            return first
        self._fell_back = True
        definite = self._fallback.factor(self._matrix)
        second = self._fallback.solve(b, targets)
        best = first
        if (second.residuals <= targets).all() or second.residuals.max() < first.residuals.max():
            best = second
        return Solution(
            best.x,
            definite and second.definite,
            best.residuals,
            first.iterations + second.iterations,
        )

    def model(self, hessian: BlockMatrix, b: Float, targets: Float) -> QuadraticModel:
        return self._active.model(hessian, b, targets)

    def fall_back(self) -> bool:
        if self._fallback is None or self._active is self._fallback:
            return False
        self._active, self._fell_back = self._fallback, True
        return True
