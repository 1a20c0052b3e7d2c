"""The objective of an implicit stage, and the prediction it is a function of.

Every implicit stage solves

    q' = q̄ + γ v',    v' = v̄ + γ M⁻¹f(q', v', t')

with its own q̄, v̄ and γ (implicit Euler: q, v and h). The unknown is y = q' - q̃, the displacement
from the prediction q̃ = q̄ + γ v̄, not q' itself: v' = v̄ + y/γ then does not suffer from the
rounding of coordinates, however far from the origin they are. A stage minimises

    Φ(y) = ½|y|²_M/γ² + V(q, t') + dissipation + γ/2 |v(y)|²_D

with D Rayleigh's matrix, frozen. The dissipation of a law Ψ is one of two:

    γ·Ψ((measures(q) - measures(q_n))/γ)       as increments since the old positions q_n
                                               (implicit Euler);
    γ·Ψ(v(y)), with the geometry frozen at q̂   as rates, q̂ a prediction good to second order
                                               (the other methods).

Both keep linear momentum and add a non-negative term to Φ; the first also keeps the angular
momentum of implicit Euler, the second does not spoil second order. The gradient of Φ is the
unbalanced force, its Hessian M/γ² + K + D/γ.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from taut.arrays import EPS, Float, Int
from taut.binding.compiled_law import ForceName
from taut.errors import SingularState
from taut.jit.compile import kernels
from taut.linalg.blocks import (
    BlockMatrix,
    Pattern,
    PatternUnion,
    dot,
    find_nonfinite_rows,
    row_norms_l1,
)
from taut.linalg.linear import LinearSolver
from taut.optimise.descent import Point
from taut.optimise.tolerance import estimate_rounding_floors, refuse_large_floors
from taut.step._accelerations import FACTORED_PART, Accelerations
from taut.system.any_assembly import AnyAssembly
from taut.system.contact_assembly import ContactAssembly
from taut.system.contact_friction import Friction
from taut.system.negative_curvature import bound_negative_curvature
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs
from taut.system.workspace import Workspace

# The isotropic share of the constant matrix, see `constant_stiffness`.
_ISOTROPIC = 0.2


def require_finite(*arrays: Float) -> None:
    """Raise SingularState if positions or velocities (n, 3) are not finite."""
    for array in arrays:
        rows = find_nonfinite_rows(array)
        if len(rows):
            raise SingularState(
                f"particle {rows[0]} has left the finite numbers: it is too fast for the step"
            )


@dataclass(frozen=True, eq=False)
class Prediction:
    """q̃ and its velocity, with constrained directions as prescribed at the new time.

    t : t' [s]; h : γ [s]; q : q̃ [m], (n, 3); v : v̄ in the free directions [m/s], (n, 3)
    """

    t: float
    h: float
    q: Float
    v: Float

    def positions(self, y: Float) -> Float:
        """Return q' [m] after a displacement y from q̃ [m]."""
        return self.q + y

    def velocities(self, y: Float) -> Float:
        """Return v' [m/s] after a displacement y from q̃ [m]."""
        return self.v + y / self.h

    def end_state(self, y: Float, state: State) -> State:
        """Return the state after a displacement y from q̃ [m]; `state` is the one before."""
        q, v = self.positions(y), self.velocities(y)
        require_finite(q, v)
        return State.after_step(self.t, q, v, state)


def extrapolate(
    system: System, t: float, q: Float, v: Float, h: float, prescribed: Float | None = None
) -> Prediction:
    """Predict where a stage ends at time t [s] if no force acts: q̃ = q̄ + γ v̄.

    q, v : q̄ [m] and v̄ [m/s], (n, 3); h : γ [s]
    prescribed : velocities of scripted particles [m/s], (n, 3) (default: (b(t) - q̄)/γ)
    """
    projector = system._projector
    if prescribed is None:
        prescribed = _difference_scripts(system, t, q, h)
    velocities, c = v.copy(), projector.constrained_particles
    velocities[c] = projector.project_constrained(v[c]) + prescribed[c]
    with np.errstate(over="ignore"):
        ahead = q + h * v
    require_finite(ahead, velocities)
    return Prediction(t, h, projector.project_positions(ahead, t), velocities)


def _difference_scripts(system: System, t: float, q: Float, h: float) -> Float:
    """Return (b(t) - q̄)/γ of the scripted particles and 0 of the others [m/s], (n, 3)."""
    velocities = np.zeros_like(q)
    if system._projector.scripts:
        slopes = (system._projector.project_positions(q, t) - q) / h
        for particles, _ in system._projector.scripts:
            velocities[particles] = slopes[particles]
    return velocities


