"""Found forms: force densities Σ d(x_j - x_i) + p_i = 0 (Schek 1974), minimal surfaces, a film under a little load, sΔz = -p."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from taut.mesh.mesh import Mesh
from taut.mesh.shapes.nets import net, rope
from taut.mesh.shapes.surfaces import cylinder, sheet
from taut.step.form import form_finding
from taut.system.mass import areal_mass
from taut.validate.bodies import TIGHT, limit
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case

SCHEK = "Schek, Comput. Methods Appl. Mech. Eng. 3 (1974) 115"
N = 8
BALANCED = "a linear problem, balanced to 1e-13 of the forces"


def hypar() -> tuple[Mesh, Float, Any]:
    """A square net, its knots on z = x y, and which of them are on the rim."""
    mesh = net(N, N, size=2.0)
    points = np.array(mesh.points)
    points[:, 2] = (points[:, 0] - 1) * (points[:, 1] - 1)
    return mesh, points, mesh.select("x == min or x == max or y == min or y == max")


@case(
    "net-hypar", formula="z = x y", source=f"{SCHEK}: the surface is linear along the net, so that means of neighbours are on it",
    unit="m", expected=hypar()[1], scale=1.0, tolerance=1e-13, why=BALANCED,
)  # fmt: skip
def hyperbolic() -> Found:
    """A square net of equal force densities whose rim lies on z = x y: all its knots do; the curve: along a diagonal."""
    mesh, points, rim = hypar()
    start = points + 0.1 * np.random.default_rng(1).normal(size=points.shape)
    start[rim] = points[rim]
    found = form_finding(start, fixed=rim, edges=mesh.edges, density=3.0, tolerance=TIGHT).points
    diagonal = np.arange(N + 1) * (N + 2)
    x = np.linspace(-1, 1, 60)
    return Found(found, Curve(points[diagonal, 0] - 1, found[diagonal, 2], x**2, "x [m]", "z [m]", at=x))


rng = np.random.default_rng(2)
MESH, POINTS, RIM = hypar()
DENSITY, LOADS = rng.uniform(1, 9, len(MESH.edges)), rng.normal(size=POINTS.shape)


def linear() -> Float:
    """(CᵀQC) x = p for each coordinate, C the incidence of the edges and Q their densities, by a dense solve."""
    incidence = np.zeros((len(MESH.edges), len(POINTS)))
    for row, (i, j) in enumerate(MESH.edges.tolist()):
        incidence[row, [i, j]] = 1, -1
    matrix = incidence.T @ np.diag(DENSITY) @ incidence
    free = np.setdiff1d(np.arange(len(POINTS)), RIM)
    found = POINTS.copy()
    found[free] = np.linalg.solve(matrix[np.ix_(free, free)], LOADS[free] - matrix[np.ix_(free, RIM)] @ POINTS[RIM])
    return found


LOADED = linear()


@case(
    "net-loaded", formula="(CᵀQC) x = p", source=SCHEK, unit="m", expected=LOADED, scale=1.0, tolerance=1e-13, why=BALANCED,
)  # fmt: skip
def loaded() -> Found:
    """Unequal force densities and random loads in all directions: all knots, against a dense linear solve; the curve: their z."""
    found = form_finding(POINTS, fixed=RIM, edges=MESH.edges, density=DENSITY, loads=LOADS, tolerance=TIGHT).points
    order = np.argsort(LOADED[:, 2])
    return Found(found, Curve(np.arange(len(order)), found[order, 2], LOADED[order, 2], "knot, sorted", "z [m]"))


LINKS, WEIGHT, PULL = 16, 0.3, 5.0


@case(
    "net-parabola", formula="z_i = -(p/2d) i(N - i)", source=f"{SCHEK}: second differences are -p/d", unit="m",
    expected=-WEIGHT / (2 * PULL) * np.arange(LINKS + 1) * (LINKS - np.arange(LINKS + 1)), scale=1.0, tolerance=1e-13, why=BALANCED,
)  # fmt: skip
def parabola() -> Found:
    """A cable of equal force densities under equal loads hangs in a parabola."""
    line = rope(LINKS)
    loads = np.zeros((LINKS + 1, 3))
    loads[1:-1, 1] = -WEIGHT
    found = form_finding(line.points, fixed=[0, LINKS], edges=line.edges, density=PULL, loads=loads, tolerance=TIGHT).points
    x = np.linspace(0, 1, 60)
    theory = -WEIGHT / (2 * PULL) * LINKS**2 * x * (1 - x)
    return Found(found[:, 1], Curve(line.points[:, 0], found[:, 1], theory, "x [m]", "y [m]", at=x))


NECK = brentq(lambda a: a * np.cosh(0.5 / a) - 1, 0.56, 1.0, xtol=1e-15)


@case(
    "catenoid", formula="r = a cosh(z/a), a cosh(1/2a) = 1: a = 0.848338, area πa²(sinh(1/a) + 1/a) = 5.9918", source="Euler 1744",
    expected=[NECK, np.pi * NECK**2 * (np.sinh(1 / NECK) + 1 / NECK)], tolerance=1e-6,
    why="extrapolated from 6, 12 and 24 rows of triangles: what is left is of sixth order, some (1/6)⁶/64",
)  # fmt: skip
def catenoid() -> Found:
    """A film between two rings of radius 1 m at a distance of 1 m: the radius of its neck, and its area."""
    found, profile = [], np.zeros((0, 2))
    for n in (6, 12, 24):
        mesh = cylinder(3 * n, n, radius=1.0, height=1.0, pattern="alternating")
        form = form_finding(mesh.points, fixed=mesh.boundary, triangles=mesh.triangles, stress=2.0)
        radius = np.hypot(form.points[:, 0], form.points[:, 2])
        found.append([radius.min(), form.areas.sum()])
        profile = np.column_stack([form.points[:, 1], radius])[:: 3 * n]
    y = np.linspace(0, 1, 80)
    theory = np.column_stack([y, NECK * np.cosh((y - 0.5) / NECK)])
    return Found(limit(found), Curve.of_shapes(profile, theory, "height [m]", "radius [m]"))


STRESS, LOAD = 5.0, 0.02
ODD = np.arange(1, 4000, 2)  # terms fall as 1/n³: the rest is 1e-11 of the sum


def bulge(x: Float) -> Float:
    """z(x, ½) of sΔz = -p on the unit square, by Fourier's series in one direction [m]."""
    decay = np.exp(-np.pi * ODD / 2)
    terms = np.sin(np.pi * ODD * x[:, None]) / ODD**3.0 * (1 - 2 * decay / (1 + decay**2))  # 1/cosh, without its overflow
    return 4 * LOAD / (np.pi**3 * STRESS) * terms.sum(axis=1)


