"""Pendulums: small, large (T/T₀ = (2/π) K(sin²(θ₀/2))), conical and double; falling particles."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipk, ellipkinc

from taut import laws
from taut.arrays import Float
from taut.constraints.sliding import on_plane
from taut.run.simulate import simulate
from taut.statics.equilibrium import equilibrium
from taut.statics.modes import modes
from taut.step.rk4 import RK4
from taut.step.velocity_verlet import VelocityVerlet
from taut.validate._bodies import TIGHT, G, build_system, extrapolate
from taut.validate.cases import Curve, Measurement, case

LANDAU = "Landau and Lifshitz, Mechanics"
K, M = 500.0, 2.0
LOADED = 1 + M * G / K  # length [m] of a spring of 1 m under the weight


@case(
    "pendulum-small",
    formula="ω = √(g/l) twice and √(k/m), l = l₀ + mg/k",
    source=f"{LANDAU}, §21",
    unit="rad/s",
    expected=[np.sqrt(G / LOADED), np.sqrt(G / LOADED), np.sqrt(K / M)],
    tolerance=1e-13,
    reason="the weight is balanced to 1e-13; eigenvalues to rounding",
)
def measure_pendulum_small() -> Measurement:
    """The three frequencies of a weight on a spring: swinging in two planes, and bouncing.

    The plot shows the swing frequency against stiffness.
    """

    def omega(k: float) -> np.ndarray:
        system = build_system(
            [[0, 0, 0], [0, -1, 0]],
            mass=M,
            fixed=[0],
            energies=[laws.spring([[0, 1]], k=k), laws.gravity()],
        )
        return modes(system, equilibrium(system, tolerance=TIGHT).state, n=3).omega

    several = np.geomspace(20, 2000, 12)
    theory = np.sqrt(G / (1 + M * G / several))
    return Measurement(
        omega(K),
        Curve(several, [omega(k)[0] for k in several.tolist()], theory, "k [N/m]", "ω [rad/s]"),
    )


STIFF = 1e6  # kL/mg
H = 5e-4


def register(degrees: int) -> None:
    sine = np.sin(np.radians(degrees) / 2)

    @case(
        f"pendulum-{degrees}",
        formula="T/T₀ = (2/π) K(sin²(θ₀/2)), T₀ = 2π√(L/g)",
        source=f"{LANDAU}, §11",
        expected=2 / np.pi * ellipk(sine**2),
        tolerance=3e-6,
        reason="the stiffest spring that the step resolves, kL/mg = 1e6, stretches by at most 3e-6",
        description=f"Period of a pendulum released at {degrees}°, relative to small swings.",
    )
    def measure() -> Measurement:
        angle = np.radians(degrees)
        energies = [laws.spring([[0, 1]], k=STIFF * G), laws.gravity()]
        system = build_system(
            [[0, 0, 0], [np.sin(angle), -np.cos(angle), 0.0]],
            mass=1.0,
            fixed=[0],
            energies=energies,
        )
        times, places = [0.0], [system.pose[1]]
        for state, _ in simulate(system, RK4(), H, 10.0):
            times.append(state.t)
            places.append(state.q[1])
            if state.q[1, 0] <= 0.0:
                break
        x, y = np.array(places)[:, :2].T
        # Linear interpolation: at the bottom the speed is stationary.
        quarter = times[-2] + H * x[-2] / (x[-2] - x[-1])
        swing = np.degrees(np.arctan2(x, -y))
        phase = np.arcsin(np.clip(np.sin(np.radians(swing) / 2) / sine, -1, 1))
        # The time at which the pendulum passes each angle.
        theory = (ellipk(sine**2) - ellipkinc(phase, sine**2)) / np.sqrt(G)
        return Measurement(
            4 * quarter / (2 * np.pi / np.sqrt(G)),
            Curve(times, swing, swing, "t [s]", "angle [°]", theory_x=theory),
        )


for degrees in (30, 90, 170):
    register(degrees)


CONE, END = np.radians(40), 2.0
ROUND = np.sqrt(G / np.cos(CONE))  # of a pendulum a metre long under its load
STEP = 0.004


@case(
    "pendulum-conical",
    formula="ω = √(g/(l cos θ)), k(l - l₀) = mg/cos θ",
    source=f"{LANDAU}, §14",
    unit="rad",
    expected=ROUND * END,
    tolerance=(K / M * STEP**2) ** 2 / 120,
    reason=(
        "extrapolated from steps of 4 and 2 ms: (hω)⁴/120 of the angle, with the frequency of the "
        "spring, √(k/m)"
    ),
)
def measure_pendulum_conical() -> Measurement:
    """Angle after 2 s of a weight that circles on a spring at 40° to the vertical."""
    l0 = 1 - M * G / np.cos(CONE) / K
    place = np.array([np.sin(CONE), -np.cos(CONE), 0.0])
    system = build_system(
        [[0, 0, 0], place],
        mass=M,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=K, l0=l0), laws.gravity()],
        velocity=[[0, 0, 0], [0, 0, -ROUND * np.sin(CONE)]],
    )

    def simulate_angle(h: float) -> Float:
        q = np.array([state.q[1] for state, _ in simulate(system, VelocityVerlet(), h, END)])
        return np.unwrap(np.arctan2(-q[:, 2], q[:, 0]))

    coarse, fine = simulate_angle(STEP), simulate_angle(STEP / 2)
    t = STEP * np.arange(1, len(coarse) + 1)
    return Measurement(
        extrapolate([coarse[-1], fine[-1]]), Curve(t, coarse, ROUND * t, "t [s]", "φ [rad]")
    )


@case(
    "pendulum-double",
    formula="ω² = (2 ± √2) g/L",
    source=f"{LANDAU}, §23, problem 2, equal masses and lengths",
    unit="rad/s",
    expected=np.sqrt((2 + np.array([-1, 1]) * np.sqrt(2)) * G),
    tolerance=2e-6,
    reason="springs of kL/mg = 1e6 stretch by 2e-6 under two weights, and ω falls by half as much",
)
def measure_pendulum_double() -> Measurement:
    """Both frequencies of a double pendulum with equal masses and lengths.

    The plot shows the lower one against the lower mass.
    """

    def omega(lower: float) -> np.ndarray:
        energies = [laws.spring([[0, 1], [1, 2]], k=STIFF * G), laws.gravity()]
        points = [[0, 0, 0], [0, -1, 0], [0, -2, 0]]
        plane = on_plane([1, 2], (0, 0, 1))
        system = build_system(
            points, mass=[1.0, 1.0, lower], fixed=[0], energies=energies, constraints=[plane]
        )
        return modes(system, equilibrium(system, tolerance=TIGHT).state, n=2).omega

    lower = np.geomspace(0.05, 20, 12)
    theory = np.sqrt(G * (1 + lower - np.sqrt(lower * (1 + lower))))
    return Measurement(
        omega(1.0),
        Curve(lower, [omega(m)[0] for m in lower.tolist()], theory, "m₂/m₁", "ω₁ [rad/s]"),
    )


THROW, SPAN = np.array([3.0, 5.0, 0.0]), 1.2


@case(
    "fall-free",
    formula="y = v₀t - gt²/2",
    source="Galilei, Discorsi, 1638",
    unit="m",
    expected=THROW[1] * SPAN - G * SPAN**2 / 2,
    tolerance=1e-13,
    reason="velocity Verlet is exact on a parabola: rounding of 60 steps",
)
def measure_fall_free() -> Measurement:
    """Height of a particle 1.2 s after it is thrown upwards."""
    system = build_system([[0, 0, 0]], mass=0.7, energies=[laws.gravity()], velocity=[THROW])
    t, x, y = np.array(
        [(s.t, *s.q[0, :2]) for s, _ in simulate(system, VelocityVerlet(), 0.02, SPAN)]
    ).T
    return Measurement(y[-1], Curve(x, y, THROW[1] * t - G * t**2 / 2, "x [m]", "y [m]"))


RATE = 1.5  # of the drag [1/s]
SLOWED = G / RATE * (SPAN - (1 - np.exp(-RATE * SPAN)) / RATE)


@case(
    "fall-drag",
    formula="y = -(g/α)(t - (1 - e^{-αt})/α)",
    source="Newton, Principia II, prop. 3",
    unit="m",
    expected=-SLOWED,
    tolerance=(RATE * 0.02) ** 4 / 24,
    reason="RK4: (hα)⁴/120 of the decaying part, which is of the order of y",
)
def measure_fall_drag() -> Measurement:
    """Height of a particle that falls with drag proportional to its speed."""
    system = build_system(
        [[0, 0, 0]], mass=0.7, energies=[laws.gravity()], damping=[laws.drag(alpha=RATE)]
    )
    t, y = np.array([(s.t, s.q[0, 1]) for s, _ in simulate(system, RK4(), 0.02, SPAN)]).T

    def theory(t: np.ndarray) -> np.ndarray:
        return -G / RATE * (t - (1 - np.exp(-RATE * t)) / RATE)

    return Measurement(y[-1], Curve(t, y, theory(t), "t [s]", "y [m]"))
