"""A hundred stiff and silly scenes: nearly all are solved, the rest end in a typed error, and
nothing else comes up."""

from dataclasses import replace

import pytest

import taut
from benchmarks.campaign import main
from benchmarks.reliability.random_scenes import scene
from benchmarks.reliability.random_steps import SOLVED, Result, campaign, run, summary


def test_a_hundred_scenes():
    results = campaign(range(400, 500))
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
    assert (
        scene(7).system.pose.tobytes()
        == scene(7).system.pose.tobytes()
        != scene(7, seed=1).system.pose.tobytes()
    )


def test_what_must_not_happen_is_noticed(monkeypatch, capsys):
    """Integrators that make energy, lose it, boast, divide by zero or refuse what is valid:
    defects; one that gives up: a typed
    error; one that lacks its kernels: the end of the campaign."""

    class Kick(taut.ImplicitEuler):
        def step(self, system, state, h):
            new, report = super().step(system, state, h)
            return new.with_(v=new.v + 1e6), report

    class Broken(taut.ImplicitEuler):
        def step(self, system, state, h):
            raise ZeroDivisionError

    class Weary(taut.ImplicitEuler):
        def step(self, system, state, h):
            raise taut.errors.SingularState("particle 17 is 3.5e-2 m away: too far")

    class Strict(taut.ImplicitEuler):
        def step(self, system, state, h):
            raise taut.errors.ModelError("there is no such argument")

    class Homeless(taut.ImplicitEuler):
        def step(self, system, state, h):
            raise taut.errors.CacheError("the kernel cache is open to others")

    class Tired(taut.ImplicitEuler):
        def step(self, system, state, h):
            new, report = super().step(system, state, h)
            return new.with_(v=0.999 * new.v), report

    class Boastful(taut.ImplicitEuler):
        def step(self, system, state, h):
            new, report = super().step(system, state, h)
            return new, replace(
                report, residual=float("inf"), floor=float("inf"), outcome="rounding floor"
            )

    assert "out of nowhere" in run(scene(0), Kick()).defect
    assert any("is left with" in run(scene(i), Tired()).defect for i in range(4)), (
        "a state that its report does not fit"
    )
    assert "not finite" in run(scene(0), Boastful()).defect
    assert "ZeroDivisionError" in run(scene(0), Broken()).defect
    assert run(scene(0), Weary()).error == "SingularState: too far"
    assert run(scene(0), Strict()).defect == "ModelError: there is no such argument", (
        "valid scenes are not refused"
    )
    with pytest.raises(
        taut.errors.CacheError
    ):  # which would be said of each scene, and says nothing of any
        run(scene(0), Homeless())
    monkeypatch.setattr(
        "benchmarks.campaign.campaign", lambda *_: [Result(0, "x", error="SingularState: too far")]
    )
    monkeypatch.setattr("sys.argv", ["campaign", "--scenes", "1"])
    assert main() == 1
    assert "1  SingularState: too far" in capsys.readouterr().out


@pytest.mark.parametrize("number", [669, 1679, 1864])
def test_rounding_hides_no_rise_of_the_objective(number):
    """Hinges between particles that all but coincide: forces so large that rounding may hide joules
    on the way."""
    assert not run(scene(number), taut.ImplicitEuler()).defect


def test_some_bodies_slide_on_planes_and_lines_across_the_axes():
    slid = [s for s in map(scene, range(100)) if "on_" in s.words]
    assert {"on_plane", "on_line"} == {c.kind for s in slid for c in s.system.constraints}
    assert all(len(s.system.projector.oblique_particles) for s in slid)


def test_options_reach_the_integrator(monkeypatch, capsys):
    made = []
    monkeypatch.setattr(
        "benchmarks.campaign.campaign",
        lambda numbers, seed, make: made.append(make()) or [Result(0, "x")],
    )
    monkeypatch.setattr(
        "sys.argv", ["campaign", "--scenes", "1", "--minimiser", "lbfgs", "--solver", "cg"]
    )
    assert main() == 0
    assert (made[0].minimiser, made[0].solver_name) == ("lbfgs", "cg")
    monkeypatch.setattr(
        "sys.argv", ["campaign", "--integrator", "VelocityVerlet", "--minimiser", "lbfgs"]
    )
    with pytest.raises(SystemExit):
        main()
    assert "minimiser" in capsys.readouterr().err


def test_conjugate_gradients_solve_nearly_all_too():
    results = [run(scene(i), taut.ImplicitEuler(solver="cg")) for i in range(20)]
    assert not [r.defect for r in results if r.defect]
    assert sum(r.solved for r in results) >= 0.9 * len(results)
