"""Waves on chains: ω = 2√(k/m) sin(pa/2) for the wavenumber p, so that packets travel with a√(k/m) cos(pa/2), long ones with the
speed of sound √(EA/ρ); across a string under tension likewise with √(T/ρ)."""

from __future__ import annotations

from typing import Any

import numpy as np

from taut import laws
from taut.constraints.sliding import on_line
from taut.mesh.shapes.nets import net, rope
from taut.run.simulate import simulate
from taut.step.velocity_verlet import VelocityVerlet
from taut.step.vibration import modes
from taut.system.system import System
from taut.validate.bodies import body, limit
from taut.validate.case import Curve, Float, Found
from taut.validate.chains import BRILLOUIN, ROUNDING
from taut.validate.registry import case

A, K, M, TENSION = 0.5, 100.0, 0.1, 10.0  # spacing [m], N/m, kg, N
SLACK = A - TENSION / K  # rest length of a link that pulls with the tension
RAYLEIGH = "Rayleigh, The Theory of Sound"


def string(links: int, along: tuple[int, int, int], *, l0: float = SLACK, **more: Any) -> System:
    """A chain on the x axis between two walls, whose particles move along one direction."""
    line = rope(links, end=(A * links, 0, 0))
    only = on_line(range(1, links), along)
    return body(line.points, mass=M, fixed=[0, links], energies=[laws.spring(line.edges, k=K, l0=l0)], constraints=[only], **more)


N = 40
P = np.arange(1, N + 1) * np.pi / (N + 1) / A  # wavenumbers of standing waves
SOUND, SLOW = A * np.sqrt(K / M), np.sqrt(TENSION * A / M)  # m/s, along and across


@case(
    "dispersion-along", formula="ω = 2√(k/m) sin(pa/2), p = jπ/L", source=BRILLOUIN, unit="rad/s",
    expected=2 * SOUND / A * np.sin(P * A / 2), tolerance=4e-12, why=ROUNDING,
)  # fmt: skip
def dispersion() -> Found:
    """Standing waves along a chain: the frequency over the wavenumber, up to the shortest wave there is."""
    got = modes(string(N + 1, (1, 0, 0)), n=N).omega
    return Found(got, Curve(P, got, 2 * SOUND / A * np.sin(P * A / 2), "p [1/m]", "ω [rad/s]"))


@case(
    "dispersion-string", formula="ω = 2√(T/ma) sin(pa/2), p = jπ/L", source=f"{RAYLEIGH}, ch. VI: the loaded string", unit="rad/s",
    expected=2 * SLOW / A * np.sin(P * A / 2), tolerance=1e-12,
    why="eigenvalues to rounding; the tension is the difference of two lengths, known to ε l/(l - l₀)",
)  # fmt: skip
def taut_string() -> Found:
    """A string under tension vibrates across: all frequencies of 40 beads."""
    got = modes(string(N + 1, (0, 1, 0)), n=N).omega
    return Found(got, Curve(P, got, 2 * SLOW / A * np.sin(P * A / 2), "p [1/m]", "ω [rad/s]"))


SIDE = 16
PART = 2 - 2 * np.cos(np.arange(1, SIDE) * np.pi / SIDE)
DRUM = np.sort(np.sqrt(TENSION / (M * A) * (PART[:, None] + PART).ravel()))


@case(
    "dispersion-net", formula="ω² = (T/ma)(4 - 2cos(iπ/n) - 2cos(jπ/n))", source=f"{BRILLOUIN}; two dimensions", unit="rad/s",
    expected=DRUM[:60], tolerance=1e-12, why="as of the string",
)  # fmt: skip
def drum() -> Found:
    """A square net under tension, held at its rim, vibrates across: its sixty lowest frequencies."""
    mesh = net(SIDE, SIDE, size=A * SIDE)
    rim = mesh.select("x == min or x == max or y == min or y == max")
    free = np.setdiff1d(np.arange(mesh.n), rim)
    springs = laws.spring(mesh.edges, k=K, l0=SLACK)
    got = modes(body(mesh.points, mass=M, fixed=rim, energies=[springs], constraints=[on_line(free, (0, 0, 1))]), n=60).omega
    return Found(got, Curve(np.arange(1, 61), got, DRUM[:60], "mode", "ω [rad/s]"))


LINKS, BEGIN, TRAVEL, WIDTHS, HEIGHT = 300, 80, 140, (6.0, 12.0), 1e-5  # the four first in spacings; the last [m]
GRID = np.arange(LINKS + 1.0)
COURANT = 0.2  # c h/a


def speed(axis: int, c: float, l0: float) -> Found:
    """Of pulses that are ever wider [m/s]."""
    (narrow, _), (wide, curve) = (pulse(axis, c, l0, width) for width in WIDTHS)
    return Found(limit([narrow, wide]), curve)


