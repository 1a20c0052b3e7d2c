"""Hinges of a shell, V = ½c|e|²/(A₁ + A₂)θ²: rigidity by mesh and direction, and a plate strip."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp

from taut import laws
from taut.arrays import Float
from taut.mesh.shapes.surfaces import cylinder, sheet, sphere
from taut.statics.equilibrium import equilibrium
from taut.validate._bodies import build_system
from taut.validate.cases import Curve, Measurement, case

GRINSPUN = (
    "Grinspun et al., Discrete Shells, SCA 2003; derived in docs/theory/05-cloth-and-shells.md"
)
SMALL = "K of the flat sheet is exact for small curvatures: rounding"


def bending_tensors(pattern: str, bind: Callable[[Any], Any]) -> tuple[Float, Float]:
    """Return two tensors (3, 3) of bending energy per area [J] for curvatures (κ₁₁, κ₂₂, 2κ₁₂).

    The first has all points on the paraboloid, the second is relaxed.

    pattern : of the sheet
    bind : makes an energy from its hinges (k, 4)

    The cell has 2 × 2 squares of an infinite sheet; K is that of motion normal to the flat sheet,
    exact for small curvatures. Relaxed, the points of a cell move by a periodic pattern. More
    cells would not relax further, since the energy is convex.
    """
    n = 6
    mesh = sheet(
        n, n, size=float(n), pattern="one-diagonal" if pattern == "equilateral" else pattern
    )
    points, area = mesh.points, 4.0
    if pattern == "equilateral":  # the diagonals become as long as the sides
        points, area = (
            points @ np.array([[1, 0, 0], [-0.5, np.sqrt(0.75), 0], [0, 0, 1]]),
            4 * np.sqrt(0.75),
        )
    i, j = np.arange(mesh.n) % (n + 1), np.arange(mesh.n) // (n + 1)
    middle = np.stack([i, j], axis=1)[mesh.hinges[:, 2:]].mean(axis=1)
    hinges = mesh.hinges[((middle >= 2) & (middle < 4)).all(axis=1)]
    system = build_system(points, mass=1.0, energies=[bind(hinges)])
    across = system.K(system.initial_state()).toarray()[2::3, 2::3]
    x, y = (points - points.mean(axis=0))[:, :2].T
    bent, repeats = np.stack([x * x, y * y, x * y], axis=1) / 2, np.eye(4)[i % 2 + 2 * (j % 2)]
    coupling = repeats.T @ across @ bent
    gain = (
        coupling.T
        @ np.linalg.pinv(repeats.T @ across @ repeats, rcond=1e-10, hermitian=True)
        @ coupling
    )
    return bent.T @ across @ bent / area, (bent.T @ across @ bent - gain) / area


def rigidity_by_direction(tensor: Float, degrees: Any) -> Float:
    """Return the cylindrical rigidity D [J] by direction."""
    a = np.radians(degrees)
    curvature = np.stack([np.cos(a) ** 2, np.sin(a) ** 2, 2 * np.sin(a) * np.cos(a)])
    return np.asarray(np.einsum("ia,ij,ja->a", curvature, tensor, curvature))


def strip_rigidity(tensor: Float) -> float:
    """Return EI/b [J] of a free strip along x."""
    return float(1 / np.linalg.inv(tensor)[0, 0])


TURNS = np.arange(0.0, 181.0, 7.5)
FINE = np.linspace(0, 180, 120)
SINE = np.sin(2 * np.radians(FINE))
# D/c at 0°, 45°, 90°, 135° and its minimum; that of a free strip; D/c at the angles FINE; formula
SHEETS = {
    "equilateral": ([1.0, 1.0, 1.0, 1.0, 1.0], 8 / 9, np.ones(120), "D = c, a free strip 8c/9"),
    "one-diagonal": (
        [1.0, 3.0, 1.0, 1.0, 0.75],
        0.8,
        1 + SINE + SINE**2,
        "D = c(1 + sin 2α + sin² 2α): 0.75c to 3c, a free strip 0.8c",
    ),
    "alternating": (
        [5 / 6, 4 / 3, 5 / 6, 4 / 3, 5 / 6],
        0.8,
        5 / 6 + SINE**2 / 2,
        "D = c(5/6 + ½ sin² 2α): 5c/6 to 4c/3, a free strip 0.8c",
    ),
}


def register(pattern: str, expected: list[float], theory: Float, formula: str) -> None:
    @case(
        f"shell-{pattern}",
        formula=formula,
        source=GRINSPUN,
        unit="c",
        expected=expected,
        tolerance=1e-13,
        reason=SMALL,
        description=(
            f"Cylindrical rigidity of {pattern} triangles at 0°, 45°, 90° and 135°, its minimum, "
            "and the rigidity of a free strip."
        ),
    )
    def measure() -> Measurement:
        _, tensor = bending_tensors(pattern, lambda hinges: laws.shell_bending(hinges, c=1.0))
        d = rigidity_by_direction(tensor, TURNS)
        got = [*rigidity_by_direction(tensor, [0, 45, 90, 135]), d.min(), strip_rigidity(tensor)]
        return Measurement(got, Curve(TURNS, d, theory, "direction [°]", "D/c", theory_x=FINE))


for pattern, (numbers, free, theory, formula) in SHEETS.items():
    register(pattern, [*numbers, free], theory, formula)


RADIUS, HEIGHT, C = 0.5, 2.0, 0.3


def cylinder_energy(around: int) -> float:
    """Return πDH/R [J] times (π/n)/sin(π/n), the factor of a prism of n sides."""
    return float(np.pi * C * HEIGHT / RADIUS * (np.pi / around) / np.sin(np.pi / around))


@case(
    "shell-cylinder",
    formula="V = πDH/R · (π/n)/sin(π/n)",
    source=GRINSPUN,
    unit="J",
    expected=[cylinder_energy(n) for n in (6, 12, 24, 48)],
    tolerance=1e-13,
    reason="exact for any number of sides: rounding",
)
def measure_shell_cylinder() -> Measurement:
    """Bending energy of a sheet, flat at rest, rolled into a prism of n sides."""
    got = []
    for around in (6, 12, 24, 48):
        mesh = cylinder(around, 3, RADIUS, HEIGHT, pattern="one-diagonal")
        system = build_system(
            mesh.points, mass=1.0, energies=[laws.shell_bending(mesh.hinges, c=C, theta0=0.0)]
        )
        got.append(system.V(system.initial_state()))
    fine = np.arange(5, 51)
    return Measurement(
        got,
        Curve(
            [6, 12, 24, 48],
            got,
            [cylinder_energy(n) for n in fine.tolist()],
            "sides",
            "V [J]",
            theory_x=fine,
        ),
    )


GOLDEN = (1 + np.sqrt(5)) / 2
FACE = np.array([[0, 1, GOLDEN], [1, GOLDEN, 0], [-1, GOLDEN, 0]])  # of an icosahedron


def sphere_energy() -> float:
    """Return V [J] of a sphere in the limit of small triangles, projected from an icosahedron.

    Around the point p of a face the sides a become e = (a - p̂ p̂·a)/|p|. Across the side e_i, with
    the angle α_i opposite to it on both sides, the unit sphere turns by |e_i| cot α_i, the
    distance of the circumcentres. The energy per area is c Σ |e_i|⁴ cot² α_i/8A².
    """
    x, weights = np.polynomial.legendre.leggauss(20)
    u, v = np.meshgrid((x + 1) / 2, (x + 1) / 2, indexing="ij")
    p = FACE[0] + u[..., None] * (
        (1 - v)[..., None] * (FACE[1] - FACE[0]) + v[..., None] * (FACE[2] - FACE[0])
    )
    far = np.linalg.norm(p, axis=2)
    unit = p / far[..., None]
    sides = np.roll(FACE, -1, axis=0) - FACE
    e = (sides - np.einsum("uvk,sk->uvs", unit, sides)[..., None] * unit[:, :, None]) / far[
        ..., None, None
    ]
    squares = (e**2).sum(axis=3)
    area = np.linalg.norm(np.cross(e[:, :, 0], e[:, :, 1]), axis=2)[..., None] / 2
    cotangents = (squares.sum(axis=2, keepdims=True) - 2 * squares) / (4 * area)
    density = (squares**2 * cotangents**2 / (8 * area**2)).sum(axis=2)
    seen = u * np.abs(p @ np.cross(sides[0], sides[1])) / far**3  # of the sphere
    return float(20 * C * np.einsum("u,v,uv->", weights, weights, density * seen) / 4)


BALL = sphere_energy()


@case(
    "shell-sphere",
    formula=(
        "V = ∫ c Σ |e_i|⁴ cot² α_i/8A² dA; of equilateral triangles 4π(1 + ν)D = 8πc/3, of these "
        "0.3% more"
    ),
    source=GRINSPUN,
    unit="J",
    expected=BALL,
    tolerance=1e-6,
    reason=(
        "extrapolated from 8, 16 and 32 divisions of an edge without second order and the third "
        "order of the twelve corners: (1/8)⁴/256"
    ),
)
def measure_shell_sphere() -> Measurement:
    """Bending energy of a sphere of triangles that are flat at rest; it does not depend on the
    radius. The plot shows it against the mesh.
    """

    def energy(n: int) -> float:
        mesh = sphere(n, 0.01)
        system = build_system(
            mesh.points, mass=1.0, energies=[laws.shell_bending(mesh.hinges, c=C, theta0=0.0)]
        )
        return system.V(system.initial_state())

    counts = [4, 8, 16, 32]
    got = [energy(n) for n in counts]
    coarse, fine = ((4 * b - a) / 3 for a, b in pairwise(got[1:]))
    return Measurement(
        (8 * fine - coarse) / 7,
        Curve(counts, got, np.full(4, BALL), "divisions of an edge", "V [J]"),
    )


LONG, THICK, YOUNG, CELLS = 10.0, 0.1, 1.2e6, 20
WIDE = LONG / CELLS  # half of the width in the source, so that cells are squares
EI = YOUNG * WIDE * THICK**3 / 12
LOADS = np.array([0.1, 0.25, 0.5, 0.75, 1.0])


def elastica_tip(alpha: float) -> Float:
    """Solve θ'' = -α cos θ, θ(0) = 0, θ'(1) = 0 for (U, W)/L of the inextensible cantilever."""
    s = np.linspace(0, 1, 101)
    solution = solve_bvp(
        lambda s, y: np.stack([y[1], -alpha * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
        s,
        np.stack([s / 2, 0 * s + 0.5, s, s / 4]),
        tol=1e-10,
        max_nodes=10_000,
    )
    return np.array([1 - solution.y[2, -1], solution.y[3, -1]])


TIPS = LONG * np.array([elastica_tip(4 * load) for load in LOADS])


@case(
    "plate-strip",
    formula="PL²/EI = 4 at P_max: tip (U, W) = (3.286, 6.698), and at lesser loads",
    source=(
        "Sze, Liu and Lo, Finite Elem. Anal. Des. 40 (2004) 1551; the elastica, which they agree "
        "with"
    ),
    unit="m",
    expected=TIPS,
    tolerance=2e-3,
    reason="second order in the angle from cell to cell: θ²/24, with 4/20 rad at the wall",
)
def measure_plate_strip() -> Measurement:
    """Tip displacement, in both directions, of a thin clamped strip of springs and hinges under end
    shear.
    """
    mesh = sheet(CELLS + 1, 1, size=(LONG + WIDE, WIDE), pattern="alternating")
    points = mesh.points - [WIDE, 0, 0]  # the first row of cells lies behind the wall
    x = points[:, 0]
    wall, tip = np.flatnonzero(abs(x) < 1e-9), np.flatnonzero(x > LONG - 1e-9)
    on_wall = np.isin(mesh.hinges[:, 2:], wall).all(
        axis=1
    )  # a hinge on the wall stands for half a cell
    c = EI / WIDE / 0.8  # a free strip of squares has 0.8c, see shell-alternating
    system = build_system(
        points,
        mass=1.0,
        fixed=np.flatnonzero(x < 1e-9),
        energies=[
            laws.spring(mesh.edges, k=YOUNG * THICK),
            laws.shell_bending(mesh.hinges, c=np.where(on_wall, 2 * c, c)),
            laws.force(tip, f=(0, 0, 4 * EI / LONG**2 / 2)),
        ],
    )
    moved = [
        step.state.q[tip].mean(axis=0) - points[tip].mean(axis=0)
        for step in equilibrium(system, loads=LOADS).path
    ]
    got = np.array([[-d[0], d[2]] for d in moved])
    fine = np.linspace(0.02, 1, 14)
    theory = LONG * np.array([elastica_tip(4 * load)[1] for load in fine])
    return Measurement(got, Curve(LOADS, got[:, 1], theory, "P/P_max", "W [m]", theory_x=fine))
