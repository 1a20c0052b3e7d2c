"""The energy of a system at rest, as an objective:

    Φ(q) = V_int(q, t) + λ V_load(q, t) + ½ σ Σ_i w_i |q_i - q̄_i|²

V_load are the laws that are linear in the positions (gravity, given forces: their Hessian is zero)
and λ is the load factor. The last term, the proximal term, is there while an equilibrium is sought
and not when it is certified (σ = 0). The unknowns are the positions themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taut.arrays import Float, Int, describe
from taut.errors import ModelError, SingularState
from taut.linalg.blocks import BlockMatrix, dot, row_norms, row_norms_l1, row_norms_max
from taut.optimise.descent import Point
from taut.optimise.tolerance import Tolerance, estimate_rounding_floors, refuse_large_floors
from taut.system.assembly import Assembly
from taut.system.members import resolve_state
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs, Term
from taut.system.workspace import workspace_for


class Potential(NamedTuple):
    """V at some positions, with the loads multiplied by their factor."""

    value: float  # [J]
    gradient: Float  # ∂V/∂q in all directions [N], (n, 3)
    gross: Float  # gross forces in the free directions [N], (n,)
    magnitude: float  # Σ|V_e| over all elements [J]
    energies: tuple[Any, ...]  # of the elements of each law, before the load factor [J]


class StaticObjective:
    """Φ at a state's time, with its active elements and the constraints of that time.

    load_factor : λ
    """

    def __init__(self, system: System, state: State) -> None:
        self._system = system  # a workspace does not keep its system alive
        self._workspace = workspace_for(system)
        # Contact is the last of them, and added below.
        terms = [
            term
            for term in self._workspace.assembly("potential", state).terms
            if isinstance(term, Term)
        ]
        self.projector, self.t = system._projector, state.t
        internal = Assembly(system.n, [term for term in terms if term.has_hessian])
        self.internal = self._workspace.add_contact(internal, "potential")
        self.load = Assembly(system.n, [term for term in terms if not term.has_hessian])
        self.load_factor = 1.0
        self._proximal_weights = np.zeros(system.n)  # σ w [N/m]
        self._centre = np.zeros((system.n, 3))  # q̄ [m]

    def set_proximal_term(self, weights: Float | float, centre: Float) -> None:
        """Choose σ w [N/m], (n,) or one number, and q̄ [m], (n, 3)."""
        self._proximal_weights[:] = weights
        self._centre = centre

    def find_loads(self, q: Float) -> Float:
        """Return the forces of the loads on all particles at factor 1 [N], (n, 3)."""
        inputs = [Inputs(q, q, 0.0, self.t)] * len(self.load.terms)
        return -self.load.gradient(inputs)[1]

    def potential(self, q: Float) -> Potential:
        """Return V_int + λ V_load and its derivative, without the proximal term."""
        value, gradient, gross, magnitude = 0.0, np.zeros_like(q), np.zeros(len(q)), 0.0
        for assembly, factor in ((self.internal, 1.0), (self.load, self.load_factor)):
            v, g, _ = assembly.gradient([Inputs(q, q, 0.0, self.t)] * len(assembly.terms))
            value += factor * v
            gradient += factor * g
            gross += abs(factor) * assembly.projected_gross_force(self.projector)
            magnitude += abs(factor) * assembly.magnitude()
        energies = self.internal.energies() + self.load.energies()
        return Potential(value, gradient, gross, magnitude, energies)

    def evaluate(self, y: Float) -> Point:
        y = self.projector.project_positions(
            y, self.t
        )  # remove what a linear solver leaks across a constraint
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient, gross, magnitude, energies = self.potential(y)
            displacement = self.projector.project(y - self._centre)
            pull = self._proximal_weights[:, None] * displacement
            stored = 0.5 * dot(pull, displacement)
            gradient += pull
            gross += row_norms_l1(pull)
            # Twice, since one projection leaves the rounding of the constrained components.
            residual = self.projector.project(self.projector.project(gradient))
            size = row_norms_max(y)
            work = float(np.einsum("i,i->", gross, size))
            sums = np.isfinite([value + stored, magnitude + stored, work]).all()
            finite = (
                np.isfinite(gradient).all(axis=1)
                & np.isfinite(row_norms(residual))
                & np.isfinite(gross)
            )
        # An infinite residual must not be compared with an infinite tolerance.
        if not (sums and finite.all()):
            raise SingularState(
                f"the forces of an equilibrium overflow at particle {int(np.argmin(finite))}"
            )
        return Point(
            y, value + stored, residual, gross, magnitude + stored, size, energies=energies
        )

    def change(self, start: Point, end: Point) -> float:
        """Return Φ(end) - Φ(start) [J], summed from the changes of elements and particles."""
        move = self.projector.project(end.y - start.y)
        middle = self.projector.project(0.5 * (start.y + end.y) - self._centre)
        change = float(np.einsum("i,ij,ij->", self._proximal_weights, move, middle))
        for k, (before, after) in enumerate(zip(start.energies, end.energies, strict=True)):
            factor = 1.0 if k < len(self.internal.terms) else self.load_factor
            change += factor * float((after - before).sum())
        return change

    def free_part(self, y: Float, move: Float) -> float:
        """Return the part of a move from y [m], (n, 3), that contact leaves free, at most 1."""
        if self._system.contact is None:
            return 1.0
        move = self.projector.project(move)
        return self._workspace.contact_search.find_free_part(y, move)

    def damping_weights(self) -> Float:
        """Return the weights of the proximal term [N/m], (n,)."""
        return self._proximal_weights

    def relax(self, point: Point, region: Int, sweeps: int) -> Float:
        free = region[~self.projector.is_constrained[region]]
        inputs = [Inputs(point.y, point.y, 0.0, self.t)] * len(self.internal.terms)
        weights = self._proximal_weights
        return self.internal.relax(point.y, inputs, free, point.gradient, weights, sweeps)

    def hessian(self, y: Float, previous: Float | None) -> BlockMatrix:
        return self._constrained(y, metric=False)

    def metric(self, y: Float, previous: Float | None) -> BlockMatrix:
        return self._constrained(y, metric=True)

    def _constrained(self, y: Float, *, metric: bool) -> BlockMatrix:
        inputs = [Inputs(y, y, 0.0, self.t)] * len(self.internal.terms)
        self.internal.hessian(inputs, self._proximal_weights, metric=metric)
        self._workspace.apply_constraints(self.internal.matrix)
        return self.internal.matrix

    def stiffness(self, q: Float, *, project: bool = False) -> BlockMatrix:
        """Return K [N/m] before constraints and without the proximal term.

        The next call overwrites it.
        """
        inputs = [Inputs(q, q, 0.0, self.t)] * len(self.internal.terms)
        self.internal.hessian(inputs, np.zeros(len(q)), project=project)
        return self.internal.matrix

    def estimate_rounding(self, point: Point) -> Float:
        """Return the residual that rounding alone can cause on each particle [N], (n,)."""
        # Gross forces in all directions: projection rounds the constrained components too.
        gross = np.zeros(len(point.y))
        for assembly, factor in ((self.internal, 1.0), (self.load, abs(self.load_factor))):
            inputs = [Inputs(point.y, point.y, 0.0, self.t)] * len(assembly.terms)
            gross += factor * row_norms_l1(assembly.gradient(inputs)[2])
        return estimate_rounding_floors(gross + point.gross, self.stiffness(point.y), point.y)

    def rounding_floors(self, point: Point) -> Float:
        floors = self.estimate_rounding(point)
        loads = self.internal.constant_gradient() + self.load_factor * self.load.constant_gradient()
        # The largest, for all: a particle on which nothing acts yet is reached by the loads of
        # others through springs, and its own gross force may be next to nothing.
        largest = float(row_norms(loads).max(initial=0.0))
        if largest == 0.0:
            return floors  # a body without loads may be at rest, with no force but rounding
        return refuse_large_floors(floors, point.residuals, np.full(len(floors), largest))


def check_static(
    system: System, state: State | None, caller: str, *, contact: bool = True
) -> State:
    """Return the state (default: the initial one) of a system that has an energy.

    caller : the name that errors begin with; contact : whether bodies may touch

    >>> import taut
    >>> check_static(taut.System([[0, 0, 0]], mass=1.0), None, "modes").t
    0.0
    """
    if not isinstance(system, System):
        raise ModelError(f"{caller}: system must be a taut.System, got {describe(system)}")
    if system.loads:
        raise ModelError(
            f"{caller}: the load '{system.loads[0].name}' has no energy; "
            "simulate with damping until the system rests"
        )
    if system._has_friction:
        raise ModelError(
            f"{caller}: friction of contacts depends on the way, so it has no equilibrium of its "
            "own; simulate until the system rests, or use contact without friction"
        )
    if system.contact is not None and not contact:
        raise ModelError(f"{caller} does not follow contacts; use with_(contact=None)")
    start = resolve_state(system, state, caller)
    if system.contact is not None:
        workspace_for(system).contact_search.begin_step(start.q)
    return start


def check_tolerance(tolerance: Tolerance | None, caller: str) -> Tolerance:
    """Return the tolerance, or the default one of statics: 1e-8 of each particle's gross force."""
    if tolerance is None:
        return Tolerance(relative=1e-8)
    if not isinstance(tolerance, Tolerance):
        raise ModelError(f"{caller}: tolerance must be a taut.Tolerance, got {tolerance!r}")
    return tolerance


def check_count(n: int, caller: str) -> int:
    """Return the number of eigenvalues to compute, 1 or more."""
    if isinstance(n, bool) or not (isinstance(n, (int, np.integer)) and n > 0):
        raise ModelError(f"{caller}: n must be a whole number, 1 or more, got {n!r}")
    return int(n)
