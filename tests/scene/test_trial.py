"""The time of a run from trial steps, with a clock that the test turns."""

import itertools

import pytest

import taut
from taut import scene
from taut.step.integrator import Integrator


def make_clock(step_seconds):
    """Return a clock that has advanced by the next of these numbers at each look."""
    times = itertools.accumulate([0.0, *step_seconds])
    return lambda: next(times)


def test_the_later_half_of_the_steps_counts():
    """300 steps: two of 5 s prepare; then 1, 1, 3, 3 and 3 s, of which the last three count."""
    built = scene.load("spring").build()
    clock = make_clock([5, 5, 1, 1, 3, 3, 3])
    trial = scene.try_steps(built, 20.5, clock=clock)
    assert trial.steps == 5
    assert trial.seconds == pytest.approx(21 + (300 - 7) * 3.0)
    assert trial.fault == ""


def test_slow_first_steps_end_a_trial():
    """The first step takes more than ten budgets: it is all that is known."""
    trial = scene.try_steps(scene.load("spring").build(), 2.0, clock=make_clock([21.0]))
    assert (trial.steps, trial.seconds) == (1, pytest.approx(300 * 21.0))


def test_a_short_run_is_tried_whole_and_a_budget_of_zero_takes_no_step():
    built = scene.load("spring", overrides=[("time.duration", 0.05)]).build()
    steps = scene.estimate(built).steps
    trial = scene.try_steps(built, 1e9, clock=make_clock([0.5] * steps))
    assert (trial.steps, trial.seconds) == (steps - 2, pytest.approx(0.5 * steps))
    assert scene.try_steps(built, 0.0) == scene.Trial(0, 0.0)


def test_a_failing_step_is_told(monkeypatch):
    """A spring whose law has no energy from its third step on."""
    built = scene.load("spring").build()
    advance, calls = type(built.integrator).advance, []

    def fail(self: Integrator, system, state, h):
        calls.append(state.t)
        if len(calls) == 3:
            raise taut.errors.SingularState("law 'spring': element 0 has no finite energy")
        return advance(self, system, state, h)

    monkeypatch.setattr(type(built.integrator), "advance", fail)
    trial = scene.try_steps(built, 1e9, clock=make_clock([0.1, 0.1]))
    assert trial.fault == "step 3 fails: law 'spring': element 0 has no finite energy"
    assert trial.seconds == pytest.approx(300 * 0.1)


def test_memory_is_linear_in_the_particles_and_counts_the_laws():
    """Springs along edges and diagonals: 4 kB a particle, measured; hinges have 10 blocks each."""
    sizes = {}
    for n in (40, 80):
        overrides = [("body.cloth.mesh.nx", n), ("body.cloth.mesh.ny", n)]
        sizes[n] = scene.estimate(scene.load("cloth", overrides=overrides)).memory
    bytes_each = (sizes[80] - sizes[40]) / (81**2 - 41**2)
    assert 8000 < bytes_each < 9500  # 9.1 kB measured
