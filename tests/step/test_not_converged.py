"""`NotConverged` always carries a Report on the residual forces."""

import math

import pytest

import taut
from taut import laws

G = 9.81


def weight():
    """2 kg at the end of an unstretched spring."""
    spring = laws.spring([[0, 1]], k=981.0)
    return taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=2.0, fixed=[0], energies=[spring, laws.gravity([1])]
    )


def a_step():
    """A step whose start is the old positions: stretched by 1 m, 9810 N would carry far beyond."""
    stretched = weight().initial_state().with_(q=[[0, 0, 0], [2, 0, 0]])
    taut.ImplicitEuler().step(weight(), stretched, 0.1)


def an_equilibrium():
    taut.equilibrium(weight(), loads=[0.5])


def a_form():
    taut.form_finding(
        [[0, 0, 0], [1, 5, 0], [4, 0, 0]], fixed=[0, 2], edges=[[0, 1], [1, 2]], density=[3.0, 1.0]
    )


@pytest.mark.parametrize(
    ("solve", "name", "residual"),
    [
        (a_step, "ImplicitEuler", math.hypot(981.0, 2 * G)),
        (
            an_equilibrium,
            "equilibrium",
            2 * G * 0.5 / 256,
        ),  # of the smallest load step
        (a_form, "form_finding", 20.0),  # 3 N/m·(-1, -5) m + 1 N/m·(3, -5) m
    ],
    ids=["step", "equilibrium", "form"],
)
def test_report_names_the_residual_force(monkeypatch, solve, name, residual):
    """Without any Newton iteration it is the force at the start."""
    monkeypatch.setattr("taut.optimise.newton.MAX_ITERATIONS", 0)
    # The compiled stage of small systems has a limit of its own.
    monkeypatch.setattr(taut.step.Implicit, "_solve_compiled", lambda *_: None)
    with pytest.raises(taut.NotConverged, match="0 Newton iterations were not enough") as caught:
        solve()
    report = caught.value.report
    assert isinstance(report, taut.Report)
    assert (report.integrator, report.outcome, report.particle) == (name, "not converged", 1)
    assert report.residual == pytest.approx(residual, rel=1e-12)
    assert 0.0 < report.tolerance < 1e-6 * residual
    assert report.evaluations > 0
