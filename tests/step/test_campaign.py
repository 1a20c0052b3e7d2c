"""A hundred stiff and silly scenes: nearly all are solved, the rest end in a typed error, and nothing else comes up."""

import pytest

import taut
from benchmarks.campaign import SOLVED, Result, campaign, main, run, scene, summary


def test_a_hundred_scenes():
    results = campaign(range(100))
    found = summary(results)
    assert not found["defects"]
    solved = found["converged"] + found["rounding floor"]
    assert solved >= SOLVED * 100, found
    assert solved + sum(found["errors"].values()) == found["scenes"] == 100
    assert sum(found["steps"].values()) == sum(len(r.outcomes) for r in results)
    assert set(found["steps"]) <= {"converged", "rounding floor"}


def test_a_scene_can_be_repeated():
    a, b = (run(scene(7), taut.ImplicitEuler()) for _ in range(2))
    assert (a.outcomes, a.iterations) == (b.outcomes, b.iterations)
    assert scene(7).system.pose.tobytes() == scene(7).system.pose.tobytes() != scene(7, seed=1).system.pose.tobytes()


def test_what_must_not_happen_is_noticed(monkeypatch, capsys):
    """An integrator that makes energy, one that divides by zero, one that gives up: two defects, one typed error."""

    class Kick(taut.ImplicitEuler):
        def step(self, system, state, h):
            new, report = super().step(system, state, h)
            return new.with_(v=new.v + 1e6), report

    class Broken(taut.ImplicitEuler):
        def step(self, system, state, h):
            raise ZeroDivisionError

    class Weary(taut.ImplicitEuler):
        def step(self, system, state, h):
            raise taut.ModelError("particle 17 is 3.5e-2 m away: too far")

    assert "out of nowhere" in run(scene(0), Kick()).defect
    assert "ZeroDivisionError" in run(scene(0), Broken()).defect
    assert run(scene(0), Weary()).error == "ModelError: too far"
    monkeypatch.setattr("benchmarks.campaign.campaign", lambda *_: [Result(0, "x", error="ModelError: too far")])
    monkeypatch.setattr("sys.argv", ["campaign", "--scenes", "1"])
    assert main() == 1
    assert "1  ModelError: too far" in capsys.readouterr().out


@pytest.mark.parametrize("number", [669, 1679, 1864])
def test_rounding_hides_no_rise_of_the_objective(number):
    """Hinges between particles that all but coincide: forces so large that rounding may hide joules on the way."""
    assert not run(scene(number), taut.ImplicitEuler()).defect


def test_conjugate_gradients_solve_nearly_all_too():
    results = [run(scene(i), taut.ImplicitEuler(solver="cg")) for i in range(20)]
    assert not [r.defect for r in results if r.defect]
    assert sum(r.solved for r in results) >= 0.9 * len(results)
