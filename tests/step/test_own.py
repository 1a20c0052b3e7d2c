"""Users' own integrators: the base classes of taut.step, and the errors of incomplete ones."""

import re
from pathlib import Path

import numpy as np
import pytest

import taut
from taut import laws
from taut.step import Explicit, Implicit, Integrator

GUIDE = Path(__file__).parents[2] / "docs/guide/own-integrator.md"


@pytest.fixture(scope="module")
def guide():
    """The classes of the guide."""
    space: dict = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)[:2]:
        exec(block, space)
    return space


def oscillator(omega=3.0):
    return taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=2.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=2.0 * omega**2)],
        pose=[[0, 0, 0], [1.2, 0, 0]],
        velocity=[[0, 0, 0], [0.3, 0, 0]],
    )


def run(system, integrator, h, steps):
    *_, (state, _) = taut.simulate(system, integrator, h=h, until=steps * h)
    return np.array([state.q[1, 0] - 1, state.v[1, 0]])


@pytest.mark.parametrize("theta", [0.5, 0.7, 1.0])
def test_theta_rule_has_its_rational_function(guide, theta):
    """y' = (I - θhA)⁻¹(I + (1-θ)hA) y of y = (x, v), A = [[0, 1], [-ω², 0]]."""
    h, steps, A = 0.05, 20, np.array([[0, 1], [-9.0, 0]])
    step = np.linalg.solve(np.eye(2) - theta * h * A, np.eye(2) + (1 - theta) * h * A)
    expected = np.linalg.matrix_power(step, steps) @ [0.2, 0.3]
    integrator = guide["ThetaRule"](theta, tolerance=taut.Tolerance(relative=1e-12))
    np.testing.assert_allclose(run(oscillator(), integrator, h, steps), expected, atol=1e-10)


def test_position_verlet_has_its_recurrence(guide):
    """x_{n+1} - 2x_n + x_{n-1} = -h²ω² of the mean of neighbouring half points."""
    h, steps = 0.05, 20
    drift, kick = np.array([[1, h / 2], [0, 1]]), np.array([[1, 0], [-9.0 * h, 1]])
    expected = np.linalg.matrix_power(drift @ kick @ drift, steps) @ [0.2, 0.3]
    got = run(oscillator(), guide["PositionVerlet"](), h, steps)
    np.testing.assert_allclose(got, expected, atol=1e-13)


@pytest.mark.parametrize("name", ["PositionVerlet", "ThetaRule"])
def test_loads_constraints_damping_and_the_ledger(guide, name):
    """A cloth that is blown, held, dragged along a path and damped: all energy is accounted for."""
    mesh = taut.mesh.sheet(3, 3, pattern="alternating")
    system = taut.System(
        mesh.points,
        mass=0.01,
        fixed=[0],
        energies=[laws.spring(mesh.edges, k=20.0), laws.gravity()],
        damping=[laws.spring_damping(mesh.edges, c=0.01)],
        loads=[laws.wind(mesh.triangles, velocity=(1.0, 0.5, 3.0))],
        constraints=[
            taut.constraints.on_line([3], direction=(1, 0, 0)),
            taut.constraints.fixed([12], until=0.02),
        ],
    )
    ledger = taut.Ledger()
    for state, _ in taut.simulate(system, guide[name](), h=2e-3, until=0.05, ledger=ledger):
        assert state.q[0].tolist() == mesh.points[0].tolist()
        assert abs(state.q[3, 1]) < 1e-15
    assert max(abs(e.gap) for e in ledger.entries) < 1e-9 * max(e.scale for e in ledger.entries)
    assert np.abs(state.q - mesh.points).max() > 1e-3


def test_adaptive_steps_of_an_own_method(guide):
    """Error control of the trapezoidal rule, order 2 by its subclass."""

    class Trapezoidal(guide["ThetaRule"]):
        order = 2

    integrator = taut.Adaptive(Trapezoidal(0.5), error=1e-5)
    h = 0.5
    got = run(oscillator(), integrator, h, 4)
    t, omega = 2.0, 3.0
    expected = 0.2 * np.cos(omega * t) + 0.1 * np.sin(omega * t)
    assert got[0] == pytest.approx(expected, abs=1e-3)


def test_unfinished_classes_name_what_is_missing():
    class NoFormula(Explicit):
        order = 1

    class NoBook(Implicit):
        order, stability, needs = 1, "A", ("forces",)

        def predict(self, workspace, state, h, solved):
            raise AssertionError

    class Nothing(Integrator):
        pass

    for kind, missing in (
        (NoFormula, "formula(), weights"),
        (NoBook, "book()"),
        (Nothing, "advance(), order, stability, needs"),
    ):
        with pytest.raises(taut.errors.ModelError, match=re.escape(f"must define {missing}")):
            kind()


def test_objects_that_are_no_integrators():
    class Stepper:
        order = 2

        def step(self, system, state, h):
            return state, None

    with pytest.raises(
        taut.errors.ModelError,
        match=r"which has no advance, check, warn, stability, needs; derive it from taut\.step",
    ):
        taut.simulate(oscillator(), Stepper(), h=0.1, until=1.0)


@pytest.mark.parametrize(("weights", "count"), [((), "more"), ((0.5, 0.5), "fewer")])
def test_weights_must_match_the_formula(guide, weights, count):
    integrator = type("Wrong", (guide["PositionVerlet"],), {"weights": weights})()
    with pytest.raises(taut.errors.ModelError, match=f"evaluates {count} accelerations"):
        integrator.step(oscillator(), oscillator().initial_state(), 0.01)


def test_unknown_options_are_rejected(guide):
    with pytest.raises(TypeError, match="minimiser"):
        guide["PositionVerlet"](minimiser="newton")
