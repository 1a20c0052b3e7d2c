"""Every method on x'' = -ω²x - d x': the trajectory matches its recurrence, to rounding."""

import numpy as np
import pytest

import taut
from taut import laws
from tests.laws.test_integrators import OBEYS, create_integrator

H, OMEGA, RATE, X0, V0 = 0.05, 7.0, 0.6, 0.3, -0.8
C = 2 - np.sqrt(2)
A = np.array([[0.0, 1.0], [-(OMEGA**2), -RATE]])  # d/dt (x, v)
ONE = np.eye(2)


def expected_trajectory(name, steps):
    """(x, v) after each step, from the method's formula on the 2×2 system."""
    y, out = np.array([X0, V0]), []
    euler = np.linalg.inv(ONE - H * A)
    last = None
    for _ in range(steps):
        if name == "ExplicitEuler":
            new = (ONE + H * A) @ y
        elif name == "SymplecticEuler":
            v = y[1] + H * (A @ y)[1]
            new = np.array([y[0] + H * v, v])
        elif name == "VelocityVerlet":
            a = (A @ y)[1]
            x = y[0] + H * y[1] + H * H / 2 * a
            new = np.array([x, y[1] + H / 2 * (a + (A @ [x, y[1] + H * a])[1])])
        elif name == "RK4":
            z = H * A
            new = (ONE + z + z @ z / 2 + z @ z @ z / 6 + z @ z @ z @ z / 24) @ y
        elif name in ("ImplicitEuler", "LinearlyImplicitEuler", "Unprojected") or (
            name == "BDF2" and last is None
        ):
            new = euler @ y
        elif name == "ImplicitMidpoint":
            new = np.linalg.solve(ONE - H / 2 * A, (ONE + H / 2 * A) @ y)
        elif name == "BDF2":
            new = np.linalg.solve(ONE - 2 / 3 * H * A, (4 * y - last) / 3)
        elif name == "TRBDF2":
            middle = np.linalg.solve(ONE - C * H / 2 * A, (ONE + C * H / 2 * A) @ y)
            new = np.linalg.solve(
                (2 - C) * ONE - (1 - C) * H * A, middle / C - (1 - C) ** 2 / C * y
            )
        last, y = y, new
        out.append(y)
    return np.array(out)


@pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
@pytest.mark.parametrize("damper", ["drag", "rayleigh"])
def test_trajectory_matches_the_recurrence(integrator, damper):
    system = taut.System(
        [[0, 0, 0]],
        mass=1.5,
        energies=[laws.pin(k=1.5 * OMEGA**2)],
        pose=[[X0, 0, 0]],
        velocity=[[V0, 0, 0]],
        damping=[laws.drag(alpha=RATE) if damper == "drag" else laws.rayleigh(alpha=RATE)],
    )
    method = create_integrator(integrator, taut.Tolerance(1e-14))
    got = [(s.q[0, 0], s.v[0, 0]) for s, _ in taut.simulate(system, method, H, 100 * H)]
    np.testing.assert_allclose(
        got, expected_trajectory(integrator.__name__, 100), rtol=1e-13, atol=1e-12
    )


def test_bdf2_with_changing_steps_is_exact_for_a_parabola():
    """q = t², v = 2t under a constant force, for any step sizes: the variable-step formula is of
    second order.
    """
    system = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.force(f=(2.0, 0, 0))])
    integrator, state = taut.BDF2(tolerance=taut.Tolerance(1e-15)), system.initial_state()
    state, _ = integrator.step(system, state, 0.1)
    offset, speed = state.q[0, 0] - state.t**2, state.v[0, 0] - 2 * state.t
    assert abs(speed) < 1e-15
    assert offset == pytest.approx(0.01)
    moved = []
    for h in (0.1, 0.05, 0.11, 0.2, 0.03):
        state, _ = integrator.step(system, state, h)
        moved.append(state.q[0, 0] - state.t**2)
        assert state.v[0, 0] == pytest.approx(2 * state.t, rel=1e-14)
    assert np.ptp(moved) < 0.01, "the first-order error of the start must decay"


def test_bdf2_restarts_when_the_step_grows_too_much():
    system = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.pin(k=9.0)], pose=[[0.3, 0, 0]])
    bdf2, euler = taut.BDF2(), taut.ImplicitEuler()
    state, _ = bdf2.step(system, system.initial_state(), 0.01)
    longer, report = bdf2.step(system, state, 0.025)
    assert "implicit Euler: h has grown too much" in report.note
    np.testing.assert_array_equal(longer.q, euler.step(system, state, 0.025)[0].q)
    edited, report = bdf2.step(system, state.with_(v=state.v), 0.01)
    assert "implicit Euler: there is no previous step" in report.note
    for history in (
        {"BDF2 h": 0.1},
        {**state.history, "BDF2 v": [[0, 0, 0], [1, 0, 0]]},
        {**state.history, "BDF2 h": -1.0},
    ):
        with pytest.raises(taut.errors.ModelError, match="history"):
            bdf2.step(system, state.with_(history=history), 0.01)
    np.testing.assert_array_equal(edited.q, euler.step(system, state, 0.01)[0].q)


def test_multistep_history_is_accurate_far_from_the_origin():
    """1000 km from the origin a coordinate is accurate to 1e-10 m, a velocity still to 1e-12."""
    flight = taut.System([[1e6, 1e6, 0]], mass=1.0, velocity=[[3e-7, 0, 0]])
    for integrator in (taut.BDF2(), taut.TRBDF2(), taut.ImplicitMidpoint()):
        *_, (state, _) = taut.simulate(flight, integrator, 1e-4, 1e-2)
        assert state.v[0, 0] == pytest.approx(3e-7, rel=1e-9)
