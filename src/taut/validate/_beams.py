"""Beams under their own weight, EI θ'' = -w(L - s) cos θ, and in vibration, EI d⁴u/dx⁴ = ρω²u."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

from taut import laws
from taut.arrays import Float
from taut.constraints.sliding import on_line
from taut.mesh.shapes.nets import rope
from taut.statics.equilibrium import equilibrium
from taut.statics.modes import modes
from taut.validate._bodies import build_system, extrapolate
from taut.validate._rods import FINE, build_cantilever
from taut.validate.cases import Curve, Measurement, case

WEIGHTS = {1: (0, 10), 5: (0, 10), 10: (0, 10), 20: (0, 10), 100: (0, 20), 1000: (4, 20)}
"""Γ = wL³/EI : growth of the segments from the clamp (see `grade_points`), and their number.

For large Γ the bend at the wall has the length L/√Γ, so that segments must be short there.
"""


def heavy_elastica(gamma: float) -> Float:
    """Solve θ'' = -Γ(1 - s) cos θ, θ(0) = θ'(1) = 0, θ downwards; return (x, y), shape (2, n)."""
    s = np.expm1(4 * np.linspace(0, 1, 201)) / np.expm1(4)
    guess = np.pi / 2 * -np.expm1(-s * np.sqrt(gamma)) if gamma > 10 else s * gamma / 10
    solution = solve_bvp(
        lambda s, y: np.stack([y[1], -gamma * (1 - s) * np.cos(y[0]), np.cos(y[0]), -np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
        s,
        np.stack([guess, np.gradient(guess, s), s, -s]),
        tol=1e-9,
        max_nodes=100_000,
    )
    return np.array(solution.y[2:])


def grade_points(n: int, growth: float) -> Float:
    """Return n + 1 points from 0 to 1; the last segment is about e^growth times the first."""
    s = np.arange(n + 1) / n
    return np.expm1(growth * s) / np.expm1(growth) if growth else s


def compute_droop(gamma: float, growth: float, n: int) -> Float:
    """Compute the positions (n + 1, 2) of a rod under its own weight."""
    points = grade_points(n, growth)
    mass = np.convolve(np.diff(points), [0.5, 0.5])
    system = build_cantilever(
        points, [laws.gravity(g=(0, -gamma, 0))], mass=mass, axial=1e7 * gamma
    )
    return equilibrium(system, tolerance=FINE).state.q[:, :2]


HEAVY = {gamma: heavy_elastica(gamma) for gamma in WEIGHTS}


@case(
    "own-weight",
    formula="EI θ'' = -w(L - s) cos θ; height by width of the curve, Γ = wL³/EI",
    source="the heavy elastica; solved by collocation",
    expected=[-y.min() / x.max() for x, y in HEAVY.values()],
    tolerance=2e-6,
    reason=(
        "extrapolation from three numbers of links leaves sixth order, at most 3e-7 (at Γ = 20); "
        "EA = 1e7 w L stretches by 1e-7"
    ),
)
def measure_own_weight() -> Measurement:
    """Height/width of cantilevers under their own weight, Γ = 1 to 1000. The plot shows Γ = 20."""

    def ratio(q: Float) -> float:
        return float(-q[:, 1].min() / q[:, 0].max())

    got = [
        extrapolate(
            [ratio(compute_droop(gamma, growth, n)) for n in (fewest, 2 * fewest, 4 * fewest)]
        )
        for gamma, (growth, fewest) in WEIGHTS.items()
    ]
    return Measurement(got, Curve.from_shapes(compute_droop(20, 0, 20), HEAVY[20].T))


CLAMPED = np.array(
    [brentq(lambda b: np.cos(b) * np.cosh(b) + 1, low, low + 3) for low in (1, 4, 7)]
)


@case(
    "rod-vibration",
    formula="ω_j = β_j² √(EI/ρL⁴), cos β cosh β = -1",
    unit="rad/s",
    source="Rayleigh, The Theory of Sound, ch. VIII",
    expected=CLAMPED**2,
    tolerance=1e-6,
    reason=(
        "extrapolation from 20, 40 and 80 links leaves sixth order, (β/40)⁶/64 of the third "
        "frequency, 9e-7"
    ),
)
def measure_rod_vibration() -> Measurement:
    """The three lowest frequencies of a cantilever. The plot shows the second mode shape."""
    found = []
    for n in (20, 40, 80):
        mass = np.full(n + 1, 1 / n)
        mass[[0, -1]] /= 2
        line = rope(n)
        energies = [
            laws.spring(line.edges, k=1e4 * n),
            laws.rod_bending(line.rod_hinges, EI=1.0),
            laws.rod_clamp([[0, 1]], EI=1.0),
        ]
        across = on_line(range(1, n + 1), (0, 1, 0))
        found.append(
            modes(
                build_system(
                    line.points, mass=mass, fixed=[0], energies=energies, constraints=[across]
                ),
                n=3,
            )
        )
    shape = found[0].shapes[1, :, 1]
    b, s = CLAMPED[1], np.linspace(0, 1, 80)
    ratio = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    theory = np.cosh(b * s) - np.cos(b * s) - ratio * (np.sinh(b * s) - np.sin(b * s))
    curve = Curve(
        np.linspace(0, 1, 21),
        shape / shape[-1],
        theory / theory[-1],
        "x/L",
        "second shape",
        theory_x=s,
    )
    return Measurement(extrapolate([each.omega for each in found]), curve)
