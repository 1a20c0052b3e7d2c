"""Moduli of lattices of springs: C_ijkl = Σ k l² n_i n_j n_k n_l/volume over the springs of a cell, each in the direction n.

A lattice cut out of a larger one shares the springs of its rim with the rest; strained evenly it is in balance, so that uᵀKu by
volume is ε:C:ε for the displacements u = εx.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from taut import laws
from taut.mesh.shapes.boxes import block
from taut.mesh.shapes.surfaces import sheet
from taut.validate.bodies import body
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case

BORN = "Born and Huang, Dynamical Theory of Crystal Lattices"
OSTOJA = "Ostoja-Starzewski, Appl. Mech. Rev. 55 (2002) 35"
ROUNDING = "an even strain is exact on these lattices: rounding of sums over some hundred springs"


def shared(cells: Any, pairs: Any, whole: int) -> Float:
    """The part of each spring (m,) that belongs to the cells there are, of the `whole` number that meet in it inside."""
    count = Counter(pair for cell in cells.tolist() for pair in combinations(sorted(cell), 2))
    return np.array([count[tuple(pair)] for pair in np.sort(pairs, axis=1).tolist()]) / whole


def stiffness(points: Any, energies: Any, volume: float) -> Float:
    """C (3, 3) of the strains (ε₁₁, ε₂₂, 2ε₁₂) of a lattice at rest [N/m, or Pa for a solid]."""
    system = body(points, mass=1.0, energies=energies)
    x, y, zero = points[:, 0], points[:, 1], np.zeros(len(points))
    moved = [np.column_stack(u).ravel() for u in ((x, zero, zero), (zero, y, zero), (y / 2, x / 2, zero))]
    stiff = system.K(system.initial_state())
    return np.array([[a @ (stiff @ b) for b in moved] for a in moved]) / volume


ANGLES = np.linspace(0, np.pi, 25)


def along(c: Float, angles: Float = ANGLES) -> Float:
    """Young's modulus of a sheet by direction: 1/(n⊗n : S : n⊗n)."""
    n = np.stack([np.cos(angles) ** 2, np.sin(angles) ** 2, np.sin(angles) * np.cos(angles)])
    return 1 / np.einsum("ia,ij,ja->a", n, np.linalg.inv(c), n)


def plotted(c: Float, expected: Float) -> Curve:
    fine = np.linspace(0, np.pi, 120)
    return Curve(np.degrees(ANGLES), along(c), along(expected, fine), "direction [°]", "E [N/m]", at=np.degrees(fine))


def isotropic(young: float, poisson: float) -> Float:
    """C (3, 3) of a sheet."""
    return young / (1 - poisson**2) * np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]])


def engineering(c: Float) -> list[float]:
    """E/k, ν and G/k along the first axis."""
    s = np.linalg.inv(c)
    return [1 / s[0, 0] / K, -s[0, 1] / s[0, 0], 1 / s[2, 2] / K]


K = 7.0
THIRD = isotropic(2 * K / np.sqrt(3), 1 / 3)


def triangular() -> tuple[Any, list[Any], float]:
    """A lattice of equilateral triangles: its mesh, its springs and its area."""
    mesh = sheet(7, 6, pattern="equilateral")
    cells = mesh.cells["triangle"]
    return mesh, [laws.spring(mesh.edges, k=K * shared(cells, mesh.edges, 2))], float(mesh.areas.sum())


@case(
    "lattice-triangular", formula="E/k = 2/√3, ν = 1/3, G/k = √3/4", source=OSTOJA,
    expected=[2 / np.sqrt(3), 1 / 3, np.sqrt(3) / 4], tolerance=1e-13, why=ROUNDING,
)  # fmt: skip
def triangles() -> Found:
    """Equilateral triangles of springs: Young's modulus, Poisson's ratio and shear modulus; the curve: all directions alike."""
    mesh, springs, area = triangular()
    c = stiffness(mesh.points, springs, area)
    return Found(engineering(c), plotted(c, THIRD))


def squares(diagonal: float) -> Float:
    """C of a square lattice with both diagonals: k₁ = K and k₂ = diagonal."""
    mesh = sheet(5, 7, size=(5.0, 7.0))
    sides = laws.spring(mesh.edges, k=K * shared(mesh.cells["quad"], mesh.edges, 2))
    return stiffness(mesh.points, [sides, laws.spring(mesh.diagonals, k=diagonal, name="diagonals")], 35.0)


@case(
    "lattice-square", formula="k₂ = k₁/2: E/k₁ = 4/3, ν = 1/3, G/k₁ = 1/2", source=OSTOJA,
    expected=[4 / 3, 1 / 3, 1 / 2], tolerance=1e-13, why=ROUNDING,
)  # fmt: skip
def even_squares() -> Found:
    """Squares with diagonals half as stiff as the sides: alike in all directions."""
    c = squares(K / 2)
    return Found(engineering(c), plotted(c, isotropic(4 * K / 3, 1 / 3)))


WEAK = 1.4
UNEVEN = np.array([[K + WEAK, WEAK, 0], [WEAK, K + WEAK, 0], [0, 0, WEAK]])


