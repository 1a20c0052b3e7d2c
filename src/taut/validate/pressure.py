"""Pressure in closed surfaces: balloons of springs, bubbles p = 2σ/R, sealed gas; and wind, ½ρC_D A u²."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from taut import laws
from taut.constraints.sliding import on_line
from taut.mesh.shapes.surfaces import disc, sheet, sphere
from taut.run.simulate import simulate
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.step.statics import equilibrium
from taut.system.mass import areal_mass
from taut.validate.bodies import TIGHT, G, body, limit
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case

GOLDEN = (1 + np.sqrt(5)) / 2
SOLIDS: dict[str, tuple[list[Any], int]] = {  # corners, and how many edges meet in each
    "tetrahedron": ([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], 3),
    "octahedron": ([(s * (a == 0), s * (a == 1), s * (a == 2)) for a in range(3) for s in (1, -1)], 4),
    "icosahedron": ([np.roll((0, a, b * GOLDEN), r) for r in range(3) for a in (1, -1) for b in (1, -1)], 5),
}
K, P = 50.0, 20.0
PRESSURES = np.linspace(0, 25, 6)


class Solid:
    """A regular solid of springs with the corners on the unit sphere."""

    def __init__(self, name: str) -> None:
        corners, self.valence = SOLIDS[name]
        x = np.array(corners, dtype=float)
        self.points: Float = x / np.linalg.norm(x[0])
        apart = np.linalg.norm(self.points[:, None] - self.points[None], axis=2)
        self.edge = float(apart[apart > 1e-9].min())
        near = np.isclose(apart, self.edge)
        self.edges = np.argwhere(np.triu(near))
        n = len(x)
        faces = [(i, j, k) for i in range(n) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]]
        self.faces = np.array([f if np.linalg.det(self.points[list(f)]) > 0 else f[::-1] for f in faces])
        self.volume = float(sum(np.linalg.det(self.points[f]) for f in self.faces) / 6)

    def radius(self, pressure: Callable[[float], float]) -> float:
        """At which z k(a - a₀)a/2R, inwards along the radius of a corner where z edges meet, is p dv/dR/N; pressure : of R [Pa]."""

        def gap(r: float) -> float:
            return 3 * pressure(r) * self.volume * r**2 / len(self.points) - self.valence * K * self.edge**2 * (r - 1) / 2

        return float(brentq(gap, 0.9, 1.6, xtol=1e-15))

    def blown(self, law: Any) -> float:
        """The same by taut."""
        system = body(self.points, mass=1.0, energies=[laws.spring(self.edges, k=K), law])
        q = equilibrium(system, tolerance=TIGHT).state.q
        return float(np.linalg.norm(q - q.mean(axis=0), axis=1).mean())


def steady(p: float) -> Callable[[float], float]:
    """The same pressure at any radius."""
    return lambda r: p


BALANCED = "forces are balanced to 1e-13 of those that act"


def register(name: str) -> None:
    solid = Solid(name)

    @case(
        f"balloon-{name}", formula="p ∂v/∂R = N z k(a - a₀) a/2R, v = cR³", source="statics of a corner where z edges meet",
        unit="m", expected=solid.radius(steady(P)), tolerance=1e-13, why=BALANCED,
        what=f"A regular {name} of springs under pressure: its radius; the curve: over the pressure.",
    )  # fmt: skip
    def balloon() -> Found:
        several = PRESSURES[1:] if name != "tetrahedron" else PRESSURES[1:] / 2
        got = [solid.blown(laws.pressure(solid.faces, p=p)) for p in several.tolist()]
        fine = np.linspace(0, several[-1], 60)
        theory = [solid.radius(steady(p)) for p in fine.tolist()]
        return Found(solid.blown(laws.pressure(solid.faces, p=P)), Curve(several, got, theory, "p [Pa]", "R [m]", at=fine))


for name in SOLIDS:
    register(name)

AMBIENT, FILLED = 300.0, np.linspace(5, 60, 6)
GAS = Solid("icosahedron")


def sealed(p: float) -> float:
    return GAS.radius(lambda r: (p + AMBIENT) / r**3 - AMBIENT)


@case(
    "balloon-gas", formula="(p + p_a) v₀/v - p_a in place of p", source="Boyle 1662, and the same statics", unit="m",
    expected=sealed(40.0), tolerance=1e-13, why=BALANCED,
)  # fmt: skip
def gas() -> Found:
    """An icosahedron of springs with gas sealed in: its radius; the curve: over the pressure at which it was filled."""
    got = [GAS.blown(laws.gas(GAS.faces, p=p, ambient=AMBIENT)) for p in FILLED.tolist()]
    fine = np.linspace(0, 60, 60)
    value = GAS.blown(laws.gas(GAS.faces, p=40.0, ambient=AMBIENT))
    return Found(value, Curve(FILLED, got, [sealed(p) for p in fine.tolist()], "p [Pa]", "R [m]", at=fine))


SIGMA, RADIUS = 0.03, 0.2


@case(
    "bubble", formula="p = 2σ/R", source="Young 1805, Laplace 1806", unit="Pa", expected=2 * SIGMA / RADIUS, tolerance=1e-6,
    why="extrapolated from 4, 8 and 16 divisions of an edge: of sixth order in the triangles, (1/8)⁶/64 and some",
)  # fmt: skip
def bubble() -> Found:
    """The pressure that holds a sphere of film: forces times places of either, on ever finer triangles; the curve: over them."""
    got = []
    for n in (4, 8, 16):
        mesh = sphere(n, RADIUS)
        film, air = laws.surface_tension(mesh.triangles, stress=SIGMA), laws.pressure(mesh.triangles, p=1.0)
        inwards, outwards = (body(mesh.points, mass=1.0, energies=[law]) for law in (film, air))
        works = [np.sum(s.f(s.initial_state()) * mesh.points) for s in (inwards, outwards)]
        got.append(-works[0] / works[1])
    return Found(limit(got), Curve([4, 8, 16], got, np.full(3, 2 * SIGMA / RADIUS), "divisions of an edge", "p [Pa]"))


RIM, CAP = 0.1, 0.13


def blown(rings: int) -> tuple[float, Float]:
    """How high a film over a round hole stands [m], and its profile (k, 2)."""
    mesh = disc(rings, RIM, plane="xz")
    inside = np.setdiff1d(np.arange(mesh.n), mesh.boundary)
    floor = np.arange(mesh.n)
    floor[inside] = mesh.n + np.arange(len(inside))  # a floor that stays closes the surface
    points, up = np.concatenate([mesh.points, mesh.points[inside]]), mesh.triangles
    film = laws.surface_tension(up, stress=SIGMA)
    air = laws.pressure(np.concatenate([up, floor[up][:, ::-1]]), p=2 * SIGMA / CAP)
    held = np.concatenate([mesh.boundary, floor[inside]])
    system = body(points, mass=1.0, fixed=held, energies=[film, air], constraints=[on_line(inside, (0, 1, 0))])
    q = equilibrium(system).state.q[: mesh.n]
    middle = q[np.abs(q[:, 2]) < 1e-9]
    return float(q[:, 1].max()), middle[np.argsort(middle[:, 0])][:, :2]


@case(
    "film-cap", formula="height R - √(R² - a²), R = 2σ/p", source="Young 1805, Laplace 1806", unit="m",
    expected=CAP - np.sqrt(CAP**2 - RIM**2), tolerance=6e-5,
    why="extrapolated from 8 and 16 rings; on six seams triangles turn, and what is left falls slowly: 5e-5, from 16 and 32 2e-5",
)  # fmt: skip
def cap() -> Found:
    """A film blown over a round hole is a part of a sphere: how high it stands; the curve: its profile."""
    (coarse, _), (fine, profile) = blown(8), blown(16)
    x = np.linspace(-RIM, RIM, 80)
    theory = np.column_stack([x, np.sqrt(CAP**2 - x**2) - np.sqrt(CAP**2 - RIM**2)])
    return Found(limit([coarse, fine]), Curve.of_shapes(profile, theory))


DENSITY, DRAG, AREAL = 1.204, 1.1, 0.3
TERMINAL = np.sqrt(2 * AREAL * G / (DENSITY * DRAG))
STEP, TIME = 2e-3, 0.5  # s
FALLEN = G * TIME / TERMINAL
LATE = STEP * G * np.log(np.cosh(FALLEN)) / np.cosh(FALLEN) ** 2  # m/s, of δ' = -2gvδ/v_∞² + hgvv'/v_∞²


@case(
    "fall-terminal", formula="v = v_∞ tanh(gt/v_∞), v_∞ = √(2mg/ρC_D A)", source="Newton, Principia II, prop. 9", unit="m/s",
    expected=TERMINAL * np.tanh(FALLEN), tolerance=1.1 * LATE / (TERMINAL * np.tanh(FALLEN)),
    why="the air's force is that of the start of each step, late by h/2: hg ln cosh τ/cosh² τ, τ = gt/v_∞; a tenth for the next",
)  # fmt: skip
def terminal() -> Found:
    """A flat sheet falls face down through air: its speed after half a second; the curve: until it is steady."""
    mesh = sheet(2, 2, pattern="alternating", plane="xz")
    system = body(
        mesh.points, mass=areal_mass(mesh, AREAL), energies=[laws.spring(mesh.edges, k=1e4), laws.gravity()],
        loads=[laws.wind(mesh.triangles, velocity=(0, 0, 0), density=DENSITY, drag=DRAG, lift=0.0)],
    )  # fmt: skip
    states = [state for state, _ in simulate(system, ImplicitMidpoint(), STEP, TIME)]
    t, v = np.array([(state.t, -system.momentum(state)[1] / system.mass.sum()) for state in states]).T
    return Found(v[-1], Curve(t, v, TERMINAL * np.tanh(G * t / TERMINAL), "t [s]", "speed [m/s]"))
