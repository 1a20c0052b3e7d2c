"""The stiffness of hinges: sheets are rolled here in many directions, their angles and energy are taken from the geometry."""

import numpy as np
import pytest

import taut
from taut.materials import bending, springs
from tests.materials.bodies import irregular_sheet


def _rigidity(mesh, c, direction):
    """Energy of the hinges for each area and curvature², from the dihedral angles of the mesh pressed to w = ½ κ (m·x)²."""
    kappa = 1e-3
    x = mesh.positions.copy()
    x[:, 2] = kappa / 2 * (x[:, :2] @ direction) ** 2
    h = mesh.hinges
    corner, other, a, b = (x[i] for i in h.T)
    first, second = np.cross(b - a, corner - a), np.cross(other - a, b - a)
    areas = (np.linalg.norm(first, axis=1) + np.linalg.norm(second, axis=1)) / 2
    unit = [n / np.linalg.norm(n, axis=1, keepdims=True) for n in (first, second)]
    angle = np.linalg.norm(np.cross(*unit), axis=1)
    energy = (c / 2 * ((b - a) ** 2).sum(axis=1) / areas * angle**2).sum()
    return energy / ((areas / 3).sum() * kappa**2 / 2)


def _mean_rigidity(mesh, c):
    """Over all directions: twelve are enough, for the energy is a polynomial of degree 4 in the direction."""
    return np.mean([_rigidity(mesh, c, np.array([np.cos(a), np.sin(a)])) for a in np.arange(12) * np.pi / 12])


@pytest.mark.parametrize("pattern", ["equilateral", "one-diagonal"])
def test_mean_rigidity_where_no_point_gives_way(pattern):
    mesh = taut.mesh.sheet(8, 8, pattern=pattern)
    assert _mean_rigidity(mesh, bending(mesh, 3e-4)) == pytest.approx(3e-4, rel=1e-5)  # κ = 1e-3: angles are small to that


def test_inner_points_give_way():
    """On alternating diagonals D is 5c/6 to 4c/3 once they have, so 13c/12 in the mean; pressed to a cylinder it is more."""
    mesh = taut.mesh.sheet(80, 80, pattern="alternating")
    c = bending(mesh, 1.0)
    assert c == pytest.approx(12 / 13, rel=0.01)  # the points at the rim, 1/40 of all, do not
    assert _mean_rigidity(mesh, c) > 1.1
    irregular = irregular_sheet(10, 10, 1.0, seed=0)
    assert _mean_rigidity(irregular, bending(irregular, 1.0)) > 1.02


def test_curved_sheets():
    """Nearly equilateral triangles on a sphere, quads on a tube cut one way: c and 3c/2 in the mean, as in the plane."""
    assert bending(taut.mesh.sphere(12), 1.0) == pytest.approx(1.0, rel=0.1)  # triangles of the sphere differ by a fifth in length
    tube = taut.mesh.cylinder(60, 10, pattern="one-diagonal")
    assert bending(tube, 1.5) == pytest.approx(1.0, rel=0.05)  # its cells are 0.105 by 0.1


def test_rigidity_by_direction_on_a_regular_grid():
    """One diagonal: 0.75 c to 3 c; equilateral: c in every direction."""
    grid = taut.mesh.sheet(60, 60, pattern="one-diagonal")
    found = [_rigidity(grid, 1.0, np.array([np.cos(a), np.sin(a)])) for a in np.arange(90) * np.pi / 90]
    assert [min(found), max(found)] == pytest.approx([0.75, 3.0], rel=0.02)  # edges of the rim have no hinge: 1/60
    even = taut.mesh.sheet(60, 60, pattern="equilateral")
    assert _rigidity(even, 1.0, np.array([0.6, 0.8])) == pytest.approx(1.0, rel=0.02)
    assert bending(even, 1.0) == pytest.approx(1.0, rel=1e-9)


def test_plates():
    """E t³/(12 (1 - ν²)), ν that of the material where it is given and that of springs where not."""
    mesh = taut.mesh.sheet(6, 6, pattern="equilateral")
    assert springs(mesh, young=12e6, thickness=1e-2).bending == pytest.approx(12e6 * 1e-6 / 12 * 9 / 8)
    assert springs(mesh, young=12e6, thickness=1e-2, poisson=0.5).bending == pytest.approx(12e6 * 1e-6 / 12 * 4 / 3)
    assert springs(mesh, membrane=1.0).bending is None
