"""Moduli of lattices of springs along n: C_ijkl = Σ k l² n_i n_j n_k n_l/volume.

A lattice cut out of a larger one shares the springs of its rim with the rest. Under a uniform
strain it is in equilibrium, so that uᵀKu/volume = ε:C:ε for the displacements u = εx.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.mesh.shapes.solids import block
from taut.mesh.shapes.surfaces import sheet
from taut.validate._bodies import build_system
from taut.validate.cases import Curve, Measurement, case

BORN = "Born and Huang, Dynamical Theory of Crystal Lattices"
OSTOJA = "Ostoja-Starzewski, Appl. Mech. Rev. 55 (2002) 35"
ROUNDING = (
    "a uniform strain is exact on these lattices: rounding of sums over a few hundred springs"
)


def share_of_cells(cells: Any, pairs: Any, whole: int) -> Float:
    """Return the fraction (m,) of each spring in these cells; inside, `whole` cells share it."""
    count = Counter(pair for cell in cells.tolist() for pair in combinations(sorted(cell), 2))
    return np.array([count[tuple(pair)] for pair in np.sort(pairs, axis=1).tolist()]) / whole


def measure_stiffness(points: Any, energies: Any, volume: float) -> Float:
    """Measure C (3, 3) for strains (ε₁₁, ε₂₂, 2ε₁₂) at rest [N/m, or Pa for a solid]."""
    system = build_system(points, mass=1.0, energies=energies)
    x, y, zero = points[:, 0], points[:, 1], np.zeros(len(points))
    moved = [
        np.column_stack(u).ravel() for u in ((x, zero, zero), (zero, y, zero), (y / 2, x / 2, zero))
    ]
    stiff = system.K(system.initial_state())
    return np.array([[a @ (stiff @ b) for b in moved] for a in moved]) / volume


ANGLES = np.linspace(0, np.pi, 25)


def young_by_direction(c: Float, angles: Float = ANGLES) -> Float:
    """Return Young's modulus of a sheet by direction: 1/(n⊗n : S : n⊗n)."""
    n = np.stack([np.cos(angles) ** 2, np.sin(angles) ** 2, np.sin(angles) * np.cos(angles)])
    return 1 / np.einsum("ia,ij,ja->a", n, np.linalg.inv(c), n)


def plot_sheet(c: Float, expected: Float) -> Curve:
    fine = np.linspace(0, np.pi, 120)
    return Curve(
        np.degrees(ANGLES),
        young_by_direction(c),
        young_by_direction(expected, fine),
        "direction [°]",
        "E [N/m]",
        theory_x=np.degrees(fine),
    )


def isotropic_stiffness(young: float, poisson: float) -> Float:
    """Return C (3, 3) of an isotropic sheet."""
    return (
        young
        / (1 - poisson**2)
        * np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]])
    )


def engineering_constants(c: Float) -> list[float]:
    """Return E/k, ν and G/k along the first axis."""
    s = np.linalg.inv(c)
    return [1 / s[0, 0] / K, -s[0, 1] / s[0, 0], 1 / s[2, 2] / K]


K = 7.0
THIRD = isotropic_stiffness(2 * K / np.sqrt(3), 1 / 3)


def build_triangular() -> tuple[Any, list[Any], float]:
    """Build a lattice of equilateral triangles: its mesh, springs and area."""
    mesh = sheet(7, 6, pattern="equilateral")
    cells = mesh.cells["triangle"]
    return (
        mesh,
        [laws.spring(mesh.edges, k=K * share_of_cells(cells, mesh.edges, 2))],
        float(mesh.areas.sum()),
    )


@case(
    "lattice-triangular",
    formula="E/k = 2/√3, ν = 1/3, G/k = √3/4",
    source=OSTOJA,
    expected=[2 / np.sqrt(3), 1 / 3, np.sqrt(3) / 4],
    tolerance=1e-13,
    reason=ROUNDING,
)
def measure_lattice_triangular() -> Measurement:
    """Young's modulus, Poisson's ratio and shear modulus of equilateral triangles of springs.

    The plot shows that the lattice is isotropic.
    """
    mesh, springs, area = build_triangular()
    c = measure_stiffness(mesh.points, springs, area)
    return Measurement(engineering_constants(c), plot_sheet(c, THIRD))


def measure_squares(diagonal: float) -> Float:
    """Measure C of a square lattice with both diagonals: k₁ = K and k₂ = diagonal."""
    mesh = sheet(5, 7, size=(5.0, 7.0))
    sides = laws.spring(mesh.edges, k=K * share_of_cells(mesh.cells["quad"], mesh.edges, 2))
    return measure_stiffness(
        mesh.points, [sides, laws.spring(mesh.diagonals, k=diagonal, name="diagonals")], 35.0
    )


@case(
    "lattice-square",
    formula="k₂ = k₁/2: E/k₁ = 4/3, ν = 1/3, G/k₁ = 1/2",
    source=OSTOJA,
    expected=[4 / 3, 1 / 3, 1 / 2],
    tolerance=1e-13,
    reason=ROUNDING,
)
def measure_lattice_square() -> Measurement:
    """Moduli of squares with diagonals half as stiff as the sides: isotropic."""
    c = measure_squares(K / 2)
    return Measurement(
        engineering_constants(c), plot_sheet(c, isotropic_stiffness(4 * K / 3, 1 / 3))
    )


WEAK = 1.4
UNEVEN = np.array([[K + WEAK, WEAK, 0], [WEAK, K + WEAK, 0], [0, 0, WEAK]])


