"""The System: particles, laws and constraints. A description that never changes.

Buffers and caches are in the `Workspace` of each thread (see `taut.system.workspace`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Mask, describe
from taut.binding.law import Damping, Energy, Load
from taut.binding.placed_law import PlacedLaw, PlacedLoad
from taut.constraints.constraint import Constraint, particle_indices, to_numbers
from taut.constraints.prescribed import fixed as fix
from taut.errors import ModelError, did_you_mean
from taut.laws.force import force
from taut.laws.gravity import gravity
from taut.laws.rayleigh import Rayleigh
from taut.system._arguments import check_in_system, place_laws, to_entries, to_masses, to_positions
from taut.system._notebook import system_html
from taut.system.contact import CONTACT_NAME, Contact
from taut.system.contact_choices import loosen_touching, resolve
from taut.system.contact_friction import FRICTION_NAME
from taut.system.contact_search import ContactSearch
from taut.system.elements import (
    Elements,
    element_selection,
    evaluate_elements,
    free_coordinates,
    mass_matrix,
    particle_selection,
)
from taut.system.members import Members, members
from taut.system.parameter_change import change_parameters
from taut.system.projector import ConstraintProjector
from taut.system.state import State, check_masks, require_state
from taut.system.workspace import share_patterns, share_workspace, workspace_for

_STIFFNESS_PER_MASS = 1e4  # [1/s²] of contact where nothing weighs: inertia in steps of 10 ms
SCRIPT_START = 1e-3  # [s] of a script's path from which its initial velocity is computed


class System:
    """Particles with masses, energies, damping, loads and constraints. It never changes.

    points : rest positions [m], shape (n, 3), or (n, 2) for a system in the plane z = 0; rest
        values are measured here
    mass : [kg], one number for each particle or one per particle (see `taut.areal_mass`)
    energies : bound laws, such as `laws.spring(edges, k=100.0)`
    damping : bound dissipations and `laws.rayleigh`
    loads : bound loads without an energy, such as `laws.wind(triangles, velocity=(5, 0, 0))`
    fixed : particles fixed where they start (indices or a mask)
    constraints : those of `taut.constraints`: `fixed`, `scripted`, `handle`, `on_line`, `on_plane`
    pose : initial positions [m] (default: the rest positions)
    velocity : initial velocities [m/s] (default: zero)
    contact : what can touch, from `taut.contact` (default: bodies pass through each other)

    These are attributes too, as read-only arrays (n, 3), (n,) or of indices, and tuples; besides:

    n : number of particles
    rest : rest positions [m], (n, 3): the points
    flat : whether the system lies in the plane z = 0

    >>> import taut
    >>> from taut import laws
    >>> system = taut.System(
    ...     [[0, 0, 0], [1, 0, 0]],
    ...     mass=1.0,
    ...     energies=[laws.spring([[0, 1]], k=10.0)],
    ...     fixed=[0],
    ...     pose=[[0, 0, 0], [1.5, 0, 0]],
    ... )
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
        contact: Contact | None = None,
        _known: System | None = None,
        _released_at: float = -math.inf,
        _held_loads: frozenset[str] = frozenset(),
    ) -> None:
        self.rest: Float = to_positions(points, "points")
        self.n = len(self.rest)
        if not self.n:
            raise ModelError("a system needs at least one particle")
        self.flat = np.shape(points)[1] == 2
        self.mass: Float = to_masses(mass, self.n)
        self._has_own_pose = pose is not None
        self.pose, self.velocity = self.rest, np.zeros((self.n, 3))
        if pose is not None:
            self.pose = to_positions(pose, "pose", self.n)
        if velocity is not None:
            self.velocity = to_positions(velocity, "velocity", self.n)
        for what, array in (("pose", self.pose), ("velocity", self.velocity)):
            off = np.flatnonzero(array[:, 2])
            if self.flat and len(off):
                raise ModelError(f"{what}: particle {off[0]} leaves the plane z = 0 of a 2D system")
        for array in (self.rest, self.mass, self.pose, self.velocity):
            array.setflags(write=False)
        self.energies: tuple[Energy, ...] = to_entries("energies", energies)
        self.damping: tuple[Damping | Rayleigh, ...] = to_entries("damping", damping)
        self.loads: tuple[Load, ...] = to_entries("loads", loads)
        self.constraints: tuple[Constraint, ...] = to_entries("constraints", constraints)
        self.fixed = particle_indices(fixed, self.n, "fixed")
        self.fixed.setflags(write=False)
        # Names with an underscore are for the modules of taut: tab completion leaves them out.
        self._projector = ConstraintProjector(
            self.pose, [fix(self.fixed), *self.constraints], flat=self.flat
        )
        self._released_at = _released_at  # when a constraint has last ended [s]
        self._held_loads = _held_loads  # names of loads that are constant forces among the energies
        self._rayleigh = Rayleigh.sum_of([d for d in self.damping if isinstance(d, Rayleigh)])
        placed = place_laws(self, _known)
        self._placed_energies: Mapping[str, PlacedLaw] = MappingProxyType(placed["energies"])
        self._placed_damping: Mapping[str, PlacedLaw] = MappingProxyType(placed["damping"])
        self._placed_loads: Mapping[str, PlacedLoad] = MappingProxyType(placed["loads"])
        check_in_system(self)
        self.contact: Contact | None = None
        if contact is not None:
            self.contact = self._place_contact(contact, _known)
        self._is_built = True

    @property
    def _has_friction(self) -> bool:
        """Whether contacts have friction."""
        return self.contact is not None and self.contact.has_friction

    def _place_contact(self, contact: Contact, known: System | None) -> Contact:
        """Return a contact with what it leaves open; raise an error if bodies touch at the start.

        known : a system before some changes; what it has in common was checked there
        """
        if not isinstance(contact, Contact):
            raise ModelError(f"contact must be a taut.contact(…), got {describe(contact)}")
        if known is not None and known.contact is contact and np.array_equal(known.pose, self.pose):
            return contact
        names = {CONTACT_NAME, FRICTION_NAME}.intersection(
            name for group in self._groups() for name in group
        )
        if names:
            raise ModelError(f"no law may have the name '{names.pop()}' in a system with contact")
        movable = np.logical_not(self._projector.is_fixed)
        points = contact.primitives.points[contact.primitives.points < self.n]
        moving = points[movable[points]]
        mean_mass = float(self.mass[moving].mean()) if len(moving) else 1.0
        placed = [p for p in self._placed_energies.values() if p.law is gravity]
        g = [p.parameters.values(0.0)["g"] for p in placed]
        weight = mean_mass * float(np.linalg.norm(np.sum(g, axis=0))) if g else 0.0
        inertia = _STIFFNESS_PER_MASS * mean_mass
        contact = resolve(contact, self.pose, self.rest, weight, inertia)
        start = np.array(self.initial_state().q)
        contact = loosen_touching(contact, movable, start)
        ContactSearch(contact, movable).problems.require_apart(start)
        return contact

    def __setattr__(self, name: str, value: object) -> None:
        if "_is_built" in self.__dict__:
            raise ModelError(
                f"a System does not change once it is built; use system.with_({name}=…)"
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise ModelError(f"a System does not change once it is built; '{name}' cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and for other processes: the arguments it was built from."""
        arguments = self._arguments()
        if not self._has_own_pose:
            del arguments["pose"]
        private = {"_released_at": self._released_at, "_held_loads": self._held_loads}
        return _rebuild, ({**arguments, **private},)

    def _groups(self) -> tuple[Mapping[str, Any], ...]:
        """Return all placed laws by name: energies, damping, loads."""
        return self._placed_energies, self._placed_damping, self._placed_loads

    def __repr__(self) -> str:
        laws = ", ".join(
            f"{name} ({len(p.elements)})" for group in self._groups() for name, p in group.items()
        )
        return f"<system of {self.n} particles: {laws or 'no laws'}>"

    _repr_html_ = system_html

    def with_(self, **changes: Any) -> System:
        """Return a system with some arguments changed; unchanged laws are not placed again.

        If laws have only other values of parameters, as `BoundLaw.with_` gives them, nothing is
        analysed again, and solvers continue with what they know: some 30 µs, and 100 µs more in the
        first step after it.

        >>> import taut
        >>> spring, weight = taut.laws.spring([[0, 1]], k=10.0), taut.laws.gravity()
        >>> system = taut.System([[0, 0, 0], [0, -1, 0]], mass=1.0, energies=[spring, weight])
        >>> stiffer = system.with_(energies=[spring.with_(k=20.0), weight])
        """
        changed = change_parameters(self, changes)
        if changed is None:
            changed = self._copy(changes)
            share_patterns(self, changed)
        else:
            share_workspace(self, changed)
        return changed

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments from which an equal system can be built."""
        laws = ("energies", "damping", "loads", "contact")
        names = ("mass", *laws, "fixed", "constraints", "pose", "velocity")
        points = self.rest[:, :2] if self.flat else self.rest
        return {"points": points, **{name: getattr(self, name) for name in names}}

    def _copy(self, changes: Mapping[str, Any], **private: Any) -> System:
        """Return a changed copy; laws on the same particles are not placed again."""
        arguments = self._arguments()
        for name in changes:
            if name not in arguments:
                raise ModelError(f"a system has no '{name}'{did_you_mean(name, arguments)}")
        if "points" in changes and not self._has_own_pose:
            del arguments["pose"]
        private.setdefault("_released_at", self._released_at)
        return System(**{**arguments, **changes}, **private, _known=self)

    def initial_state(self) -> State:
        """Return the state at t = 0: pose and velocity, with constraints satisfied.

        Scripted particles have the velocity of their path.
        """
        q = self._projector.project_positions(self.pose, 0.0)
        v = self._projector.project(self.velocity)
        v = v + self._projector.prescribed_velocities(0.0, SCRIPT_START, 0.0)
        return State(0.0, q, v)

    def _check(self, state: State) -> None:
        """Raise ModelError if this is no State, or one of another system."""
        require_state(state)
        if state.q.shape != (self.n, 3):
            raise ModelError(
                f"the state must have {self.n} particles as the system has, got {len(state.q)}"
            )

    def _active_masks(self, state: State) -> dict[str, Mask]:
        """Return the state's masks of active elements by law, checked against the laws."""
        self._check(state)
        known = {}
        for group in self._groups():
            known.update({name: p for name, p in group.items() if name not in self._held_loads})
        masks = {name: mask for name, mask in state.active.items() if name not in self._held_loads}
        return check_masks(known, masks)

    def T(self, state: State) -> float:
        """Kinetic energy ½ Σ m v² [J]."""
        self._check(state)
        return float(0.5 * np.sum(self.mass * np.einsum("ij,ij->i", state.v, state.v)))

    def V(self, state: State) -> float:
        """Potential energy of all energy laws and of contact [J]."""
        return workspace_for(self).potential(state)[0]

    def V_by_law(self, state: State) -> dict[str, float]:
        """Potential energy of each law [J], and of contact."""
        return workspace_for(self).energies_by_law(state)

    def L(self, state: State) -> float:
        """The Lagrangian T - V [J].

        >>> import taut
        >>> ball = taut.System([[0, 1, 0]], mass=2.0, energies=[taut.laws.gravity()])
        >>> round(ball.L(ball.initial_state().with_(v=[[3, 0, 0]])), 9)  # ½·2·3² - 2·9.81·1
        -10.62
        """
        return self.T(state) - self.V(state)

    def f(self, state: State) -> Float:
        """Forces [N], shape (n, 3): -∂V/∂q of the energies, -∂Ψ/∂v of the damping, and the loads.

        Contact is among the energies, its friction among the damping.

        Forces of constraints are not included.
        """
        return workspace_for(self).forces(state)

    def load_forces(self, state: State) -> dict[str, Float]:
        """The forces of each load at a state [N], (n, 3), by its name.

        >>> import taut
        >>> sail = taut.System(
        ...     [[0, 0, 0], [0, 1, 0], [0, 0, 1]],
        ...     mass=1.0,
        ...     loads=[taut.laws.wind([[0, 1, 2]], velocity=(2, 0, 0))],
        ... )
        >>> sail.load_forces(sail.initial_state())["wind"].sum(axis=0).round(4)
        array([1.204, 0.   , 0.   ])
        """
        self._check(state)
        if not self._placed_loads:
            return {}
        masks, q, v = self._active_masks(state), np.array(state.q), np.array(state.v)
        return {
            name: p.forces(q, v, state.t, masks.get(name)) for name, p in self._placed_loads.items()
        }

    def members(self, state: State | None = None) -> Members:
        """The table of all members: the active elements of every energy on two particles.

        state : default: the initial one
        """
        return members(self, state)

    def _with_constraints(self, active: tuple[Constraint, ...]) -> System:
        """This system with some of its constraints, the others having ended."""
        ended = [c.until for c in self.constraints if c.until is not None and c not in active]
        return self._copy({"constraints": active}, _released_at=max(ended))

    def _with_held_loads(self, loads: Mapping[str, Float]) -> System:
        """This system with its loads replaced by constant forces, (n, 3) [N] by name."""
        forces = [force(f=f, name=name) for name, f in loads.items()]
        changes = {"loads": (), "energies": [*self.energies, *forces]}
        return self._copy(changes, _held_loads=frozenset(loads))

    def K(self, state: State, *, project: bool = False) -> Any:
        """Stiffness: the Hessian ∂²V/∂q² [N/m], a scipy.sparse BSR array (3n, 3n).

        project : make the part of each element positive semi-definite
        """
        return workspace_for(self).stiffness(state, project=project).to_scipy()

    def D(self, state: State) -> Any:
        """Damping matrix ∂²Ψ/∂v² [N s/m] at the state, a scipy.sparse BSR array (3n, 3n)."""
        workspace = workspace_for(self)
        matrix = workspace.damping_matrix(state).to_scipy()
        if self._rayleigh is None:
            return matrix
        return matrix + workspace.rayleigh_matrix(state).to_scipy()

    @property
    def M(self) -> Any:
        """Mass matrix [kg], a scipy.sparse CSR array (3n, 3n): T = ½ vᵀM v with v stacked.

        >>> import taut
        >>> pair = taut.System([[0, 0, 0], [1, 0, 0]], mass=[2.0, 3.0])
        >>> pair.M.diagonal().tolist()
        [2.0, 2.0, 2.0, 3.0, 3.0, 3.0]
        """
        return mass_matrix(self)

    @property
    def P(self) -> Any:
        """Selects the free coordinates q̂ = P q; a scipy.sparse CSR array (f, 3n), P Pᵀ = I.

        Then q = Pᵀq̂ + b, where b holds what is fixed or prescribed. A free particle has three
        rows, a fixed one none, one on a line or plane its one or two free directions; in a system
        in the plane z = 0 no particle has a row for z. Constraints that end at a time count.

        >>> import taut
        >>> pair = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0])
        >>> pair.P.toarray()
        array([[0., 0., 0., 1., 0., 0.],
               [0., 0., 0., 0., 1., 0.],
               [0., 0., 0., 0., 0., 1.]])
        """
        return free_coordinates(self)

    def particle(self, i: int) -> Any:
        """Selects the position of particle i: S_i q; a scipy.sparse CSR array (3, 3n).

        >>> import taut
        >>> pair = taut.System([[0, 0, 0], [1, 2, 3]], mass=1.0)
        >>> (pair.particle(1) @ pair.initial_state().q.ravel()).tolist()
        [1.0, 2.0, 3.0]
        """
        return particle_selection(self, i)

    def selection(self, j: int, law: str | Energy | None = None) -> Any:
        """Selects the positions of element j of an energy: E_j q; a scipy.sparse CSR array.

        Its shape is (3s, 3n) for elements of s particles. Transposed it adds what belongs to the
        element to where its particles are: f = Σ E_jᵀf_j, K = Σ E_jᵀK_j E_j.

        law : the energy or its name (default: the only one)

        >>> import taut
        >>> spring = taut.laws.spring([[2, 0]], k=1.0)
        >>> system = taut.System([[0, 0, 0], [1, 0, 0], [4, 0, 0]], mass=1.0, energies=[spring])
        >>> (system.selection(0) @ system.initial_state().q.ravel()).tolist()
        [4.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        return element_selection(self, j, law)

    def elements(self, state: State, law: str | Energy | None = None) -> Elements:
        """V, f and K of each element of an energy at a state.

        law : the energy or its name (default: the only one)

        >>> import taut
        >>> points = [[0, 0, 0], [1, 0, 0], [1, 2, 0]]
        >>> springs = taut.laws.spring([[0, 1], [1, 2]], k=10.0, l0=1.5)
        >>> system = taut.System(points, mass=1.0, energies=[springs, taut.laws.gravity()])
        >>> each = system.elements(system.initial_state(), "spring")
        >>> each.V, each.f.shape, each.K.shape
        (array([1.25, 1.25]), (2, 6), (2, 6, 6))
        """
        return evaluate_elements(self, state, law)

    def momentum(self, state: State) -> Float:
        """Σ m v [kg m/s], shape (3,)."""
        self._check(state)
        return np.einsum("i,ij->j", self.mass, state.v)

    def angular_momentum(self, state: State, about: ArrayLike = (0.0, 0.0, 0.0)) -> Float:
        """Σ m (x - about) × v [kg m²/s], shape (3,)."""
        self._check(state)
        arm = state.q - to_numbers(about, "angular_momentum: `about`")
        return np.einsum("i,ij->j", self.mass, np.cross(arm, state.v))


def _rebuild(arguments: dict[str, Any]) -> System:
    return System(**arguments)
