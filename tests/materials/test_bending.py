"""The stiffness of hinges: strips bend as beams of the material, in the mean over directions."""

import numpy as np
import pytest

import taut
from taut.materials import bending, springs
from taut.materials.bending import calibrate_hinges


def _energy(mesh, curvature):
    """Bending energy per area of hinges with c = 1, from the dihedral angles of the mesh deformed
    to w = ½ x·Bx with a small B.
    """
    small = 1e-3
    x = mesh.positions.copy()
    x[:, 2] = small / 2 * np.einsum("ni,ij,nj->n", x[:, :2], curvature, x[:, :2])
    corner, other, a, b = (x[i] for i in mesh.hinges.T)
    first, second = np.cross(b - a, corner - a), np.cross(other - a, b - a)
    areas = (np.linalg.norm(first, axis=1) + np.linalg.norm(second, axis=1)) / 2
    unit = [n / np.linalg.norm(n, axis=1, keepdims=True) for n in (first, second)]
    angle = np.linalg.norm(np.cross(*unit), axis=1)
    return (
        (((b - a) ** 2).sum(axis=1) / areas * angle**2).sum() / ((areas / 3).sum() * small**2) / 2
    )


def _strips(mesh):
    """EI/b of unrelaxed strips by direction for c = 1: 1/S_nnnn of S = D⁻¹, D from the energies of
    three curvatures.
    """
    basis = [
        np.array([[1, 0], [0, 0]]),
        np.array([[0, 0], [0, 1]]),
        np.array([[0, 1], [1, 0]]) / np.sqrt(2),
    ]
    d = np.array(
        [[_energy(mesh, a + b) - _energy(mesh, a) - _energy(mesh, b) for b in basis] for a in basis]
    )
    s = np.linalg.inv(d)
    angle = np.arange(180) * np.pi / 180
    n = np.stack(
        [np.cos(angle) ** 2, np.sin(angle) ** 2, np.sqrt(2) * np.sin(angle) * np.cos(angle)]
    )
    return 1 / np.einsum("am,ab,bm->m", n, s, n)


@pytest.mark.parametrize("pattern", ["equilateral", "one-diagonal"])
def test_rigidity_of_unrelaxed_strips(pattern):
    mesh = taut.mesh.sheet(40, 40, pattern=pattern)
    strips = _strips(mesh)
    found = calibrate_hinges(mesh, 1.0)
    mean = 1 / np.mean(1 / strips)
    assert found.c == pytest.approx(1 / mean, rel=0.02)  # boundary edges have no hinge: 1/40
    assert [found.softest, found.stiffest] == pytest.approx(
        [strips.min() / mean, strips.max() / mean], rel=0.02
    )


@pytest.mark.parametrize(
    ("pattern", "figures"),
    [
        ("equilateral", (1.125, 1.0, 1.0)),
        ("one-diagonal", (1.126, 0.75, 2.24)),
        ("alternating", (1.04, 0.86, 1.18)),
    ],
)
def test_values_of_the_theory_page(pattern, figures):
    assert calibrate_hinges(taut.mesh.sheet(24, 24, pattern=pattern), 1.0) == pytest.approx(
        figures, abs=6e-3
    )


def test_strips_of_regular_triangles_in_closed_form():
    """Equilateral triangles have D = c and a bending ν of -1/3: EI/b = c (1 - 1/9).

    Strips along the sides of a grid with parallel diagonals have 0.8 c.
    """
    assert bending(taut.mesh.sheet(30, 30, pattern="equilateral"), 8 / 9) == pytest.approx(
        1.0, rel=2e-3
    )  # patches at the rim
    assert _strips(taut.mesh.sheet(60, 60, pattern="one-diagonal"))[[0, 90]] == pytest.approx(
        [0.8, 0.8], rel=0.02
    )


def test_rigidity_by_direction_on_a_regular_grid():
    """Cylindrical bending: one diagonal has 0.75 c to 3 c, equilateral triangles c in every
    direction.
    """
    grid = taut.mesh.sheet(60, 60, pattern="one-diagonal")
    found = [
        2 * _energy(grid, np.outer(m, m))
        for m in (np.array([np.cos(a), np.sin(a)]) for a in np.arange(90) * np.pi / 90)
    ]
    assert [min(found), max(found)] == pytest.approx(
        [0.75, 3.0], rel=0.02
    )  # boundary edges have no hinge: 1/60
    even = taut.mesh.sheet(60, 60, pattern="equilateral")
    assert 2 * _energy(even, np.outer([0.6, 0.8], [0.6, 0.8])) == pytest.approx(1.0, rel=0.02)


def test_curved_and_closed_sheets():
    """Nearly equilateral triangles on a sphere; two layers sewn at the rim have the hinges of one
    layer.
    """
    assert bending(taut.mesh.sphere(12), 8 / 9) == pytest.approx(
        1.0, rel=0.02
    )  # its triangles differ by a fifth in length
    sheet = taut.mesh.sheet(12, 12, pattern="alternating")
    inner = np.setdiff1d(np.arange(sheet.n), sheet.boundary)
    other = np.arange(sheet.n)
    other[inner] = sheet.n + np.arange(len(inner))
    t = sheet.cells["triangle"]
    pillow = taut.mesh.Mesh(
        np.concatenate([sheet.points, sheet.points[inner]]),
        {"triangle": np.concatenate([t, other[t][:, ::-1]])},
    )
    assert len(pillow.boundary) == 0
    assert bending(pillow, 1.0) == pytest.approx(
        bending(sheet, 1.0), rel=0.1
    )  # one rim is open, the other sewn


def test_plate_rigidity():
    """E t³/12, independent of ν."""
    mesh = taut.mesh.sheet(6, 6, pattern="equilateral")
    c = springs(mesh, young=12e6, thickness=1e-2).bending
    assert c == pytest.approx(
        12e6 * 1e-6 / 12 * 9 / 8, rel=5e-3
    )  # with six cells no patch is complete
    assert springs(mesh, young=12e6, thickness=1e-2, poisson=0.45).bending == c
    assert springs(mesh, membrane=1.0).bending is None


def test_single_hinge():
    """Two triangles: rolled across their edge they have D; strips are assumed to have 8/9 of its
    mean.
    """
    two = taut.mesh.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], {"triangle": [[0, 1, 2], [0, 2, 3]]})
    assert 0 < bending(two, 1.0) < 10


def test_anisotropic_rigidity_is_reported():
    limits = springs(taut.mesh.sheet(8, 8), young=1.0, thickness=1.0).limits
    assert any("strips bend with" in limit for limit in limits)
    assert not springs(
        taut.mesh.sheet(8, 8, pattern="equilateral"), young=1.0, thickness=1.0
    ).limits