@dataclass(eq=False)
class StageStart:
    """Where a stage starts, and what its objective needs.

    prediction : where it ends if no force acts, from `extrapolate`
    frozen : the state whose geometry damping uses
    old : y of the old positions [m], (n, 3); the objective never ends above its value there
    increments : whether damping laws act as increments since `frozen`, rather than as rates
    """

    prediction: Prediction
    frozen: State
    old: Float
    increments: bool = False


class ImplicitObjective:
    """Φ for one stage.

    frozen : the state whose geometry damping uses
    old : y of the old positions [m], (n, 3)
    increments : whether damping acts as increments, rather than as rates
    """

    def __init__(
        self,
        workspace: Workspace,
        start: Prediction,
        frozen: State,
        old: Float,
        *,
        increments: bool,
    ) -> None:
        system = workspace.system
        self.workspace, self.system = workspace, system
        self.start, self.h, self.old = start, start.h, old
        self.frozen = np.array(frozen.q)
        self.inertia = system.mass / start.h**2
        self.rayleigh: BlockMatrix | None = None
        if system._rayleigh is not None:
            self.rayleigh = workspace.rayleigh_matrix(frozen)
        self.assembly = workspace.assembly("increments" if increments else "potential", frozen)
        self.rates: AnyAssembly | None = None
        if (system._placed_damping or system._has_friction) and not increments:
            self.rates = workspace.assembly("damping", frozen)
        self.accelerations = Accelerations(system, self.assembly, self.h)

    def _inputs(self, q: Float) -> list[Inputs]:
        t = self.start.t
        return [
            Inputs(q, self.frozen if term.form == "increment" else q, self.h, t)
            for term in self.assembly.terms
        ]

    def _rate_inputs(self, y: Float) -> list[Inputs]:
        assert self.rates is not None
        return [Inputs(self.start.velocities(y), self.frozen, 0.0, self.start.t)] * len(
            self.rates.terms
        )

    def evaluate(self, y: Float) -> Point:
        """Return Φ, its gradient and their scales of rounding at y [m], (n, 3)."""
        projector = self.system._projector
        # Rounding in a linear solve may move constrained directions: remove that.
        y = projector.project(y)
        q = self.start.positions(y)
        value, total, _ = self.assembly.gradient(self._inputs(q))
        gross = self.assembly.projected_gross_force(projector)
        size, residual = np.empty(len(y)), np.empty_like(y)
        magnitude, drag_value = self.assembly.magnitude(), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            if self.rates is not None:
                power, drag, _ = self.rates.gradient(self._rate_inputs(y))
                total = total + drag
                gross += self.rates.projected_gross_force(projector)
                drag_value += self.h * power
                magnitude += self.h * self.rates.magnitude()
            if self.rayleigh is not None:
                v = self.start.velocities(y)
                drag = self.rayleigh.multiply(v)
                total = total + drag
                gross += row_norms_l1(projector.project(drag))
                drag_value += 0.5 * self.h * dot(drag, v)
            add_inertia = kernels("taut.step._objective_kernels").add_inertia
            kinetic, square, work = add_inertia(total, y, q, self.inertia, residual, gross, size)
            added = 0.5 * kinetic + drag_value
            scale = self.accelerations.forces_at_work(y)
            if not np.isfinite([value + added, square, work]).all():
                raise SingularState("the forces of a step overflow")
            # Twice: the first projection of large reactions leaves their rounding.
            c = projector.constrained_particles
            residual[c] = projector.project_constrained(projector.project_constrained(residual[c]))
        energies = self.assembly.energies()
        if self.rates is not None:
            energies += self.rates.energies()
        magnitude += abs(added)
        return Point(y, value + added, residual, gross, magnitude, size, scale, energies)

    @property
    def _sliding(self) -> ContactAssembly | None:
        """The assembly with friction, if there is any."""
        if not self.system._has_friction:
            return None
        assembly = self.assembly if self.rates is None else self.rates
        assert isinstance(assembly, ContactAssembly)
        return assembly

    @property
    def friction(self) -> Friction:
        """The friction that acts, held while Φ is minimised."""
        return Friction.none() if self._sliding is None else self._sliding.friction

    @friction.setter
    def friction(self, friction: Friction) -> None:
        if self._sliding is not None:
            self._sliding.friction = friction

    def find_friction(self, y: Float) -> Friction:
        """Return the friction with the normal forces of the contacts at y [m], (n, 3)."""
        if self._sliding is None:
            return Friction.none()
        return self._sliding.find_friction(self.start.positions(y))

    def coupled_hessian(self, y: Float) -> BlockMatrix:
        """Return ∂r/∂y with constraints applied, in a buffer; not symmetric.

        r is the unbalanced force with the friction of the normal forces at y [m], (n, 3), itself.
        """
        assert self._sliding is not None
        self.friction = self.find_friction(y)
        matrix = self._unconstrained(y, self.inertia, metric=False)
        q, velocities = self.start.positions(y), self.start.velocities(y)
        if self.rates is None:
            velocities = (q - self.frozen) / self.h
        self._sliding.add_coupling(matrix, q, velocities)
        self.workspace.apply_constraints(matrix)
        return matrix

    def free_part(self, y: Float, move: Float) -> float:
        """Return the part of a move from y [m], (n, 3), that contact leaves free, at most 1."""
        if self.system.contact is None:
            return 1.0
        move = self.system._projector.project(move)
        return self.workspace.contact_search.find_free_part(self.start.positions(y), move)

    def damping_weights(self) -> Float:
        """Return m/γ² of each particle [N/m], (n,)."""
        return self.inertia

    def change(self, start: Point, end: Point) -> float:
        """Return Φ(end) - Φ(start) [J], summed from the changes of elements and particles."""
        move = end.y - start.y
        change = 0.5 * float(np.einsum("i,ij,ij->", self.inertia, move, end.y + start.y))
        for k, (before, after) in enumerate(zip(start.energies, end.energies, strict=True)):
            part = float((after - before).sum())
            change += part if k < len(self.assembly.terms) else self.h * part
        if self.rayleigh is not None:
            mean = self.start.velocities(0.5 * (start.y + end.y))
            change += dot(self.rayleigh.multiply(mean), move)
        return change

    def relax(self, point: Point, region: Int, sweeps: int) -> Float:
        """Return y (n, 3) [m] after sweeps over the free particles of a region."""
        return self.relax_with(self.inertia, point, region, sweeps)

    def relax_with(self, inertia: Float, point: Point, region: Int, sweeps: int) -> Float:
        """Return the same with another m/γ² [N/m], (n,), and constant loads as in the point."""
        free = region[~self.system._projector.is_constrained[region]]
        q = self.start.positions(point.y)
        inputs = self._inputs(q)
        moved = self.assembly.relax(q, inputs, free, point.gradient, inertia, sweeps)
        return point.y + (moved - q)

    def hessian(self, y: Float, previous: Float | None) -> BlockMatrix:
        """Return the Hessian of Φ at y with constraints applied, in a buffer.

        previous : y before the last step, from which the forces in it are predicted; None: they
            are those at the old positions
        """
        return self._constrained(y, previous, metric=False)

    def metric(self, y: Float, previous: Float | None) -> BlockMatrix:
        """Return the same from positive semi-definite parts."""
        return self._constrained(y, previous, metric=True)

    def _constrained(self, y: Float, previous: Float | None, *, metric: bool) -> BlockMatrix:
        before: Float = self.start.positions(self.old)
        force: ForceName = "hold"
        if previous is not None:
            before, force = self.start.positions(previous), "predict"
        matrix = self._unconstrained(y, self.inertia, metric=metric, before=before, force=force)
        self.workspace.apply_constraints(matrix)
        return matrix

    def _unconstrained(
        self,
        y: Float,
        shift: Float,
        *,
        metric: bool,
        before: Float | None = None,
        force: ForceName = "true",
    ) -> BlockMatrix:
        inputs = self._inputs(self.start.positions(y))
        self.assembly.hessian(inputs, shift, metric=metric, previous=before, force=force)
        matrix = self.assembly.matrix
        added = []
        if self.rates is not None:
            self.rates.hessian(self._rate_inputs(y), np.zeros(self.system.n), metric=metric)
            added.append(self.rates.matrix)
        if self.rayleigh is not None:
            added.append(self.rayleigh)
        if not added:
            return matrix
        union = self._union()
        total = matrix if union.pattern is matrix.pattern else self.workspace.buffer(union.pattern)
        if total is not matrix:
            total.data[:] = 0.0
            total.data[union.slots[0]] = matrix.data
        for m, slots in zip(added, union.slots[1:], strict=True):
            total.data[slots] += m.data / self.h
        total.low_rank = (
            *matrix.low_rank,
            *(rank.scaled(1.0 / self.h) for m in added for rank in m.low_rank),
        )
        return total

    @property
    def pattern(self) -> Pattern:
        """The sparsity pattern of the Hessian."""
        if self.rates is None and self.rayleigh is None:
            return self.assembly.pattern
        return self._union().pattern

    def _union(self) -> PatternUnion:
        patterns = [self.assembly.pattern]
        if self.rates is not None:
            patterns.append(self.rates.pattern)
        if self.rayleigh is not None:
            patterns.append(self.rayleigh.pattern)
        return self.workspace.union(patterns)

    def definite_part(self, y: Float, solver: LinearSolver | None = None) -> float:
        """Return a c ≤ 1 for which the Hessian at y is at least c M/γ²; -inf if it is not known.

        The parts of the elements often show that c is not small. Where they do not, the signs of
        the pivots of the Hessian less `FACTORED_PART` M/γ² are found, if that takes little.
        With friction there is no c: its normal forces follow the positions, and the derivative of
        the unbalanced forces is not symmetric.

        solver : which may factorise it; None, or one that iterates: the elements only
        """
        if self.system._has_friction:
            return -np.inf
        inputs, weights = self._inputs(self.start.positions(y)), self.accelerations.mobile_mass
        with suppress(SingularState), np.errstate(over="ignore"):
            bound = bound_negative_curvature(self.assembly, inputs, weights / self.h**2)
            if self.rates is not None:
                rates = self._rate_inputs(y)
                bound += bound_negative_curvature(self.rates, rates, weights / self.h)
            part = 1.0 - bound
            if part >= FACTORED_PART or solver is None or not solver.is_direct:
                return part
            matrix = self._unconstrained(y, (1.0 - FACTORED_PART) * self.inertia, metric=False)
            self.workspace.apply_constraints(matrix)
            return FACTORED_PART if solver.factor(matrix, similar=True) else part
        return -np.inf

    def rounding_floors(self, point: Point) -> Float:
        """Return the residual [N] that rounding can cause at each particle, (n,)."""
        q = self.start.positions(point.y)
        # Constrained directions count: projection rounds their forces too.
        gross = row_norms_l1(self.assembly.gradient(self._inputs(q))[2])
        stiffness = self._unconstrained(point.y, np.zeros_like(self.inertia), metric=False)
        # |q̃| + |y| rather than |q|: the two may have cancelled.
        size = np.abs(q) + np.abs(point.y)
        acting = gross + point.gross
        floors = estimate_rounding_floors(acting, stiffness, size)
        if self.accelerations.has_loads:
            at_work = self.accelerations.forces_at_work(point.y)
            return refuse_large_floors(floors, point.residuals, at_work)
        # A body without loads may be at rest, or nearly so, and rounding is all that is at work.
        own = stiffness.data[stiffness.pattern.diagonal]
        massless = EPS * np.sqrt(np.einsum("nij,nij->n", own, own)) > self.inertia
        return np.where(massless & (floors > acting), np.inf, floors)


