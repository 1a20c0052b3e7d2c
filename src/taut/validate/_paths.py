"""Equilibrium paths: limit loads, critical loads and branches of trusses, frames and shells."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq, fsolve
from scipy.spatial import Delaunay
from scipy.special import ellipe, ellipk

from taut import laws
from taut.arrays import Float
from taut.constraints.sliding import on_line, on_plane
from taut.mesh.mesh import Mesh
from taut.mesh.shapes.nets import rope
from taut.statics.buckling import buckling
from taut.statics.path import EquilibriumPath, path
from taut.system.system import System
from taut.validate._bodies import build_system, extrapolate, neighbour_pairs, neighbour_triples
from taut.validate.cases import Curve, Measurement, case

K, RISE = 1000.0, 0.2  # stiffness of a bar [N/m]; height of the apex over half the span of 1 m
BAR = np.hypot(1.0, RISE)
SNAP = BAR ** (1 / 3)  # length of the bars at the limit load
LIMIT = 2 * K * (BAR - SNAP) * np.sqrt(SNAP**2 - 1) / SNAP


def limit_loads(found: EquilibriumPath) -> list[float]:
    """Return the parameters at the limit points of a path."""
    return [c.parameter for c in found.critical if c.kind == "limit"]


@case(
    "truss-path",
    formula="P = ±2k(l₀ - l)√(l² - 1)/l, l³ = l₀",
    source="von Mises, Z. angew. Math. Mech. 3 (1923) 406",
    unit="N",
    expected=[LIMIT, -LIMIT],
    tolerance=1e-12,
    reason="the load is stationary where K passes zero, found to 1e-12 of a step: rounding",
)
def measure_truss_path() -> Measurement:
    """Both limit loads of two shallow bars pressed through, on one path by arc length.

    The plot shows the load against the height of the apex.
    """
    system = build_system(
        [[-1, 0], [1, 0], [0, RISE]],
        mass=1.0,
        fixed=[0, 1],
        energies=[laws.spring([[0, 2], [1, 2]], k=K), laws.force([2], f=(0, -1))],
    )
    found = path(system, until=6.0)
    height = np.linspace(-1.5 * RISE, RISE, 100)
    lengths = np.hypot(1.0, height)
    theory = 2 * K * (BAR - lengths) * height / lengths
    y = found.positions[:, 2, 1]
    curve = Curve(y, found.parameter, theory, "height [m]", "load [N]", theory_x=height)
    return Measurement(limit_loads(found), curve)


# The hexagonal star dome of 24 bars: heights of apex and ring, radii of ring and supports [cm].
APEX, RING, INNER, OUTER = 8.216, 6.216, 25.0, 50.0


def dome_forces(unknowns: Any) -> Any:
    """Return load on the apex, and radial and vertical forces on the ring, over EA, by symmetry.

    unknowns : height of the apex, radius and height of the ring [cm]
    """
    apex, r, z = unknowns
    lengths = (
        np.sqrt(r**2 + (apex - z) ** 2),
        r,
        np.sqrt((OUTER * np.sqrt(0.75) - r) ** 2 + (OUTER / 2) ** 2 + z**2),
    )
    rest = (
        np.hypot(INNER, APEX - RING),
        INNER,
        np.sqrt((OUTER * np.sqrt(0.75) - INNER) ** 2 + (OUTER / 2) ** 2 + RING**2),
    )
    a, b, c = ((now - before) / before for now, before in zip(lengths, rest, strict=True))
    down = -6 * a * (apex - z) / lengths[0]
    out = a * r / lengths[0] + b + 2 * c * (r - OUTER * np.sqrt(0.75)) / lengths[2]
    up = -a * (apex - z) / lengths[0] + 2 * c * z / lengths[2]
    return down, out, up


def balance_ring(ring: Float, apex: float) -> Any:
    """Return the forces on the ring at its radius and height, for a height of the apex [cm]."""
    return dome_forces((apex, *ring))[1:]


def dome_limit(guess: tuple[float, float, float]) -> float:
    """Return the limit load over EA near a guess: where the three forces have a singular slope."""

    def equations(unknowns: Float) -> list[float]:
        steps = np.asarray(unknowns) + 1e-30j * np.eye(3)
        slope = np.array([np.imag(dome_forces(x)) * 1e30 for x in steps])
        slope[:, 0] /= -6.0
        return [*dome_forces(unknowns)[1:], 1e3 * float(np.linalg.det(slope))]

    return float(dome_forces(fsolve(equations, guess, xtol=1e-13))[0])


@case(
    "star-dome",
    formula="the 24 bars reduced by symmetry to three unknowns: forces zero, their slope singular",
    source="geometry: Hangai and Kawamata, IASS 51 (1972); Papadrakakis, Int. J. Solids Struct. 19 "
    "(1983) 313",
    unit="P/EA",
    expected=[dome_limit((7.45, 25.0, 6.2)), dome_limit((5.19, 25.0, 6.2))],
    tolerance=1e-9,
    reason="both are exact to rounding; the reduced equations are solved to 1e-13 of the lengths",
)
def measure_star_dome() -> Measurement:
    """Limit loads of the shallow star dome of 24 bars under a load on its apex, free to move in
    every direction. The plot shows the load against the height of the apex.
    """
    angles = np.radians(60.0 * np.arange(6))
    ring = np.column_stack([INNER * np.cos(angles), INNER * np.sin(angles), 0 * angles + RING])
    between = angles + np.radians(30.0)
    supports = np.column_stack([OUTER * np.cos(between), OUTER * np.sin(between), 0 * between])
    points = np.concatenate([[[0.0, 0.0, APEX]], ring, supports])
    i = np.arange(6)
    bars = np.concatenate(
        [
            np.column_stack([0 * i, i + 1]),
            np.column_stack([i + 1, (i + 1) % 6 + 1]),
            np.column_stack([i + 1, i + 7]),
            np.column_stack([i + 1, (i - 1) % 6 + 7]),
        ]
    )
    lengths = np.linalg.norm(points[bars[:, 1]] - points[bars[:, 0]], axis=1)
    loads = [laws.spring(bars, k=1.0 / lengths), laws.force([0], f=(0, 0, -1e-4))]
    system = build_system(points, mass=1.0, fixed=np.arange(7, 13), energies=loads)
    found = path(system, until=6.0, step=0.5)
    apex = np.linspace(APEX, found.positions[-1, 0, 2], 100)
    theory, ring_at = [], np.array([INNER, RING])
    for height in apex.tolist():
        ring_at = fsolve(balance_ring, ring_at, args=(height,), xtol=1e-12)
        theory.append(dome_forces((height, *ring_at))[0])
    curve = Curve(
        found.positions[:, 0, 2], 1e-4 * found.parameter, theory, "height of the apex [cm]", "P/EA",
        theory_x=apex,
    )  # fmt: skip
    return Measurement(1e-4 * np.array(limit_loads(found)), curve)


def build_lee_frame(n: int) -> System:
    """Build Lee's frame with n links in each leg; lengths in cm, forces in kgf.

    Legs of 120 cm, EI = 720·2, EA = 720·6, hinged at both ends; the load is 24 cm from the corner.
    """
    h = 120.0 / n
    up = np.column_stack([np.zeros(n + 1), h * np.arange(n + 1)])
    right = np.column_stack([h * np.arange(1, n + 1), np.full(n, 120.0)])
    energies = [
        laws.spring(neighbour_pairs(2 * n), k=720.0 * 6.0 / h),
        laws.planar_rod_bending(neighbour_triples(2 * n), EI=720.0 * 2.0),
        laws.force([n + n // 5], f=(0, -1)),
    ]
    return build_system(np.concatenate([up, right]), mass=1.0, fixed=[0, 2 * n], energies=energies)


LEE = [1.8556728, -0.9414432]


@case(
    "lee-frame",
    formula="the elastica of both legs, EIθ″ = M′, solved by shooting: 1.855673, -0.941443",
    source="Lee, Manuel and Rossow, J. Eng. Mech. Div. ASCE 94 (1968) 521; finite elements in the "
    "literature: 1.8555 and -0.9484",
    unit="kgf",
    expected=LEE,
    tolerance=2e-6,
    reason="extrapolated from 10, 20 and 40 links in each leg; the shooting is accurate to 1e-7",
)
def measure_lee_frame() -> Measurement:
    """Limit loads of a frame of two legs, one of which snaps through. Links with `spring` and
    `planar_rod_bending`, whose path turns back in load and in displacement. The plot shows the load
    against the deflection under it.
    """
    found = [path(build_lee_frame(n), until=3.0, step=6.0) for n in (10, 20, 40)]
    limits = [limit_loads(one) for one in found]
    down = 120.0 - found[-1].positions[:, 48, 1]
    return Measurement(
        extrapolate(limits),
        Curve(
            down,
            found[-1].parameter,
            np.repeat(LEE, 2),
            "deflection [cm]",
            "load [kgf]",
            theory_x=[0.0, 95.0, 95.0, 0.0],
        ),
    )


def build_deep_arch(n: int) -> System:
    """Build an arch of 215° and 100 m radius of n links, clamped left and hinged right."""
    half = np.radians(107.5)
    angle = np.pi / 2 + np.linspace(half, -half, n + 1)
    link = 200.0 * np.sin(half / n)
    energies = [
        laws.spring(neighbour_pairs(n), k=1e8 / link),
        laws.planar_rod_bending(neighbour_triples(n), EI=1e6),
        laws.rod_clamp([[0, 1]], EI=1e6),
        laws.force([n // 2], f=(0, -100)),
    ]
    points = 100.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    return build_system(points, mass=1.0, fixed=[0, n], energies=energies)


@case(
    "deep-arch",
    formula="P R²/EI = 8.97",
    source="DaDeppo and Schmidt, J. Appl. Mech. 42 (1975) 923",
    unit="EI/R²",
    expected=8.97,
    tolerance=1e-3,
    reason="published to three digits, of an arch that cannot be compressed; EA = 1e4 EI/R² here",
)
def measure_deep_arch() -> Measurement:
    """Limit load of a deep arch, clamped at one end and hinged at the other, under a load on its
    crown. The plot shows the load against the deflection of the crown.
    """
    found = [path(build_deep_arch(n), until=9.5, step=5.0) for n in (20, 40, 80)]
    crown = 100.0 - found[-1].positions[:, 40, 1]
    return Measurement(
        extrapolate([max(limit_loads(one)) for one in found]),
        Curve(
            crown,
            found[-1].parameter,
            [8.97, 8.97],
            "deflection of the crown [m]",
            "P R²/EI",
            theory_x=[0.0, float(crown.max())],
        ),
    )


def build_column(n: int, axial: float) -> System:
    """Build a pinned column of n links and 1 m along x; EI = 1 N m², EA = axial [N]."""
    line = rope(n)
    energies = [
        laws.spring(line.edges, k=n * axial),
        laws.rod_bending(line.rod_hinges, EI=1.0),
        laws.force([n], f=(-1, 0)),
    ]
    return build_system(
        line.points[:, :2],
        mass=1.0,
        fixed=[0],
        energies=energies,
        constraints=[on_line([n], (1, 0, 0))],
    )


POST = 1.2  # load on the branch, over Euler's
MODULUS = brentq(lambda m: (2 * ellipk(m) / np.pi) ** 2 - POST, 1e-9, 0.9, xtol=1e-15)


@case(
    "elastica-branch",
    formula="P/P_E = (2K(m)/π)², x/L = 2E(m)/K(m) - 1",
    source="Euler's elastica; Timoshenko and Gere, Theory of Elastic Stability, 2.7",
    unit="m",
    expected=2 * ellipe(MODULUS) / ellipk(MODULUS) - 1,
    tolerance=3e-6,
    reason="extrapolated from 10, 20 and 40 links; compressed by P/EA = 1.2e-6",
)
def measure_elastica_branch() -> Measurement:
    """Distance of the ends of a pinned column under 1.2 times Euler's load, on the branch that
    leaves the straight column at its first bifurcation. The plot shows load against distance.
    """
    ends = []
    for n in (10, 20, 40):
        column = build_column(n, 1e7)
        straight = path(column, until=15.0)
        bent = path(column, branch=straight.critical[0], until=POST * np.pi**2, step=0.05)
        ends.append(bent.positions[-1, n, 0])
    m = np.linspace(0.0, MODULUS, 50)
    return Measurement(
        extrapolate(ends),
        Curve(
            bent.positions[:, n, 0],
            bent.parameter,
            4 * ellipk(m) ** 2,
            "distance of the ends [m]",
            "load [N]",
            theory_x=2 * ellipe(m) / ellipk(m) - 1,
        ),
    )


@case(
    "buckling-linear",
    formula="P = 4N²(EI/L²) sin²(jπ/2N), j = 1, 2, 3",
    source="Timoshenko and Gere, Theory of Elastic Stability: rigid bars and hinges",
    unit="N",
    expected=1600 * np.sin(np.arange(1, 4) * np.pi / 40) ** 2,
    tolerance=2e-6,
    reason="the links are compressed by P/EA: 9e-7 for the third",
)
def measure_buckling_linear() -> Measurement:
    """Linear buckling factors of a pinned column of 20 links. The plot: factor against mode."""
    factors = buckling(build_column(20, 1e8), n=8).factors
    theory = 1600 * np.sin(np.arange(1, 9) * np.pi / 40) ** 2
    return Measurement(
        factors[:3], Curve(np.arange(1, 9), factors, theory, "mode", "buckling factor [N]")
    )


# A shallow shell over a span of 1 m: y = a sin πx, under the pressure q sin πx. In shallow theory
# it stays a sine of height b, with q = Dπ⁴(a - b) + Nπ²b, and the thrust N = Bπ²(a² - b²)/4.
STRETCH, SHELL_RISE = 1e4, 0.02  # B [N/m], of plane strain; a [m]
RIGIDITY = STRETCH * SHELL_RISE**2 / 12  # D [J]: a²B/4D = 3, between 1 and 5.5, where it tilts
SHELL_HEIGHT = np.sqrt((SHELL_RISE**2 - 4 * RIGIDITY / STRETCH) / 3)


def shell_pressure(height: Any) -> Any:
    """Return q [Pa] of the shallow shell at a height b [m]."""
    thrust = STRETCH * np.pi**2 * (SHELL_RISE**2 - height**2) / 4
    return RIGIDITY * np.pi**4 * (SHELL_RISE - height) + thrust * np.pi**2 * height


def build_shallow_shell(n: int) -> tuple[System, int]:
    """Build the shell of equilateral triangles, n along the span and four across, and the point in
    its middle. All points stay in planes across the generator; the ends are hinged. As its sides
    are free to curl, its rigidity is that of a strip, D = 8c/9.
    """
    h = 1.0 / n
    rows = []
    for j in range(5):
        x = h * np.arange(n + 1)
        if j % 2:
            x = np.concatenate([[0.0], h * (np.arange(n) + 0.5), [1.0]])
        rows.append(np.column_stack([x, np.full(len(x), j * h * np.sqrt(0.75))]))
    flat = np.concatenate(rows)
    triangles = Delaunay(flat).simplices
    edge_a, edge_b = (flat[triangles[:, i]] - flat[triangles[:, 0]] for i in (1, 2))
    area = edge_a[:, 0] * edge_b[:, 1] - edge_a[:, 1] * edge_b[:, 0]
    triangles = np.where(area[:, None] > 0, triangles[:, ::-1], triangles)[
        np.abs(area) > 1e-3 * h**2
    ]
    points = np.column_stack([flat[:, 0], SHELL_RISE * np.sin(np.pi * flat[:, 0]), flat[:, 1]])
    mesh = Mesh(points, {"triangle": triangles})
    # B = (3√3/4) k on this lattice; the springs of the rims are shared with the rest of the shell.
    ends = flat[mesh.edges]
    k = STRETCH / (0.75 * np.sqrt(3)) * h / np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    width = 4 * h * np.sqrt(0.75)
    at_rim = np.isin(ends[:, :, 1].round(9), [0.0, round(width, 9)]).all(axis=1)
    shares = np.where(np.isin(flat[:, 1].round(9), [0.0, round(width, 9)]), 0.5, 1.0)
    force = np.zeros((len(flat), 3))
    force[:, 1] = -shares * h**2 * np.sqrt(0.75) * np.sin(np.pi * flat[:, 0])
    inside = (flat[:, 0] > 1e-9) & (flat[:, 0] < 1 - 1e-9)
    system = build_system(
        points,
        mass=1.0,
        fixed=~inside,
        constraints=[on_plane(np.flatnonzero(inside), (0, 0, 1))],
        energies=[
            laws.spring(mesh.edges, k=np.where(at_rim, 0.5, 1.0) * k),
            laws.shell_bending(mesh.hinges, c=9 / 8 * RIGIDITY),
            laws.force(f=force),
        ],
    )
    return system, int(np.argmin(np.hypot(flat[:, 0] - 0.5, flat[:, 1] - width / 2)))


@case(
    "shallow-shell",
    formula="q = Dπ⁴(a - b) + Bπ⁴(a² - b²)b/4 at b = ±√((a² - 4D/B)/3)",
    source="Fung and Kaplan, NACA TN 2840 (1952): low arches, here in plane strain",
    unit="Pa",
    expected=[shell_pressure(SHELL_HEIGHT), shell_pressure(-SHELL_HEIGHT)],
    tolerance=0.01,
    reason="shallow theory neglects (πa/L)² = 0.4%",
)
def measure_shallow_shell() -> Measurement:
    """Both pressures at which a shallow cylindrical shell of springs and `shell_bending` snaps
    through and back. The plot shows the pressure against its height.
    """
    system, middle = build_shallow_shell(32)
    largest = 1.5 * shell_pressure(SHELL_HEIGHT)
    found = path(system, until=largest, step=0.002)
    height = np.linspace(-0.028, SHELL_RISE, 100)
    y = found.positions[:, middle, 1]
    curve = Curve(
        y, found.parameter, shell_pressure(height), "height [m]", "pressure [Pa]", theory_x=height
    )
    return Measurement(limit_loads(found), curve)
