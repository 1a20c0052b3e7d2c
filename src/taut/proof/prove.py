"""Prove that the exact equations of a step have a solution next to a computed one.

An implicit Euler step solves ∇Φ(q') = 0 for the objective Φ of its free coordinates. With the
diagonal scale S = √(h²/m), rounded to numbers that are exact from then on:

1. *Residual.* ‖S ∇Φ(p)‖ ≤ ε, by interval arithmetic, at positions p that a few more steps of
   Newton's method have reached from the computed ones.
2. *Curvature.* S ∇²Φ S ⪰ λ > 0 everywhere in the box of all positions at most R from p, in each
   coordinate: a verified bound of the smallest eigenvalue at p, less the norm of what the Hessian
   changes within the box, bounded by interval arithmetic on the formula's graph.
3. *Existence.* On the sphere ‖S⁻¹(x - p)‖ = ε/λ, ∇Φ(x)·(x - p) ≥ λ (ε/λ)² - ε (ε/λ) = 0, so that
   ∇Φ vanishes within it (Poincaré and Bohl), as long as the sphere lies in the box.
4. *Uniqueness.* Φ is strictly convex in the box, which is convex: ∇Φ has one zero at most.

Newton and Kantorovich's theorem needs a bound of the inverse and a Lipschitz constant in place of
2; for a minimum, convexity gives existence from a larger residual and uniqueness in a larger box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.proof.eigenvalue_bound import bound_smallest_eigenvalue, make_solve
from taut.proof.interval_forces import (
    LawBounds,
    NoBoundError,
    StepEquations,
    StiffnessBounds,
    add_entries,
    bound_deviation,
)
from taut.proof.intervals import Floating, Interval
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import ElementTerm
from taut.system.workspace import Workspace, workspace_for

_GROWTH = 8.0  # of the box, from one try to the next
_BISECTIONS = 3  # between the largest box that was proven and the smallest that was not
_MAX_BOXES = 60
# How far held particles may be from where their constraints want them, relative to the model: the
# positions of `new` are taken as they are.
_SAME_PLACE = 1e-9
_SLACK = 1.0 + 1e-9  # of sums, products and roots of positive numbers that are themselves rounded


@dataclass(frozen=True)
class Proof:
    """What is proven of a step.

    proven : whether an exact solution exists within `distance` of the computed positions, and no
        other within `unique`
    reason : why nothing is proven, or ""
    distance : largest distance of a particle from where the exact solution has it, at most [m]
    distances : the same for each particle [m], (n,); zero where constraints hold it
    velocity : largest error of a velocity, at most [m/s]
    unique : there is no other solution whose coordinates all differ by less than this [m]
    curvature : lower bound of the smallest eigenvalue of the step's matrix near the solution,
        relative to m/h²; below 1 where forces are unstable

    `print` shows the statement.
    """

    proven: bool
    reason: str = ""
    distance: float = np.inf
    distances: Float | None = None
    velocity: float = np.inf
    unique: float = 0.0
    curvature: float = -np.inf

    def __str__(self) -> str:
        if not self.proven:
            return f"not proven: {self.reason}"
        return (
            f"an exact solution of the step's equations exists within {self.distance:.2g} m of "
            f"these positions, and no other within {self.unique:.2g} m"
        )


def prove(system: System, state: State, new: State, h: float) -> Proof:
    """Prove that the equations of an implicit Euler step have an exact solution next to `new`.

    state : before the step; new : after it, from `ImplicitEuler`; h : length of the step [s]

    Nothing is assumed of how `new` was computed: the bounds are of the equations themselves, in
    exact arithmetic, with the masses, parameters and the state before as the computer holds them,
    by interval arithmetic and a verified Cholesky factorisation. Elementary functions of numpy are
    taken to be accurate to 32 units in the last place. For springs, rods and shells of up to some
    thousand particles. It says "not proven" where it cannot tell: with contact, energies of a
    total, Rayleigh damping or particles on oblique lines and planes, where a law is not smooth
    within the box (a cable that is just going slack, a thread that is exactly straight), or where
    the step's matrix is not positive definite.

    >>> import taut
    >>> swing = taut.System(
    ...     [[0, 0, 0], [0.3, -0.4, 0]],
    ...     mass=1.0,
    ...     fixed=[0],
    ...     energies=[taut.laws.spring([[0, 1]], k=100.0), taut.laws.gravity()],
    ... )
    >>> before = swing.initial_state()
    >>> after, report = taut.ImplicitEuler().step(swing, before, 0.01)
    >>> proof = taut.prove(swing, before, after, 0.01)
    >>> proof.proven, proof.distance < 1e-6, proof.unique > 1e-3
    (True, True, True)
    """
    if not isinstance(state, State) or not isinstance(new, State):
        raise ModelError("state and new must be States: those before and after the step")
    if not (np.isfinite(h) and h > 0.0):
        raise ModelError(f"h must be positive, got {h}")
    if new.t != state.t + h:
        raise ModelError(
            f"new must be the state after a step of h = {h:g} s from t = {state.t:g} s, "
            f"but its time is {new.t:g} s"
        )
    workspace = workspace_for(system).without_ended_constraints(state.t, h)
    for each in (state, new):
        workspace.system._check(each)
    obstacle = _find_obstacle(workspace.system)
    if obstacle:
        return Proof(False, obstacle)
    _require_held(workspace.system, new)
    try:
        return _prove(_equations(workspace, state, h), state, new, h)
    except NoBoundError as error:
        return Proof(False, str(error))


def _find_obstacle(system: System) -> str:
    """Return what in a system is beyond these proofs, or ""."""
    if system.contact is not None:
        return "contact is not covered"
    if system._rayleigh is not None:
        return "Rayleigh damping is not covered"
    if len(system._projector.oblique_particles):
        particle = system._projector.oblique_particles[0]
        return f"particle {particle} is held on an oblique line or plane, which is not covered"
    for name, law in system._placed_energies.items():
        if law.couples_all_elements:
            return f"law '{name}' is an energy of a total, which is not covered"
    return ""


def _require_held(system: System, new: State) -> None:
    """Raise if a state does not satisfy the constraints."""
    projector = system._projector
    gap = np.abs(projector.project_positions(np.array(new.q), new.t) - new.q).max(axis=1)
    allowed = _SAME_PLACE * max(float(np.abs(new.q).max(initial=0.0)), 1e-300)
    if (gap > allowed).any():
        worst = int(np.argmax(gap))
        raise ModelError(
            f"new must satisfy the constraints at t = {new.t:g} s, but particle {worst} is "
            f"{gap[worst]:.3g} m away from its place"
        )


def _equations(workspace: Workspace, state: State, h: float) -> StepEquations:
    """Return the equations of a step from a state."""
    loaded = workspace.with_held_loads(workspace.system.load_forces(state))
    system = loaded.system
    terms = loaded.assembly("increments", state).terms
    before = np.array(state.q)
    laws = []
    for term in terms:
        assert isinstance(term, ElementTerm)  # nothing else without contact
        if len(term.elements):
            laws.append(LawBounds(term, before, h, state.t + h))
    free = np.einsum("nii->ni", system._projector.free_directions) > 0.5
    return StepEquations(laws, system.mass, before, np.array(state.v), h, free.ravel())


class _Curvature:
    """Lower bounds of the scaled matrix's smallest eigenvalue over boxes around positions."""

    def __init__(self, equations: StepEquations, centre: Floating, scale: Float) -> None:
        self._equations, self._scale = equations, scale
        self._centre = Interval.exactly(centre).as_doubles()
        at_centre = equations.hessian(self._centre)
        self._middle = at_centre.middle
        self.matrix = add_entries(at_centre, scale)
        self._smallest = bound_smallest_eigenvalue(self.matrix)
        self.at_centre = self._subtract(at_centre)

    def within(self, radius: float) -> float:
        """Return the bound over all positions at most a radius [m] away, in each coordinate.

        Raises NoBoundError where a law has none.
        """
        free = self._equations.free.reshape(self._centre.lo.shape)
        box = self._centre.widen(np.where(free, radius, 0.0))
        lo = np.where(free, box.lo, self._centre.lo)
        hi = np.where(free, box.hi, self._centre.hi)
        return self._subtract(self._equations.hessian(Interval(lo, hi)))

    def is_convex_within(self, radius: float) -> bool:
        """Whether the objective is proven to be strictly convex in that box."""
        try:
            return self.within(radius) > 0.0
        except NoBoundError:
            return False

    def _subtract(self, bounds: StiffnessBounds) -> float:
        deviation = bound_deviation(bounds, self._middle, self._scale)
        return float(np.nextafter(self._smallest - deviation, -np.inf))


