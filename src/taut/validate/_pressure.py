"""Pressure in closed surfaces: balloons of springs, bubbles p = 2σ/R, gas; wind, ½ρC_D A u²."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from taut import laws
from taut.arrays import Float
from taut.constraints.sliding import on_line
from taut.mesh.shapes.surfaces import disc, sheet, sphere
from taut.run.simulate import simulate
from taut.statics.equilibrium import equilibrium
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.system.building import areal_mass
from taut.validate._bodies import TIGHT, G, build_system, extrapolate
from taut.validate.cases import Curve, Measurement, case

GOLDEN = (1 + np.sqrt(5)) / 2
SOLIDS: dict[str, tuple[list[Any], int]] = {  # corners, and the number of edges at each
    "tetrahedron": ([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], 3),
    "octahedron": (
        [(s * (a == 0), s * (a == 1), s * (a == 2)) for a in range(3) for s in (1, -1)],
        4,
    ),
    "icosahedron": (
        [np.roll((0, a, b * GOLDEN), r) for r in range(3) for a in (1, -1) for b in (1, -1)],
        5,
    ),
}
K, P = 50.0, 20.0
PRESSURES = np.linspace(0, 25, 6)


class Solid:
    """A regular solid of springs with its corners on the unit sphere."""

    def __init__(self, name: str) -> None:
        corners, self.valence = SOLIDS[name]
        x = np.array(corners, dtype=float)
        self.points: Float = x / np.linalg.norm(x[0])
        apart = np.linalg.norm(self.points[:, None] - self.points[None], axis=2)
        self.edge = float(apart[apart > 1e-9].min())
        near = np.isclose(apart, self.edge)
        self.edges = np.argwhere(np.triu(near))
        n = len(x)
        faces = [
            (i, j, k)
            for i in range(n)
            for j in range(i)
            for k in range(j)
            if near[i, j] and near[j, k] and near[i, k]
        ]
        self.faces = np.array(
            [f if np.linalg.det(self.points[list(f)]) > 0 else f[::-1] for f in faces]
        )
        self.volume = float(sum(np.linalg.det(self.points[f]) for f in self.faces) / 6)

    def solve_radius(self, pressure: Callable[[float], float]) -> float:
        """Solve z k(a - a₀)a/2R = p dv/dR/N, the balance of a corner where z edges meet.

        pressure : as a function of R [Pa]
        """

        def gap(r: float) -> float:
            return (
                3 * pressure(r) * self.volume * r**2 / len(self.points)
                - self.valence * K * self.edge**2 * (r - 1) / 2
            )

        return float(brentq(gap, 0.9, 1.6, xtol=1e-15))

    def inflate(self, law: Any) -> float:
        """Compute the same radius with taut."""
        system = build_system(self.points, mass=1.0, energies=[laws.spring(self.edges, k=K), law])
        q = equilibrium(system, tolerance=TIGHT).state.q
        return float(np.linalg.norm(q - q.mean(axis=0), axis=1).mean())


def constant_pressure(p: float) -> Callable[[float], float]:
    """Return a pressure that does not depend on the radius."""
    return lambda r: p


BALANCED = "forces are balanced to 1e-13 of the forces that act"


def register(name: str) -> None:
    solid = Solid(name)

    @case(
        f"balloon-{name}",
        formula="p ∂v/∂R = N z k(a - a₀) a/2R, v = cR³",
        source="statics of a corner where z edges meet",
        unit="m",
        expected=solid.solve_radius(constant_pressure(P)),
        tolerance=1e-13,
        reason=BALANCED,
        description=f"Radius of a regular {name} of springs. The plot: radius by pressure.",
    )
    def measure() -> Measurement:
        several = PRESSURES[1:] if name != "tetrahedron" else PRESSURES[1:] / 2
        got = [solid.inflate(laws.pressure(solid.faces, p=p)) for p in several.tolist()]
        fine = np.linspace(0, several[-1], 60)
        theory = [solid.solve_radius(constant_pressure(p)) for p in fine.tolist()]
        return Measurement(
            solid.inflate(laws.pressure(solid.faces, p=P)),
            Curve(several, got, theory, "p [Pa]", "R [m]", theory_x=fine),
        )


for name in SOLIDS:
    register(name)

AMBIENT, FILLED = 300.0, np.linspace(5, 60, 6)
GAS = Solid("icosahedron")


def gas_radius(p: float) -> float:
    return GAS.solve_radius(lambda r: (p + AMBIENT) / r**3 - AMBIENT)


@case(
    "balloon-gas",
    formula="(p + p_a) v₀/v - p_a in place of p",
    source="Boyle 1662, and the same statics",
    unit="m",
    expected=gas_radius(40.0),
    tolerance=1e-13,
    reason=BALANCED,
)
def measure_balloon_gas() -> Measurement:
    """Radius of an icosahedron of springs that seals a gas.

    The plot shows it against the filling pressure.
    """
    got = [GAS.inflate(laws.gas(GAS.faces, p=p, ambient=AMBIENT)) for p in FILLED.tolist()]
    fine = np.linspace(0, 60, 60)
    value = GAS.inflate(laws.gas(GAS.faces, p=40.0, ambient=AMBIENT))
    return Measurement(
        value,
        Curve(
            FILLED, got, [gas_radius(p) for p in fine.tolist()], "p [Pa]", "R [m]", theory_x=fine
        ),
    )


SIGMA, RADIUS = 0.03, 0.2


@case(
    "bubble",
    formula="p = 2σ/R",
    source="Young 1805, Laplace 1806",
    unit="Pa",
    expected=2 * SIGMA / RADIUS,
    tolerance=1e-6,
    reason=(
        "extrapolation from 4, 8 and 16 divisions of an edge leaves sixth order in the size of "
        "the triangles, somewhat more than (1/8)⁶/64"
    ),
)
def measure_bubble() -> Measurement:
    """Pressure in a spherical film, from the virial (force times position) of film and pressure.

    The plot shows it against the mesh.
    """
    got = []
    for n in (4, 8, 16):
        mesh = sphere(n, RADIUS)
        film, air = (
            laws.surface_tension(mesh.triangles, stress=SIGMA),
            laws.pressure(mesh.triangles, p=1.0),
        )
        inwards, outwards = (
            build_system(mesh.points, mass=1.0, energies=[law]) for law in (film, air)
        )
        works = [np.sum(s.f(s.initial_state()) * mesh.points) for s in (inwards, outwards)]
        got.append(-works[0] / works[1])
    return Measurement(
        extrapolate(got),
        Curve([4, 8, 16], got, np.full(3, 2 * SIGMA / RADIUS), "divisions of an edge", "p [Pa]"),
    )


RIM, CAP = 0.1, 0.13


def blow_film(rings: int) -> tuple[float, Float]:
    """Compute the height [m] of a film blown over a round hole, and its profile (k, 2)."""
    mesh = disc(rings, RIM, plane="xz")
    inside = np.setdiff1d(np.arange(mesh.n), mesh.boundary)
    floor = np.arange(mesh.n)
    floor[inside] = mesh.n + np.arange(len(inside))  # a fixed floor closes the surface
    points, up = np.concatenate([mesh.points, mesh.points[inside]]), mesh.triangles
    film = laws.surface_tension(up, stress=SIGMA)
    air = laws.pressure(np.concatenate([up, floor[up][:, ::-1]]), p=2 * SIGMA / CAP)
    held = np.concatenate([mesh.boundary, floor[inside]])
    system = build_system(
        points, mass=1.0, fixed=held, energies=[film, air], constraints=[on_line(inside, (0, 1, 0))]
    )
    q = equilibrium(system).state.q[: mesh.n]
    middle = q[np.abs(q[:, 2]) < 1e-9]
    return float(q[:, 1].max()), middle[np.argsort(middle[:, 0])][:, :2]


@case(
    "film-cap",
    formula="height R - √(R² - a²), R = 2σ/p",
    source="Young 1805, Laplace 1806",
    unit="m",
    expected=CAP - np.sqrt(CAP**2 - RIM**2),
    tolerance=6e-5,
    reason=(
        "extrapolated from 8 and 16 rings; across six seams the triangles change direction, and "
        "the rest falls slowly: 5e-5, and 2e-5 from 16 and 32 rings"
    ),
)
def measure_film_cap() -> Measurement:
    """Height of a film blown over a round hole: a spherical cap. The plot shows the profile."""
    (coarse, _), (fine, profile) = blow_film(8), blow_film(16)
    x = np.linspace(-RIM, RIM, 80)
    theory = np.column_stack([x, np.sqrt(CAP**2 - x**2) - np.sqrt(CAP**2 - RIM**2)])
    return Measurement(extrapolate([coarse, fine]), Curve.from_shapes(profile, theory))


DENSITY, DRAG, AREAL = 1.204, 1.1, 0.3
TERMINAL = np.sqrt(2 * AREAL * G / (DENSITY * DRAG))
STEP, TIME = 2e-3, 0.5  # s
FALLEN = G * TIME / TERMINAL
# Error of the delayed air force [m/s], from δ' = -2gvδ/v_∞² + hgvv'/v_∞².
LATE = STEP * G * np.log(np.cosh(FALLEN)) / np.cosh(FALLEN) ** 2


@case(
    "fall-terminal",
    formula="v = v_∞ tanh(gt/v_∞), v_∞ = √(2mg/ρC_D A)",
    source="Newton, Principia II, prop. 9",
    unit="m/s",
    expected=TERMINAL * np.tanh(FALLEN),
    tolerance=1.1 * LATE / (TERMINAL * np.tanh(FALLEN)),
    reason=(
        "the air force is that of the start of each step, late by h/2: hg ln cosh τ/cosh² τ, τ = "
        "gt/v_∞; 10% are added for the next order"
    ),
)
def measure_fall_terminal() -> Measurement:
    """Speed after 0.5 s of a flat sheet that falls face down through air.

    The plot shows the approach to terminal speed.
    """
    mesh = sheet(2, 2, pattern="alternating", plane="xz")
    system = build_system(
        mesh.points,
        mass=areal_mass(mesh, AREAL),
        energies=[laws.spring(mesh.edges, k=1e4), laws.gravity()],
        loads=[laws.wind(mesh.triangles, velocity=(0, 0, 0), density=DENSITY, drag=DRAG, lift=0.0)],
    )
    states = [state for state, _ in simulate(system, ImplicitMidpoint(), STEP, TIME)]
    t, v = np.array(
        [(state.t, -system.momentum(state)[1] / system.mass.sum()) for state in states]
    ).T
    return Measurement(
        v[-1], Curve(t, v, TERMINAL * np.tanh(G * t / TERMINAL), "t [s]", "speed [m/s]")
    )