@case(
    "film-bulge", formula="sΔz = -p: z = 0.0736713 pL²/s in the middle of a square",
    source="Timoshenko and Goodier, Theory of Elasticity: Prandtl's membrane", unit="m", expected=bulge(np.array([0.5]))[0],
    tolerance=2e-6,
    why="extrapolated from 8, 16 and 32 cells: what is left is of sixth order, some 16 (1/8)⁶/64, and of higher ones",
)  # fmt: skip
def film_bulge() -> Found:
    """A flat square film under a little pressure: how far its middle moves; the curve: along the middle."""
    found, x, z = [], np.zeros(0), np.zeros(0)
    for n in (8, 16, 32):
        mesh = sheet(n, n, pattern="alternating")
        loads = np.zeros((mesh.n, 3))
        loads[:, 2] = LOAD * areal_mass(mesh, 1.0)
        form = form_finding(mesh.points, fixed=mesh.boundary, triangles=mesh.triangles, stress=STRESS, loads=loads)
        found.append(form.points[:, 2].max())
        middle = np.isclose(mesh.points[:, 1], 0.5)
        x, z = mesh.points[middle, 0], form.points[middle, 2]
    return Found(limit(found), Curve(x, 1e3 * z, 1e3 * bulge(x), "x [m]", "z [mm]"))
