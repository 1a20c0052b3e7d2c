"""Every law and integrator: compiled loops of small systems give the bits of the general method.

Both `taut.simulate`, which uses the compiled stage of a small system, and `taut.batch` are compared
with a step whose parts are called one by one.
"""

import dataclasses

import numpy as np
import pytest

import taut
from taut import laws
from taut.jit.compile import kernels
from taut.step.compiled_stage import KERNELS, CompiledStage
from taut.step.implicit import Implicit
from tests.laws.specimens import DISSIPATIONS, ENERGIES, LOADS, state

IMPLICIT = [taut.ImplicitEuler, taut.BDF2, taut.ImplicitMidpoint, taut.TRBDF2]
EXPLICIT = [taut.ExplicitEuler, taut.SymplecticEuler, taut.VelocityVerlet, taut.RK4]
COPIES = 3
# Wall-clock times differ, and a note tells of the longest stable step of all copies together.
NOT_COMPARED = {"seconds", "assembling", "solving", "note"}


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    kernels(KERNELS)


def build(specimen):
    """A system of one law with springs and gravity, moved away from rest; the 2 × 12 elements of
    different sizes leave vector loops with a remainder."""
    placed = specimen.placed(np.random.default_rng(5))
    rng = np.random.default_rng(6)
    pose = state(rng, placed) if specimen.law.kind == "energy" else placed.rest
    n = len(placed.rest)
    group = {"energy": "energies", "dissipation": "damping", "load": "loads"}[specimen.law.kind]
    arguments = {"energies": [laws.pin(k=30.0), laws.gravity()], "damping": [], "loads": []}
    arguments[group] = [*arguments[group], placed.bound]
    return taut.System(
        placed.rest,
        mass=np.linspace(0.5, 2.0, n),
        pose=pose,
        velocity=rng.normal(size=(n, 3)),
        fixed=[1],
        **arguments,
    )


def same_reports(a, b):
    fields = {f.name for f in dataclasses.fields(a)} - NOT_COMPARED
    pairs = {f: (getattr(a, f), getattr(b, f)) for f in fields}
    # Words, in which nan, where no bound of the velocity error is known, equals itself.
    return {f: pair for f, pair in pairs.items() if repr(pair[0]) != repr(pair[1])}


def take_steps(system, integrator, steps, h=0.01):
    found = []
    try:
        for moment, report in taut.simulate(system, integrator, h, steps * h):
            found.append((moment.q.tobytes(), moment.v.tobytes(), report))
    except taut.NotConverged as error:
        found.append((b"", b"", error.report))
    return found


def compare(system, integrator, monkeypatch, steps=6, h=0.01):
    """Compare steps with and without the compiled stage; return how many it has solved."""
    solved = []
    solve = CompiledStage.solve

    def count(self, *arguments):
        found = solve(self, *arguments)
        solved.append(found is not None)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(CompiledStage, "solve", count)
        compiled = take_steps(system, integrator(), steps, h)
    with monkeypatch.context() as patch:
        patch.setattr(Implicit, "_solve_compiled", lambda *_: None)
        general = take_steps(system, integrator(), steps, h)
    assert len(compiled) == len(general)
    for (q, v, report), (other_q, other_v, other) in zip(compiled, general, strict=True):
        assert q == other_q
        assert v == other_v
        assert not same_reports(report, other)
    return sum(solved)


@pytest.mark.parametrize("law", {**ENERGIES, **DISSIPATIONS, **LOADS})
def test_every_law_has_the_bits_of_the_general_method(law, monkeypatch):
    system = build({**ENERGIES, **DISSIPATIONS, **LOADS}[law])
    compare(system, taut.ImplicitEuler, monkeypatch)


def build_chain(n=10, **more):
    points = np.zeros((n, 3))
    points[:, 0] = np.linspace(0.0, 1.0, n)
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    arguments = {"energies": [laws.spring(edges, k=1e3), laws.gravity()], "fixed": [0], **more}
    return taut.System(points, mass=0.1, **arguments)


