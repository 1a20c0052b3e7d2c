"""Implicit integrators: predict, minimise, certify, book. `Implicit.advance` is a step on one page.

An integrator states its stages (`predict`) and what they amount to (`book`); everything else is
here. Each stage minimises the objective of `taut.step._objective` to the stated tolerance.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError, SingularState, did_you_mean
from taut.linalg.linear import LinearSolver, SolverName, make_solver
from taut.optimise.descent import Descent, Point
from taut.optimise.lbfgs import minimise_lbfgs
from taut.optimise.newton import minimise
from taut.optimise.tolerance import Tolerance
from taut.step._contact_stage import book_contact, descend, push_bodies
from taut.step._heavy_start import minimise_stage
from taut.step._objective import ImplicitObjective, StageStart, constant_stiffness
from taut.step.compiled_stage import (
    MAX_PARTICLES,
    CompiledStage,
    StageSolution,
    are_kernels_compiled,
    find_obstacle,
)
from taut.step.integrator import Integrator, conclude, raise_unless_converged
from taut.step.report import NOTHING_SOLVED, Report, combine_reports, report_descent
from taut.step.step_result import StepResult
from taut.system.any_assembly import AnyAssembly
from taut.system.assembly import Assembly
from taut.system.contact_friction import Friction
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import AssemblyKind
from taut.system.workspace import Workspace, workspace_for
from taut.watch import report_iteration

MinimiserName = Literal["newton", "lbfgs"]
MINIMISERS = get_args(MinimiserName)
NO_FRICTION = Friction.none()
# Number of stage lengths whose factorisations L-BFGS keeps: whole and half steps, and the last
# step of a run.
_MAX_FACTORS = 4


class LinearImplicit(Integrator):
    """Integrators that solve linear systems.

    tolerance : the residual each step must reach (see `taut.Tolerance`)
    solver : "auto", "direct" or "cg"
    """

    def __init__(self, *, tolerance: Tolerance | None = None, solver: SolverName = "auto") -> None:
        self.tolerance = Tolerance() if tolerance is None else tolerance
        if not isinstance(self.tolerance, Tolerance):
            raise ModelError(f"tolerance must be a taut.Tolerance, got {tolerance!r}")
        self.solver_name: SolverName = solver
        make_solver(solver)  # raises if there is no such solver

    def create_solver(self) -> LinearSolver:
        """Return a new linear solver."""
        return make_solver(self.solver_name)

    def solver(self, workspace: Workspace) -> LinearSolver:
        """Return the linear solver that this integrator uses in a workspace."""
        return workspace.solver(self, self.create_solver)


@dataclass(eq=False)
class SolvedStage:
    """A stage after its solution: y [m], the unbalanced forces left [N], both (n, 3), a report."""

    start: StageStart
    y: Float
    residual: Float
    report: Report
    friction: Friction

    @property
    def t(self) -> float:
        """The time of the stage [s]."""
        return self.start.prediction.t

    @property
    def q(self) -> Float:
        """Positions at the stage [m], (n, 3)."""
        return self.start.prediction.positions(self.y)

    @property
    def v(self) -> Float:
        """Velocities at the stage [m/s], (n, 3)."""
        return self.start.prediction.velocities(self.y)


@dataclass(eq=False)
class _StageMinimum:
    """The minimum of a stage's objective.

    decrease : how far it lies below the value at the old positions [J]
    mass : of each particle [kg], (n,)
    acceleration, velocity_error : see `Report`
    """

    descent: Descent
    solver: LinearSolver
    decrease: float
    mass: Float
    acceleration: float
    velocity_error: float
    friction: Friction


@dataclass
class _Memory:
    """What an implicit integrator keeps in a workspace between steps."""

    is_compiled: bool = False  # the Hessians have been sent to be compiled
    factors: dict[tuple[float, bytes], LinearSolver] = field(default_factory=dict)
    # The compiled stages of small systems, None where there are none, and their assemblies.
    stages: dict[str, tuple[AnyAssembly, CompiledStage | None]] = field(default_factory=dict)

    def carry_over(self) -> _Memory:
        """Return what is kept for other values of parameters: not the factors."""
        return _Memory(self.is_compiled, stages=dict(self.stages))


class Implicit(LinearImplicit):
    """Integrators whose stages minimise an objective.

    Each stage solves q' = q̄ + γ v', v' = v̄ + γ M⁻¹f(q', v', t'). A class of your own declares
    `order`, `stability`, `needs` and the number of `stages`; `predict` gives q̄, v̄ and γ of each,
    `book` the end of the step. docs/guide/own-integrator.md has an example.

    tolerance : the residual each step must reach (see `taut.Tolerance`)
    solver : "auto", "direct" or "cg"
    minimiser : "newton", or "lbfgs" with a constant stiffness that is factorised once for each
        length of step
    """

    stages: ClassVar[int] = 1
    # How many times the error of a single stage's velocities counts in those at the step's end.
    velocity_gain: ClassVar[float] = 1.0

    def __init__(
        self,
        *,
        tolerance: Tolerance | None = None,
        solver: SolverName = "auto",
        minimiser: MinimiserName = "newton",
    ) -> None:
        super().__init__(tolerance=tolerance, solver=solver)
        if minimiser not in MINIMISERS:
            hint = did_you_mean(str(minimiser), MINIMISERS)
            raise ModelError(f"minimiser must be 'newton' or 'lbfgs', got {minimiser!r}{hint}")
        self.minimiser = minimiser
        # Of a stage without contact, and of friction; `Adaptive` allows fewer before it shortens a
        # step.
        self.max_iterations: int | None = None

    @property
    def _tests_way(self) -> bool:
        return self.minimiser == "newton"

    def _describe_method(self) -> str:
        return f'{type(self).__name__}(minimiser="{self.minimiser}")'

    def advance(self, system: System, state: State, h: float) -> StepResult:
        """Take a step of h seconds; raise NotConverged if the tolerance is missed."""
        started = time.perf_counter()
        # Release: constraints that have ended before this step no longer act.
        workspace = workspace_for(system).without_ended_constraints(state.t, h)
        self.check(workspace.system, state, h)
        # Hold the loads: they have no energy to minimise, so they act as constant forces over the
        # step, evaluated at its start.
        loads = workspace.system.load_forces(state)
        loaded = workspace.with_held_loads(loads)
        if system.contact is not None:
            loaded.contact_search.begin_step(state.q)
        solved: list[SolvedStage] = []
        for _ in range(self.stages):
            # Predict: where the stage would end if no force acted.
            start = self.predict(loaded, state, h, solved)
            # Minimise: inertia, energies and dissipation, from the lowest of three points. Most
            # stages of small systems are done by one compiled call, with the same bits.
            stage = self._solve_compiled(loaded, state, h, start)
            if stage is None:
                minimum = self._minimise(loaded, state, start)
                # Certify: the unbalanced force on every particle is within its tolerance or, where
                # nothing improves it any more, within what rounding can cause.
                report = self._report(minimum, state, h)
                raise_unless_converged(report, state, minimum.descent.reason)
                end = minimum.descent.point
                stage = SolvedStage(start, end.y, end.gradient, report, minimum.friction)
            solved.append(stage)
        # Book: the new state, and the stages from which the ledger accounts for every joule.
        seconds = time.perf_counter() - started
        reports = [stage.report for stage in solved]
        report = combine_reports(reports, state.t + h, h, seconds, self.velocity_gain)
        result = self.book(loaded.system, state, h, solved, report)
        if loads:
            result = replace(result, loads=loads)
        if system.contact is not None:
            result = book_contact(loaded, solved[-1].q, result, [own.friction for own in solved])
        # Break: elements strained beyond their breaking strain leave.
        return conclude(workspace, result)

    @abstractmethod
    def predict(
        self, workspace: Workspace, state: State, h: float, solved: Sequence[SolvedStage]
    ) -> StageStart:
        """Return where the next stage starts; `solved` are those before it."""

    @abstractmethod
    def book(
        self, system: System, state: State, h: float, solved: Sequence[SolvedStage], report: Report
    ) -> StepResult:
        """Return the new state and what the ledger needs, from the solved stages."""

    def _solve_compiled(
        self, workspace: Workspace, state: State, h: float, start: StageStart
    ) -> SolvedStage | None:
        """Minimise a stage in one compiled call, and certify it; None if that cannot be done."""
        if self.minimiser != "newton":
            return None
        stage = self.compile_stage(workspace, start.frozen, increments=start.increments)
        if stage is None:
            return None
        found = stage.solve(start.prediction, np.array(start.frozen.q), start.old, self.tolerance)
        if found is None:
            return None
        if self.max_iterations is not None and found.iterations > self.max_iterations:
            return None
        report_iteration(found)  # once for all of them, which take less than a millisecond
        report = self.report_compiled(workspace, found, state.t + h, h)
        return SolvedStage(start, found.y, found.gradient, report, NO_FRICTION)

    def report_compiled(
        self, workspace: Workspace, found: StageSolution, t: float, h: float
    ) -> Report:
        """Return the report on a compiled stage of a step of h [s] that ends at t [s]."""
        solver = self.solver(workspace)
        solved = found.linear_iterations > 0
        return Report(
            type(self).__name__,
            t,
            h,
            "converged",
            particle=found.particle,
            residual=found.residual,
            tolerance=found.tolerance,
            decrease=found.decrease,
            mass=float(workspace.system.mass[found.particle]),
            acceleration=found.acceleration,
            velocity_error=found.velocity_error,
            iterations=found.iterations,
            evaluations=found.evaluations,
            solver=solver.name if solved else "none",
            why=solver.reason if solved else NOTHING_SOLVED,
            linear_iterations=found.linear_iterations,
        )

    def compile_stage(
        self, workspace: Workspace, frozen: State, *, increments: bool
    ) -> CompiledStage | None:
        """Return the compiled stages of a system; None if it has to be solved in general.

        frozen, increments : see `StageStart`
        """
        system = workspace.system
        if system.n > MAX_PARTICLES or (system._placed_damping and not increments):
            return None
        memory = workspace.memory(self, _Memory)
        kind: AssemblyKind = "increments" if increments else "potential"
        assembly = workspace.assembly(kind, frozen)
        known = memory.stages.get(kind)
        if known is None or known[0] is not assembly:
            if not are_kernels_compiled():
                return None
            before = None if known is None else known[1]
            memory.stages[kind] = (assembly, self._prepare_stage(workspace, assembly, before))
        return memory.stages[kind][1]

    def _prepare_stage(
        self, workspace: Workspace, assembly: AnyAssembly, before: CompiledStage | None
    ) -> CompiledStage | None:
        """Return the compiled stages of an assembly; before : those of a similar one."""
        if before is not None and before.fits(assembly):
            return before.with_assembly(assembly)
        solver = self.solver(workspace)
        solver.analyse(assembly.pattern)
        if find_obstacle(workspace.system, assembly, solver):
            return None
        assert isinstance(assembly, Assembly)
        return CompiledStage(workspace.system, assembly)

    def _minimise(self, workspace: Workspace, state: State, start: StageStart) -> _StageMinimum:
        """Minimise the objective of a stage; it never ends above its value at the old positions."""
        solver = self._prepare_solver(workspace, state, start)

        def minimise_to(
            objective: ImplicitObjective, point: Point, tolerance: Tolerance
        ) -> Descent:
            return self._descend(objective, point, solver, tolerance)

        clock = time.perf_counter()
        objective = ImplicitObjective(
            workspace, start.prediction, start.frozen, start.old, increments=start.increments
        )
        assembling = time.perf_counter() - clock
        clock = time.perf_counter()
        if self.minimiser == "newton":
            # Before the first evaluation: kernels that the solver needs compile meanwhile.
            solver.analyse(objective.pattern)
        solving = time.perf_counter() - clock
        clock = time.perf_counter()
        old = start.old
        if workspace.system.contact is not None:
            # Obstacles move first, and push what is in their way.
            old = push_bodies(workspace, state, start, self.tolerance, minimise_to)
        # Friction begins with the normal forces at the old positions.
        objective.friction = objective.find_friction(old)
        at_old = objective.evaluate(old)
        lowest, evaluations = _find_start(objective, at_old)
        assembling += time.perf_counter() - clock
        if workspace.system.contact is None:
            descent = minimise_to(objective, lowest, self.tolerance)
        else:
            descent = descend(objective, lowest, self.tolerance, minimise_to, self.max_iterations)
        descent.evaluations += evaluations
        descent.assembling += assembling
        descent.solving += solving
        end = descent.point
        # The factors of L-BFGS are kept for further steps.
        prover = solver if self.minimiser == "newton" else None
        with descent.timed("assembling"):
            definite_part = objective.definite_part(end.y, prover)
        return _StageMinimum(
            descent,
            solver,
            decrease=-objective.change(at_old, end),
            mass=objective.system.mass,
            acceleration=objective.accelerations.at_work(end.y),
            velocity_error=objective.accelerations.bound_velocity_error(
                end.residuals, definite_part
            ),
            friction=objective.friction,
        )

    def _descend(
        self,
        objective: ImplicitObjective,
        start: Point,
        solver: LinearSolver,
        tolerance: Tolerance,
    ) -> Descent:
        if self.minimiser == "newton" and objective.system.contact is not None:
            return minimise(objective, start, solver, tolerance)
        if self.minimiser == "newton":
            return minimise_stage(objective, start, solver, tolerance, self.max_iterations)
        return minimise_lbfgs(objective, start, solver, tolerance)

    def _prepare_solver(
        self, workspace: Workspace, state: State, start: StageStart
    ) -> LinearSolver:
        memory = workspace.memory(self, _Memory)
        if self.minimiser == "lbfgs":
            return self._factor_constant(workspace, state, start.prediction.h, memory.factors)
        if not memory.is_compiled:
            workspace.compile_hessians("increments" if start.increments else "potential")
            memory.is_compiled = True
        return self.solver(workspace)

    def _factor_constant(
        self,
        workspace: Workspace,
        state: State,
        h: float,
        factors: dict[tuple[float, bytes], LinearSolver],
    ) -> LinearSolver:
        """Return a solver with the factors of the constant matrix for stages of length h [s]."""
        masks = sorted(state.active.items())
        active = b"".join(name.encode() + mask.tobytes() for name, mask in masks)
        if (h, active) not in factors:
            solver = make_solver("direct" if self.solver_name == "auto" else self.solver_name)
            if not solver.factor(constant_stiffness(workspace, state, h)):
                raise ModelError(
                    "the constant stiffness for L-BFGS must be positive definite and is not; "
                    "use minimiser='newton'"
                )
            while len(factors) >= _MAX_FACTORS:
                del factors[next(iter(factors))]
            factors[h, active] = solver
        return factors[h, active]

    def _report(self, minimum: _StageMinimum, state: State, h: float) -> Report:
        why = ""
        if self.minimiser == "lbfgs" and self.solver_name == "auto":
            why = "one constant matrix, factorised once for many solves"
        report = report_descent(
            minimum.descent,
            minimum.solver,
            why=why,
            integrator=type(self).__name__,
            t=state.t + h,
            h=h,
            decrease=minimum.decrease,
            acceleration=minimum.acceleration,
            velocity_error=minimum.velocity_error,
        )
        return replace(report, mass=float(minimum.mass[report.particle]))


def _find_start(objective: ImplicitObjective, at_old: Point) -> tuple[Point, int]:
    """Return the lowest of three points, and how many were evaluated.

    They are the old positions; where the stage ends without forces, y = 0; and where it ends with
    the forces at the old positions, y = γ²M⁻¹f. The last is the nearest while forces change little
    in a step, and the farthest where stiff springs have been stretched.
    """
    ballistic = np.zeros_like(at_old.y)
    accelerated = at_old.y - at_old.gradient / objective.inertia[:, None]
    lowest = at_old
    for y in (ballistic, accelerated):
        y = at_old.y + objective.free_part(at_old.y, y - at_old.y) * (y - at_old.y)
        with suppress(SingularState):  # the energy may have no value there
            point = objective.evaluate(y)
            if objective.change(lowest, point) < 0.0:
                lowest = point
    return lowest, 3
