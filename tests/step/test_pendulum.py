"""A stiff elastic pendulum: its period at large amplitudes, T/T₀ = (2/π) K(sin²(θ₀/2))."""

import numpy as np
import pytest

import taut
from taut import laws

STIFF = 1e6  # kL/mg


def period(integrator, degrees, h):
    """From the highest point to the lowest is a quarter period; timed at the vertical."""
    angle = np.radians(degrees)
    start = [np.sin(angle), -np.cos(angle), 0.0]
    system = taut.System(
        [[0, 0, 0], start],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=STIFF * 9.81), laws.gravity()],
    )
    last = system.initial_state()
    for state, _ in taut.simulate(system, integrator, h, 10.0):
        if state.q[1, 0] <= 0.0:
            a, b = last.q[1, 0], state.q[1, 0]
            t = last.t + h * a / (a - b)  # straight: the speed there is stationary
            return 4 * t / (2 * np.pi / np.sqrt(9.81))
        last = state
    raise AssertionError("it never came down")


@pytest.mark.parametrize("integrator", [taut.ImplicitMidpoint, taut.BDF2, taut.TRBDF2])
def test_period_by_implicit_methods(integrator):
    """Steps that do not resolve the spring, whose period is 2 ms."""
    errors = [abs(period(integrator(), 90, h) - 1.1803406) for h in (8e-3, 4e-3)]
    assert errors[1] < 2e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
