"""Hinges of a shell, V = ½c|e|²/(A₁ + A₂)θ²: the rigidity they give to a sheet by mesh and direction, and a plate strip."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp

from taut import laws
from taut.mesh.shapes.surfaces import cylinder, sheet, sphere
from taut.step.statics import equilibrium
from taut.validate.bodies import body
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case

GRINSPUN = "Grinspun et al., Discrete Shells, SCA 2003; derived in docs/theory/05-cloth-and-shells.md"
SMALL = "K of the flat sheet is exact for small curvatures: rounding"


def bending_tensors(pattern: str, bind: Callable[[Any], Any]) -> tuple[Float, Float]:
    """The energy of small curvatures (κ₁₁, κ₂₂, 2κ₁₂) by area [J], (3, 3): with all points on the paraboloid, and relaxed.

    pattern : of the sheet; bind : makes an energy of its hinges (k, 4)

    Hinges of one cell of 2 × 2 of a sheet that goes on for ever, K across the flat sheet; relaxed, the points of a cell give way
    by a pattern that repeats. K is exact for small curvatures, and more cells would relax no further, as the energy is convex.
    """
    n = 6
    mesh = sheet(n, n, size=float(n), pattern="one-diagonal" if pattern == "equilateral" else pattern)
    points, area = mesh.points, 4.0
    if pattern == "equilateral":  # the diagonals become as long as the sides
        points, area = points @ np.array([[1, 0, 0], [-0.5, np.sqrt(0.75), 0], [0, 0, 1]]), 4 * np.sqrt(0.75)
    i, j = np.arange(mesh.n) % (n + 1), np.arange(mesh.n) // (n + 1)
    middle = np.stack([i, j], axis=1)[mesh.hinges[:, 2:]].mean(axis=1)
    hinges = mesh.hinges[((middle >= 2) & (middle < 4)).all(axis=1)]
    system = body(points, mass=1.0, energies=[bind(hinges)])
    across = system.K(system.initial_state()).toarray()[2::3, 2::3]
    x, y = (points - points.mean(axis=0))[:, :2].T
    bent, repeats = np.stack([x * x, y * y, x * y], axis=1) / 2, np.eye(4)[i % 2 + 2 * (j % 2)]
    coupling = repeats.T @ across @ bent
    gain = coupling.T @ np.linalg.pinv(repeats.T @ across @ repeats, rcond=1e-10, hermitian=True) @ coupling
    return bent.T @ across @ bent / area, (bent.T @ across @ bent - gain) / area


def rolled(tensor: Float, degrees: Any) -> Float:
    """Cylindrical rigidity D [J] by direction."""
    a = np.radians(degrees)
    curvature = np.stack([np.cos(a) ** 2, np.sin(a) ** 2, 2 * np.sin(a) * np.cos(a)])
    return np.asarray(np.einsum("ia,ij,ja->a", curvature, tensor, curvature))


def strip(tensor: Float) -> float:
    """EI/b [J] of a free strip along x."""
    return float(1 / np.linalg.inv(tensor)[0, 0])


TURNS = np.arange(0.0, 181.0, 7.5)
FINE = np.linspace(0, 180, 120)
SINE = np.sin(2 * np.radians(FINE))
SHEETS = {  # D in units of c at 0°, 45°, 90°, 135° and where it is least; that of a free strip; the whole curve
    "equilateral": ([1.0, 1.0, 1.0, 1.0, 1.0], 8 / 9, np.ones(120), "D = c, a free strip 8c/9"),
    "one-diagonal": (
        [1.0, 3.0, 1.0, 1.0, 0.75], 0.8, 1 + SINE + SINE**2,
        "D = c(1 + sin 2α + sin² 2α): 0.75c to 3c, a free strip 0.8c",
    ),
    "alternating": (
        [5 / 6, 4 / 3, 5 / 6, 4 / 3, 5 / 6], 0.8, 5 / 6 + SINE**2 / 2, "D = c(5/6 + ½ sin² 2α): 5c/6 to 4c/3, a free strip 0.8c",
    ),
}  # fmt: skip


def register(pattern: str, expected: list[float], theory: Float, formula: str) -> None:
    @case(
        f"shell-{pattern}", formula=formula, source=GRINSPUN, unit="c", expected=expected, tolerance=1e-13, why=SMALL,
        what=f"Cylindrical rigidity of {pattern} triangles rolled at 0°, 45°, 90°, 135° and its least, and of a free strip.",
    )  # fmt: skip
    def rigidities() -> Found:
        _, tensor = bending_tensors(pattern, lambda hinges: laws.shell_bending(hinges, c=1.0))
        d = rolled(tensor, TURNS)
        got = [*rolled(tensor, [0, 45, 90, 135]), d.min(), strip(tensor)]
        return Found(got, Curve(TURNS, d, theory, "direction [°]", "D/c", at=FINE))


for pattern, (numbers, free, theory, formula) in SHEETS.items():
    register(pattern, [*numbers, free], theory, formula)


RADIUS, HEIGHT, C = 0.5, 2.0, 0.3


def tube(around: int) -> float:
    """π D H/R, and (π/n)/sin(π/n) times that on n sides [J]."""
    return float(np.pi * C * HEIGHT / RADIUS * (np.pi / around) / np.sin(np.pi / around))


@case(
    "shell-cylinder", formula="V = πDH/R · (π/n)/sin(π/n)", source=GRINSPUN, unit="J", expected=[tube(n) for n in (6, 12, 24, 48)],
    tolerance=1e-13, why="exact for any number of sides: rounding",
)  # fmt: skip
def rolled_up() -> Found:
    """A sheet, flat at rest, rolled up to a prism of n sides: the energy of its curvature."""
    got = []
    for around in (6, 12, 24, 48):
        mesh = cylinder(around, 3, RADIUS, HEIGHT, pattern="one-diagonal")
        system = body(mesh.points, mass=1.0, energies=[laws.shell_bending(mesh.hinges, c=C, theta0=0.0)])
        got.append(system.V(system.initial_state()))
    fine = np.arange(5, 51)
    return Found(got, Curve([6, 12, 24, 48], got, [tube(n) for n in fine.tolist()], "sides", "V [J]", at=fine))


GOLDEN = (1 + np.sqrt(5)) / 2
FACE = np.array([[0, 1, GOLDEN], [1, GOLDEN, 0], [-1, GOLDEN, 0]])  # of an icosahedron


def ball() -> float:
    """V [J] of a sphere whose triangles are ever smaller, made by projecting those of an icosahedron.

    Around the point p of a face the sides a become e = (a - p̂ p̂·a)/|p|. Across the side e_i, with the angle α_i opposite on both
    sides of it, the sphere of radius 1 turns by |e_i| cot α_i, the distance of the circumcentres: c Σ |e_i|⁴ cot² α_i/8A² by area.
    """
    x, weights = np.polynomial.legendre.leggauss(20)
    u, v = np.meshgrid((x + 1) / 2, (x + 1) / 2, indexing="ij")
    p = FACE[0] + u[..., None] * ((1 - v)[..., None] * (FACE[1] - FACE[0]) + v[..., None] * (FACE[2] - FACE[0]))
    far = np.linalg.norm(p, axis=2)
    unit = p / far[..., None]
    sides = np.roll(FACE, -1, axis=0) - FACE
    e = (sides - np.einsum("uvk,sk->uvs", unit, sides)[..., None] * unit[:, :, None]) / far[..., None, None]
    squares = (e**2).sum(axis=3)
    area = np.linalg.norm(np.cross(e[:, :, 0], e[:, :, 1]), axis=2)[..., None] / 2
    cotangents = (squares.sum(axis=2, keepdims=True) - 2 * squares) / (4 * area)
    density = (squares**2 * cotangents**2 / (8 * area**2)).sum(axis=2)
    seen = u * np.abs(p @ np.cross(sides[0], sides[1])) / far**3  # of the sphere
    return float(20 * C * np.einsum("u,v,uv->", weights, weights, density * seen) / 4)


BALL = ball()


@case(
    "shell-sphere", formula="V = ∫ c Σ |e_i|⁴ cot² α_i/8A² dA; of equilateral triangles 4π(1 + ν)D = 8πc/3, of these 0.3% more",
    source=GRINSPUN, unit="J", expected=BALL, tolerance=1e-6,
    why="extrapolated from 8, 16 and 32 divisions of an edge without second and third order, of the twelve corners: (1/8)⁴/256",
)  # fmt: skip
def blown_up() -> Found:
    """A sphere of triangles that would be flat at rest: the energy does not depend on its size; the curve: over its triangles."""

    def energy(n: int) -> float:
        mesh = sphere(n, 0.01)
        system = body(mesh.points, mass=1.0, energies=[laws.shell_bending(mesh.hinges, c=C, theta0=0.0)])
        return system.V(system.initial_state())

    counts = [4, 8, 16, 32]
    got = [energy(n) for n in counts]
    coarse, fine = ((4 * b - a) / 3 for a, b in pairwise(got[1:]))
    return Found((8 * fine - coarse) / 7, Curve(counts, got, np.full(4, BALL), "divisions of an edge", "V [J]"))


LONG, THICK, YOUNG, CELLS = 10.0, 0.1, 1.2e6, 20
WIDE = LONG / CELLS  # half of the source's, so that cells are squares
EI = YOUNG * WIDE * THICK**3 / 12
LOADS = np.array([0.1, 0.25, 0.5, 0.75, 1.0])


def bent(alpha: float) -> Float:
    """(U, W)/L of the inextensible cantilever: θ'' = -α cos θ, θ(0) = 0, θ'(1) = 0."""
    s = np.linspace(0, 1, 101)
    solution = solve_bvp(
        lambda s, y: np.stack([y[1], -alpha * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]), s, np.stack([s / 2, 0 * s + 0.5, s, s / 4]), tol=1e-10, max_nodes=10_000,
    )  # fmt: skip
    return np.array([1 - solution.y[2, -1], solution.y[3, -1]])


