"""Stepping through time: number of steps, end time and start time."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.step.report import Report
from taut.step.step_result import StepResult


def ball():
    return taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()])


@pytest.mark.parametrize(
    ("h", "until", "count"),
    [(0.1, 1.0, 10), (1 / 60, 5.0, 300), (0.3, 1.0, 4), (0.1, 0.05, 1), (0.1, 0.0, 0)],
)
def test_number_of_steps_and_end(h, until, count):
    states = [state for state, _ in taut.simulate(ball(), taut.ImplicitEuler(), h, until)]
    assert len(states) == count
    if count:
        assert states[-1].t == pytest.approx(until, abs=1e-9)


@pytest.mark.parametrize(("t", "until"), [(0.25, 0.2), (0.0, -0.31), (0.0, 0.0)])
def test_an_end_in_the_past_takes_no_step(t, until):
    start = ball().initial_state().with_(t=t)
    assert list(taut.simulate(ball(), taut.ImplicitEuler(), 0.1, until, state=start)) == []


def test_long_run_has_no_tiny_last_step():
    fast = taut.System([[0, 0, 0]], mass=1.0)

    class Clock(taut.ImplicitEuler):
        def advance(self, system, state, h):
            return StepResult(
                state, state.with_(t=state.t + h), Report("Clock", state.t + h, h, "explicit")
            )

    assert sum(1 for _ in taut.simulate(fast, Clock(), 1e-3, 50.0)) == 50_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"integrator": taut.BDF2}, "must be an instance: BDF2"),
        ({"system": "x"}, r"taut\.System"),
        ({"state": "x"}, r"taut\.State"),
        ({"ledger": "x"}, r"taut\.Ledger"),
        ({"h": True}, "step h"),
        ({"h": 5e-324}, "at most 2.53 steps"),
        ({"until": "1"}, "end time"),
    ],
)
def test_reject_bad_arguments(changes, message):
    arguments = {"system": ball(), "integrator": taut.BDF2(), "h": 0.1, "until": 1.0, **changes}
    with pytest.raises(taut.errors.ModelError, match=message):
        taut.simulate(**arguments)


def test_numpy_numbers_are_accepted():
    *_, (state, _) = taut.simulate(ball(), taut.BDF2(), np.float32(0.5), np.int64(1))
    assert state.t == 1.0


def test_reject_step_too_small_to_change_the_time():
    system = ball()
    with pytest.raises(taut.errors.ModelError, match="must be large enough to change the time"):
        taut.ImplicitEuler().step(system, system.initial_state().with_(t=1e17), 1.0)
    for bad in (1e200, "0.1"):
        with pytest.raises(taut.errors.ModelError, match="step h"):
            taut.ImplicitEuler().step(system, system.initial_state(), bad)


def test_overflow_raises():
    system = ball().with_(velocity=[[1e308, 0, 0]])
    with pytest.raises(taut.TautError):
        taut.ImplicitEuler().step(system, system.initial_state(), 100.0)


def test_free_fall_in_implicit_euler():
    """v_n = -g n h exactly, y_n = y₀ - g h² n(n+1)/2."""
    *_, (state, report) = taut.simulate(ball(), taut.ImplicitEuler(), 0.1, 2.0)
    assert state.v[0, 1] == pytest.approx(-9.81 * 2.0, rel=1e-12)
    assert state.q[0, 1] == pytest.approx(10 - 9.81 * 0.01 * 20 * 21 / 2, rel=1e-12)
    assert report.t == state.t


def test_continue_from_a_state():
    whole = [s for s, _ in taut.simulate(ball(), taut.ImplicitEuler(), 0.1, 1.0)]
    rest = [s for s, _ in taut.simulate(ball(), taut.ImplicitEuler(), 0.1, 1.0, state=whole[3])]
    assert [s.q.tobytes() for s in rest] == [s.q.tobytes() for s in whole[4:]]
