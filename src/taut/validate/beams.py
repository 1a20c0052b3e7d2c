"""Beams that droop under their own weight, EI θ'' = -w(L - s) cos θ, and vibrate, EI d⁴u/dx⁴ = ρω²u."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

from taut import laws
from taut.constraints.sliding import on_line
from taut.mesh.shapes.nets import rope
from taut.step.statics import equilibrium
from taut.step.vibration import modes
from taut.validate.bodies import body, limit
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case
from taut.validate.rods import FINE, cantilever

WEIGHTS = {1: (0, 10), 5: (0, 10), 10: (0, 10), 20: (0, 10), 100: (0, 20), 1000: (4, 20)}
"""Γ = wL³/EI: how the segments grow from the clamp (see `graded`), and the fewest of them."""


def heavy_elastica(gamma: float) -> Float:
    """(x, y) along the curve, shape (2, n): θ'' = -Γ(1 - s) cos θ with θ(0) = 0 and θ'(1) = 0, θ downwards."""
    s = np.expm1(4 * np.linspace(0, 1, 201)) / np.expm1(4)
    guess = np.pi / 2 * -np.expm1(-s * np.sqrt(gamma)) if gamma > 10 else s * gamma / 10
    solution = solve_bvp(
        lambda s, y: np.stack([y[1], -gamma * (1 - s) * np.cos(y[0]), np.cos(y[0]), -np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]), s, np.stack([guess, np.gradient(guess, s), s, -s]), tol=1e-9,
        max_nodes=100_000,
    )  # fmt: skip
    return np.array(solution.y[2:])


def graded(n: int, growth: float) -> Float:
    """n + 1 places from 0 to 1, the last segment e^growth times as long as the first, about."""
    s = np.arange(n + 1) / n
    return np.expm1(growth * s) / np.expm1(growth) if growth else s


def droop(gamma: float, growth: float, n: int) -> Float:
    """Places (n + 1, 2) of a rod under its own weight."""
    places = graded(n, growth)
    mass = np.convolve(np.diff(places), [0.5, 0.5])
    system = cantilever(places, [laws.gravity(g=(0, -gamma, 0))], mass=mass, axial=1e7 * gamma)
    return equilibrium(system, tolerance=FINE).state.q[:, :2]


HEAVY = {gamma: heavy_elastica(gamma) for gamma in WEIGHTS}


@case(
    "own-weight", formula="EI θ'' = -w(L - s) cos θ; height by width of the curve, Γ = wL³/EI",
    source="the heavy elastica; solved by collocation", expected=[-y.min() / x.max() for x, y in HEAVY.values()], tolerance=2e-6,
    why="extrapolated from three numbers of links: sixth order leaves 3e-7 at Γ = 20, the most, and EA = 1e7 w L stretches by 1e-7",
)  # fmt: skip
def own_weight() -> Found:
    """Cantilevers that droop under their own weight, Γ = 1 to 1000; the curve: at Γ = 20."""

    def ratio(q: Float) -> float:
        return float(-q[:, 1].min() / q[:, 0].max())

    got = [
        limit([ratio(droop(gamma, growth, n)) for n in (fewest, 2 * fewest, 4 * fewest)])
        for gamma, (growth, fewest) in WEIGHTS.items()
    ]
    return Found(got, Curve.of_shapes(droop(20, 0, 20), HEAVY[20].T))


CLAMPED = np.array([brentq(lambda b: np.cos(b) * np.cosh(b) + 1, low, low + 3) for low in (1, 4, 7)])


@case(
    "rod-vibration", formula="ω_j = β_j² √(EI/ρL⁴), cos β cosh β = -1", unit="rad/s",
    source="Rayleigh, The Theory of Sound, ch. VIII", expected=CLAMPED**2, tolerance=1e-6,
    why="extrapolated from 20, 40 and 80 links: of sixth order, (β/40)⁶/64 of the third frequency, 9e-7",
)  # fmt: skip
def vibration() -> Found:
    """The three lowest frequencies of a cantilever, and the shape of the second."""
    found = []
    for n in (20, 40, 80):
        mass = np.full(n + 1, 1 / n)
        mass[[0, -1]] /= 2
        line = rope(n)
        energies = [laws.spring(line.edges, k=1e4 * n), laws.rod_bending(line.rod_hinges, EI=1.0), laws.rod_clamp([[0, 1]], EI=1.0)]
        across = on_line(range(1, n + 1), (0, 1, 0))
        found.append(modes(body(line.points, mass=mass, fixed=[0], energies=energies, constraints=[across]), n=3))
    shape = found[0].shapes[1, :, 1]
    b, s = CLAMPED[1], np.linspace(0, 1, 80)
    ratio = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    theory = np.cosh(b * s) - np.cos(b * s) - ratio * (np.sinh(b * s) - np.sin(b * s))
    curve = Curve(np.linspace(0, 1, 21), shape / shape[-1], theory / theory[-1], "x/L", "second shape", at=s)
    return Found(limit([each.omega for each in found]), curve)