@case(
    "lattice-square-uneven", formula="C₁₁ = k₁ + k₂, C₁₂ = C₆₆ = k₂", source=OSTOJA, unit="N/m", expected=[K + WEAK, WEAK, WEAK],
    tolerance=1e-13, why=ROUNDING,
)  # fmt: skip
def uneven_squares() -> Found:
    """Squares with weak diagonals: soft between their sides; the curve: Young's modulus by direction."""
    c = squares(WEAK)
    return Found([c[0, 0], c[0, 1], c[2, 2]], plotted(c, UNEVEN))


AREA = 12.0
FILLED = THIRD + AREA * np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]])


@case(
    "lattice-area", formula="C₁₁ = 3√3k/4 + k_A, C₁₂ = √3k/4 + k_A, C₆₆ = √3k/4", source="½k_A(A - A₀)²/A₀ of ½C:ε:ε", unit="N/m",
    expected=[FILLED[0, 0], FILLED[0, 1], FILLED[2, 2]], tolerance=1e-13, why=ROUNDING,
)  # fmt: skip
def filled_triangles() -> Found:
    """Triangles that keep their area as well: Poisson's ratio is no longer 1/3, the shear modulus as before."""
    mesh, springs, area = triangular()
    c = stiffness(mesh.points, [*springs, laws.area(mesh.cells["triangle"], k=AREA)], area)
    return Found([c[0, 0], c[0, 1], c[2, 2]], plotted(c, FILLED))


SIDE = 0.2
SIZE = (4 * SIDE, 3 * SIDE, 3 * SIDE)


def cubes(edge: float, diagonal: float, volume: float = 0.0) -> Float:
    """C of a cubic lattice of edges and face diagonals, and of tetrahedra in its cells that keep their volume [Pa]."""
    mesh = block(4, 3, 3, size=SIZE)
    cells = mesh.cells["hex"]
    energies = [
        laws.spring(mesh.edges, k=edge * shared(cells, mesh.edges, 4)),
        laws.spring(mesh.diagonals, k=diagonal * shared(cells, mesh.diagonals, 2), name="diagonals"),
    ]
    energies += [laws.volume(block(4, 3, 3, size=SIZE, cells="tet").cells["tet"], k=volume)] if volume else []
    return stiffness(mesh.points, energies, 36 * SIDE**3)


def cubic(edge: float, diagonal: float, volume: float = 0.0) -> list[float]:
    """C₁₁, C₁₂ and C₄₄ [Pa]."""
    return [(edge + 2 * diagonal) / SIDE + volume, diagonal / SIDE + volume, diagonal / SIDE]


def uniaxial(constants: Sequence[float], angles: Float) -> Float:
    """Young's modulus of a cubic crystal by direction in the plane of two of its axes; constants : C₁₁, C₁₂, C₄₄ [Pa]."""
    c11, c12, c44 = constants
    s11 = (c11 + c12) / ((c11 - c12) * (c11 + 2 * c12))
    s12 = -c12 / ((c11 - c12) * (c11 + 2 * c12))
    return 1 / (s11 - 2 * (s11 - s12 - 1 / c44 / 2) * np.cos(angles) ** 2 * np.sin(angles) ** 2)


def crystal(c: Float, expected: list[float]) -> Curve:
    fine = np.linspace(0, np.pi, 120)
    got, theory = uniaxial([c[0, 0], c[0, 1], c[2, 2]], ANGLES), uniaxial(expected, fine)
    return Curve(np.degrees(ANGLES), got, theory, "direction [°]", "E [Pa]", at=np.degrees(fine))


@case(
    "lattice-cubic", formula="Ea/k = 5/2, ν = 1/4, Ga/k = 1", source=BORN, expected=[2.5, 0.25, 1.0],
    tolerance=1e-13, why=ROUNDING,
)  # fmt: skip
def even_cubes() -> Found:
    """Cubes with face diagonals as stiff as the edges: alike in all directions."""
    c = cubes(K, K)
    c11, c12 = c[0, 0], c[0, 1]
    got = [(c11 - c12) * (c11 + 2 * c12) / (c11 + c12) * SIDE / K, c12 / (c11 + c12), c[2, 2] * SIDE / K]
    return Found(got, crystal(c, cubic(K, K)))


@case(
    "lattice-cubic-uneven", formula="C₁₁ = (k₁ + 2k₂)/a, C₁₂ = C₄₄ = k₂/a", source=BORN, unit="Pa", expected=cubic(K, WEAK),
    tolerance=1e-13, why=ROUNDING,
)  # fmt: skip
def uneven_cubes() -> Found:
    """Cubes with weak diagonals: the curve has Young's modulus by direction in the plane of two edges."""
    c = cubes(K, WEAK)
    return Found([c[0, 0], c[0, 1], c[2, 2]], crystal(c, cubic(K, WEAK)))


@case(
    "lattice-volume", formula="C₁₁ = 3k/a + k_V, C₁₂ = k/a + k_V, C₄₄ = k/a", source="½k_V(v - v₀)²/v₀ of ½C:ε:ε", unit="Pa",
    expected=cubic(K, K, 500.0), tolerance=1e-13, why=ROUNDING,
)  # fmt: skip
def filled_cubes() -> Found:
    """Cubes made of tetrahedra that keep their volume as well: nearly incompressible."""
    c = cubes(K, K, 500.0)
    return Found([c[0, 0], c[0, 1], c[2, 2]], crystal(c, cubic(K, K, 500.0)))
