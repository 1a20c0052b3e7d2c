"""Conservation laws that hold exactly in every step.

Linear momentum for all integrators, angular momentum for some, ΔL = hΣ m v'×v for implicit Euler,
and the path of the centre of mass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from taut import laws
from taut.run.simulate import simulate
from taut.step.implicit_euler import ImplicitEuler
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.step.integrator import Integrator
from taut.step.symplectic_euler import SymplecticEuler
from taut.step.velocity_verlet import VelocityVerlet
from taut.system.system import System
from taut.validate._bodies import TIGHT, G, build_system, take_steps
from taut.validate._integrators import METHODS
from taut.validate.cases import Curve, Measurement, case

NEWTON = "Newton, Principia, third law"
H, END = 0.02, 1.0
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(7, 3))
MASS = RANDOM.uniform(0.5, 2.0, 7)
V = RANDOM.normal(size=(7, 3)) + np.cross([0.3, 1.0, -0.4], X)
PAIRS = [(i, j) for i in range(7) for j in range(i)]


def build_tumbling_body(**more: Any) -> System:
    """Build a free, stretched, tumbling body: seven particles, all springs, three dampers."""
    damping = [laws.spring_damping([(0, 1), (2, 3), (4, 6)], c=2.0)]
    return build_system(
        X,
        **{
            "mass": MASS,
            "energies": [laws.spring(PAIRS, k=40.0)],
            "damping": damping,
            "pose": 1.2 * X,
            "velocity": V,
            **more,
        },
    )


MOMENTUM = float(np.sum(MASS[:, None] * np.abs(V)))


@case(
    "momentum-linear",
    formula="Σ m v = constant",
    source=NEWTON,
    unit="kg m/s",
    expected=np.zeros(len(METHODS)),
    tolerance=1e-14 * MOMENTUM,
    reason="rounding over 50 steps, of momenta whose magnitudes add up to 40 kg m/s",
)
def measure_momentum_linear() -> Measurement:
    """Change of linear momentum of a tumbling body with dampers in 1 s, for each of the nine
    integrators.
    """
    lost, drawn = [], []
    for make, *_ in METHODS.values():
        system = build_tumbling_body()
        path = np.array([system.momentum(state) for state in take_steps(system, make(), H, 50)])
        lost.append(np.abs(path - MASS @ V).max())
        drawn.append(path[:, 0])
    t = H * np.arange(1, 51)
    return Measurement(
        lost, Curve(t, drawn[3], np.full(50, (MASS @ V)[0]), "t [s]", "p_x [kg m/s]")
    )


SPIN = MASS @ np.cross(1.2 * X, V)
KEEPERS: tuple[Callable[[], Integrator], ...] = (
    SymplecticEuler,
    VelocityVerlet,
    lambda: ImplicitMidpoint(tolerance=TIGHT),
)


@case(
    "momentum-angular",
    formula="Σ m x × v = constant",
    source="Hairer, Lubich and Wanner, Geometric Numerical Integration, IV.2",
    unit="kg m²/s",
    expected=np.tile(SPIN, 3),
    scale=float(np.abs(SPIN).max()),
    tolerance=1e-12,
    reason="residuals of 1e-13 of the forces and rounding, over 50 steps",
)
def measure_momentum_angular() -> Measurement:
    """Angular momentum after 1 s, without dampers, for the three integrators that conserve it."""
    got, drawn = [], np.zeros(0)
    for make in KEEPERS:
        system = build_tumbling_body(damping=[])
        path = np.array(
            [system.angular_momentum(state) for state, _ in simulate(system, make(), H, END)]
        )
        got.append(path[-1])
        drawn = path[:, 1]
    return Measurement(
        got, Curve(H * np.arange(1, 51), drawn, np.full(50, SPIN[1]), "t [s]", "L_y [kg m²/s]")
    )


@case(
    "momentum-angular-euler",
    formula="L' - L = h Σ m v' × v",
    unit="kg m²/s",
    source="internal forces at the end of the step; docs/theory/01-formula-to-step.md",
    expected=0.0,
    tolerance=1e-14 * float(np.abs(SPIN).max()),
    reason="residuals of 1e-13 of the forces divided by h, and rounding of 56 kg m²/s",
)
def measure_momentum_angular_euler() -> Measurement:
    """Implicit Euler changes angular momentum by this amount in each step, with dampers too.

    The plot shows the angular momentum.
    """
    system = build_tumbling_body()
    old, gaps, got, expected = system.initial_state(), [], [], []
    ahead = SPIN.copy()
    for state, _ in simulate(system, ImplicitEuler(tolerance=TIGHT), H, END):
        change = H * MASS @ np.cross(state.v, old.v)
        gaps.append(
            np.abs(system.angular_momentum(state) - system.angular_momentum(old) - change).max()
        )
        ahead = ahead + change
        got.append(system.angular_momentum(state)[1])
        expected.append(ahead[1])
        old = state
    return Measurement(
        max(gaps), Curve(H * np.arange(1, 51), got, expected, "t [s]", "L_y [kg m²/s]")
    )


CENTRE, SPEED = MASS @ (1.2 * X) / MASS.sum(), MASS @ V / MASS.sum()
FALLEN = CENTRE + SPEED * END - np.array([0, G / 2 * END**2, 0])


@case(
    "centre-of-mass",
    formula="X(t) = X₀ + V₀t + gt²/2",
    source="Newton, Principia, corollary IV",
    unit="m",
    expected=FALLEN,
    scale=float(np.abs(FALLEN).max()),
    tolerance=1e-13,
    reason="velocity Verlet is exact on a parabola: rounding of 50 steps",
)
def measure_centre_of_mass() -> Measurement:
    """The centre of mass of a tumbling body that is thrown follows the parabola of a particle."""
    system = build_tumbling_body(energies=[laws.spring(PAIRS, k=40.0), laws.gravity()])
    path = np.array(
        [MASS @ state.q / MASS.sum() for state, _ in simulate(system, VelocityVerlet(), H, END)]
    )
    t = H * np.arange(1, 51)
    return Measurement(
        path[-1],
        Curve(t, path[:, 1], CENTRE[1] + SPEED[1] * t - G * t**2 / 2, "t [s]", "height [m]"),
    )
