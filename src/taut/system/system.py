"""The System: particles, what acts between them, and what holds them. An immutable description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.constraints.constraint import Constraint
from taut.constraints.held import fixed as hold
from taut.constraints.indices import particle_indices
from taut.errors import ModelError, did_you_mean
from taut.formula.ahead import compile_ahead
from taut.formula.bound import Bound, Damping, Energy, Load
from taut.formula.placed import Placed
from taut.formula.variant import FormName
from taut.laws.force import force
from taut.laws.rayleigh import Rayleigh
from taut.system.acting import listed, placed_laws
from taut.system.assembly import Assembly
from taut.system.blocks import BlockMatrix, Pattern, Union
from taut.system.hold import Constraints
from taut.system.keeping import Keeping
from taut.system.members import Members, members
from taut.system.particles import masses, positions
from taut.system.sketch import system_html
from taut.system.slopes import scaled_slopes
from taut.system.state import State, checked_masks
from taut.system.terms import Inputs, Term

Float = NDArray[np.float64]
Parts = Literal["potential", "damping", "increments"]
MOMENT = 1e-3  # seconds of a script's path from which its velocity at the start is taken


class System:
    """Particles with masses, energies, damping and constraints.

    points : rest positions [m], shape (n, 3), or (n, 2) for a system in the plane z = 0; rest values are measured here
    mass : [kg], one number for each particle or one per particle (see `taut.areal_mass`)
    energies : bound laws, such as `laws.spring(edges, k=100.0)`
    damping : bound dissipations and `laws.rayleigh`
    loads : bound loads without an energy, such as `laws.wind(triangles, velocity=(5, 0, 0))`
    fixed : particles held where they start (indices or a mask)
    constraints : those of `taut.constraints`: `fixed`, `scripted`, `handle`, `on_line`, `on_plane`
    pose : initial positions [m] (default: the rest positions)
    velocity : initial velocities [m/s] (default: zero)

    >>> import taut
    >>> from taut import laws
    >>> system = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=10.0)], fixed=[0],
    ...                      pose=[[0, 0, 0], [1.5, 0, 0]])
    >>> state = system.initial_state()
    >>> system.V(state), system.f(state)[1].tolist()
    (1.25, [-5.0, 0.0, 0.0])
    """

    def __init__(
        self,
        points: ArrayLike,
        *,
        mass: ArrayLike,
        energies: Iterable[Energy] = (),
        damping: Iterable[Damping | Rayleigh] = (),
        loads: Iterable[Load] = (),
        fixed: Any = (),
        constraints: Iterable[Constraint] = (),
        pose: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        _known: System | None = None,
    ) -> None:
        self.rest: Float = positions(points, "points")
        self.n = len(self.rest)
        if not self.n:
            raise ModelError("a system needs at least one particle")
        self.flat = np.shape(points)[1] == 2
        self.mass: Float = masses(mass, self.n)
        self.pose: Float = self.rest if pose is None else positions(pose, "pose", self.n)
        self.velocity: Float = np.zeros((self.n, 3)) if velocity is None else positions(velocity, "velocity", self.n)
        self._pose_given = pose is not None
        for what, array in (("pose", self.pose), ("velocity", self.velocity)):
            off = np.flatnonzero(array[:, 2])
            if self.flat and len(off):
                raise ModelError(f"{what}: particle {off[0]} leaves the plane z = 0 of a 2D system")
        for array in (self.rest, self.mass, self.pose, self.velocity):
            array.setflags(write=False)
        self.energies, self.damping, self.loads = listed("energies", energies), listed("damping", damping), listed("loads", loads)
        self.constraints: tuple[Constraint, ...] = listed("constraints", constraints)
        self.fixed = particle_indices(fixed, self.n, "fixed")
        held = [hold(self.fixed)] if len(self.fixed) else []
        self.hold = Constraints(self.pose, [*held, *self.constraints], flat=self.flat)
        self.loosened: float = -np.inf if _known is None else _known.loosened  # when a constraint has last ended [s]
        shared = () if _known is None or not _known.same_particles(self) else _known._groups()
        done = {id(p.bound): p for group in shared for p in group.values()}

        def put(entries: Sequence[Bound], taken: Iterable[str]) -> dict[str, Any]:
            return placed_laws(entries, self.rest, self.mass, flat=self.flat, taken=taken, done=done)

        slowed = [d for d in self.damping if isinstance(d, Rayleigh)]
        taken = ["rayleigh"] if slowed else []
        self.placed: dict[str, Placed] = put(self.energies, [])
        self.placed_damping = put([d for d in self.damping if isinstance(d, Damping)], [*self.placed, *taken])
        self.placed_loads = put(self.loads, [*self.placed, *self.placed_damping, *taken])
        self.rayleigh = Rayleigh.sum_of(slowed)
        self._assemblies: dict[str, Assembly] = dict(_known._assemblies) if _known is not None and _known.n == self.n else {}
        self._keeping: Keeping = Keeping(self._assemblies)
        self._held: frozenset[str] = frozenset()  # names of loads that stand among the energies, as held forces

    def same_particles(self, other: System) -> bool:
        """Whether rest positions and masses are the same, so that placed laws can be shared."""
        return np.array_equal(self.rest, other.rest) and np.array_equal(self.mass, other.mass) and self.flat == other.flat

    def _groups(self) -> tuple[dict[str, Any], ...]:
        """All placed laws by name: energies, damping, loads."""
        return self.placed, self.placed_damping, self.placed_loads

    def __repr__(self) -> str:
        laws = ", ".join(f"{name} ({len(p.elements)})" for group in self._groups() for name, p in group.items())
        return f"<system of {self.n} particles: {laws or 'no laws'}>"

    _repr_html_ = system_html

    def with_(self, **changes: Any) -> System:
        """The same system with some of its arguments changed; what does not change is not worked out again."""
        arguments: dict[str, Any] = {
            "points": self.rest[:, :2] if self.flat else self.rest, "mass": self.mass, "energies": self.energies,
            "damping": self.damping, "loads": self.loads, "fixed": self.fixed, "constraints": self.constraints, "pose": self.pose,
            "velocity": self.velocity,
        }  # fmt: skip
        for name in changes:
            if name not in arguments:
                raise ModelError(f"a system has no '{name}'{did_you_mean(name, arguments)}")
        if "points" in changes and not self._pose_given:
            del arguments["pose"]
        return System(**{**arguments, **changes}, _known=self)

    def initial_state(self) -> State:
        """The state at t = 0: pose and velocity, with constraints satisfied; scripted particles have the velocity of their path."""
        q = self.hold.place(self.pose, 0.0)
        return State(0.0, q, self.hold.project(self.velocity) + self.hold.velocities(0.0, MOMENT, 0.0))

    def assembly(self, parts: Parts, state: State) -> Assembly:
        """The sums over the energies (potential), over the damping laws as rates (damping), or over the energies and what the
        damping laws add to the objective of a step (increments)."""
        known = self._keeping.known(parts, state.active)
        if known is not None:
            self.check(state)
            return known
        masks = self._masks(state)

        def terms() -> list[Term]:
            return [Term(name, p, form, masks.get(name)) for name, p, form in self._laws(parts)]

        return self._keeping.assembly(parts, self.n, state.active, masks, terms)

    def compile_ahead(self, parts: Parts) -> None:
        """Let another process compile the Hessians of these parts, where they are not in the cache yet."""
        variants = [p.variant(form) for _, p, form in self._laws(parts)]
        compile_ahead([v.unit("hessian") for v in variants if not v.linear])

    def _laws(self, parts: Parts) -> list[tuple[str, Placed, FormName]]:
        """The laws of these parts by name, each in the form it has there."""
        forms: list[tuple[dict[str, Placed], FormName]] = [] if parts == "damping" else [(self.placed, "energy")]
        if parts != "potential":
            forms.append((self.placed_damping, "rate" if parts == "damping" else "increment"))
        return [(name, p, form) for group, form in forms for name, p in group.items()]

    def check(self, state: State) -> None:
        """Refuse a state of another system."""
        if state.q.shape != (self.n, 3):
            raise ModelError(f"the state has {len(state.q)} particles, the system {self.n}")

    def _masks(self, state: State) -> dict[str, NDArray[np.bool_]]:
        self.check(state)
        known = {name: p for group in self._groups() for name, p in group.items() if name not in self._held}
        return checked_masks(known, {name: mask for name, mask in state.active.items() if name not in self._held})

    def union(self, patterns: Sequence[Pattern]) -> Union:
        """The union of sparsity patterns; kept, since it is the same at every step."""
        return self._keeping.union(patterns)

    def buffer(self, pattern: Pattern) -> BlockMatrix:
        """A matrix on a pattern to write into; kept, so that the next call overwrites it."""
        return self._keeping.buffer(pattern)

    def T(self, state: State) -> float:
        """Kinetic energy ½ Σ m v² [J]."""
        self.check(state)
        return float(0.5 * np.sum(self.mass * np.einsum("ij,ij->i", state.v, state.v)))

    def V(self, state: State) -> float:
        """Potential energy of all energy laws [J]."""
        return self.potential(state)[0]

    def V_by_law(self, state: State) -> dict[str, float]:
        """Potential energy of each law [J]."""
        self.potential(state)
        return {t.name: float(t.energy.sum()) for t in self.assembly("potential", state).terms}

    def potential(self, state: State) -> tuple[float, Float, Float]:
        """V [J], ∂V/∂q and the gross forces [N], both (n, 3), as views that the next call overwrites."""
        assembly = self.assembly("potential", state)
        return assembly.gradient([Inputs.at(state)] * len(assembly.terms))

    def f(self, state: State) -> Float:
        """Forces [N], shape (n, 3): -∂V/∂q of the energies, -∂Ψ/∂v of the damping, and the loads; not those of constraints."""
        force = np.empty((self.n, 3))
        scaled_slopes(self, state, np.full(self.n, -1.0), force)
        force += 0.0  # a force that is not there prints as 0, not -0
        for load in self.forces_of_loads(state).values():
            force += load
        return force

    def forces_of_loads(self, state: State) -> dict[str, Float]:
        """The forces [N] of each load at a state, (n, 3)."""
        masks, q, v = self._masks(state), np.array(state.q), np.array(state.v)
        return {name: p.forces(q, v, state.t, masks.get(name)) for name, p in self.placed_loads.items()}

    def members(self, state: State | None = None) -> Members:
        """The table of all members, the active elements of every energy on two particles, at a state (default: the initial one)."""
        return members(self, state)

    def during(self, t: float, h: float) -> System:
        """This system as it is in the step of length h [s] that begins at t [s]: without the constraints that have ended."""
        acting = tuple(c for c in self.constraints if c.acts(t, h))
        if len(acting) == len(self.constraints):
            return self
        known = self._keeping.without
        if acting not in known:
            known[acting] = self.with_(constraints=acting)
            known[acting].loosened = max(c.until for c in self.constraints if c.until is not None and c not in acting)
        return known[acting]

    def under(self, loads: Mapping[str, Float]) -> System:
        """This system with its loads held as given forces, (n, 3) [N] by name. The next call in this thread changes them."""
        if not loads:
            return self
        held = self._keeping.held
        if held is None:
            held = self.with_(loads=(), energies=[*self.energies, *(force(f=f, name=name) for name, f in loads.items())])
            held._held = frozenset(loads)
            self._keeping.held = held
        for name, f in loads.items():
            held.placed[name].reset("f", f)
        return held

    def K(self, state: State, *, project: bool = False) -> Any:
        """Stiffness: the Hessian ∂²V/∂q² [N/m], a scipy.sparse BSR array (3n, 3n); with `project`, each element's part made ≥ 0."""
        return self.stiffness(state, project=project).to_scipy()

    def stiffness(self, state: State, *, project: bool) -> BlockMatrix:
        """The same as blocks, which the next call overwrites."""
        assembly = self.assembly("potential", state)
        assembly.hessian([Inputs.at(state)] * len(assembly.terms), np.zeros(self.n), project=project)
        return assembly.matrix

    def D(self, state: State) -> Any:
        """Damping matrix ∂²Ψ/∂v² [N s/m] at the state, a scipy.sparse BSR array (3n, 3n)."""
        matrix = self.damping_matrix(state).to_scipy()
        return matrix if self.rayleigh is None else matrix + self.rayleigh_matrix(state).to_scipy()

    def damping_matrix(self, state: State) -> BlockMatrix:
        """∂²Ψ/∂v² of the damping laws without Rayleigh's, which the next call overwrites."""
        assembly = self.assembly("damping", state)
        assembly.hessian([Inputs.rates(state)] * len(assembly.terms), np.zeros(self.n), project=False)
        return assembly.matrix

    def rayleigh_matrix(self, state: State) -> BlockMatrix:
        """αM + β·K with K projected, of all Rayleigh dampings together [N s/m]."""
        if self.rayleigh is None:
            raise ModelError("the system has no Rayleigh damping")
        stiffness = self.stiffness(state, project=True)
        spread = tuple(rank.scaled(self.rayleigh.beta) for rank in stiffness.spread)
        matrix = BlockMatrix(stiffness.pattern, self.rayleigh.beta * stiffness.data, spread)
        matrix.data[matrix.pattern.diagonal] += self.rayleigh.alpha * self.mass[:, None, None] * np.eye(3)
        return matrix

    def momentum(self, state: State) -> Float:
        """Σ m v [kg m/s], shape (3,)."""
        self.check(state)
        return np.einsum("i,ij->j", self.mass, state.v)

    def angular_momentum(self, state: State, about: ArrayLike = (0.0, 0.0, 0.0)) -> Float:
        """Σ m (x - about) × v [kg m²/s], shape (3,)."""
        self.check(state)
        return np.einsum("i,ij->j", self.mass, np.cross(state.q - np.asarray(about, dtype=np.float64), state.v))