TIPS = LONG * np.array([bent(4 * load) for load in LOADS])


@case(
    "plate-strip", formula="PL²/EI = 4 at P_max: tip (U, W) = (3.286, 6.698), and at lesser loads",
    source="Sze, Liu and Lo, Finite Elem. Anal. Des. 40 (2004) 1551; the elastica, which they agree with", unit="m", expected=TIPS,
    tolerance=2e-3, why="of second order in the turn from cell to cell, θ²/24 with 4/20 rad at the wall",
)  # fmt: skip
def plate_strip() -> Found:
    """A thin strip of springs and hinges, held at one end and sheared at the other: how its tip moves in both directions."""
    mesh = sheet(CELLS + 1, 1, size=(LONG + WIDE, WIDE), pattern="alternating")
    points = mesh.points - [WIDE, 0, 0]  # the first row of cells is behind the wall
    x = points[:, 0]
    wall, tip = np.flatnonzero(abs(x) < 1e-9), np.flatnonzero(x > LONG - 1e-9)
    on_wall = np.isin(mesh.hinges[:, 2:], wall).all(axis=1)  # these turn for half a cell only
    c = EI / WIDE / 0.8  # a free strip of squares has 0.8c, see shell-alternating
    system = body(
        points, mass=1.0, fixed=np.flatnonzero(x < 1e-9),
        energies=[
            laws.spring(mesh.edges, k=YOUNG * THICK), laws.shell_bending(mesh.hinges, c=np.where(on_wall, 2 * c, c)),
            laws.force(tip, f=(0, 0, 4 * EI / LONG**2 / 2)),
        ],
    )  # fmt: skip
    moved = [step.state.q[tip].mean(axis=0) - points[tip].mean(axis=0) for step in equilibrium(system, loads=LOADS).path]
    got = np.array([[-d[0], d[2]] for d in moved])
    fine = np.linspace(0.02, 1, 14)
    theory = LONG * np.array([bent(4 * load)[1] for load in fine])
    return Found(got, Curve(LOADS, got[:, 1], theory, "P/P_max", "W [m]", at=fine))
