"""`taut.batch`: many copies at once, with the bits of each alone; what fails, what is refused."""

import numba
import numpy as np
import pytest

import taut
from taut import laws

H = 0.01


def build_chain(n=6, **more):
    points = np.zeros((n, 3))
    points[:, 0] = np.arange(n)
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    arguments = {"energies": [laws.spring(edges, k=500.0), laws.gravity()], "fixed": [0], **more}
    return taut.System(points, mass=0.1, **arguments)


def run_batch(system, integrator=taut.ImplicitEuler, until=0.1, h=H, **copies):
    return taut.batch(system, integrator(), h, until, **copies)


def test_the_number_of_threads_does_not_change_bits():
    stiffness = np.geomspace(100.0, 2000.0, 9)
    ends = []
    before = numba.get_num_threads()
    try:
        for threads in range(1, before + 1):
            numba.set_num_threads(threads)
            *_, last = run_batch(build_chain(), parameters={"spring.k": stiffness})
            ends.append(last.q.tobytes() + last.v.tobytes())
    finally:
        numba.set_num_threads(before)
    assert len(set(ends)) == 1


def test_a_stiffer_copy_sags_less():
    *_, last = run_batch(build_chain(), until=0.5, parameters={"spring.k": [50.0, 5000.0]})
    soft, stiff = np.linalg.norm(np.diff(last.q, axis=1), axis=2).max(axis=1)
    assert soft > 1.01 > stiff


def test_parameters_may_differ_between_elements():
    each = np.random.default_rng(0).uniform(300.0, 600.0, (4, 5))
    run = run_batch(build_chain(), parameters={"spring.k": each})
    *_, last = run
    system = build_chain()
    spring, weight = system.energies
    for i in range(4):
        own = system.with_(energies=[spring.with_(k=each[i]), weight])
        *_, (state, _) = taut.simulate(own, taut.ImplicitEuler(), H, 0.1)
        assert last.q[i].tobytes() == state.q.tobytes()


def test_a_run_continues_from_a_state_of_a_batch():
    """BDF2 remembers the step before: a state of a copy has its share of the history."""
    system = build_chain()
    *_, middle = run_batch(system, taut.BDF2, 0.1, parameters={"spring.k": [400.0, 500.0]})
    *_, (state, _) = taut.simulate(system, taut.BDF2(), H, 0.2, state=middle.state(1))
    again = run_batch(system, taut.BDF2, 0.2, states=[middle.state(1), middle.state(1)])
    *_, last = again
    assert last.q[0].tobytes() == last.q[1].tobytes() == state.q.tobytes()


def test_loads_and_damping():
    sheet = taut.mesh.sheet(2, 2)
    system = taut.System(
        sheet.points,
        mass=0.1,
        fixed=[0],
        energies=[laws.spring(sheet.edges, k=500.0), laws.gravity()],
        damping=[laws.spring_damping(sheet.edges, c=0.5)],
        loads=[laws.wind(sheet.triangles, velocity=(0.0, 0.0, 5.0))],
    )
    run = run_batch(system, parameters={"wind.velocity": [[0, 0, 5.0], [3.0, 0, 0]]})
    *_, last = run
    for i, own in enumerate(run.systems):
        *_, (state, _) = taut.simulate(own, taut.ImplicitEuler(), H, 0.1)
        assert last.q[i].tobytes() == state.q.tobytes()


def tear_apart(state):
    return state.with_(v=1e200 * np.linspace(-1.0, 1.0, len(state.q))[:, None] * np.ones(3))


@pytest.mark.parametrize("integrator", [taut.ImplicitEuler, taut.VelocityVerlet])
def test_a_copy_that_fails_does_not_stop_the_others(integrator):
    """One copy is torn apart until the squares of lengths overflow; the others do not notice."""
    system = build_chain(fixed=[])
    start = system.initial_state()
    fast = tear_apart(start)
    run = run_batch(system, integrator, 1.0, h=0.5, states=[start, fast, start])
    steps = list(run)
    assert list(run.errors) == [1]
    assert isinstance(run.errors[1], taut.TautError)
    *_, (state, _) = taut.simulate(system, integrator(), 0.5, 1.0, state=start)
    assert steps[-1].q[0].tobytes() == steps[-1].q[2].tobytes() == state.q.tobytes()
    assert np.isfinite(steps[-1].q).all()
    with pytest.raises(taut.TautError, match="copy 1 has not taken this step"):
        steps[-1].report(1)


def test_the_error_of_a_copy_is_that_of_its_own_run():
    system = build_chain(fixed=[])
    fast = tear_apart(system.initial_state())
    run = run_batch(system, until=1.0, h=0.5, states=[system.initial_state(), fast])
    list(run)
    with pytest.raises(type(run.errors[1])) as alone:
        list(taut.simulate(system, taut.ImplicitEuler(), 0.5, 1.0, state=fast))
    assert str(alone.value) == str(run.errors[1])


REFUSED = {
    "Rayleigh": {"damping": [laws.rayleigh(beta=1e-3)]},
    "function": {"energies": [laws.force([1], f=lambda t: (t, 0.0, 0.0))]},
    "break": {"energies": [laws.spring([[0, 1]], k=1.0, breaking_strain=0.1)]},
    "moves": {"constraints": [taut.constraints.scripted([5], lambda t: (5.0 + t, 0.0, 0.0))]},
    "ends": {"constraints": [taut.constraints.on_plane([5], normal=(0, 1, 0), until=1.0)]},
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_supported_is_refused_before_the_first_step(what):
    system = build_chain(**REFUSED[what])
    start = system.initial_state()
    with pytest.raises(taut.TautError, match=f"batch: the system must not have .*{what}"):
        run_batch(system, states=[start, start])


def test_contact_is_refused():
    rope = taut.mesh.rope(4)
    system = taut.System(
        rope.points,
        mass=0.1,
        energies=[laws.spring(rope.edges, k=10.0)],
        contact=taut.contact(rope, range=0.01),
    )
    with pytest.raises(taut.TautError, match="batch: the system must not have contact"):
        run_batch(system, states=[system.initial_state()])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "parameters or states must be given"),
        ({"parameters": {"spring.q": [1.0]}}, "there is no parameter 'spring.q'"),
        ({"parameters": {"spring.k": 3.0}}, "one entry for each copy"),
        ({"parameters": {"spring.k": [1.0], "spring.l0": [1.0, 2.0]}}, "1 of 'spring.k', 2 of"),
        ({"parameters": {"spring.k": []}}, "at least one copy"),
        ({"parameters": {"spring.k": [1.0, -5.0]}}, "copy 1"),
        ({"states": [3]}, "copy 0: a taut.State is needed"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(taut.TautError, match=message):
        run_batch(build_chain(), **arguments)


def test_integrators_without_stages_are_refused():
    with pytest.raises(taut.TautError, match="got LinearlyImplicitEuler"):
        run_batch(build_chain(), taut.LinearlyImplicitEuler, parameters={"spring.k": [1.0]})


def test_states_of_different_times_are_refused():
    start = build_chain().initial_state()
    with pytest.raises(taut.TautError, match="all states must have the same time"):
        run_batch(build_chain(), states=[start, start.with_(t=1.0)])
