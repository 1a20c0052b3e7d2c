"""Form finding: nets, Σ d(x_j - x_i) + p_i = 0 (Schek 1974), minimal surfaces, films, sΔz = -p."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from taut.arrays import Float
from taut.mesh.mesh import Mesh
from taut.mesh.shapes.nets import net, rope
from taut.mesh.shapes.surfaces import cylinder, sheet
from taut.statics.form_finding import form_finding
from taut.system.building import areal_mass
from taut.validate._bodies import TIGHT, extrapolate
from taut.validate.cases import Curve, Measurement, case

SCHEK = "Schek, Comput. Methods Appl. Mech. Eng. 3 (1974) 115"
N = 8
BALANCED = "a linear problem, balanced to 1e-13 of the forces"


def build_hypar() -> tuple[Mesh, Float, Any]:
    """Return a square net, its knots on z = x y, and the indices of the rim."""
    mesh = net(N, N, size=2.0)
    points = np.array(mesh.points)
    points[:, 2] = (points[:, 0] - 1) * (points[:, 1] - 1)
    return mesh, points, mesh.select("x == min or x == max or y == min or y == max")


@case(
    "net-hypar",
    formula="z = x y",
    source=f"{SCHEK}: the surface is linear along the net, so that means of neighbours are on it",
    unit="m",
    expected=build_hypar()[1],
    scale=1.0,
    tolerance=1e-13,
    reason=BALANCED,
)
def measure_net_hypar() -> Measurement:
    """All knots of a square net of equal force densities whose rim lies on z = x y.

    The plot shows a diagonal.
    """
    mesh, points, rim = build_hypar()
    start = points + 0.1 * np.random.default_rng(1).normal(size=points.shape)
    start[rim] = points[rim]
    found = form_finding(start, fixed=rim, edges=mesh.edges, density=3.0, tolerance=TIGHT).points
    diagonal = np.arange(N + 1) * (N + 2)
    x = np.linspace(-1, 1, 60)
    return Measurement(
        found,
        Curve(points[diagonal, 0] - 1, found[diagonal, 2], x**2, "x [m]", "z [m]", theory_x=x),
    )


rng = np.random.default_rng(2)
MESH, POINTS, RIM = build_hypar()
DENSITY, LOADS = rng.uniform(1, 9, len(MESH.edges)), rng.normal(size=POINTS.shape)


def solve_dense() -> Float:
    """Solve (CᵀQC) x = p, C the incidence of the edges and Q their densities, as a dense system."""
    incidence = np.zeros((len(MESH.edges), len(POINTS)))
    for row, (i, j) in enumerate(MESH.edges.tolist()):
        incidence[row, [i, j]] = 1, -1
    matrix = incidence.T @ np.diag(DENSITY) @ incidence
    free = np.setdiff1d(np.arange(len(POINTS)), RIM)
    found = POINTS.copy()
    found[free] = np.linalg.solve(
        matrix[np.ix_(free, free)], LOADS[free] - matrix[np.ix_(free, RIM)] @ POINTS[RIM]
    )
    return found


LOADED = solve_dense()


@case(
    "net-loaded",
    formula="(CᵀQC) x = p",
    source=SCHEK,
    unit="m",
    expected=LOADED,
    scale=1.0,
    tolerance=1e-13,
    reason=BALANCED,
)
def measure_net_loaded() -> Measurement:
    """All knots of a net with unequal force densities and random loads, against a dense linear
    solve. The plot shows z.
    """
    found = form_finding(
        POINTS, fixed=RIM, edges=MESH.edges, density=DENSITY, loads=LOADS, tolerance=TIGHT
    ).points
    order = np.argsort(LOADED[:, 2])
    return Measurement(
        found,
        Curve(np.arange(len(order)), found[order, 2], LOADED[order, 2], "knot, sorted", "z [m]"),
    )


LINKS, WEIGHT, PULL = 16, 0.3, 5.0


@case(
    "net-parabola",
    formula="z_i = -(p/2d) i(N - i)",
    source=f"{SCHEK}: second differences are -p/d",
    unit="m",
    expected=-WEIGHT / (2 * PULL) * np.arange(LINKS + 1) * (LINKS - np.arange(LINKS + 1)),
    scale=1.0,
    tolerance=1e-13,
    reason=BALANCED,
)
def measure_net_parabola() -> Measurement:
    """A cable of equal force densities under equal loads hangs in a parabola."""
    line = rope(LINKS)
    loads = np.zeros((LINKS + 1, 3))
    loads[1:-1, 1] = -WEIGHT
    found = form_finding(
        line.points, fixed=[0, LINKS], edges=line.edges, density=PULL, loads=loads, tolerance=TIGHT
    ).points
    x = np.linspace(0, 1, 60)
    theory = -WEIGHT / (2 * PULL) * LINKS**2 * x * (1 - x)
    return Measurement(
        found[:, 1], Curve(line.points[:, 0], found[:, 1], theory, "x [m]", "y [m]", theory_x=x)
    )


RING = 2 * np.pi / 3 * np.arange(3)
PRISM = np.concatenate(
    [
        np.column_stack([np.cos(RING), np.sin(RING), np.zeros(3)]),
        np.column_stack(
            [np.cos(RING + 5 * np.pi / 6), np.sin(RING + 5 * np.pi / 6), np.full(3, 1.3)]
        ),
    ]
)
CABLES = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]
STRUTS, BRACING = [[0, 3], [1, 4], [2, 5]], [[1, 3], [2, 4], [0, 5]]


@case(
    "net-tensegrity",
    formula="densities 1/√3 : 1 : -1 of cables, bracing and struts: triangles turned by 150°",
    source="Tibert and Pellegrino, Int. J. Space Structures 18 (2003) 209",
    unit="m",
    expected=PRISM,
    scale=1.0,
    tolerance=1e-13,
    reason=BALANCED,
)
def measure_net_tensegrity() -> Measurement:
    """All six points of a prism of three struts, four of them fixed.

    The plot shows it from above.
    """
    start = np.array(PRISM)
    start[4:] += [[0.3, -0.2, 0.1], [-0.1, 0.4, 0.2]]
    found = form_finding(
        start,
        fixed=[0, 1, 2, 3],
        edges=[*CABLES, *STRUTS, *BRACING],
        density=[1 / np.sqrt(3)] * 6 + [-1.0] * 3 + [1.0] * 3,
    ).points
    path = [0, 1, 2, 0, 3, 4, 5, 3]
    return Measurement(found, Curve.from_shapes(found[path, :2], PRISM[path, :2]))


NECK = brentq(lambda a: a * np.cosh(0.5 / a) - 1, 0.56, 1.0, xtol=1e-15)


@case(
    "catenoid",
    formula="r = a cosh(z/a), a cosh(1/2a) = 1: a = 0.848338, area πa²(sinh(1/a) + 1/a) = 5.9918",
    source="Euler 1744",
    expected=[NECK, np.pi * NECK**2 * (np.sinh(1 / NECK) + 1 / NECK)],
    tolerance=1e-6,
    reason="extrapolation from 6, 12 and 24 rows of triangles leaves sixth order, about (1/6)⁶/64",
)
def measure_catenoid() -> Measurement:
    """Neck radius and area of a film between two rings of radius 1 m, 1 m apart."""
    found, profile = [], np.zeros((0, 2))
    for n in (6, 12, 24):
        mesh = cylinder(3 * n, n, radius=1.0, height=1.0, pattern="alternating")
        form = form_finding(mesh.points, fixed=mesh.boundary, triangles=mesh.triangles, stress=2.0)
        radius = np.hypot(form.points[:, 0], form.points[:, 2])
        found.append([radius.min(), form.areas.sum()])
        profile = np.column_stack([form.points[:, 1], radius])[:: 3 * n]
    y = np.linspace(0, 1, 80)
    theory = np.column_stack([y, NECK * np.cosh((y - 0.5) / NECK)])
    return Measurement(
        extrapolate(found), Curve.from_shapes(profile, theory, "height [m]", "radius [m]")
    )


STRESS, LOAD = 5.0, 0.02
ODD = np.arange(1, 4000, 2)  # terms fall as 1/n³: the rest is 1e-11 of the sum


def bulge_series(x: Float) -> Float:
    """Return z(x, ½) [m] of sΔz = -p on the unit square, by a Fourier series in one direction."""
    decay = np.exp(-np.pi * ODD / 2)
    # The last factor is 1 - 1/cosh, written so that cosh does not overflow.
    terms = np.sin(np.pi * ODD * x[:, None]) / ODD**3.0 * (1 - 2 * decay / (1 + decay**2))
    return 4 * LOAD / (np.pi**3 * STRESS) * terms.sum(axis=1)


@case(
    "film-bulge",
    formula="sΔz = -p: z = 0.0736713 pL²/s in the middle of a square",
    source="Timoshenko and Goodier, Theory of Elasticity: Prandtl's membrane",
    unit="m",
    expected=bulge_series(np.array([0.5]))[0],
    tolerance=2e-6,
    reason=(
        "extrapolation from 8, 16 and 32 cells leaves sixth order, about 16 (1/8)⁶/64, and higher "
        "orders"
    ),
)
def measure_film_bulge() -> Measurement:
    """Deflection in the middle of a flat square film under a small pressure.

    The plot shows the deflection along the middle line.
    """
    found, x, z = [], np.zeros(0), np.zeros(0)
    for n in (8, 16, 32):
        mesh = sheet(n, n, pattern="alternating")
        loads = np.zeros((mesh.n, 3))
        loads[:, 2] = LOAD * areal_mass(mesh, 1.0)
        form = form_finding(
            mesh.points, fixed=mesh.boundary, triangles=mesh.triangles, stress=STRESS, loads=loads
        )
        found.append(form.points[:, 2].max())
        middle = np.isclose(mesh.points[:, 1], 0.5)
        x, z = mesh.points[middle, 0], form.points[middle, 2]
    return Measurement(
        extrapolate(found), Curve(x, 1e3 * z, 1e3 * bulge_series(x), "x [m]", "z [mm]")
    )
