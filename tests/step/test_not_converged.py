"""What `NotConverged` carries is the same whatever failed: a Report on the forces that are left."""

import pytest

import taut
from taut import laws

G = 9.81


def weight():
    """2 kg at the end of a spring that is neither stretched nor under any other load."""
    spring = laws.spring([[0, 1]], k=981.0)
    return taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=2.0, fixed=[0], energies=[spring, laws.gravity([1])]
    )


def a_step():
    taut.ImplicitEuler().step(weight(), weight().initial_state(), 0.01)


def an_equilibrium():
    taut.equilibrium(weight(), loads=[0.5])


def a_form():
    taut.form_finding(
        [[0, 0, 0], [1, 5, 0], [4, 0, 0]], fixed=[0, 2], edges=[[0, 1], [1, 2]], density=[3.0, 1.0]
    )


@pytest.mark.parametrize(
    ("solve", "name", "left"),
    [
        (a_step, "ImplicitEuler", 2 * G),
        (
            an_equilibrium,
            "equilibrium",
            2 * G * 0.5 / 256,
        ),  # of the smallest part into which the load is divided
        (a_form, "form_finding", 20.0),  # 3 N/m·(-1, -5) m + 1 N/m·(3, -5) m
    ],
    ids=["step", "equilibrium", "form"],
)
def test_the_report_says_which_force_is_left(monkeypatch, solve, name, left):
    """Without any iteration of Newton's method it is the force at the start."""
    monkeypatch.setattr("taut.optimise.newton.MAX_ITERATIONS", 0)
    with pytest.raises(taut.NotConverged, match="0 Newton iterations were not enough") as caught:
        solve()
    report = caught.value.report
    assert isinstance(report, taut.Report)
    assert (report.integrator, report.outcome, report.particle) == (name, "not converged", 1)
    assert report.residual == pytest.approx(left, rel=1e-12)
    assert 0.0 < report.tolerance < 2e-8 * left  # 1e-8 of the gross force
    assert report.evaluations > 0
