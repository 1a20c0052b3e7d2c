"""Explicit steps: the warning before they blow up and the error when they do."""

import numpy as np
import pytest

import taut
from taut import formula, laws
from taut.constraints import scripted
from taut.step._highest_frequency import highest_frequency
from taut.system.workspace import workspace_for


def chain(n, k=200.0, m=0.1, **more):
    x = np.column_stack([np.arange(n, dtype=float), np.zeros(n), np.zeros(n)])
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return taut.System(
        x, mass=m, energies=[laws.spring(edges, k=k), laws.gravity()], fixed=[0, n - 1], **more
    )


@pytest.mark.parametrize("n", [3, 12, 60])
def test_highest_frequency_of_a_chain(n):
    """ω = 2√(k/m) sin(Nπ/2(N+1)) for N free particles; dense for few, by Lanczos iteration for
    many."""
    system = chain(n)
    omega, rate = highest_frequency(workspace_for(system), system.initial_state())
    inner = n - 2
    expected = 2 * np.sqrt(200.0 / 0.1) * np.sin(inner * np.pi / (2 * (inner + 1)))
    assert expected * (1 - 1e-9) <= omega <= 1.003 * expected
    assert rate == 0.0


def test_highest_damping_rate():
    edges = [[i, i + 1] for i in range(39)]
    system = chain(
        40,
        damping=[
            laws.drag(alpha=3.0),
            laws.spring_damping(edges, c=0.2),
            laws.rayleigh(alpha=1.0, beta=1e-3),
        ],
    )
    _, rate = highest_frequency(workspace_for(system), system.initial_state())
    top = 4 * np.sin(38 * np.pi / (2 * 39)) ** 2
    expected = 3.0 + 0.2 / 0.1 * top + 1.0 + 1e-3 * 200.0 / 0.1 * top
    assert rate == pytest.approx(expected, rel=4e-3)


def test_stiff_elements_between_fixed_particles_are_ignored():
    x = np.column_stack([np.arange(40.0), np.zeros(40), np.zeros(40)])
    held = taut.System(
        x,
        mass=1.0,
        energies=[laws.spring([[i, i + 1] for i in range(39)], k=10.0)],
        fixed=range(40),
    )
    assert highest_frequency(workspace_for(held), held.initial_state()) == (0.0, 0.0)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_reject_bad_limits(bad):
    with pytest.raises(taut.errors.ModelError, match="omega"):
        taut.RK4.limit(bad)


def test_limit_is_updated_when_elements_become_active():
    system = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.pin(k=1e6)])
    run = taut.SymplecticEuler()
    state, report = run.step(system, system.initial_state().with_(active={"pin": [False]}), 0.01)
    assert report.note == ""
    _, report = run.step(system, state.with_(active={}), 0.01)
    assert "use h ≤ 0.002 s" in report.note


def test_gravity_alone_has_no_limit():
    system = taut.System([[0, 0, 0]] * 30, mass=1.0, energies=[laws.gravity()])
    assert highest_frequency(workspace_for(system), system.initial_state()) == (0.0, 0.0)
    _, report = taut.SymplecticEuler().step(system, system.initial_state(), 100.0)
    assert report.note == ""


@pytest.mark.parametrize("integrator", [taut.SymplecticEuler, taut.VelocityVerlet, taut.RK4])
def test_warns_once_and_suggests_a_stable_step(integrator, log):
    system = chain(30)
    run = integrator()
    state, report = run.step(system, system.initial_state(), 0.1)
    assert "use h ≤" in report.note
    state, report = run.step(system, state, 0.1)
    assert len(log.records) == 1
    would_do = float(report.note.split("h ≤ ")[1].split(" s")[0])
    longest = integrator.limit(2 * np.sqrt(200.0 / 0.1))
    assert would_do == pytest.approx(longest, rel=0.01)
    _, report = integrator().step(system, system.initial_state(), 0.98 * would_do)
    assert report.note == ""
    assert len(log.records) == 1


def test_system_without_oscillation_has_no_limit():
    """V = -½k|d|² on a chain: the largest eigenvalue of K is the 0 of a translation."""

    @taut.energy(invariant="rigid motion")
    def repulsion(x, k):
        d = x[1] - x[0]
        return -k / 2 * formula.dot(d, d)

    points = np.stack([np.linspace(0, 1, 300), np.zeros(300), np.zeros(300)], axis=1)
    pairs = np.stack([np.arange(299), np.arange(1, 300)], axis=1)
    system = taut.System(points, mass=1.0, energies=[repulsion(pairs, k=1.0)])
    state, report = taut.SymplecticEuler().step(system, system.initial_state(), 0.01)
    assert report.note == ""
    assert state.v[-1, 0] > 0.0


