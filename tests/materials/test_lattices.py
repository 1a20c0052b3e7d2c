"""Measured moduli of lattices against closed forms."""

import numpy as np
import pytest

import taut
from taut.materials import moduli, springs

EXACT = (
    1e-6  # the stretch test stops at this residual; on these lattices it is exact from the start
)


def _by_cells(mesh, per_cell):
    """Springs with contributions from each adjacent cell: {local kind of pair: k of one cell}."""
    total = {}
    for kind, cells in mesh.blocks():
        diagonals = {
            tuple(sorted((f[i], f[i + 2]))) for f in kind.faces if len(f) == 4 for i in range(2)
        }
        for local, part in ((kind.edges, per_cell[0]), (sorted(diagonals), per_cell[-1])):
            for a, b in local:
                for i, j in cells[:, [a, b]].tolist():
                    key = (min(i, j), max(i, j))
                    total[key] = total.get(key, 0.0) + part
    return np.array(list(total)), np.array(list(total.values()))


def test_triangular_lattice():
    """E = 2k/√3 and ν = ⅓: each triangle gives half of k to its edges, so those at the rim have
    half.
    """
    mesh = taut.mesh.sheet(7, 6, pattern="equilateral")
    found = moduli(mesh, *_by_cells(mesh, (0.5,)))
    assert found.young == pytest.approx(2 / np.sqrt(3), rel=EXACT)
    assert found.poisson == pytest.approx(1 / 3, rel=EXACT)
    assert found.anisotropy < EXACT


def test_square_lattice_with_diagonals():
    """k₂ = k₁/2: E = 4k₁/3, ν = ⅓, isotropic."""
    mesh = taut.mesh.sheet(5, 7, size=(5.0, 7.0))
    found = moduli(mesh, *_by_cells(mesh, (0.5, 0.5)))
    assert found.young == pytest.approx(4 / 3, rel=EXACT)
    assert found.poisson == pytest.approx(1 / 3, rel=EXACT)
    assert found.anisotropy < EXACT


@pytest.mark.parametrize("k2", [0.2, 1.0])
def test_anisotropic_square_lattice(k2):
    """C₁₁ = k₁ + k₂, C₁₂ = C₆₆ = k₂: along an edge E = C₁₁ - C₁₂²/C₁₁."""
    mesh = taut.mesh.sheet(6, 6)
    found = moduli(mesh, *_by_cells(mesh, (0.5, k2)))
    assert found.along([1, 0, 0]) == pytest.approx((1 + k2) - k2**2 / (1 + k2), rel=EXACT)
    assert found.compliance[2, 2] == pytest.approx(1 / (2 * k2), rel=EXACT)  # 1/(2G)
    assert found.anisotropy > 0.1


def test_cubic_lattice_with_face_diagonals():
    """Edges and diagonals with equal k: E = 2.5 k/a, ν = ¼. Four cubes share an edge,
    two a face.
    """
    a = 0.2
    mesh = taut.mesh.block(4, 3, 3, size=(4 * a, 3 * a, 3 * a))
    found = moduli(mesh, *_by_cells(mesh, (0.25, 0.5)))
    assert found.young == pytest.approx(2.5 / a, rel=EXACT)
    assert found.poisson == pytest.approx(1 / 4, rel=EXACT)
    assert found.anisotropy < EXACT


@pytest.mark.parametrize(("pattern", "inner"), [("equilateral", np.sqrt(3) / 2), ("quad", 3 / 4)])
def test_springs_on_regular_sheets_match_the_lattice(pattern, inner):
    """k = √3/2 E t on equilateral triangles; k₁ = ¾ E t on squares. The fit does not
    change them.
    """
    mesh = taut.mesh.sheet(6, 6, pattern=pattern)
    made = springs(mesh, young=2e5, thickness=1e-3)
    edges = np.isin(made.pairs @ [mesh.n, 1], mesh.edges @ [mesh.n, 1])
    assert made.k[edges].max() == pytest.approx(inner * 200.0, rel=1e-9)
    assert made.k[edges].min() == pytest.approx(inner * 100.0, rel=1e-9)
    assert made.reached.young == pytest.approx(2e5, rel=EXACT)


def test_springs_on_cubes_match_the_lattice():
    made = springs(taut.mesh.block(3, 3, 3, size=0.3), young=5e4)
    assert made.k.max() == pytest.approx(0.4 * 5e4 * 0.1, rel=1e-9)  # E = 2.5 k/a
    assert made.reached.poisson == pytest.approx(0.25, rel=EXACT)


def test_modulus_of_lines():
    rope = taut.mesh.rope(5, end=(2.0, 0, 0))
    made = springs(rope, young=1e9, area=1e-6, density=1000.0)
    assert made.k == pytest.approx(1e9 * 1e-6 / 0.4)
    assert made.mass == pytest.approx([2e-4, 4e-4, 4e-4, 4e-4, 4e-4, 2e-4])
    assert made.reached is None


def test_moduli_do_not_depend_on_shape_or_position():
    """With a hole and a notch, uniform stress on the whole boundary gives the moduli of the
    lattice.
    """
    sheet = taut.mesh.sheet(8, 8, size=8.0)
    centre = sheet.points[sheet.cells["quad"]].mean(axis=1)
    keep = ~((np.abs(centre[:, 0] - 4) < 1.2) & (np.abs(centre[:, 1] - 4) < 1.2)) & ~(
        (centre[:, 0] > 6) & (centre[:, 1] < 2)
    )
    turn = np.array([[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [0.64, -0.48, 0.6]])
    mesh = taut.mesh.Mesh(sheet.points @ turn + 100.0, {"quad": sheet.cells["quad"][keep]})
    found = moduli(mesh, *_by_cells(mesh, (0.5, 0.5)))
    assert found.young == pytest.approx(4 / 3, rel=EXACT)
    assert found.poisson == pytest.approx(1 / 3, rel=EXACT)
