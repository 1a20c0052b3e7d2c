"""An interrupt within a step leaves that step out; the run resumes with the same bits."""

import pytest

import taut
from taut.run.open_run import open_run
from taut.run.record import record, resume
from tests.run.recordings import bits, frames, small_net

pytestmark = pytest.mark.usefixtures("no_picture")
H, UNTIL = 0.02, 0.2
MAKE = [
    taut.ImplicitEuler,
    taut.TRBDF2,
    lambda: taut.BDF2(solver="cg"),
    lambda: taut.Adaptive(taut.ImplicitEuler(), error=1e-2),
]


def interrupt_at(step, iteration):
    """A watcher that raises at an iteration of a step, and whether it has done so."""
    raised = []

    def watch(at):
        if (at.step, at.work.iterations) == (step, iteration):
            raised.append(at)
            raise KeyboardInterrupt

    return watch, lambda: bool(raised)


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize(("step", "iteration"), [(1, 0), (1, 1), (6, 0), (6, 1)])
def test_interrupted_step_is_left_out(tmp_path, make, step, iteration):
    """Between two frames, so that a checkpoint must be written for it."""
    system, whole, cut = small_net(), tmp_path / "whole", tmp_path / "cut"
    expected = record(whole, system, make(), h=H, until=UNTIL, every=4)
    watch, stop = interrupt_at(step, iteration)
    done = record(cut, system, make(), h=H, until=UNTIL, every=4, watch=watch, stop=stop)
    assert (done.outcome, done.step) == ("interrupted", step - 1)
    with open_run(cut) as run:
        assert (run.status, run.step) == ("interrupted", step - 1)
    end = resume(cut, system, make())
    assert bits(end.state) == bits(expected.state)
    assert frames(cut) == frames(whole)


def test_interrupt_is_raised_again_unless_the_run_was_to_stop(tmp_path):
    system, (watch, _) = small_net(), interrupt_at(3, 1)
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path, system, taut.ImplicitEuler(), h=H, until=UNTIL, every=100, watch=watch)
    with open_run(tmp_path) as run:
        assert (run.status, run.step) == ("interrupted", 2)
    assert resume(tmp_path, system, taut.ImplicitEuler()).outcome == "finished"
