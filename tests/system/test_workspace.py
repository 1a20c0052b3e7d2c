"""A System is immutable, and every thread has its own workspace."""

import copy
import gc
import hashlib
import pickle
import threading
import weakref
from collections.abc import Mapping

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.compiled_law import CompiledLaw
from taut.binding.law import Law
from taut.constraints import fixed, on_plane
from taut.errors import ModelError
from taut.formula.expression import Expr
from taut.system.workspace import Workspace, workspace_for


def sheet(**changes):
    """A sheet with all time-dependent features: a load, a pump, a constraint that ends."""
    mesh = taut.mesh.sheet(4, 4, size=1.0)
    arguments = {
        "mass": 0.01,
        "energies": [
            laws.spring(mesh.edges, k=lambda t: 50.0 + 5.0 * t, breaking_strain=3.0),
            laws.gravity(),
        ],
        "damping": [laws.spring_damping(mesh.edges, c=0.01), laws.rayleigh(alpha=0.1, beta=1e-4)],
        "loads": [laws.wind(mesh.triangles, velocity=(1.0, 0.0, 0.5))],
        "fixed": [0, 1],
        "constraints": [fixed([4], until=0.025), on_plane([5], (1.0, 2.0, 3.0))],
    }
    return taut.System(mesh.points, **{**arguments, **changes})


def snapshot(thing, seen=None):
    """Everything reachable from a System, arrays by the hash of their bytes; laws are shared by all
    systems.
    """
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return "seen"
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        return thing.shape, str(thing.dtype), hashlib.sha256(thing.tobytes()).hexdigest()
    if isinstance(thing, (Law, CompiledLaw, Expr)):
        return id(thing)
    if isinstance(thing, Mapping):
        return [(str(key), snapshot(value, seen)) for key, value in thing.items()]
    if isinstance(thing, (list, tuple, set, frozenset)):
        return [snapshot(value, seen) for value in thing]
    if type(thing).__module__.startswith("taut.") and hasattr(thing, "__dict__"):
        return [(name, id(value), snapshot(value, seen)) for name, value in vars(thing).items()]
    return repr(thing)


@pytest.mark.parametrize("name", ["mass", "n", "placed", "constraints", "anything"])
def test_attributes_cannot_be_set_or_deleted(name):
    system = sheet()
    with pytest.raises(ModelError, match="does not change once it is built"):
        setattr(system, name, 1.0)
    with pytest.raises(ModelError, match="cannot be deleted"):
        del system.mass


@pytest.mark.parametrize("name", ["rest", "mass", "pose", "velocity"])
def test_arrays_of_a_system_are_read_only(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(sheet(), name)[:] = 0.0


INTEGRATORS = [
    taut.ImplicitEuler(),
    taut.ImplicitEuler(minimiser="lbfgs"),
    taut.BDF2(),
    taut.TRBDF2(),
    taut.LinearlyImplicitEuler(),
    taut.RK4(),
    taut.Adaptive(taut.ImplicitMidpoint(), error=1e-4),
]


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: type(i).__name__)
def test_steps_do_not_change_a_system(integrator):
    system = sheet()
    before = snapshot(system)
    state = system.initial_state()
    for _ in range(4):
        state, _ = integrator.step(system, state, 0.01)
    assert snapshot(system) == before


def test_evaluations_do_not_change_a_system():
    system = sheet()
    before = snapshot(system)
    state = system.initial_state().with_(t=0.3)
    system.V(state), system.f(state), system.K(state, project=True), system.D(state)
    system.V_by_law(state), system.load_forces(state), system.members(state)
    taut.Ledger().book(system, taut.ImplicitEuler().advance(system, state, 0.01))
    assert snapshot(system) == before


