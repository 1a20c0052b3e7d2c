"""Linearly implicit Euler: (M + hD + h²K) Δv = h(f(q, v) - hK v), q' = q + h v'.

Without damping this is (M + h²K) v' = M v + h f(q).
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import ClassVar

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.linalg.blocks import row_norms
from taut.linalg.indefinite import solve_indefinite
from taut.linalg.linear import LinearSolver, Solution, SolverName
from taut.optimise.descent import Outcome
from taut.optimise.tolerance import Tolerance, estimate_rounding_floors
from taut.step._accelerations import Accelerations
from taut.step._linear_step import LinearStep, linearise
from taut.step._objective import Prediction, extrapolate
from taut.step.implicit import LinearImplicit
from taut.step.integrator import Kind, conclude, raise_unless_converged
from taut.step.report import Report, report_worst
from taut.step.step_result import Linearisation, Stage, StepResult
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import Workspace, workspace_for

# Solves for what the first one, which does not know the accelerations yet, has left unbalanced
_MAX_CORRECTIONS = 4
log = logging.getLogger("taut")


class LinearlyImplicitEuler(LinearImplicit):
    """One linear solve per step: forces are linearised at the old state.

    Time-dependent parameters are those of the new time.

    Cheap and stable in practice, but the energy of a nonlinear system may grow over a step; use
    `ImplicitEuler` for the guarantee. By default the stiffness is projected, each element's by
    itself and the same on both sides: with the true one, a spring under compression may leave the
    matrix nearly singular, and a single step would then throw particles far away. (An
    energy of a total has no elements that could be projected without giving up momentum: its true
    stiffness is tried first.)

    With `project=False` K is the true Hessian, and without damping the step is exactly the textbook
    equation (M + h²K) v' = M v + h f(q). If the matrix is found to be indefinite, it is factorised
    with row interchanges, whatever the solver, and the note of the report says so; if it is
    singular, the step raises NotConverged.

    tolerance, solver : see `taut.Tolerance`; "auto", "direct" or "cg"
    project : whether the stiffness is projected

    >>> import taut
    >>> taut.LinearlyImplicitEuler(solver="cg").order
    1
    >>> strut = taut.System(
    ...     [[0, 0, 0], [1, 0, 0]],
    ...     mass=1.0,
    ...     energies=[taut.laws.spring([[0, 1]], k=100.0)],
    ...     fixed=[0],
    ...     pose=[[0, 0, 0], [0.5, 0, 0]],
    ...     velocity=[[0, 0, 0], [0, 0.3, 0]],
    ... )
    >>> state, h = strut.initial_state(), 0.05
    >>> for project in (True, False):  # across the strut K is 0, or k(1 - l0/l) = -100 N/m
    ...     new, _ = taut.LinearlyImplicitEuler(project=project).step(strut, state, h)
    ...     print(round(new.v[1, 1], 6))
    0.3
    0.4
    """

    order: ClassVar[int] = 1
    stability: ClassVar[Kind] = "L"
    needs: ClassVar[tuple[str, ...]] = ("forces", "stiffness")

    def __init__(
        self,
        *,
        tolerance: Tolerance | None = None,
        solver: SolverName = "auto",
        project: bool = True,
    ) -> None:
        super().__init__(tolerance=tolerance, solver=solver)
        if not isinstance(project, bool):
            raise ModelError(f"project must be True or False, got {project!r}")
        self.project = project
        self._has_warned = False

    def advance(self, system: System, state: State, h: float) -> StepResult:
        """Take a step of h seconds; raise NotConverged if the tolerance is missed."""
        started = time.perf_counter()
        workspace = workspace_for(system).without_ended_constraints(state.t, h)
        self.check(workspace.system, state, h)
        loads = workspace.system.load_forces(state)
        loaded = workspace.with_held_loads(loads)
        q, v = np.array(state.q), np.array(state.v)
        prediction = extrapolate(loaded.system, state.t + h, q, v, h)
        step = self._solve(loaded, state, prediction)
        y, report = self._report(step, self.solver(loaded), loaded.system, prediction, started)
        reason = "the linear solver stopped short of the tolerance"
        if step.solution is None and not self.project:
            reason = "the matrix of the step is singular; change h, or use project=True"
        raise_unless_converged(report, state, reason)
        result = self._book(loaded.system, state, prediction, y, step, report)
        if loads:
            result = replace(result, loads=loads)
        return conclude(workspace, result)

    def warn(self, result: StepResult) -> None:
        if result.report.note and not self._has_warned:
            self._has_warned = True
            log.warning(result.report.note)

    def _solve(self, workspace: Workspace, state: State, prediction: Prediction) -> LinearStep:
        system, solver = workspace.system, self.solver(workspace)
        rayleigh = None if system._rayleigh is None else workspace.rayleigh_matrix(state)
        energies = system._placed_energies.values()
        attempts: tuple[bool, ...] = (self.project,)
        if self.project and any(placed.couples_all_elements for placed in energies):
            attempts = (False, True)
        assembling = solving = 0.0
        accelerations = Accelerations(system, workspace.assembly("potential", state), prediction.h)
        step: LinearStep | None = None
        for project in attempts:
            clock = time.perf_counter()
            is_first = step is None or step.solution is None
            step = linearise(workspace, state, prediction, rayleigh, accelerations, project=project)
            step.right = system._projector.project(step.right)
            workspace.apply_constraints(step.matrix)
            assembled = time.perf_counter()
            if is_first:
                solver.analyse(step.matrix.pattern)
            if solver.factor(step.matrix):
                step.solution = self._solve_linear(solver, step, accelerations)
            if not self.project and (step.solution is None or not step.solution.definite):
                step.solution, step.is_indefinite = solve_indefinite(step.matrix, step.right), True
            if not self.project and step.is_lost_in_rounding(system.mass / prediction.h**2):
                step.solution = None
            assembling += assembled - clock
            solving += time.perf_counter() - assembled
            if step.solution is not None and step.solution.definite:
                break
        assert step is not None
        step.assembling, step.solving = assembling, solving
        return step

    def _solve_linear(
        self, solver: LinearSolver, step: LinearStep, accelerations: Accelerations
    ) -> Solution:
        """Solve to the tolerance, which is relative to accelerations that the solution tells."""
        loose = self.tolerance.targets(step.gross, step.gross)
        found = solver.solve(step.right, loose)
        for _ in range(_MAX_CORRECTIONS):
            targets = self._targets(step, accelerations, found.x)
            if not found.definite or (found.residuals <= targets).all():
                break
            rest = solver.solve(step.right - step.matrix.multiply(found.x), targets)
            if not (rest.residuals.max() < found.residuals.max()):
                break
            found = Solution(
                found.x + rest.x,
                rest.definite,
                rest.residuals,
                found.iterations + rest.iterations,
            )
        return found

    def _targets(self, step: LinearStep, accelerations: Accelerations, y: Float) -> Float:
        return self.tolerance.targets(accelerations.forces_at_work(y), step.gross)

    def _report(
        self,
        step: LinearStep,
        solver: LinearSolver,
        system: System,
        prediction: Prediction,
        started: float,
    ) -> tuple[Float, Report]:
        """Return y [m], (n, 3), and the report on how well it was solved for."""
        solution = step.solution
        outcome: Outcome = "not converged"
        y, residuals = np.zeros_like(step.right), row_norms(step.right)
        targets = self._targets(step, step.accelerations, y)
        floors = np.zeros_like(targets)
        if solution is not None and (solution.definite or step.is_indefinite):
            y, residuals = system._projector.project(solution.x), solution.residuals
            targets = self._targets(step, step.accelerations, y)
            if (residuals <= targets).all():
                outcome = "converged"
            else:
                floors = estimate_rounding_floors(step.all_gross, step.matrix, y)
                if (residuals <= np.maximum(targets, floors)).all():
                    outcome = "rounding floor"
        energies = system._placed_energies.values()
        tried_twice = step.project and any(placed.couples_all_elements for placed in energies)
        note = ""
        if step.is_indefinite and solution is not None:
            note = (
                f"the matrix of the step to t = {prediction.t:g} s is indefinite: "
                "with the true stiffness of compressed elements particles may be thrown far"
            )
        report = report_worst(
            residuals,
            targets,
            floors,
            integrator=type(self).__name__,
            t=prediction.t,
            h=prediction.h,
            outcome=outcome,
            acceleration=step.accelerations.at_work(y),
            velocity_error=step.accelerations.bound_velocity_error(residuals, step.definite_part),
            iterations=1,
            evaluations=1 + tried_twice,
            solver="direct (LU)" if step.is_indefinite else solver.name,
            why="the matrix is indefinite" if step.is_indefinite else solver.reason,
            linear_iterations=0 if solution is None else solution.iterations,
            seconds=time.perf_counter() - started,
            assembling=step.assembling,
            solving=step.solving,
            note=note,
        )
        return y, replace(report, mass=float(system.mass[report.particle]))

    def _book(
        self,
        system: System,
        state: State,
        prediction: Prediction,
        y: Float,
        step: LinearStep,
        report: Report,
    ) -> StepResult:
        h = prediction.h
        new = prediction.end_state(y, state)
        displacement, velocity_change = h * new.v, new.v - state.v
        linear = Linearisation(displacement, velocity_change, step.project)
        q, v = np.array(state.q), np.array(state.v)
        return StepResult(
            state,
            new,
            report,
            displacement,
            inertia=system.mass[:, None] * velocity_change / h,
            residual=step.matrix.multiply(y) - step.right,
            stages=(Stage(1.0, prediction.t, q, v, state, linear=linear),),
        )