def test_stiffening_system_is_detected_later(log):
    """The limit is checked again every thousand steps."""
    stiffening = taut.System(
        [[0, 0, 0]],
        mass=1.0,
        energies=[laws.pin(k=lambda t: 100.0 if t < 1.0 else 1e6, target=(0, 0, 0))],
    )
    run = taut.SymplecticEuler()
    for _ in taut.simulate(stiffening, run, 0.01, 10.5):
        pass
    assert len(log.records) == 1
    assert "h ≤ 0.002 s" in log.records[0].message


@pytest.mark.parametrize("fresh", [False, True], ids=["one integrator", "a new one each step"])
def test_blow_up_raises_with_the_state_intact(fresh):
    system = chain(5, velocity=[[0, 0, 0], [1, 2, 3], [0, 1, 0], [1, 0, 0], [0, 0, 0]])
    states = [system.initial_state()]

    def explode():
        run = taut.SymplecticEuler()
        for _ in range(10_000):
            run = taut.SymplecticEuler() if fresh else run
            states.append(run.step(system, states[-1], 10.0)[0])

    with pytest.raises(taut.NotConverged, match=r"use h ≤ .* s|no finite energy") as caught:
        explode()
    assert caught.value.state is states[-1]
    assert np.isfinite(states[-1].q).all()
    assert caught.value.report.outcome == "not converged"


@pytest.mark.parametrize(
    "name",
    [
        "ExplicitEuler",
        "SymplecticEuler",
        "RK4",
        "ImplicitMidpoint",
        "TRBDF2",
        "BDF2",
        "ImplicitEuler",
        "LinearlyImplicitEuler",
    ],
)
def test_scripted_points_follow_their_path(name):
    def path(t):
        return (0.3 * np.sin(5 * t), 0.0, 0.1 * t)

    system = chain(6).with_(
        fixed=[0], constraints=[scripted([5], lambda t: np.array([5.0, 0, 0]) + path(t))]
    )
    for state, _ in taut.simulate(system, getattr(taut, name)(), 0.01, 0.3):
        np.testing.assert_allclose(state.q[5], np.array([5.0, 0, 0]) + path(state.t), atol=1e-13)
        backward = ("BDF2", "ImplicitEuler", "LinearlyImplicitEuler")
        slack = 0.05 if name in backward else 1e-6
        np.testing.assert_allclose(state.v[5], (1.5 * np.cos(5 * state.t), 0.0, 0.1), atol=slack)


def test_scripted_points_start_with_the_velocity_of_their_path():
    system = chain(3).with_(
        fixed=[0], constraints=[scripted([2], lambda t: (2 + 0.5 * t + t * t, 0, 0))]
    )
    np.testing.assert_allclose(system.initial_state().v[2], (0.5, 0, 0), atol=1e-9)
    still = chain(3).with_(fixed=[0], constraints=[scripted([2], lambda t: (2.0, 0, 0))])
    assert not still.initial_state().v.any()


def test_explicit_euler_explodes_as_theory_says(log):
    """An undamped oscillation grows by √(1 + h²ω²) a step, also with a hundredth of the step.

    With damping of the rate d it grows exactly if h > d/ω².
    """
    omega = 10.0
    ball = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.pin(k=omega**2)], pose=[[0.1, 0, 0]])
    start = ball.initial_state()
    for h in (0.02, 0.0002):
        *_, (state, report) = taut.simulate(ball, taut.ExplicitEuler(), h, 1.0)
        grown = (ball.T(state) + ball.V(state)) / ball.V(start)
        assert grown == pytest.approx((1 + (h * omega) ** 2) ** round(1.0 / h), rel=1e-9)
        factor = f"1 + {np.sqrt(1 + (h * omega) ** 2) - 1:.3g}"
        assert f"h = {h:g} s multiplies the fastest one of this system by {factor} " in report.note
    assert len(log.records) == 2, "one warning for each integrator"
    assert taut.ExplicitEuler.limit(omega) == taut.ExplicitEuler.limit(omega, 3.0) == 0.0
    assert taut.ExplicitEuler.limit(0.0, 4.0) == pytest.approx(0.5, rel=1e-9)
    assert taut.ExplicitEuler.limit(0.0) == np.inf
    rate = 2.0
    for h, decays in ((0.99 * rate / omega**2, True), (1.01 * rate / omega**2, False)):
        damped = ball.with_(damping=[laws.drag(alpha=rate)])
        *_, (state, _) = taut.simulate(damped, taut.ExplicitEuler(), h, 2000 * h)
        assert (ball.T(state) + ball.V(state) < ball.V(start)) == decays
