"""One or two particles on a spring: m x'' + c x' + k x = 0, free, damped, driven; reduced mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.constraints.prescribed import scripted
from taut.run.simulate import simulate
from taut.statics.modes import modes
from taut.step.rk4 import RK4
from taut.system.system import System
from taut.validate._bodies import build_system
from taut.validate.cases import Curve, Measurement, case

M, K, X0, V0, REST = 1.5, 60.0, 0.3, -0.8, 2.0
OMEGA = np.sqrt(K / M)
H, END = 0.01, 3.0
TIMES = H * np.arange(1, round(END / H) + 1)
C = 1.8  # N s/m
RATE = C / (2 * M)  # 1/T, T = 2m/c
SLOWED = np.sqrt(OMEGA**2 - RATE**2)
AMPLITUDE = np.hypot(X0, V0 / OMEGA)
LAG = OMEGA * END * (OMEGA * H) ** 4 / 120  # of RK4, whose phase is short by (hω)⁵/120 a step
BOOK = "Landau and Lifshitz, Mechanics"


def simulate_displacement(system: System) -> Float:
    """Simulate with RK4; return the displacement of particle 1 along x at TIMES [m]."""
    return np.array([state.q[1, 0] - REST for state, _ in simulate(system, RK4(), H, END)])


def build_oscillator(**more: Any) -> System:
    """Build a particle on a spring along x."""
    places = [[0, 0, 0], [REST, 0, 0]]
    begin = {
        "fixed": [0],
        "pose": [[0, 0, 0], [REST + X0, 0, 0]],
        "velocity": [[0, 0, 0], [V0, 0, 0]],
    }
    return build_system(places, mass=M, energies=[laws.spring([[0, 1]], k=K)], **{**begin, **more})


def compare_trajectory(got: Float, theory: Float) -> Measurement:
    """Plot a trajectory x(t) [m] against theory."""
    return Measurement(got, Curve(TIMES, got, theory, "t [s]", "x [m]"))


FREE = X0 * np.cos(OMEGA * TIMES) + V0 / OMEGA * np.sin(OMEGA * TIMES)


@case(
    "oscillator-free",
    formula="x = x₀ cos ωt + (v₀/ω) sin ωt, ω = √(k/m)",
    source=f"{BOOK}, §21",
    unit="m",
    expected=FREE,
    scale=AMPLITUDE,
    tolerance=1.2 * LAG,
    reason="RK4 lags by ωt(hω)⁴/120; 20% are added for the next order",
)
def measure_oscillator_free() -> Measurement:
    """Trajectory of a particle on a spring, released with a displacement and a velocity."""
    return compare_trajectory(simulate_displacement(build_oscillator()), FREE)


DAMPED = np.exp(-RATE * TIMES) * (
    X0 * np.cos(SLOWED * TIMES) + (V0 + RATE * X0) / SLOWED * np.sin(SLOWED * TIMES)
)


@case(
    "oscillator-damped",
    formula="x = e^{-t/T}(x₀ cos ωt + (v₀ + x₀/T)/ω sin ωt), T = 2m/c, ω = √(k/m - 1/T²)",
    source=f"{BOOK}, §25",
    unit="m",
    expected=DAMPED,
    scale=AMPLITUDE,
    tolerance=1.2 * LAG,
    reason="at most the lag of RK4 without damping, ωt(hω)⁴/120",
)
def measure_oscillator_damped() -> Measurement:
    """Trajectory with a damper parallel to the spring; the amplitude falls to a sixth."""
    return compare_trajectory(
        simulate_displacement(build_oscillator(damping=[laws.spring_damping([[0, 1]], c=C)])),
        DAMPED,
    )


CRITICAL = np.exp(-OMEGA * TIMES) * (X0 + (V0 + OMEGA * X0) * TIMES)


@case(
    "oscillator-critical",
    formula="x = e^{-ωt}(x₀ + (v₀ + ωx₀)t), c = 2√(km)",
    source=f"{BOOK}, §25",
    unit="m",
    expected=CRITICAL,
    scale=X0,
    tolerance=(OMEGA * H) ** 4 / 120 * 2,
    reason=(
        "RK4 misses e^{-ωt} by at most (hω)⁴ ωt e^{-ωt}/120, "
        "and by about as much again for the factor t"
    ),
)
def measure_oscillator_critical() -> Measurement:
    """Trajectory with critical damping: the fastest return without overshoot."""
    return compare_trajectory(
        simulate_displacement(
            build_oscillator(damping=[laws.spring_damping([[0, 1]], c=2 * np.sqrt(K * M))])
        ),
        CRITICAL,
    )


ALPHA, BETA = 0.4, 0.03  # 1/s and s: the one damps slow motion, the other fast motion
FADING = (ALPHA + BETA * OMEGA**2) / 2
BEAT = np.sqrt(OMEGA**2 - FADING**2)
PROPORTIONAL = np.exp(-FADING * TIMES) * (
    X0 * np.cos(BEAT * TIMES) + (V0 + FADING * X0) / BEAT * np.sin(BEAT * TIMES)
)


@case(
    "oscillator-rayleigh",
    formula="x = e^{-δt}(x₀ cos ω't + (v₀ + δx₀)/ω' sin ω't), δ = (α + βω²)/2, ω'² = ω² - δ²",
    source="Rayleigh, The Theory of Sound, ch. V",
    unit="m",
    expected=PROPORTIONAL,
    scale=AMPLITUDE,
    tolerance=1.2 * LAG,
    reason="at most the lag of RK4 without damping, ωt(hω)⁴/120",
)
def measure_oscillator_rayleigh() -> Measurement:
    """Trajectory with Rayleigh damping, αm + βk."""
    return compare_trajectory(
        simulate_displacement(build_oscillator(damping=[laws.rayleigh(alpha=ALPHA, beta=BETA)])),
        PROPORTIONAL,
    )


SWING, DRIVE = 0.05, 4.0  # amplitude [m] and angular frequency [rad/s] of the support
STEADY = SWING * OMEGA**2 / (OMEGA**2 - DRIVE**2)
DRIVEN = STEADY * np.sin(DRIVE * TIMES)


@case(
    "oscillator-driven",
    formula="x = A ω²/(ω² - Ω²) sin Ωt",
    source=f"{BOOK}, §22",
    unit="m",
    expected=DRIVEN,
    scale=STEADY,
    tolerance=LAG,
    reason="the error of RK4 is below its lag at the natural frequency, ωt(hω)⁴/120",
)
def measure_oscillator_driven() -> Measurement:
    """Trajectory of a particle whose support moves as A sin Ωt, below resonance."""
    support = scripted([0], lambda t: (SWING * np.sin(DRIVE * t), 0.0, 0.0))
    begin = {"fixed": [], "pose": None, "velocity": [[0, 0, 0], [STEADY * DRIVE, 0, 0]]}
    return compare_trajectory(
        simulate_displacement(build_oscillator(constraints=[support], **begin)), DRIVEN
    )


MASSES = np.array([1.0, 3.0])
REDUCED = MASSES.prod() / MASSES.sum()


@case(
    "two-body-frequency",
    formula="ω = √(k/μ), μ = m₁m₂/(m₁ + m₂)",
    source=f"{BOOK}, §13",
    unit="rad/s",
    expected=np.sqrt(K / REDUCED),
    tolerance=1e-13,
    reason="an eigenvalue, computed with a few hundred rounding errors",
)
def measure_two_body_frequency() -> Measurement:
    """Frequency of two free particles of unequal mass on a spring: the reduced mass.

    The plot shows it for other mass ratios.
    """

    def omega(masses: Any) -> float:
        pair = build_system(
            [[0, 0, 0], [0, REST, 0]], mass=masses, energies=[laws.spring([[0, 1]], k=K)]
        )
        return float(modes(pair).omega[5])

    ratios = np.linspace(0.25, 6.0, 12)
    theory = np.sqrt(K * (1 + ratios) / ratios)
    return Measurement(
        omega(MASSES),
        Curve(ratios, [omega([1.0, r]) for r in ratios], theory, "m₂/m₁", "ω [rad/s]"),
    )


LONG = 1.25 * REST  # the pair turns with its spring stretched by a quarter
TURNING = np.sqrt(K * (LONG - REST) / (LONG * REDUCED))


@case(
    "two-body-orbit",
    formula="φ = t √(k(l - l₀)/(μl))",
    source=f"{BOOK}, §13: the centrifugal force μω²l is the spring's",
    unit="rad",
    expected=TURNING * TIMES,
    scale=TURNING * END,
    tolerance=(H**2 * K / REDUCED) ** 2 / 120,
    reason="RK4: about (hω)⁴/120 of the angle, with the highest frequency, √(k/μ)",
)
def measure_two_body_orbit() -> Measurement:
    """Angle of two particles that rotate about each other, held together by a spring."""
    lever = LONG * MASSES[::-1] / MASSES.sum() * [-1, 1]
    pair = build_system(
        [[0, 0, 0], [REST, 0, 0]],
        mass=MASSES,
        energies=[laws.spring([[0, 1]], k=K)],
        pose=np.outer(lever, [1, 0, 0]),
        velocity=np.outer(TURNING * lever, [0, 1, 0]),
    )
    apart = np.array([state.q[1] - state.q[0] for state, _ in simulate(pair, RK4(), H, END)])
    turn = np.unwrap(np.arctan2(apart[:, 1], apart[:, 0]))
    return Measurement(turn, Curve(TIMES, turn, TURNING * TIMES, "t [s]", "φ [rad]"))
