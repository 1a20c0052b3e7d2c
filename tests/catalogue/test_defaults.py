"""Default parameters of the laws."""

import numpy as np
import pytest

import taut
from taut import laws

POINTS = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 2.0, 0]])  # area 1, normal +z


def test_wind_defaults():
    """At 60° to the normal cos α = ½.

    Drag ½ρ|u|²·½·1 along the wind, lift ½ρ|u|²·½·½·sin 60° across it, ρ = 1.204 kg/m³.
    """
    u = 10.0 * np.array([np.sin(np.pi / 3), 0, 0.5])
    system = taut.System(POINTS, mass=1.0, loads=[laws.wind([[0, 1, 2]], velocity=u)])
    force = system.f(system.initial_state()).sum(axis=0)
    assert force @ u / 10 == pytest.approx(60.2 * 0.5, rel=1e-13)
    assert np.linalg.norm(force - (force @ u) * u / 100) == pytest.approx(
        60.2 * 0.5 * 0.5 * np.sqrt(0.75), rel=1e-13
    )


def test_gas_default_ambient_pressure():
    """At twice its volume without a rest pressure, the inside is at half of 101325 Pa.

    The net pressure is then minus half of the ambient pressure.
    """
    ball = taut.mesh.sphere(1)
    body = taut.System(
        ball.points,
        mass=1.0,
        energies=[laws.gas(ball.triangles, p=0.0)],
        pose=2 ** (1 / 3) * ball.points,
    )
    state = body.initial_state()
    # by the virial of the forces: Σ f·x = p ∂v/∂x·x = 3 p v
    assert np.vdot(body.f(state), state.q) == pytest.approx(
        -101325.0 / 2 * 3 * 2 * ball.enclosed_volume, rel=1e-12
    )
    assert body.V(state) == pytest.approx(
        101325.0 * ball.enclosed_volume * (1 - np.log(2)), rel=1e-12
    )


def test_gravity_default():
    system = taut.System(POINTS, mass=[1.0, 2.0, 3.0], energies=[laws.gravity()])
    np.testing.assert_allclose(
        system.f(system.initial_state()), np.outer([1, 2, 3], [0, -9.81, 0]), rtol=1e-15
    )
