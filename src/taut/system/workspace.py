"""Workspaces: every buffer and cache that evaluating a System needs.

A System is a description and never changes (MuJoCo's mjModel); a Workspace owns what does change
(mjData): assemblies with their element buffers, packed parameters, unions of sparsity patterns,
matrices to write into, systems derived for a single step, and what an integrator keeps between
steps. All of it can be computed again from the System, so none of it belongs to a State. Threads
share Systems and never share Workspaces.

`workspace_for(system)` returns the workspace of the calling thread; `System.V`, `System.K` and
`Implicit.advance` call it once and pass the workspace on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary, ref

import numpy as np

from taut.arrays import Float
from taut.binding.placed_law import PlacedLaw
from taut.errors import ModelError, did_you_mean
from taut.jit.background_compile import compile_in_background
from taut.linalg.blocks import BlockMatrix, Pattern, PatternUnion
from taut.system.any_assembly import AnyAssembly
from taut.system.assembly import Assembly
from taut.system.contact_assembly import ContactAssembly
from taut.system.contact_friction import Friction
from taut.system.contact_search import ContactSearch
from taut.system.inversion import SolidElements, collect_solid_elements
from taut.system.parameter_change import change_parameters
from taut.system.projector import AffectedBlocks
from taut.system.state import State
from taut.system.terms import AssemblyKind, Inputs, PackedParameters, Term, select_laws
from taut.threads import raise_if_forked_from_openmp

if TYPE_CHECKING:
    from taut.system.system import System

Kept = TypeVar("Kept")


class Workspace:
    """The buffers and caches of one thread for one System.

    Results that are views of buffers say so; the next evaluation in the same workspace overwrites
    them.

    >>> import taut
    >>> system = taut.System([[0, 1, 0]], mass=2.0, energies=[taut.laws.gravity()])
    >>> mine, yours = Workspace(system), Workspace(system)
    >>> state = system.initial_state()
    >>> mine.potential(state)[0], yours.potential(state)[0]
    (19.62, 19.62)
    >>> mine.assembly("potential", state) is yours.assembly("potential", state)
    False
    """

    def __init__(self, system: System, *, similar: Workspace | None = None) -> None:
        """Create an empty workspace.

        similar : the workspace of a system with nearly the same laws; its sparsity patterns and
            linear solvers are used where they fit
        """
        # Weak: the table of workspaces below must not keep a System alive.
        self._system = ref(system)
        # The newest assembly of each kind, with the masks of active elements it was built for.
        self._assemblies: dict[str, tuple[Mapping[str, Any], Hashable, AnyAssembly]] = {}
        self._similar: dict[str, AnyAssembly] = {}
        self._solvers: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        if similar is not None:
            self._similar = dict(similar._similar)
            self._similar.update({kind: built[2] for kind, built in similar._assemblies.items()})
            self._solvers = similar._solvers
        self._parameters: dict[str, PackedParameters] = {}
        self._rest: Mapping[str, Float] | None = None  # of the state evaluated last
        self._union: PatternUnion | None = None
        self._buffer: BlockMatrix | None = None
        self._affected: tuple[Pattern, AffectedBlocks] | None = None
        # Systems derived from this one, kept alive here, with their workspaces.
        self._derived: dict[Hashable, tuple[System, Workspace]] = {}
        self._memories: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        # Of the workspace of a system that differs in values of parameters only.
        self._earlier_memories: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def continue_from(self, earlier: Workspace) -> None:
        """Go on from the workspace of a system that differs in values of parameters only."""
        self._union, self._affected = earlier._union, earlier._affected
        self._earlier_memories.update(earlier._earlier_memories)
        self._earlier_memories.update(earlier._memories)
        for key, (system, workspace) in earlier._derived.items():
            self._add_derived(key, _change_derived(self.system, system), workspace)

    @property
    def system(self) -> System:
        """The System that is evaluated here."""
        system = self._system()
        if system is None:
            raise ModelError("the System of this workspace no longer exists")
        return system

    def assembly(self, kind: AssemblyKind, state: State) -> AnyAssembly:
        """Return the sums over the laws of one kind with the state's active elements.

        It is rebuilt only when other elements are active than before.
        """
        system = self.system
        system._check(state)
        self.use_rest_values(state)
        known = self._assemblies.get(kind)
        # The same mapping object has the same masks: a State is read-only, and steps pass it on.
        if known is not None and known[0] is state.active:
            return known[2]
        masks = system._active_masks(state)
        key = tuple(sorted((name, mask.tobytes()) for name, mask in masks.items()))
        if known is not None and known[1] == key:
            assembly = known[2]
        else:
            terms = [
                Term(name, placed, form, masks.get(name), self.parameters(name, placed))
                for name, placed, form in select_laws(system, kind)
            ]
            assembly = self.add_contact(Assembly(system.n, terms), kind)
            if kind in self._similar:
                assembly.adopt(self._similar[kind])
            self._similar[kind] = assembly
        self._assemblies[kind] = (state.active, key, assembly)
        return assembly

    def add_contact(self, laws: Assembly, kind: AssemblyKind) -> AnyAssembly:
        """Return an assembly of laws with contact, if the system has any."""
        if self.system.contact is None:
            return laws
        return ContactAssembly(laws, self.contact_search, kind)

    @cached_property
    def contact_search(self) -> ContactSearch:
        """What finds the pairs that touch."""
        system = self.system
        assert system.contact is not None
        return ContactSearch(system.contact, np.logical_not(system._projector.is_fixed))

    @cached_property
    def solid_elements(self) -> tuple[SolidElements, ...]:
        """The elements of laws that may turn inside out."""
        return collect_solid_elements(self.system)

    def compile_hessians(self, kind: AssemblyKind) -> None:
        """Compile the Hessians of an assembly's laws in another process, unless they are cached."""
        forms = [placed.forms[form] for _, placed, form in select_laws(self.system, kind)]
        compile_in_background([f.source_module("hessian") for f in forms if not f.is_linear])

    def parameters(self, name: str, placed: PlacedLaw) -> PackedParameters:
        """Return the packed parameters of a law; all assemblies of this workspace share them."""
        if name not in self._parameters:
            self._parameters[name] = PackedParameters(placed)
        return self._parameters[name]

    def use_rest_values(self, state: State) -> None:
        """Let the laws that flow have the rest values of a state."""
        if state.rest is self._rest:
            return
        for name, placed in self._flowing.items():
            values = state.rest.get(name)
            if values is not None and values.shape != (len(placed.elements),):
                raise ModelError(
                    f"rest: '{name}' must have one value for each of its {len(placed.elements)} "
                    f"elements, got shape {values.shape}"
                )
            self.parameters(name, placed).use_rest_values(values)
        for name in state.rest:
            if name not in self._flowing:
                raise ModelError(
                    f"rest: there is no law '{name}' whose rest values flow"
                    f"{did_you_mean(name, self._flowing)}"
                )
        self._rest = state.rest

    @cached_property
    def _flowing(self) -> dict[str, PlacedLaw]:
        """The energies whose rest values flow, by name."""
        laws = self.system._placed_energies
        return {name: placed for name, placed in laws.items() if placed.law.flow}

    def union(self, patterns: Sequence[Pattern]) -> PatternUnion:
        """Return the union of sparsity patterns; the last one is kept, as steps repeat it."""
        if self._union is None or not self._union.is_union_of(patterns):
            self._union = PatternUnion(patterns)
        return self._union

    def buffer(self, pattern: Pattern) -> BlockMatrix:
        """Return a matrix on a pattern to write into; the next call overwrites it."""
        if self._buffer is None or self._buffer.pattern is not pattern:
            self._buffer = BlockMatrix(pattern, np.empty((len(pattern.indices), 3, 3)))
        return self._buffer

    def apply_constraints(self, matrix: BlockMatrix) -> None:
        """Replace A by S A S + a (I - S) in place (see `taut.system.projector`)."""
        projector = self.system._projector
        if self._affected is None or self._affected[0] is not matrix.pattern:
            self._affected = (matrix.pattern, projector.affected_blocks(matrix.pattern))
        projector.apply_to_matrix(matrix, self._affected[1])

    def project(self, vectors: Float) -> Float:
        """Return the part of vectors (n, 3) in the directions that constraints leave free."""
        return self.system._projector.project(vectors)

    def without_ended_constraints(self, t: float, h: float) -> Workspace:
        """Return the workspace of the system as it is in the step of length h [s] from t [s].

        Constraints that have ended before are left out; if none has, it is this workspace.
        """
        system = self.system
        active = tuple(c for c in system.constraints if c.is_active(t, h))
        if len(active) == len(system.constraints):
            return self
        return self._derive(active, lambda: system._with_constraints(active))

    def with_held_loads(self, loads: Mapping[str, Float]) -> Workspace:
        """Return the workspace of the system whose loads are constant forces.

        loads : forces [N], (n, 3), by the name of the load; the next call replaces them
        """
        if not loads:
            return self
        system = self.system
        held = self._derive("loads", lambda: system._with_held_loads(loads))
        for name, force in loads.items():
            held.parameters(name, held.system._placed_energies[name]).replace({"f": force})
        return held

    def _derive(self, key: Hashable, build: Callable[[], System]) -> Workspace:
        if key not in self._derived:
            self._add_derived(key, build())
        return self._derived[key][1]

    def _add_derived(self, key: Hashable, system: System, earlier: Workspace | None = None) -> None:
        derived = Workspace(system, similar=self if earlier is None else earlier)
        if earlier is not None:
            derived.continue_from(earlier)
        # So that methods of the derived System, such as V, use these buffers and held loads.
        _WORKSPACES.by_system[system] = derived
        self._derived[key] = (system, derived)

    def solver(self, owner: object, create: Callable[[], Kept]) -> Kept:
        """Return the linear solver of an integrator, created at its first step.

        Kept from step to step for its analysis of the pattern; derived systems share it.
        """
        if owner not in self._solvers:
            self._solvers[owner] = create()
        solver: Kept = self._solvers[owner]
        return solver

    def memory(self, owner: object, create: Callable[[], Kept]) -> Kept:
        """Return what an integrator keeps between steps of this system; created at first use.

        After a change of parameters its method `carry_over`, if it has one, returns what is kept.
        """
        if owner not in self._memories:
            earlier = self._earlier_memories.get(owner)
            carry_over = getattr(earlier, "carry_over", create)
            self._memories[owner] = carry_over()
        memory: Kept = self._memories[owner]
        return memory

    def potential(self, state: State) -> tuple[float, Float, Float]:
        """Return V [J], ∂V/∂q and the gross forces [N], both (n, 3), as views of buffers."""
        assembly = self.assembly("potential", state)
        return assembly.gradient([Inputs.at(state)] * len(assembly.terms))

    def energies_by_law(self, state: State) -> dict[str, float]:
        """Return the potential energy of each law [J]."""
        self.potential(state)
        terms = self.assembly("potential", state).terms
        return {term.name: float(term.energy.sum()) for term in terms}

    def forces(self, state: State) -> Float:
        """Return -∂V/∂q - ∂Ψ/∂v and the loads [N], (n, 3), without forces of constraints."""
        system = self.system
        forces = np.empty((system.n, 3))
        self.scaled_gradients(state, np.full(system.n, -1.0), forces)
        forces += 0.0  # -0 becomes 0, which prints without a sign
        for load in system.load_forces(state).values():
            forces += load
        return forces

    def stiffness(self, state: State, *, project: bool) -> BlockMatrix:
        """Return ∂²V/∂q² [N/m] in a buffer; with `project`, each element's part made ≥ 0."""
        assembly = self.assembly("potential", state)
        inputs = [Inputs.at(state)] * len(assembly.terms)
        return assembly.hessian(inputs, np.zeros(self.system.n), project=project)

    def _rates(self, state: State) -> AnyAssembly:
        """Return the assembly of the damping laws, with friction from the contacts of a state."""
        assembly = self.assembly("damping", state)
        if isinstance(assembly, ContactAssembly) and self.system._has_friction:
            assembly.friction = assembly.find_friction(np.array(state.q))
        return assembly

    def find_friction(self, state: State) -> Friction:
        """Return the friction of the contacts at a state, with their normal forces there."""
        assembly = self.assembly("damping", state)
        assert isinstance(assembly, ContactAssembly)
        return assembly.find_friction(np.array(state.q))

    def damping_matrix(self, state: State) -> BlockMatrix:
        """Return ∂²Ψ/∂v² [N s/m] of the damping laws, without Rayleigh's, in a buffer."""
        assembly = self._rates(state)
        inputs = [Inputs.rates(state)] * len(assembly.terms)
        return assembly.hessian(inputs, np.zeros(self.system.n), project=False)

    def rayleigh_matrix(self, state: State) -> BlockMatrix:
        """Return αM + β·K with K projected [N s/m], of all Rayleigh dampings; a new matrix."""
        system = self.system
        if system._rayleigh is None:
            raise ModelError("the system has no Rayleigh damping")
        stiffness = self.stiffness(state, project=True)
        low_rank = tuple(rank.scaled(system._rayleigh.beta) for rank in stiffness.low_rank)
        matrix = BlockMatrix(stiffness.pattern, system._rayleigh.beta * stiffness.data, low_rank)
        matrix.data[matrix.pattern.diagonal] += (
            system._rayleigh.alpha * system.mass[:, None, None] * np.eye(3)
        )
        return matrix

    def scaled_gradients(self, state: State, scale: Float, out: Float) -> None:
        """Write scale·(∂V/∂q + ∂Ψ/∂v) of all energies and damping laws, not of loads, into `out`.

        scale : (n,); -1 gives forces [N], -1/m [1/kg] accelerations [m/s²]
        out : (n, 3)

        >>> import taut
        >>> ball = taut.System(
        ...     [[0, 1, 0]],
        ...     mass=2.0,
        ...     energies=[taut.laws.gravity()],
        ...     damping=[taut.laws.drag(alpha=0.5)],
        ... )
        >>> a = np.empty((1, 3))
        >>> state = State(0.0, [[0, 1, 0]], [[3, 0, 0]])
        >>> workspace_for(ball).scaled_gradients(state, -1.0 / ball.mass, a)
        >>> a[0, :2].tolist()
        [-1.5, -9.81]
        """
        system = self.system
        assembly = self.assembly("potential", state)
        assembly.scaled_gradient([Inputs.at(state)] * len(assembly.terms), scale, out)
        if system._placed_damping or system._has_friction:
            assembly = self._rates(state)
            drag = np.empty_like(out)
            assembly.scaled_gradient([Inputs.rates(state)] * len(assembly.terms), scale, drag)
            out += drag
        if system._rayleigh is not None:
            out += scale[:, None] * self.rayleigh_matrix(state).multiply(np.array(state.v))


