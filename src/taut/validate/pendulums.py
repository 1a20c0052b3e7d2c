"""Pendulums, small and large, T/T₀ = (2/π) K(sin²(θ₀/2)), conical and double; a fall, without air and with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ellipk, ellipkinc

from taut import laws
from taut.constraints.sliding import on_plane
from taut.run.simulate import simulate
from taut.step.rk4 import RK4
from taut.step.statics import equilibrium
from taut.step.velocity_verlet import VelocityVerlet
from taut.step.vibration import modes
from taut.validate.bodies import TIGHT, G, body, limit
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case

LANDAU = "Landau and Lifshitz, Mechanics"
K, M = 500.0, 2.0
LOADED = 1 + M * G / K  # length of a metre of spring with its weight


@case(
    "pendulum-small", formula="ω = √(g/l) twice and √(k/m), l = l₀ + mg/k", source=f"{LANDAU}, §21", unit="rad/s",
    expected=[np.sqrt(G / LOADED), np.sqrt(G / LOADED), np.sqrt(K / M)], tolerance=1e-13,
    why="the weight is balanced to 1e-13 of it; eigenvalues to rounding",
)  # fmt: skip
def small() -> Found:
    """A weight on a spring swings in two planes and bounces: all three frequencies; the curve: the swing over the stiffness."""

    def omega(k: float) -> np.ndarray:
        system = body([[0, 0, 0], [0, -1, 0]], mass=M, fixed=[0], energies=[laws.spring([[0, 1]], k=k), laws.gravity()])
        return modes(system, equilibrium(system, tolerance=TIGHT).state, n=3).omega

    several = np.geomspace(20, 2000, 12)
    theory = np.sqrt(G / (1 + M * G / several))
    return Found(omega(K), Curve(several, [omega(k)[0] for k in several.tolist()], theory, "k [N/m]", "ω [rad/s]"))


STIFF = 1e6  # kL/mg
H = 5e-4


def register(degrees: int) -> None:
    sine = np.sin(np.radians(degrees) / 2)

    @case(
        f"pendulum-{degrees}", formula="T/T₀ = (2/π) K(sin²(θ₀/2)), T₀ = 2π√(L/g)", source=f"{LANDAU}, §11",
        expected=2 / np.pi * ellipk(sine**2), tolerance=3e-6,
        why="the stiffest spring that the step resolves, kL/mg = 1e6, stretches by 3e-6 at most",
        what=f"The period of a pendulum that is let go at {degrees}°, by that of a small swing.",
    )  # fmt: skip
    def period() -> Found:
        angle = np.radians(degrees)
        energies = [laws.spring([[0, 1]], k=STIFF * G), laws.gravity()]
        system = body([[0, 0, 0], [np.sin(angle), -np.cos(angle), 0.0]], mass=1.0, fixed=[0], energies=energies)
        times, places = [0.0], [system.pose[1]]
        for state, _ in simulate(system, RK4(), H, 10.0):
            times.append(state.t)
            places.append(state.q[1])
            if state.q[1, 0] <= 0.0:
                break
        x, y = np.array(places)[:, :2].T
        quarter = times[-2] + H * x[-2] / (x[-2] - x[-1])  # straight: the speed is stationary at the bottom
        swing = np.degrees(np.arctan2(x, -y))
        phase = np.arcsin(np.clip(np.sin(np.radians(swing) / 2) / sine, -1, 1))
        theory = (ellipk(sine**2) - ellipkinc(phase, sine**2)) / np.sqrt(G)  # the time at which it passes each angle
        return Found(4 * quarter / (2 * np.pi / np.sqrt(G)), Curve(times, swing, swing, "t [s]", "angle [°]", at=theory))


for degrees in (30, 90, 170):
    register(degrees)


CONE, END = np.radians(40), 2.0
ROUND = np.sqrt(G / np.cos(CONE))  # of a pendulum a metre long under its load
STEP = 0.004


@case(
    "pendulum-conical", formula="ω = √(g/(l cos θ)), k(l - l₀) = mg/cos θ", source=f"{LANDAU}, §14", unit="rad",
    expected=ROUND * END, tolerance=(K / M * STEP**2) ** 2 / 120,
    why="extrapolated from steps of 4 and 2 ms: (hω)⁴/120 of the turn with the frequency of the spring, √(k/m)",
)  # fmt: skip
def conical() -> Found:
    """A weight on a spring goes round in a circle at 40° from the vertical: the angle after 2 s."""
    l0 = 1 - M * G / np.cos(CONE) / K
    place = np.array([np.sin(CONE), -np.cos(CONE), 0.0])
    system = body(
        [[0, 0, 0], place], mass=M, fixed=[0], energies=[laws.spring([[0, 1]], k=K, l0=l0), laws.gravity()],
        velocity=[[0, 0, 0], [0, 0, -ROUND * np.sin(CONE)]],
    )  # fmt: skip

    def turned(h: float) -> Float:
        q = np.array([state.q[1] for state, _ in simulate(system, VelocityVerlet(), h, END)])
        return np.unwrap(np.arctan2(-q[:, 2], q[:, 0]))

    coarse, fine = turned(STEP), turned(STEP / 2)
    t = STEP * np.arange(1, len(coarse) + 1)
    return Found(limit([coarse[-1], fine[-1]]), Curve(t, coarse, ROUND * t, "t [s]", "φ [rad]"))


@case(
    "pendulum-double", formula="ω² = (2 ± √2) g/L", source=f"{LANDAU}, §23, problem 2, equal masses and lengths", unit="rad/s",
    expected=np.sqrt((2 + np.array([-1, 1]) * np.sqrt(2)) * G), tolerance=2e-6,
    why="springs of kL/mg = 1e6 are longer by 2e-6 under two weights, and ω by half as much lower",
)  # fmt: skip
def double() -> Found:
    """Two equal weights on two equal threads swing: both frequencies; the curve: the slow one over the lower mass."""

    def omega(lower: float) -> np.ndarray:
        energies = [laws.spring([[0, 1], [1, 2]], k=STIFF * G), laws.gravity()]
        points = [[0, 0, 0], [0, -1, 0], [0, -2, 0]]
        plane = on_plane([1, 2], (0, 0, 1))
        system = body(points, mass=[1.0, 1.0, lower], fixed=[0], energies=energies, constraints=[plane])
        return modes(system, equilibrium(system, tolerance=TIGHT).state, n=2).omega

    lower = np.geomspace(0.05, 20, 12)
    theory = np.sqrt(G * (1 + lower - np.sqrt(lower * (1 + lower))))
    return Found(omega(1.0), Curve(lower, [omega(m)[0] for m in lower.tolist()], theory, "m₂/m₁", "ω₁ [rad/s]"))


THROW, SPAN = np.array([3.0, 5.0, 0.0]), 1.2


@case(
    "fall-free", formula="y = v₀t - gt²/2", source="Galilei, Discorsi, 1638", unit="m", expected=THROW[1] * SPAN - G * SPAN**2 / 2,
    tolerance=1e-13, why="Verlet follows a parabola exactly; rounding of 60 steps",
)  # fmt: skip
def fall() -> Found:
    """A particle thrown upwards: its height after 1.2 s."""
    system = body([[0, 0, 0]], mass=0.7, energies=[laws.gravity()], velocity=[THROW])
    t, x, y = np.array([(s.t, *s.q[0, :2]) for s, _ in simulate(system, VelocityVerlet(), 0.02, SPAN)]).T
    return Found(y[-1], Curve(x, y, THROW[1] * t - G * t**2 / 2, "x [m]", "y [m]"))


RATE = 1.5  # of the drag [1/s]
SLOWED = G / RATE * (SPAN - (1 - np.exp(-RATE * SPAN)) / RATE)


@case(
    "fall-drag", formula="y = -(g/α)(t - (1 - e^{-αt})/α)", source="Newton, Principia II, prop. 3", unit="m", expected=-SLOWED,
    tolerance=(RATE * 0.02) ** 4 / 24, why="RK4: (hα)⁴/120 of the part that decays, which is of the order of y",
)  # fmt: skip
def fall_with_drag() -> Found:
    """A particle falls against a resistance that grows with its speed."""
    system = body([[0, 0, 0]], mass=0.7, energies=[laws.gravity()], damping=[laws.drag(alpha=RATE)])
    t, y = np.array([(s.t, s.q[0, 1]) for s, _ in simulate(system, RK4(), 0.02, SPAN)]).T
    theory: Callable[[np.ndarray], np.ndarray] = lambda t: -G / RATE * (t - (1 - np.exp(-RATE * t)) / RATE)  # noqa: E731
    return Found(y[-1], Curve(t, y, theory(t), "t [s]", "y [m]"))
