"""What the implicit integrators share: a stage solved by a minimiser to the stated tolerance, and the report on all stages."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, SingularState, did_you_mean
from taut.solve.lbfgs import minimise_lbfgs
from taut.solve.linear import LinearSolver, SolverName, linear_solver
from taut.solve.minimum import Minimum
from taut.solve.newton import minimise
from taut.solve.tolerance import Tolerance
from taut.step.constant_stiffness import constant_stiffness
from taut.step.integrator import Integrator
from taut.step.objective import ImplicitObjective
from taut.step.prediction import Prediction
from taut.step.report import Report, of_descent
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
MinimiserName = Literal["newton", "lbfgs"]
MINIMISERS = get_args(MinimiserName)
KEPT = 4  # lengths of stage whose factors are kept: whole and half steps, and the last one of a run


class LinearImplicit(Integrator):
    """Integrators that solve linear systems.

    tolerance : the residual each step must reach (see `taut.Tolerance`)
    solver : "auto", "direct" or "cg"
    """

    def __init__(self, *, tolerance: Tolerance | None = None, solver: SolverName = "auto") -> None:
        self.tolerance = Tolerance() if tolerance is None else tolerance
        if not isinstance(self.tolerance, Tolerance):
            raise ModelError(f"tolerance is a taut.Tolerance, not {tolerance!r}")
        self.solver_name: SolverName = solver
        self._solver = linear_solver(solver)  # kept from step to step for what it knows of the pattern


@dataclass(eq=False)
class Solved:
    """A stage after its solution: the displacement y, and the report on it."""

    start: Prediction
    y: Float
    residual: Float  # the unbalanced forces that are left [N], (n, 3)
    report: Report

    @property
    def q(self) -> Float:
        """Positions at the stage [m], (n, 3)."""
        return self.start.positions(self.y)

    @property
    def v(self) -> Float:
        """Velocities at the stage [m/s], (n, 3)."""
        return self.start.velocities(self.y)


class Implicit(LinearImplicit):
    """Integrators whose stages minimise an objective.

    tolerance : the residual each step must reach (see `taut.Tolerance`)
    solver : "auto", "direct" or "cg"
    minimiser : "newton", or "lbfgs" with a constant stiffness that is factorised once for each length of step
    """

    def __init__(
        self, *, tolerance: Tolerance | None = None, solver: SolverName = "auto", minimiser: MinimiserName = "newton"
    ) -> None:
        super().__init__(tolerance=tolerance, solver=solver)
        if minimiser not in MINIMISERS:
            raise ModelError(f"minimiser is 'newton' or 'lbfgs', not {minimiser!r}{did_you_mean(str(minimiser), MINIMISERS)}")
        self.minimiser = minimiser
        self._constant: dict[tuple[float, bytes], LinearSolver] = {}
        self._constant_of: System | None = None
        self._begun_with: System | None = None  # the system whose laws have been sent to be compiled

    def solve(
        self, system: System, state: State, start: Prediction, h: float, *, frozen: State, old: Float, increments: bool = False
    ) -> Solved:
        """Minimise the objective of a stage of a step of length h.

        It never ends above its value at `old`, the y of the old positions, beyond rounding (1e-10 of the magnitudes in it).

        frozen, increments : see `taut.step.objective`
        """
        entered = time.perf_counter()
        newton = self.minimiser == "newton"
        solver = self._solver if newton else self._prefactored(system, state, start.h)
        if newton and self._begun_with is not system:
            system.compile_ahead("increments" if increments else "potential")
            self._begun_with = system
        begun = time.perf_counter()
        objective = ImplicitObjective(system, start, frozen, increments=increments)
        made = time.perf_counter()
        if newton:
            solver.analyse(objective.pattern)  # first of all: what it is going to need may be compiled meanwhile
        analysed = time.perf_counter()
        at_old = objective.evaluate(old)
        prepared = time.perf_counter() - analysed + made - begun
        best: Minimum | None
        try:
            best, restarts = self._minimise(objective, np.zeros_like(old), solver), 0
        except SingularState:
            best = None  # there is no energy at q̃
        failed = best is None or best.outcome == "not converged" or best.point.value > at_old.value + at_old.noise
        if best is None or (failed and not best.unbounded):
            first, best, restarts = best, self._minimise(objective, old, solver), 1
            if first is not None:
                best.add_work_of(first)
        certificate = of_descent(
            best,
            solver,
            integrator=type(self).__name__,
            t=state.t + h,
            h=h,
            decrease=at_old.value - best.point.value,
            restarts=restarts,
            evaluations=best.evaluations + 1,
            assembling=best.assembling + prepared,
            solving=best.solving + analysed - made,
            seconds=time.perf_counter() - entered,
            why="" if newton or self.solver_name != "auto" else "one constant matrix, solved with again and again",
        )
        self.certify(certificate, state, best.reason)
        return Solved(start, best.point.y, best.point.gradient, certificate)

    def _minimise(self, objective: ImplicitObjective, y: Float, solver: LinearSolver) -> Minimum:
        if self.minimiser == "newton":
            return minimise(objective, y, solver, self.tolerance)
        return minimise_lbfgs(objective, y, solver, self.tolerance)

    def _prefactored(self, system: System, state: State, h: float) -> LinearSolver:
        """A solver that holds the factors of the constant matrix for stages of this length; those of the last few are kept."""
        active = b"".join(name.encode() + mask.tobytes() for name, mask in sorted(state.active.items()))
        if self._constant_of is not system:
            self._constant_of, self._constant = system, {}
        if (h, active) not in self._constant:
            solver = linear_solver("direct" if self.solver_name == "auto" else self.solver_name)
            matrix = constant_stiffness(system, state, h)
            if not solver.factor(matrix):
                raise ModelError("the constant stiffness for L-BFGS is not positive definite; use minimiser='newton'")
            while len(self._constant) >= KEPT:
                del self._constant[next(iter(self._constant))]
            self._constant[h, active] = solver
        return self._constant[h, active]
