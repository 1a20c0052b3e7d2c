"""One step as it was taken, with what its derivatives need: the system, its forces, its paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from taut.arrays import Float
from taut.binding.placed_law import PlacedLoad
from taut.errors import NotConverged
from taut.inverse._forces import Forces
from taut.inverse._friction import Sliding
from taut.inverse._part import differentiate_in_time
from taut.inverse._sums import Clock
from taut.linalg.blocks import BlockMatrix, row_norms
from taut.linalg.indefinite import GeneralFactors
from taut.linalg.linear import LinearSolver
from taut.step.implicit import LinearImplicit
from taut.step.integrator import Integrator
from taut.system.any_assembly import AnyAssembly
from taut.system.contact_assembly import ContactAssembly
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs
from taut.system.workspace import Workspace


class PathSums:
    """A gradient by the positions that constraints prescribe.

    total : over all times, (n, 3)
    scripted : particles on paths, (p,)
    by_time : of these alone, (p, 3), by time [s]; one set for each step, so that fixed particles,
        which are often many more, must not be among them
    """

    def __init__(self, system: System) -> None:
        none = np.empty(0, dtype=np.int64)
        scripts = [particles for particles, _ in system._projector.scripts]
        self.total = np.zeros((system.n, 3))
        self.scripted = np.unique(np.concatenate([none, *scripts]))
        self.by_time: dict[float, Float] = {}

    def add(self, t: float, vectors: Float) -> None:
        """Add a gradient by the positions at time t [s], (n, 3)."""
        self.total += vectors
        if len(self.scripted):
            own = vectors[self.scripted]
            known = self.by_time.get(t)
            self.by_time[t] = own if known is None else known + own


class Moment:
    """A step of length h [s] from a state.

    accuracy : of linear solves, relative to the largest row of the right-hand side
    """

    def __init__(
        self, workspace: Workspace, integrator: Integrator, state: State, h: float, accuracy: float
    ) -> None:
        self.workspace = workspace.without_ended_constraints(state.t, h)
        self.system = self.workspace.system
        self.state, self.h, self.accuracy = state, h, accuracy
        self.integrator = integrator
        self.projector = self.system._projector
        self.mass = self.system.mass[:, None]
        self.forces = Forces(self.system, self.system._active_masks(state), h)
        loads = self.system.load_forces(state)
        self.load: Float = sum(loads.values(), np.zeros((self.system.n, 3)))
        self.worst_solve = 0.0  # the largest relative residual of linear solves so far

    # Constraints

    def constrain(self, q: Float, t: float) -> Float:
        """Return positions that satisfy the constraints at t [s]."""
        return self.projector.project_positions(q, t)

    def project(self, vectors: Float) -> Float:
        """Return the part of vectors in the free directions."""
        return self.projector.project(vectors)

    def path_velocities(self, at: float) -> Float:
        """Return prescribed velocities at a part of the step [m/s], (n, 3)."""
        return self.projector.prescribed_velocities(self.state.t, self.h, at)

    def difference_paths(self, t: float, q: Float, gamma: float) -> Float:
        """Return (b(t) - q)/γ of scripted particles, 0 of the others [m/s], (n, 3)."""
        slopes = np.zeros_like(q)
        if self.projector.scripts:
            every = (self.constrain(q, t) - q) / gamma
            for particles, _ in self.projector.scripts:
                slopes[particles] = every[particles]
        return slopes

    def scripted_part(self, vectors: Float) -> Float:
        """Return the constrained part of vectors at scripted particles, 0 elsewhere."""
        part = np.zeros_like(vectors)
        held = vectors - self.project(vectors)
        for particles, _ in self.projector.scripts:
            part[particles] = held[particles]
        return part

    def path_slopes(self, t: float) -> Float:
        """Return ḃ(t) [m/s], (n, 3)."""
        if not self.projector.scripts:
            return np.zeros((self.system.n, 3))
        return differentiate_in_time(self.projector.anchors, t, self.h)

    def pull_constraint(self, bar: Float, t: float, paths: PathSums) -> tuple[Float, float]:
        """Return the gradient by positions before `constrain`, (n, 3), and by t."""
        free = self.project(bar)
        held = bar - free
        by_time = 0.0
        if held.any():
            paths.add(t, held)
            if self.projector.scripts:
                by_time = float(np.einsum("ni,ni->", held, self.path_slopes(t)))
        return free, by_time

    def pull_path_velocities(self, bar: Float, at: float, paths: PathSums, clock: Clock) -> None:
        """Add the gradient by the path of `path_velocities`, for their gradient (n, 3)."""
        held = self.scripted_part(bar)
        if not held.any():
            return
        parts, weights = self.projector.velocity_weights(at)
        t, h = self.state.t, self.h
        for part, weight in zip(parts, weights, strict=True):
            own = weight / h * held
            paths.add(t + h * part, own)
            rise = float(np.einsum("ni,ni->", own, self.path_slopes(t + h * part)))
            clock.t += rise
            clock.h += part * rise
        clock.h -= float(np.einsum("ni,ni->", held, self.path_velocities(at))) / h

    # Matrices

    def stage_matrix(self, stage: StagePoint) -> BlockMatrix:
        """Return ∂R/∂y at a solved stage, constraints applied; a matrix of its own.

        M/γ² + K + D/γ, and how friction changes with its normal forces, which is not symmetric.
        """
        workspace, gamma = self.workspace, stage.gamma
        frozen = self.state.with_(t=stage.frozen_time, q=stage.frozen)
        assembly = workspace.assembly("increments" if stage.increments else "potential", frozen)
        inputs = [
            Inputs(stage.q, stage.frozen if term.form == "increment" else stage.q, gamma, stage.t)
            for term in assembly.terms
        ]
        self._hold_friction(assembly, stage.q)
        parts = [assembly.hessian(inputs, self.system.mass / gamma**2).copy()]
        factors = [1.0]
        if self._has_rates and not stage.increments:
            rates = workspace.assembly("damping", frozen)
            self._hold_friction(rates, stage.q)
            at = [Inputs(stage.v, stage.frozen, 0.0, stage.t)] * len(rates.terms)
            parts.append(rates.hessian(at, np.zeros(self.system.n)).copy())
            factors.append(1.0 / gamma)
        if self.system._rayleigh is not None:
            parts.append(workspace.rayleigh_matrix(frozen))
            factors.append(1.0 / gamma)
        total = parts[0]
        if len(parts) > 1:
            total = workspace.union([part.pattern for part in parts]).sum(parts, factors)
        for group in self.sliding(stage):
            x, span = (stage.q, gamma) if stage.increments else (stage.v, 0.0)
            group.add_coupling(total, x, stage.frozen, span)
        workspace.apply_constraints(total)
        return total

    def residual(self, stage: StagePoint, y: Float) -> Float:
        """Return the unbalanced force R of a stage [N], (n, 3), y [m] from its prediction."""
        workspace, gamma = self.workspace, stage.gamma
        frozen = self.state.with_(t=stage.frozen_time, q=stage.frozen)
        assembly = workspace.assembly("increments" if stage.increments else "potential", frozen)
        inputs = [
            Inputs(stage.q, stage.frozen if term.form == "increment" else stage.q, gamma, stage.t)
            for term in assembly.terms
        ]
        self._hold_friction(assembly, stage.q)
        total = self.mass * y / gamma**2 + assembly.gradient(inputs)[1] - self.load
        if self._has_rates and not stage.increments:
            rates = workspace.assembly("damping", frozen)
            self._hold_friction(rates, stage.q)
            at = [Inputs(stage.v, stage.frozen, 0.0, stage.t)] * len(rates.terms)
            total += rates.gradient(at)[1]
        if self.system._rayleigh is not None:
            total += workspace.rayleigh_matrix(frozen).multiply(stage.v)
        return self.project(total)

    @property
    def _has_rates(self) -> bool:
        return bool(self.system._placed_damping) or self.system._has_friction

    def _hold_friction(self, assembly: AnyAssembly, q: Float) -> None:
        """Give an assembly the friction of the contacts at positions q [m], (n, 3)."""
        if self.system._has_friction:
            assert isinstance(assembly, ContactAssembly)
            assembly.friction = assembly.find_friction(q)

    def sliding(self, stage: StagePoint) -> list[Sliding]:
        """Return the friction of a solved stage."""
        return self.forces.sliding_at(stage.q, "increment" if stage.increments else "rate")

    def rayleigh_stiffness(self, q: Float, t: float) -> BlockMatrix | None:
        """Return K⁺ of Rayleigh damping at positions and a time, or None if there is none."""
        if self.system._rayleigh is None:
            return None
        return self.stiffness(q, t, project=True)

    def stiffness(self, q: Float, t: float, *, project: bool) -> BlockMatrix:
        """Return K at positions and a time, a matrix of its own."""
        at = self.state.with_(t=t, q=q)
        return self.workspace.stiffness(at, project=project).copy()

    def multiply_rayleigh(self, stiffness: BlockMatrix | None, v: Float) -> Float:
        """Return D v [N], (n, 3)."""
        rayleigh = self.system._rayleigh
        if rayleigh is None or stiffness is None:
            return np.zeros_like(v)
        return rayleigh.alpha * self.mass * v + rayleigh.beta * stiffness.multiply(v)

    def damping_matrix(self, v: Float, q: Float, t: float) -> BlockMatrix | None:
        """Return ∂²Ψ/∂v² at velocities, positions and a time, or None without damping laws."""
        if not self.system._placed_damping:
            return None
        rates = self.workspace.assembly("damping", self.state)
        at = [Inputs(v, q, 0.0, t)] * len(rates.terms)
        return rates.hessian(at, np.zeros(self.system.n)).copy()

    # Solves

    def prepare(
        self, matrix: BlockMatrix, *, transposed: bool = False, accuracy: float | None = None
    ) -> Callable[[Float], Float]:
        """Factorise a matrix; return a function that solves with it for vectors (n, 3).

        transposed : whether it solves with the transpose, which differs where there is friction
        accuracy : of these solves (default: that of the moment)

        The solver refers to the matrix: do not write to it until the last solve.
        """
        solver: LinearSolver | None = None
        general: GeneralFactors | None = None
        if isinstance(self.integrator, LinearImplicit) and not self.system._has_friction:
            solver = self.integrator.solver(self.workspace)
            solver.analyse(matrix.pattern)
            if not solver.factor(matrix):
                solver = None

        def solve(right: Float) -> Float:
            nonlocal general
            b = self.project(right)
            size = float(row_norms(b).max(initial=0.0))
            if size == 0.0:
                return np.zeros_like(b)
            target = (self.accuracy if accuracy is None else accuracy) * size
            found = None
            if solver is not None:
                found = solver.solve(b, np.full(len(b), target))
            if found is None or not found.definite or (found.residuals > target).any():
                if general is None:
                    general = GeneralFactors(matrix)
                exact = general.solve(b, transposed=transposed)
                if exact is not None:
                    found = exact
            if found is None or not np.isfinite(found.x).all():
                raise NotConverged(
                    f"the step from t = {self.state.t:g} s has no derivative: the matrix of its "
                    "stage is singular",
                    None,
                    self.state,
                )
            self.worst_solve = max(self.worst_solve, float(found.residuals.max()) / size)
            return self.project(found.x)

        return solve

    def load_slopes(self, placed: PlacedLoad) -> Float:
        """Return the slopes of a load's packed parameters with time, (m, width)."""
        q = np.array(self.state.q)
        return differentiate_in_time(lambda t: placed.parameters.pack(t, q), self.state.t, self.h)


@dataclass(frozen=True, eq=False)
class StagePoint:
    """Where an implicit stage was solved.

    t : its time [s]; gamma : γ [s]; q, v : the solution [m], [m/s], (n, 3)
    frozen, frozen_time : positions and time of the geometry that damping uses
    increments : whether damping acts as increments since `frozen`
    """

    t: float
    gamma: float
    q: Float
    v: Float
    frozen: Float
    frozen_time: float
    increments: bool