def _prove(equations: StepEquations, state: State, new: State, h: float) -> Proof:
    free = equations.free
    if not free.any():
        nothing = np.zeros(len(new.q))
        return Proof(True, distance=0.0, distances=nothing, velocity=0.0, unique=np.inf)
    scale = np.repeat(1.0 / np.sqrt(equations.inertia.hi), 3)[free]
    centre = _polish(equations, np.array(new.q), scale)
    size = _bound_residual(equations, centre, scale)
    curvature = _Curvature(equations, centre, scale)
    if not curvature.at_centre > 0.0:
        return Proof(False, "the step's matrix could not be proven positive definite")
    # A box twice as large as the ball needs at the curvature of its centre.
    radius = 2.0 * size / curvature.at_centre * float(scale.max())
    smallest = curvature.within(radius)
    if not (smallest > 0.0 and size / smallest * float(scale.max()) * _SLACK <= radius):
        return Proof(
            False,
            f"within {radius:.2g} m of the positions, as far as the unbalanced force may move "
            "them, the step's matrix changes too much",
        )
    ball = np.zeros(free.size)
    ball[free] = scale * (size / smallest) * _SLACK
    moved = (Interval.exactly(centre) - Interval.exactly(np.array(new.q))).as_doubles().magnitude
    each = (np.sqrt((moved**2).sum(axis=1)) + ball.reshape(centre.shape).max(axis=1)) * _SLACK
    unique = (_find_largest_box(curvature, radius) - float(moved.max())) / _SLACK
    if unique < float(each.max()):
        return Proof(
            False,
            f"an exact solution exists, but {each.max():.2g} m away from these positions, where "
            "others are not ruled out",
        )
    inertia = np.repeat(equations.inertia.hi, 3)[free]
    return Proof(
        True,
        distance=float(each.max()),
        distances=each,
        velocity=_bound_velocity(equations, state, new, h, each),
        unique=unique,
        curvature=smallest / float((scale**2 * inertia).max()) / _SLACK,
    )


