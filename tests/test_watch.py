"""Watching a computation: what the watcher sees, and how it ends the computation."""

import threading

import numpy as np
import pytest

import taut
from taut import laws
from taut.watch import is_watched, report_iteration, watching

INTEGRATORS = [
    taut.ImplicitEuler,
    taut.TRBDF2,
    lambda: taut.ImplicitEuler(minimiser="lbfgs"),
    lambda: taut.Adaptive(taut.ImplicitEuler(), error=1e-3),
]


def net():
    """A net too large for the compiled stage, which reports once for all of its iterations."""
    sheet = taut.mesh.sheet(16, 16)
    energies = [laws.spring(sheet.edges, k=60.0), laws.gravity()]
    return taut.System(sheet.points, mass=1e-2, fixed=sheet.corners("top"), energies=energies)


@pytest.mark.parametrize("make", INTEGRATORS)
def test_watcher_sees_all_iterations_of_a_step(make):
    system, seen = net(), []
    with watching(lambda work: seen.append((work.iterations, work.residual))):
        _, report = make().step(system, system.initial_state(), 0.02)
    counts, residuals = zip(*seen, strict=True)
    assert (counts[0], residuals[0]) == (0, None)
    assert list(counts) == sorted(counts)
    assert counts[-1] == report.iterations > 0
    assert residuals[1] > 1.0  # the first iteration begins away from the solution
    assert residuals[-1] <= 1.0


@pytest.mark.parametrize("make", INTEGRATORS)
def test_step_after_an_interrupted_one_has_the_same_bits(make):
    """The same system, integrator and state are used again after each interrupt."""
    system, integrator = net(), make()
    start = system.initial_state()
    expected, _ = make().step(net(), start, 0.02)
    for when in range(1, 3):

        def interrupt(work, when=when):
            if work.iterations == when:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt), watching(interrupt):
            integrator.step(system, start, 0.02)
        state, _ = integrator.step(system, start, 0.02)
        assert np.array_equal(state.q, expected.q)
        assert np.array_equal(state.v, expected.v)


def test_each_thread_has_its_own_watcher():
    seen = []
    with watching(lambda work: None):
        other = threading.Thread(target=lambda: seen.append(is_watched()))
        other.start()
        other.join()
        assert is_watched()
    assert seen == [False]
    assert not is_watched()
    report_iteration(None)  # without a watcher nothing happens
