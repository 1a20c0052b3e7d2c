"""What every integrator is: a step from one state to the next, a declared order, a tolerance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, NotConverged
from taut.solve.linear import LinearSolver, SolverName, linear_solver
from taut.solve.tolerance import Tolerance
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


class Integrator(ABC):
    """Base of all integrators.

    tolerance : the residual each step must reach (see `taut.Tolerance`)
    solver : "auto", "direct" or "cg"
    """

    order: ClassVar[int]
    """Order of accuracy in h; a test measures it."""

    descends: ClassVar[bool]
    """Whether a step in which nothing depends on time ends with V' + ½|Δv|²_M ≤ V + ½|v|²_M."""

    def __init__(self, *, tolerance: Tolerance | None = None, solver: SolverName = "auto") -> None:
        self.tolerance = Tolerance() if tolerance is None else tolerance
        if not isinstance(self.tolerance, Tolerance):
            raise ModelError(f"tolerance is a taut.Tolerance, not {tolerance!r}")
        self.solver_name: SolverName = solver
        self._solver: tuple[int, LinearSolver] | None = None
        linear_solver(solver, 1)

    @abstractmethod
    def step(self, system: System, state: State, h: float) -> tuple[State, Report]:
        """The state h seconds later, and the report; NotConverged if the tolerance is missed."""

    def linear_solver(self, n: int) -> LinearSolver:
        """The solver for n particles, kept from step to step for what it knows of the pattern."""
        if self._solver is None or self._solver[0] != n:
            self._solver = (n, linear_solver(self.solver_name, n))
        return self._solver[1]

    def check(self, system: System, state: State, h: float) -> None:
        """Refuse a step that cannot be meant."""
        if not (isinstance(h, (int, float)) and 1e-150 < h < 1e150):
            raise ModelError(f"the step h is {h!r}; it must be a positive, finite number of seconds")
        if state.t + h == state.t:
            raise ModelError(f"the step h = {h:g} s vanishes beside the time t = {state.t:g} s")
        system.check(state)
        system.hold.check(state.q, state.t)

    def certify(self, report: Report, state: State, reason: str) -> None:
        """Raise NotConverged unless the report says that the step was solved."""
        if report.outcome == "not converged":
            raise NotConverged(f"{report.integrator} at {report}: {reason or 'the tolerance was not met'}", report, state)