def test_equilibrium_does_not_change_a_system():
    system = sheet(loads=[], damping=[])
    before = snapshot(system)
    taut.equilibrium(system)
    assert snapshot(system) == before


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: type(i).__name__)
def test_threads_sharing_a_system_give_bit_identical_results(integrator):
    system = sheet()

    def run(results, index):
        state = system.initial_state()
        for _ in range(5):
            state, _ = integrator.step(system, state, 0.01)
        results[index] = state.q.tobytes() + state.v.tobytes()

    alone = {}
    run(alone, 0)
    together = {}
    threads = [threading.Thread(target=run, args=(together, k)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together[0] == together[1] == alone[0]


def test_each_thread_has_its_own_workspace_and_keeps_it():
    system = sheet()
    workspace = workspace_for(system)
    others = []
    thread = threading.Thread(target=lambda: others.append(workspace_for(system)))
    thread.start()
    thread.join()
    assert workspace_for(system) is workspace
    assert others[0] is not workspace


def test_two_workspaces_share_no_buffer():
    system = sheet()
    state = system.initial_state()
    one, two = Workspace(system), Workspace(system)
    _, first, _ = one.potential(state)
    kept = first.copy()
    two.potential(state.with_(q=2.0 * state.q))
    assert (first == kept).all()


def test_workspace_is_reused_between_steps():
    system, integrator = sheet(), taut.ImplicitEuler()
    state, _ = integrator.step(system, system.initial_state(), 0.01)
    workspace = workspace_for(system).with_held_loads(system.load_forces(state))
    assembly = workspace.assembly("increments", state)
    solver = integrator.solver(workspace)
    later, _ = integrator.step(system, state, 0.01)
    assert workspace_for(system).with_held_loads(system.load_forces(later)) is workspace
    assert workspace.assembly("increments", later) is assembly
    assert integrator.solver(workspace) is solver


def test_workspace_is_freed_with_its_system():
    system = sheet()
    taut.ImplicitEuler().step(system, system.initial_state(), 0.01)
    taut.RK4().step(system, system.initial_state(), 1e-4)
    workspace, known = weakref.ref(workspace_for(system)), weakref.ref(system)
    del system
    gc.collect()
    assert known() is None
    assert workspace() is None


def test_a_system_survives_pickle_and_copy():
    mesh = taut.mesh.sheet(4, 4, size=1.0)
    system = sheet(energies=[laws.spring(mesh.edges, k=50.0), laws.gravity()])
    state, _ = taut.ImplicitEuler().step(system, system.initial_state(), 0.01)
    for again in (pickle.loads(pickle.dumps(system)), copy.deepcopy(system)):
        assert again.V(state) == system.V(state)
        other, _ = taut.ImplicitEuler().step(again, again.initial_state(), 0.01)
        assert (other.q == state.q).all()
        assert (again.f(state) == system.f(state)).all()


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: type(i).__name__)
def test_loads_are_not_reused_from_an_earlier_step(integrator):
    """A step of a used system is bit-identical to a step of a new one."""

    def blowing():
        mesh = taut.mesh.sheet(4, 4, size=1.0)
        wind = laws.wind(mesh.triangles, velocity=lambda t: (1.0 + 100.0 * t, 0.0, 0.5))
        return sheet(loads=[wind])

    system = blowing()
    first, _ = integrator.step(system, system.initial_state(), 0.01)
    continued, _ = integrator.step(system, first, 0.01)
    afresh, _ = integrator.step(blowing(), first, 0.01)
    assert (continued.q == afresh.q).all()
    assert (continued.v == afresh.v).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.energies[0].parameters.update(k=1.0),
        lambda s: setattr(s.energies[0], "name", "other"),
        lambda s: s.energies[0].elements.fill(0),
        lambda s: s.energies[0].parameters["k"].fill(0.0),
        lambda s: s._placed_energies.pop("spring"),
        lambda s: s._placed_energies["spring"].elements.fill(0),
        lambda s: s.fixed.fill(1),
        lambda s: s.mass.fill(1.0),
        lambda s: s._projector.free_directions.fill(1.0),
        lambda s: s._projector.constrained_particles.fill(1),
        lambda s: s._projector.anchor.fill(1.0),
    ],
)
def test_nothing_in_a_system_can_be_changed(change):
    system = taut.System(
        [[0.0, 0, 0], [1.5, 0, 0], [3.0, 0, 0]],
        mass=1.0,
        energies=[taut.laws.spring([[0, 1], [1, 2]], k=np.array([10.0, 20.0]), l0=1.0)],
        fixed=[0],
    )
    state = system.initial_state()
    value, forces = system.V(state), system.f(state)
    with pytest.raises((AttributeError, TypeError, ValueError)):
        change(system)
    for same in (system, system.with_(), pickle.loads(pickle.dumps(system))):
        assert same.V(state) == value
        np.testing.assert_array_equal(same.f(state), forces)
