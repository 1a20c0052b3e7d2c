"""Masses from lines, faces and solids."""

import numpy as np
import pytest

import taut
from taut.mesh import Mesh


@pytest.mark.parametrize(
    ("weigh", "points", "cells", "density", "expected"),
    [
        (taut.line_mass, [[0, 0, 0], [4, 0, 0]], {"line": [[0, 1]]}, 0.5, [1.0, 1.0]),
        (
            taut.areal_mass,
            [[0, 0], [2, 0], [0, 3]],
            {"triangle": [[0, 1, 2]]},
            2.0,
            [2.0, 2.0, 2.0],
        ),
        (
            taut.volume_mass,
            [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]],
            {"tet": [[0, 1, 2, 3]]},
            8.0,
            [2.0] * 4,
        ),
    ],
)
def test_mass_is_lumped_in_equal_shares(weigh, points, cells, density, expected):
    np.testing.assert_allclose(weigh(Mesh(points, cells), density), expected, rtol=1e-15)


def test_one_density_per_cell_in_the_order_of_the_measures():
    mesh = Mesh(
        [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0]], {"quad": [[0, 1, 2, 3]], "triangle": [[1, 4, 2]]}
    )
    np.testing.assert_allclose(mesh.areas, [0.5, 1.0])
    np.testing.assert_allclose(taut.areal_mass(mesh, [6.0, 4.0]), [1, 2, 2, 1, 1])


def test_reject_cells_without_mass():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], {"tet": [[0, 2, 1, 3]]})
    with pytest.raises(taut.errors.ModelError, match="tet 0 is inverted"):
        taut.volume_mass(mesh, 1.0)
    with pytest.raises(taut.errors.ModelError, match="no faces to weigh; it has tet"):
        taut.areal_mass(mesh, 1.0)
    with pytest.raises(taut.errors.ModelError, match=r"density has shape \(2,\)"):
        taut.line_mass(taut.mesh.rope(3), [1.0, 2.0])
    with pytest.raises(taut.errors.ModelError, match="negative or not finite"):
        taut.line_mass(taut.mesh.rope(1), np.nan)


def test_point_without_mass_is_named():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5]], {"triangle": [[0, 1, 2]]})
    with pytest.raises(
        taut.errors.ModelError, match=r"got 0\.0 for particle 3 .*in no cell that has mass"
    ):
        taut.System(mesh.points, mass=taut.areal_mass(mesh, 1.0))
