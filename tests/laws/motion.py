"""A nonlinear problem with all features, on which integrators are measured, and its equations by
hand.
"""

from functools import cache

import numpy as np

import taut
from taut import laws
from taut.constraints import scripted

K, L0, M, C, DRAG, ALPHA, BETA, LOAD, G = 60.0, 1.0, 1.3, 0.4, 0.1, 0.05, 2e-3, 0.7, 9.81
UNTIL = 0.5


def support(t):
    """Path of the suspension point [m]."""
    return np.array([0.2 * np.sin(3 * t), 0.1 * t * t, 0.05 * (1 - np.cos(2 * t))])


def support_velocity(t):
    return np.array([0.6 * np.cos(3 * t), 0.2 * t, 0.1 * np.sin(2 * t)])


def pendulum():
    """An elastic pendulum on a moving support, with every kind of damping, a load that changes with
    time, and gravity.
    """
    start = 1.15 * np.array([np.sin(1.0), -np.cos(1.0), 0.0])
    return taut.System(
        [[0, 0, 0], start / 1.15],
        mass=M,
        constraints=[scripted([0], support)],
        energies=[
            laws.spring([[0, 1]], k=K),
            laws.gravity(),
            laws.force([1], f=lambda t: (0.0, 0.0, LOAD * np.sin(2 * t))),
        ],
        damping=[
            laws.spring_damping([[0, 1]], c=C),
            laws.drag(alpha=DRAG),
            laws.rayleigh(alpha=ALPHA, beta=BETA),
        ],
        pose=[[0, 0, 0], start],
        velocity=[[0, 0, 0], [0.5, 0.2, 1.0]],
    )


@cache
def reference():
    """Final position and velocity of the pendulum, integrated by SciPy from the equations."""
    from scipy.integrate import solve_ivp

    def slope(t, y):
        x, v = y[:3] - support(t), y[3:] - support_velocity(t)
        length = np.sqrt(x @ x)
        assert length > L0, "the stiffness has a kink where the spring is slack"
        d = x / length
        across = 1.0 - L0 / length
        stiffness_v = K * (across * (v - (v @ d) * d) + (v @ d) * d)
        force = (
            -K * (length - L0) * d
            - C * (v @ d) * d
            - BETA * stiffness_v
            - (DRAG + ALPHA) * M * y[3:]
        )
        force += [0.0, -M * G, LOAD * np.sin(2 * t)]
        return np.concatenate([y[3:], force / M])

    state = pendulum().initial_state()
    y = np.concatenate([state.q[1], state.v[1]])
    return solve_ivp(slope, (0.0, UNTIL), y, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
