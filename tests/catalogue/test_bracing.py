"""Which diagonals brace a block of cubes.

Zero modes of the springs, six of which are rigid motions.
"""

import numpy as np
import pytest

import taut
from taut import laws

CORNER = np.array(
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
)
ACROSS = [(i, j) for i in range(8) for j in range(i) if np.abs(CORNER[i] - CORNER[j]).sum() == 3]


def zero_modes(mesh, *springs):
    system = taut.System(
        mesh.points, mass=1.0, energies=[laws.spring(pairs, k=1.0) for pairs in springs]
    )
    values = np.linalg.eigvalsh(system.K(system.initial_state()).toarray())
    count = int((np.abs(values) < 1e-9).sum())
    assert values[count] > 1e-3, "zero and non-zero eigenvalues must be well separated"
    return count


@pytest.mark.parametrize(
    ("cubes", "modes"),
    [((1, 1, 1), 9), ((2, 1, 1), 10), ((2, 2, 1), 10), ((2, 2, 2), 9), ((3, 3, 3), 9)],
)
def test_face_diagonals_remove_mechanisms_and_space_diagonals_do_not(cubes, modes):
    mesh = taut.mesh.block(*cubes)
    across = mesh.cells["hex"][:, ACROSS].reshape(-1, 2)
    assert zero_modes(mesh, mesh.edges, across) == modes
    assert zero_modes(mesh, mesh.edges, mesh.diagonals) == 6
    assert zero_modes(mesh, mesh.edges, mesh.diagonals, across) == 6