@pytest.mark.parametrize("integrator", IMPLICIT, ids=lambda i: i.__name__)
@pytest.mark.parametrize("n", [2, 3, 10, 51, 150])
def test_every_integrator_has_the_bits_of_the_general_method(integrator, n, monkeypatch):
    """Most of the stages of a chain are solved in the compiled loop, or this would test nothing."""
    assert compare(build_chain(n), integrator, monkeypatch, steps=20) >= 15


def test_constraints_along_the_axes(monkeypatch):
    plane = taut.constraints.on_plane([3], normal=(0, 0, 1))
    line = taut.constraints.on_line([5], direction=(0, 1, 0))
    system = build_chain(constraints=[plane, line], velocity=np.full((10, 3), 0.3))
    assert compare(system, taut.ImplicitEuler, monkeypatch, steps=20) >= 15


def test_constraints_across_the_axes_are_left_to_the_general_method(monkeypatch):
    plane = taut.constraints.on_plane([3], normal=(0, 1, 1))
    assert compare(build_chain(constraints=[plane]), taut.ImplicitEuler, monkeypatch) == 0


def test_flat_systems(monkeypatch):
    flat = taut.System(
        [[0, 0], [1, 0], [2, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1], [1, 2]], k=50.0), laws.gravity()],
        fixed=[0],
    )
    assert compare(flat, taut.ImplicitEuler, monkeypatch, steps=20) >= 15


def test_a_watched_step_has_the_same_bits():
    """A watcher sees every iteration, so that the general method takes the step."""
    from taut.watch import watching

    system, seen = build_chain(), []
    alone, _ = taut.ImplicitEuler().step(system, system.initial_state(), 0.01)
    with watching(lambda work: seen.append(work.iterations)):
        watched, _ = taut.ImplicitEuler().step(system, system.initial_state(), 0.01)
    assert max(seen) > 0
    assert alone.q.tobytes() == watched.q.tobytes()


@pytest.mark.parametrize("integrator", [*IMPLICIT, *EXPLICIT], ids=lambda i: i.__name__)
def test_a_batch_has_the_bits_of_its_copies_alone(integrator):
    h = 0.01 if integrator in IMPLICIT else 1e-3
    rng = np.random.default_rng(1)
    system = build_chain()
    start = system.initial_state()
    states = [start.with_(v=rng.normal(size=(10, 3)) * (np.arange(10) > 0)[:, None]) for _ in "abc"]
    parameters = {"spring.k": [300.0, 1000.0, 3000.0], "gravity.g": rng.normal(size=(3, 3))}
    compare_batch(system, integrator, h, parameters, states)


# Batches refuse laws whose rest values flow (tests/step/test_plasticity.py).
STAYING = [name for name, specimen in ENERGIES.items() if not specimen.law.flow]


@pytest.mark.parametrize("law", [*STAYING, *DISSIPATIONS, *LOADS])
@pytest.mark.parametrize("integrator", [taut.ImplicitEuler, taut.VelocityVerlet])
def test_a_batch_of_every_law_has_the_bits_of_its_copies_alone(law, integrator):
    system = build({**ENERGIES, **DISSIPATIONS, **LOADS}[law])
    parameters = {"pin.k": [10.0, 30.0, 90.0]}
    compare_batch(system, integrator, 1e-3, parameters, None, steps=3)


def compare_batch(system, integrator, h, parameters, states, steps=12):
    run = taut.batch(system, integrator(), h, steps * h, parameters=parameters, states=states)
    found = list(run)
    for i in range(COPIES):
        own = run.systems[i]
        start = own.initial_state() if states is None else states[i]
        alone = taut.simulate(own, integrator(), h, steps * h, state=start)
        for step, (moment, report) in zip(found, alone, strict=True):
            assert step.q[i].tobytes() == moment.q.tobytes()
            assert step.v[i].tobytes() == moment.v.tobytes()
            assert not same_reports(step.report(i), report)
    assert not run.errors