def constant_stiffness(workspace: Workspace, state: State, h: float) -> BlockMatrix:
    """Return a constant matrix for quasi-Newton steps: M/h² + 4/5 K₀ + 1/5 (tr K₀)⊗I [N/m].

    K₀ is the projected stiffness at the initial positions (plus damping, over h), and tr K₀ its
    partial trace over the three directions: for springs the graph Laplacian weighted with k, which
    is isotropic. The first part is right while the body keeps its pose, the second keeps the matrix
    useful when it has turned. The matrix depends on the system alone, so a resumed run has the same
    one. Constraints are applied.

    state : says which elements are active
    """
    system = workspace.system
    initial = system.initial_state().with_(active=state.active)
    alpha, beta = 0.0, 0.0
    if system._rayleigh is not None:
        alpha, beta = system._rayleigh.alpha, system._rayleigh.beta
    parts, factors = [workspace.stiffness(initial, project=True)], [1.0 + beta / h]
    if system._placed_damping:
        parts.append(workspace.damping_matrix(initial))
        factors.append(1.0 / h)
    matrix = workspace.union([part.pattern for part in parts]).sum(parts, factors)
    traces = np.trace(matrix.data, axis1=1, axis2=2)
    matrix.data *= 1.0 - _ISOTROPIC
    matrix.data += _ISOTROPIC * traces[:, None, None] * np.eye(3)
    matrix.data[matrix.pattern.diagonal] += (system.mass * (1.0 / h**2 + alpha / h))[
        :, None, None
    ] * np.eye(3)
    workspace.apply_constraints(matrix)
    return matrix
