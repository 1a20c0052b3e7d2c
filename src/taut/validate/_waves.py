"""Waves on chains: ω = 2√(k/m) sin(pa/2) for the wavenumber p.

Packets travel with the group velocity a√(k/m) cos(pa/2), long waves with the speed of sound
√(EA/ρ). Transverse waves on a string under tension travel with √(T/ρ) instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.constraints.sliding import on_line
from taut.mesh.shapes.nets import net, rope
from taut.run.simulate import simulate
from taut.statics.modes import modes
from taut.step.velocity_verlet import VelocityVerlet
from taut.system.system import System
from taut.validate._bodies import build_system, extrapolate
from taut.validate._chains import BRILLOUIN, ROUNDING
from taut.validate.cases import Curve, Measurement, case

A, K, M, TENSION = 0.5, 100.0, 0.1, 10.0  # spacing [m], N/m, kg, N
SLACK = A - TENSION / K  # rest length of a link under this tension [m]
RAYLEIGH = "Rayleigh, The Theory of Sound"


def build_string(
    links: int, along: tuple[int, int, int], *, l0: float = SLACK, **more: Any
) -> System:
    """Build a chain on the x axis between two walls, whose particles move along one direction."""
    line = rope(links, end=(A * links, 0, 0))
    only = on_line(range(1, links), along)
    return build_system(
        line.points,
        mass=M,
        fixed=[0, links],
        energies=[laws.spring(line.edges, k=K, l0=l0)],
        constraints=[only],
        **more,
    )


N = 40
P = np.arange(1, N + 1) * np.pi / (N + 1) / A  # wavenumbers of standing waves
SOUND, SLOW = A * np.sqrt(K / M), np.sqrt(TENSION * A / M)  # m/s, along and across


@case(
    "dispersion-along",
    formula="ω = 2√(k/m) sin(pa/2), p = jπ/L",
    source=BRILLOUIN,
    unit="rad/s",
    expected=2 * SOUND / A * np.sin(P * A / 2),
    tolerance=4e-12,
    reason=ROUNDING,
)
def measure_dispersion_along() -> Measurement:
    """Frequencies of longitudinal standing waves on a chain, up to the shortest wavelength."""
    got = modes(build_string(N + 1, (1, 0, 0)), n=N).omega
    return Measurement(
        got, Curve(P, got, 2 * SOUND / A * np.sin(P * A / 2), "p [1/m]", "ω [rad/s]")
    )


@case(
    "dispersion-string",
    formula="ω = 2√(T/ma) sin(pa/2), p = jπ/L",
    source=f"{RAYLEIGH}, ch. VI: the loaded string",
    unit="rad/s",
    expected=2 * SLOW / A * np.sin(P * A / 2),
    tolerance=1e-12,
    reason=(
        "eigenvalues to rounding; the tension is the difference of two lengths, known to ε l/(l - "
        "l₀)"
    ),
)
def measure_dispersion_string() -> Measurement:
    """All transverse frequencies of a string of 40 beads under tension."""
    got = modes(build_string(N + 1, (0, 1, 0)), n=N).omega
    return Measurement(got, Curve(P, got, 2 * SLOW / A * np.sin(P * A / 2), "p [1/m]", "ω [rad/s]"))


SIDE = 16
PART = 2 - 2 * np.cos(np.arange(1, SIDE) * np.pi / SIDE)
DRUM = np.sort(np.sqrt(TENSION / (M * A) * (PART[:, None] + PART).ravel()))


@case(
    "dispersion-net",
    formula="ω² = (T/ma)(4 - 2cos(iπ/n) - 2cos(jπ/n))",
    source=f"{BRILLOUIN}; two dimensions",
    unit="rad/s",
    expected=DRUM[:60],
    tolerance=1e-12,
    reason="as for the string",
)
def measure_dispersion_net() -> Measurement:
    """The 60 lowest transverse frequencies of a square net under tension, fixed at its rim."""
    mesh = net(SIDE, SIDE, size=A * SIDE)
    rim = mesh.select("x == min or x == max or y == min or y == max")
    free = np.setdiff1d(np.arange(mesh.n), rim)
    springs = laws.spring(mesh.edges, k=K, l0=SLACK)
    got = modes(
        build_system(
            mesh.points,
            mass=M,
            fixed=rim,
            energies=[springs],
            constraints=[on_line(free, (0, 0, 1))],
        ),
        n=60,
    ).omega
    return Measurement(got, Curve(np.arange(1, 61), got, DRUM[:60], "mode", "ω [rad/s]"))


LINKS, BEGIN, TRAVEL, WIDTHS = 300, 80, 140, (6.0, 12.0)  # in spacings
HEIGHT = 1e-5  # m
GRID = np.arange(LINKS + 1.0)
COURANT = 0.2  # c h/a


def extrapolate_speed(axis: int, c: float, l0: float) -> Measurement:
    """Extrapolate the speed of pulses [m/s] to infinite width."""
    (narrow, _), (wide, curve) = (simulate_pulse(axis, c, l0, width) for width in WIDTHS)
    return Measurement(extrapolate([narrow, wide]), curve)


def simulate_pulse(axis: int, c: float, l0: float, width: float) -> tuple[float, Curve]:
    """Return the speed [m/s] of the centre of energy of a pulse exp(-x²/2w²), and a plot."""
    shape = HEIGHT * np.exp(-(((GRID - BEGIN) / width) ** 2) / 2)
    shape[[0, -1]] = 0.0
    pose, velocity = np.outer(A * GRID, [1.0, 0, 0]), np.zeros((LINKS + 1, 3))
    pose[:, axis] += shape
    velocity[:, axis] = c / (A * width) * (GRID - BEGIN) / width * shape  # -c ∂u/∂x
    across = (1, 0, 0) if axis == 0 else (0, 1, 0)
    system = build_string(LINKS, across, l0=l0, pose=pose, velocity=velocity)
    end = TRAVEL * A / c
    *_, (state, _) = simulate(system, VelocityVerlet(), COURANT * A / c, end)
    energy = state.v[:, axis] ** 2
    centre = A * (GRID @ energy / energy.sum() - BEGIN)
    ahead = HEIGHT * np.exp(-(((GRID - BEGIN - TRAVEL) / width) ** 2) / 2)
    seen = slice(BEGIN + TRAVEL - 30, BEGIN + TRAVEL + 30, 2)
    moved = state.q[seen, axis] - (A * GRID[seen] if axis == 0 else 0.0)
    x = A * GRID[seen]
    return float(centre / end), Curve(
        x, 1e6 * moved, 1e6 * ahead[seen], "x [m]", "displacement [µm]"
    )


# The mean of cos(pa/2) over p² exp(-p²w²) is 1 - 3/16w² + 15/1536w⁴ …
NEXT = 2 * 15 / (4 * 1536 * WIDTHS[0] ** 4)
SHORT = (
    "short waves are slower, by 3a²/16w² for a pulse of width w; extrapolation leaves a quarter "
    "of 15a⁴/1536w⁴, which is doubled"
)


@case(
    "pulse-along",
    formula="c = a√(k/m) = √(EA/ρ)",
    source=f"{RAYLEIGH}, ch. VII",
    unit="m/s",
    expected=SOUND,
    tolerance=NEXT,
    reason=SHORT,
)
def measure_pulse_along() -> Measurement:
    """Speed of sound: a longitudinal pulse over 140 links, extrapolated from widths of 6 and 12
    links.
    """
    return extrapolate_speed(0, SOUND, A)


@case(
    "pulse-across",
    formula="c = √(T/ρ), ρ = m/a",
    source=f"{RAYLEIGH}, ch. VI",
    unit="m/s",
    expected=SLOW,
    tolerance=NEXT,
    reason=SHORT,
)
def measure_pulse_across() -> Measurement:
    """Speed of a transverse pulse on a string under tension, extrapolated in the same way."""
    return extrapolate_speed(1, SLOW, SLACK)


CARRIER, SPREAD = np.pi / 2, 25.0  # pa of the carrier; width of the packet [spacings]
GROUP = SOUND * np.cos(CARRIER / 2)
FINE = 0.1  # c h/a


@case(
    "packet-along",
    formula="c_g = a√(k/m) cos(pa/2)/√(1 - (hω/2)²), ω = 2√(k/m) sin(pa/2)",
    source=f"{BRILLOUIN}; the root is that of a step of Verlet, sin(ω̃h/2) = hω/2",
    unit="m/s",
    expected=GROUP / np.sqrt(1 - (FINE * np.sin(CARRIER / 2)) ** 2),
    tolerance=1.1 * 5 / (16 * SPREAD**2),
    reason=(
        "the packet has a spectrum, and more of its energy is in the short waves, which are "
        "slower by 5a²/16σ² for the width σ"
    ),
)
def measure_packet_along() -> Measurement:
    """Group velocity of a wave packet, wavelength four links: 0.71 of the speed of sound."""
    x = GRID - BEGIN - 20
    envelope, omega = HEIGHT * np.exp(-((x / SPREAD) ** 2) / 2), 2 * SOUND / A * np.sin(CARRIER / 2)
    shape, rate = envelope * np.cos(CARRIER * x), omega * envelope * np.sin(CARRIER * x)
    rate += GROUP / A * x / SPREAD**2 * shape  # the envelope moves too
    shape[[0, -1]] = rate[[0, -1]] = 0.0
    pose, velocity = np.outer(A * GRID + shape, [1.0, 0, 0]), np.outer(rate, [1.0, 0, 0])
    end = 100 * A / GROUP
    times, centres = [0.0], [energy_centre(velocity)]
    for state, _ in simulate(
        build_string(LINKS, (1, 0, 0), l0=A, pose=pose, velocity=velocity),
        VelocityVerlet(),
        FINE * A / SOUND,
        end,
    ):
        times.append(state.t)
        centres.append(energy_centre(state.v))
    moved = np.array(centres) - centres[0]
    return Measurement(
        moved[-1] / end, Curve(times, moved, GROUP * np.array(times), "t [s]", "moved by [m]")
    )


def energy_centre(v: Float) -> float:
    """Return the centre of kinetic energy [m], smoothed since it oscillates with the carrier."""
    energy = np.convolve(v[:, 0] ** 2, [0.25, 0.5, 0.25], "same")
    return float(A * (GRID @ energy) / energy.sum())
