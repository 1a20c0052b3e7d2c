"""Adaptive steps: roll back, halve, recover and report; and an error bound."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.step.adaptive import _LENGTH as LENGTH
from tests.laws.motion import UNTIL, pendulum, reference
from tests.laws.test_integrators import OBEYS, create_integrator


class Fragile(taut.ImplicitEuler):
    """Fails for steps longer than `longest` at times from `begin` to `end`."""

    def __init__(self, longest, begin=0.0, end=np.inf):
        super().__init__()
        self.longest, self.begin, self.end, self.tried = longest, begin, end, []

    def advance(self, system, state, h):
        self.tried.append((state.t, h))
        if h > self.longest and self.begin <= state.t < self.end:
            raise taut.NotConverged("too long", None, state)
        return super().advance(system, state, h)


def spring():
    return taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=30.0), laws.gravity()],
    )


def test_successful_step_equals_the_inner_integrator():
    system = spring()
    state = system.initial_state()
    plain, _ = taut.ImplicitEuler().step(system, state, 0.1)
    adaptive, report = taut.Adaptive(taut.ImplicitEuler()).step(system, state, 0.1)
    assert adaptive.q.tobytes() == plain.q.tobytes()
    assert (report.substeps, report.retries, report.note) == (1, 0, "")
    assert not adaptive.history


def test_failures_roll_back_halve_and_recover():
    system, inner = spring(), Fragile(0.03, 0.2, 0.35)
    reports = [r for _, r in taut.simulate(system, taut.Adaptive(inner), 0.1, 1.0)]
    assert [r.t for r in reports] == pytest.approx(np.arange(1, 11) * 0.1)
    assert [r.substeps for r in reports[:2]] == [1, 1]
    assert reports[2].substeps >= 4
    assert reports[2].retries >= 2
    assert "shortened to 0.025 s" in reports[2].note
    assert "retries" in str(reports[2])
    assert [r.substeps for r in reports[5:]] == [1] * 5, "the step size must recover"
    assert all(r.outcome == "converged" for r in reports)


def test_result_equals_the_substeps():
    system = spring()
    state, report = taut.Adaptive(Fragile(0.026)).step(system, system.initial_state(), 0.1)
    assert report.substeps == 4
    *_, (plain, _) = taut.simulate(system, taut.ImplicitEuler(), 0.025, 0.1)
    np.testing.assert_allclose(state.q, plain.q, atol=1e-14)
    assert state.t == 0.1


def test_successful_substep_size_is_stored_in_the_state():
    system, inner = spring(), Fragile(0.03)
    adaptive = taut.Adaptive(inner)
    state, _ = adaptive.step(system, system.initial_state(), 0.1)
    assert state.history[LENGTH] < 0.1
    inner.tried.clear()
    adaptive.step(system, state, 0.1)
    assert inner.tried[0][1] < 0.1, "the next step must not start with the size that failed"


def test_halving_limit_raises_with_the_state_intact():
    system, inner = spring(), Fragile(0.0)
    state = system.initial_state()
    with pytest.raises(taut.NotConverged, match=r"given up after 4 attempts: too long") as caught:
        taut.Adaptive(inner, halvings=3).step(system, state, 0.1)
    assert caught.value.state is state
    assert caught.value.report.outcome == "not converged"
    assert caught.value.report.retries == 4
    assert [h for _, h in inner.tried] == [0.1, 0.05, 0.025, 0.0125]


def test_explicit_blow_up_is_caught_and_shortened():
    """An explicit method far beyond its limit overflows; shorter substeps do not."""
    system = taut.System([[0, 0, 0]], mass=1.0, energies=[stiffening(k=1e6)], pose=[[1.0, 0, 0]])
    with pytest.raises(taut.NotConverged, match="use h ≤"):
        for _ in taut.simulate(system, taut.SymplecticEuler(), 0.1, 2.0):
            pass
    adaptive = taut.Adaptive(taut.RK4(), error=1e-6)
    *_, (state, report) = taut.simulate(system, adaptive, 0.1, 0.2)
    assert report.retries + report.substeps > 10
    energy = system.T(state) + system.V(state)
    assert energy == pytest.approx(system.V(system.initial_state()), rel=1e-4)


@taut.energy
def stiffening(x, k):
    r = taut.formula.dot(x[0], x[0])
    return k / 4 * r**2


@pytest.mark.parametrize(
    "inner",
    [
        taut.SymplecticEuler,
        taut.RK4,
        taut.ImplicitEuler,
        taut.ImplicitMidpoint,
        taut.BDF2,
        taut.TRBDF2,
    ],
)
def test_a_tighter_bound_gives_a_smaller_error(inner):
    errors, counts = [], []
    for bound in (1e-4, 1e-6):
        run = taut.simulate(pendulum(), taut.Adaptive(inner(), error=bound), UNTIL / 5, UNTIL)
        *_, (state, report) = run
        errors.append(np.abs(state.q[1] - reference()[:3]).max())
        counts.append(run.summary.substeps)
        assert 0.0 < report.error <= bound
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 1e-3
    expected = 100.0 ** (1 / (inner.order + 1))
    assert counts[1] / counts[0] == pytest.approx(expected, rel=0.6)


class Counted(taut.TRBDF2):
    """Counts its work."""

    def __init__(self):
        super().__init__()
        self.iterations = self.evaluations = 0

    def advance(self, system, state, h):
        done = super().advance(system, state, h)
        self.iterations += done.report.iterations
        self.evaluations += done.report.evaluations
        return done


def test_all_work_is_reported():
    """Including whole steps that only estimate the error, and rejected attempts."""
    adaptive = taut.Adaptive(Counted(), error=1e-5)
    inner = adaptive.integrator
    run = taut.simulate(pendulum(), adaptive, UNTIL / 5, UNTIL)
    assert sum(r.retries for _, r in run) > 0
    assert run.summary.iterations == inner.iterations
    assert run.summary.evaluations == inner.evaluations


def test_a_step_of_too_many_iterations_is_shortened(monkeypatch):
    """A shorter step is solved sooner; the integrator itself goes on as far as it takes."""
    system, plain = pendulum(), taut.ImplicitEuler()
    _, report = plain.step(system, system.initial_state(), UNTIL / 5)
    monkeypatch.setattr("taut.step.adaptive._MAX_ITERATIONS", report.iterations - 1)
    adaptive = taut.Adaptive(plain)
    _, shortened = adaptive.step(system, system.initial_state(), UNTIL / 5)
    assert shortened.outcome == "converged"
    assert shortened.retries > 0
    assert shortened.substeps > 1
    assert plain.max_iterations is None


@pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
def test_error_estimate_matches_the_error(integrator):
    """One error-controlled step of an oscillator from its exact state: the estimate equals the
    error up to the next order in h·ω = 0.04.
    """
    omega, h, phase = 2.0, 0.02, 0.7

    def exact(t):
        return np.cos(phase + omega * t), -omega * np.sin(phase + omega * t)

    x, v = exact(0.0)
    system = taut.System(
        [[0, 0, 0]],
        mass=1.0,
        energies=[laws.pin(k=omega**2)],
        pose=[[x, 0, 0]],
        velocity=[[v, 0, 0]],
    )
    before, speed = exact(-h / 2)
    history = {"BDF2 moved": [[x - before, 0, 0]], "BDF2 v": [[speed, 0, 0]], "BDF2 h": h / 2}
    start = system.initial_state().with_(
        history=history if "the previous step" in integrator.needs else {}
    )
    state, report = taut.Adaptive(create_integrator(integrator), error=1.0).step(system, start, h)
    assert report.substeps == 2
    assert report.error == pytest.approx(abs(state.q[0, 0] - exact(h)[0]), rel=0.05)


def test_overflow_shortens_the_step():
    """A prediction that overflows counts as a failed attempt."""
    system = taut.System([[0, 0, 0]], mass=1.0, velocity=[[1e300, 0, 0]])
    for integrator in OBEYS:
        with pytest.raises(taut.NotConverged, match="given up after 17 attempts"):
            taut.Adaptive(create_integrator(integrator)).step(system, system.initial_state(), 1e20)


def test_explicit_integrator_warns(log):
    system = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.pin(k=1e4)], pose=[[1e-3, 0, 0]])
    for _ in taut.simulate(system, taut.Adaptive(taut.SymplecticEuler()), 0.03, 0.09):
        pass
    assert [r.message for r in log.records] == [
        "h = 0.03 s is beyond the limit of SymplecticEuler for this system; use h ≤ 0.02 s"
    ]


def test_reject_damaged_step_size():
    system = spring()
    for bad in (np.nan, 0.0, -1.0, [0.1, 0.2]):
        with pytest.raises(taut.errors.ModelError, match="adaptive h"):
            taut.Adaptive(taut.BDF2()).step(
                system, system.initial_state().with_(history={LENGTH: bad}), 0.1
            )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x",), "needs an integrator"),
        ((taut.BDF2(), {"error": -1.0}), "error of an adaptive step"),
        ((taut.BDF2(), {"error": np.nan}), "error of an adaptive step"),
        ((taut.BDF2(), {"halvings": -1}), "halvings"),
        ((taut.Adaptive(taut.BDF2()),), "needs an integrator"),
    ],
)
def test_reject_bad_arguments(arguments, message):
    options = arguments[1] if len(arguments) > 1 else {}
    with pytest.raises(taut.errors.ModelError, match=message):
        taut.Adaptive(arguments[0], **options)


@taut.energy
def wall(x, k):
    """The energy is undefined below y = 0."""
    return -k * taut.formula.log(x[0][1])


@pytest.mark.parametrize(
    "integrator", [taut.ImplicitMidpoint, taut.SymplecticEuler, taut.TRBDF2, taut.RK4]
)
def test_end_with_undefined_energy_is_rolled_back(integrator):
    system = taut.System(
        [[0, 0.1, 0]], mass=1.0, velocity=[[0, -10.0, 0]], energies=[wall(k=20.0), laws.gravity()]
    )
    for state, _ in taut.simulate(system, taut.Adaptive(integrator()), 0.03, 0.09):
        assert state.q[0, 1] > 0.0