def pulse(axis: int, c: float, l0: float, width: float) -> tuple[float, Curve]:
    """Of a pulse exp(-x²/2w²) that moves to the right: how far the centre of its kinetic energy has come, by time [m/s]."""
    shape = HEIGHT * np.exp(-(((GRID - BEGIN) / width) ** 2) / 2)
    shape[[0, -1]] = 0.0
    pose, velocity = np.outer(A * GRID, [1.0, 0, 0]), np.zeros((LINKS + 1, 3))
    pose[:, axis] += shape
    velocity[:, axis] = c / (A * width) * (GRID - BEGIN) / width * shape  # -c ∂u/∂x
    across = (1, 0, 0) if axis == 0 else (0, 1, 0)
    system = string(LINKS, across, l0=l0, pose=pose, velocity=velocity)
    end = TRAVEL * A / c
    *_, (state, _) = simulate(system, VelocityVerlet(), COURANT * A / c, end)
    energy = state.v[:, axis] ** 2
    centre = A * (GRID @ energy / energy.sum() - BEGIN)
    ahead = HEIGHT * np.exp(-(((GRID - BEGIN - TRAVEL) / width) ** 2) / 2)
    seen = slice(BEGIN + TRAVEL - 30, BEGIN + TRAVEL + 30, 2)
    moved = state.q[seen, axis] - (A * GRID[seen] if axis == 0 else 0.0)
    x = A * GRID[seen]
    return float(centre / end), Curve(x, 1e6 * moved, 1e6 * ahead[seen], "x [m]", "displacement [µm]")


NEXT = 2 * 15 / (4 * 1536 * WIDTHS[0] ** 4)  # of the mean of cos(pa/2) over p² exp(-p²w²), which is 1 - 3/16w² + 15/1536w⁴ …
SHORT = "short waves are slower, by 3a²/16w² for a pulse of width w: extrapolated, a quarter of 15a⁴/1536w⁴ is left; twice that"


@case(
    "pulse-along", formula="c = a√(k/m) = √(EA/ρ)", source=f"{RAYLEIGH}, ch. VII", unit="m/s", expected=SOUND, tolerance=NEXT,
    why=SHORT,
)  # fmt: skip
def along() -> Found:
    """A pulse along a chain over 140 links, extrapolated from 6 and 12 links wide: the speed of sound."""
    return speed(0, SOUND, A)


@case(
    "pulse-across", formula="c = √(T/ρ), ρ = m/a", source=f"{RAYLEIGH}, ch. VI", unit="m/s", expected=SLOW, tolerance=NEXT,
    why=SHORT,
)  # fmt: skip
def across() -> Found:
    """A pulse across a string under tension, likewise."""
    return speed(1, SLOW, SLACK)


CARRIER, SPREAD = np.pi / 2, 25.0  # pa of the carrier; width of the packet in spacings
GROUP = SOUND * np.cos(CARRIER / 2)
FINE = 0.1  # c h/a


@case(
    "packet-along", formula="c_g = a√(k/m) cos(pa/2)/√(1 - (hω/2)²), ω = 2√(k/m) sin(pa/2)",
    source=f"{BRILLOUIN}; the root is that of a step of Verlet, sin(ω̃h/2) = hω/2", unit="m/s",
    expected=GROUP / np.sqrt(1 - (FINE * np.sin(CARRIER / 2)) ** 2), tolerance=1.1 * 5 / (16 * SPREAD**2),
    why="the packet has a spectrum: its energy is more in the short waves, which are slower, by 5a²/16σ² for the width σ",
)  # fmt: skip
def packet() -> Found:
    """A packet of waves four links long, far from the long ones: its centre travels with the group velocity, 0.71 of sound."""
    x = GRID - BEGIN - 20
    envelope, omega = HEIGHT * np.exp(-((x / SPREAD) ** 2) / 2), 2 * SOUND / A * np.sin(CARRIER / 2)
    shape, rate = envelope * np.cos(CARRIER * x), omega * envelope * np.sin(CARRIER * x)
    rate += GROUP / A * x / SPREAD**2 * shape  # the envelope moves on too
    shape[[0, -1]] = rate[[0, -1]] = 0.0
    pose, velocity = np.outer(A * GRID + shape, [1.0, 0, 0]), np.outer(rate, [1.0, 0, 0])
    end = 100 * A / GROUP
    times, centres = [0.0], [centre(velocity)]
    for state, _ in simulate(string(LINKS, (1, 0, 0), l0=A, pose=pose, velocity=velocity), VelocityVerlet(), FINE * A / SOUND, end):
        times.append(state.t)
        centres.append(centre(state.v))
    moved = np.array(centres) - centres[0]
    return Found(moved[-1] / end, Curve(times, moved, GROUP * np.array(times), "t [s]", "moved by [m]"))


def centre(v: Float) -> float:
    """Of the kinetic energy, which swings with the carrier and is smoothed [m]."""
    energy = np.convolve(v[:, 0] ** 2, [0.25, 0.5, 0.25], "same")
    return float(A * (GRID @ energy) / energy.sum())