def _polish(equations: StepEquations, start: Float, scale: Float) -> Floating:
    """Return positions (n, 3) nearer to a solution, by Newton's method in long double numbers.

    The proof is about these: the ball that it needs around them is as small as rounding allows, and
    the distance from the given positions to them is known. Around the given ones the ball would be
    √n times as large as the error; in double numbers, the rounding of coordinates alone leaves
    stiff springs with forces that the proof has to take for unbalanced.
    """
    q: Floating = start.astype(np.longdouble)
    free = equations.free.reshape(start.shape)
    size = _bound_residual(equations, q, scale)
    solve = make_solve(add_entries(equations.hessian(Interval.exactly(start)), scale))
    while solve is not None:
        residual = equations.residual(q)
        middle = (0.5 * residual.lo + 0.5 * residual.hi).astype(np.float64)
        moved = q.copy()
        moved[free] -= scale * solve(scale * middle)
        remaining = _bound_residual(equations, moved, scale)
        if not remaining < size:
            break
        q, size = moved, remaining
    return q


def _bound_residual(equations: StepEquations, q: Floating, scale: Float) -> float:
    """Return a bound of ‖S ∇Φ‖ [√J/h] at positions (n, 3)."""
    residual = equations.residual(q).as_doubles().magnitude
    return float(np.sqrt(np.sum((scale * residual) ** 2))) * _SLACK


def _find_largest_box(curvature: _Curvature, radius: float) -> float:
    """Return the largest radius [m], from a proven one on, within which the curvature is positive.

    The largest that was tried: the true one is at most a third larger.
    """
    proven, failed = radius, np.inf
    for _ in range(_MAX_BOXES):
        if not curvature.is_convex_within(_GROWTH * proven):
            failed = _GROWTH * proven
            break
        proven *= _GROWTH
    for _ in range(_BISECTIONS):
        middle = float(np.sqrt(proven * failed))
        if curvature.is_convex_within(middle):
            proven = middle
        else:
            failed = middle
    return proven


def _bound_velocity(
    equations: StepEquations, state: State, new: State, h: float, distances: Float
) -> float:
    """Return a bound of the largest error of a velocity [m/s]: v' = (q' - q)/h exactly."""
    moved = Interval.exactly(np.array(new.q)) - Interval.exactly(np.array(state.q))
    gap = Interval.exactly(np.array(new.v)) - moved / Interval.exactly(h)
    magnitude = np.where(equations.free.reshape(gap.lo.shape), gap.magnitude, 0.0)
    rounding = np.sqrt((magnitude**2).sum(axis=1))
    return float((rounding + distances / h).max()) * _SLACK