@case(
    "lattice-square-uneven",
    formula="C₁₁ = k₁ + k₂, C₁₂ = C₆₆ = k₂",
    source=OSTOJA,
    unit="N/m",
    expected=[K + WEAK, WEAK, WEAK],
    tolerance=1e-13,
    reason=ROUNDING,
)
def measure_lattice_square_uneven() -> Measurement:
    """Moduli of squares with weak diagonals: soft in directions between the sides.

    The plot shows Young's modulus by direction.
    """
    c = measure_squares(WEAK)
    return Measurement([c[0, 0], c[0, 1], c[2, 2]], plot_sheet(c, UNEVEN))


AREA = 12.0
FILLED = THIRD + AREA * np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]])


@case(
    "lattice-area",
    formula="C₁₁ = 3√3k/4 + k_A, C₁₂ = √3k/4 + k_A, C₆₆ = √3k/4",
    source="½k_A(A - A₀)²/A₀ of ½C:ε:ε",
    unit="N/m",
    expected=[FILLED[0, 0], FILLED[0, 1], FILLED[2, 2]],
    tolerance=1e-13,
    reason=ROUNDING,
)
def measure_lattice_area() -> Measurement:
    """Moduli of triangles of springs with `area`: Poisson's ratio is above 1/3, the shear modulus
    unchanged.
    """
    mesh, springs, area = build_triangular()
    c = measure_stiffness(mesh.points, [*springs, laws.area(mesh.cells["triangle"], k=AREA)], area)
    return Measurement([c[0, 0], c[0, 1], c[2, 2]], plot_sheet(c, FILLED))


SIDE = 0.2
SIZE = (4 * SIDE, 3 * SIDE, 3 * SIDE)


def measure_cubes(edge: float, diagonal: float, volume: float = 0.0) -> Float:
    """Measure C [Pa] of a cubic lattice: edges, face diagonals, and `volume` on tetrahedra."""
    mesh = block(4, 3, 3, size=SIZE)
    cells = mesh.cells["hex"]
    energies = [
        laws.spring(mesh.edges, k=edge * share_of_cells(cells, mesh.edges, 4)),
        laws.spring(
            mesh.diagonals, k=diagonal * share_of_cells(cells, mesh.diagonals, 2), name="diagonals"
        ),
    ]
    if volume:
        tets = block(4, 3, 3, size=SIZE, cells="tet").cells["tet"]
        energies.append(laws.volume(tets, k=volume))
    return measure_stiffness(mesh.points, energies, 36 * SIDE**3)


def cubic_constants(edge: float, diagonal: float, volume: float = 0.0) -> list[float]:
    """Return C₁₁, C₁₂ and C₄₄ [Pa]."""
    return [(edge + 2 * diagonal) / SIDE + volume, diagonal / SIDE + volume, diagonal / SIDE]


def cubic_young(constants: Sequence[float], angles: Float) -> Float:
    """Return Young's modulus of a cubic crystal by direction in the plane of two axes.

    constants : C₁₁, C₁₂, C₄₄ [Pa]
    """
    c11, c12, c44 = constants
    s11 = (c11 + c12) / ((c11 - c12) * (c11 + 2 * c12))
    s12 = -c12 / ((c11 - c12) * (c11 + 2 * c12))
    return 1 / (s11 - 2 * (s11 - s12 - 1 / c44 / 2) * np.cos(angles) ** 2 * np.sin(angles) ** 2)


def plot_crystal(c: Float, expected: list[float]) -> Curve:
    fine = np.linspace(0, np.pi, 120)
    got, theory = cubic_young([c[0, 0], c[0, 1], c[2, 2]], ANGLES), cubic_young(expected, fine)
    return Curve(
        np.degrees(ANGLES), got, theory, "direction [°]", "E [Pa]", theory_x=np.degrees(fine)
    )


@case(
    "lattice-cubic",
    formula="Ea/k = 5/2, ν = 1/4, Ga/k = 1",
    source=BORN,
    expected=[2.5, 0.25, 1.0],
    tolerance=1e-13,
    reason=ROUNDING,
)
def measure_lattice_cubic() -> Measurement:
    """Moduli of cubes with face diagonals as stiff as the edges: isotropic."""
    c = measure_cubes(K, K)
    c11, c12 = c[0, 0], c[0, 1]
    got = [
        (c11 - c12) * (c11 + 2 * c12) / (c11 + c12) * SIDE / K,
        c12 / (c11 + c12),
        c[2, 2] * SIDE / K,
    ]
    return Measurement(got, plot_crystal(c, cubic_constants(K, K)))


@case(
    "lattice-cubic-uneven",
    formula="C₁₁ = (k₁ + 2k₂)/a, C₁₂ = C₄₄ = k₂/a",
    source=BORN,
    unit="Pa",
    expected=cubic_constants(K, WEAK),
    tolerance=1e-13,
    reason=ROUNDING,
)
def measure_lattice_cubic_uneven() -> Measurement:
    """Moduli of cubes with weak diagonals.

    The plot shows Young's modulus by direction in the plane of two edges.
    """
    c = measure_cubes(K, WEAK)
    return Measurement([c[0, 0], c[0, 1], c[2, 2]], plot_crystal(c, cubic_constants(K, WEAK)))


@case(
    "lattice-volume",
    formula="C₁₁ = 3k/a + k_V, C₁₂ = k/a + k_V, C₄₄ = k/a",
    source="½k_V(v - v₀)²/v₀ of ½C:ε:ε",
    unit="Pa",
    expected=cubic_constants(K, K, 500.0),
    tolerance=1e-13,
    reason=ROUNDING,
)
def measure_lattice_volume() -> Measurement:
    """Moduli of cubes of springs and tetrahedra with `volume`: nearly incompressible."""
    c = measure_cubes(K, K, 500.0)
    return Measurement([c[0, 0], c[0, 1], c[2, 2]], plot_crystal(c, cubic_constants(K, K, 500.0)))