class _ThreadWorkspaces(threading.local):
    """The workspaces of one thread, by System; an entry goes when its System does."""

    def __init__(self) -> None:
        self.by_system: WeakKeyDictionary[System, Workspace] = WeakKeyDictionary()


_WORKSPACES = _ThreadWorkspaces()


def workspace_for(system: System) -> Workspace:
    """Return the calling thread's workspace of a system, created at first use.

    >>> import taut
    >>> system = taut.System([[0, 0, 0]], mass=1.0)
    >>> workspace_for(system) is workspace_for(system)
    True
    """
    raise_if_forked_from_openmp()
    workspace = _WORKSPACES.by_system.get(system)
    if workspace is None:
        workspace = _WORKSPACES.by_system[system] = Workspace(system)
    return workspace


def share_patterns(system: System, changed: System) -> None:
    """Let a changed copy of a system start from the sparsity patterns known in this thread."""
    known = _WORKSPACES.by_system.get(system)
    if known is not None and system.n == changed.n:
        _WORKSPACES.by_system[changed] = Workspace(changed, similar=known)


def share_workspace(system: System, changed: System) -> None:
    """Let a system that differs in values of parameters only go on from what this thread knows."""
    known = _WORKSPACES.by_system.get(system)
    if known is not None:
        workspace = _WORKSPACES.by_system[changed] = Workspace(changed, similar=known)
        workspace.continue_from(known)


def _change_derived(changed: System, derived: System) -> System:
    """Return a derived system with the values of parameters of a changed system.

    derived : the one before with other constraints, or with held loads behind its energies
    """
    held = derived.energies[len(changed.energies) :]
    changes: dict[str, Any] = {
        "energies": (*changed.energies, *held),
        "damping": changed.damping,
    }
    if derived.loads:
        changes["loads"] = changed.loads
    result = change_parameters(derived, changes)
    assert result is not None, "only values of parameters differ"
    return result
