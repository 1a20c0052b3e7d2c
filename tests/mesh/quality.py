"""Quality measures of tetrahedral meshes: angles, volumes and boundary."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from taut.mesh.mesh import Mesh

SMALLEST_DIHEDRAL, LARGEST_DIHEDRAL = 10.7, 164.8  # degrees: the bounds guaranteed by `stuffing`


def dihedrals(corners):
    """The six dihedral angles of each tetrahedron [degrees], shape (m, 6); corners (m, 4, 3)."""
    angles = []
    for i, j in combinations(range(4), 2):
        k, l = sorted({0, 1, 2, 3} - {i, j})  # noqa: E741
        along = corners[:, j] - corners[:, i]
        first, second = (
            np.cross(along, corners[:, k] - corners[:, i]),
            np.cross(along, corners[:, l] - corners[:, i]),
        )
        sine = np.linalg.norm(np.cross(first, second), axis=1)
        angles.append(np.degrees(np.arctan2(sine, np.einsum("ij,ij->i", first, second))))
    return np.stack(angles, axis=1)


def within_the_proven_angles(mesh: Mesh) -> bool:
    angles = dihedrals(mesh.points[mesh.cells["tet"]])
    return bool(
        mesh.volumes.min() > 0
        and angles.min() >= SMALLEST_DIHEDRAL
        and angles.max() <= LARGEST_DIHEDRAL
    )


def euler_characteristic(mesh: Mesh) -> int:
    """V - E + F of the boundary, on which every edge must have two faces."""
    skin = Mesh(mesh.points, {"triangle": mesh.boundary_faces["triangle"]})
    assert len(skin.boundary_edges) == 0
    assert 3 * len(skin.triangles) == 2 * len(skin.edges)
    return len(np.unique(skin.triangles)) - len(skin.edges) + len(skin.triangles)


def order(errors):
    """Measured convergence orders of errors at successively halved spacings."""
    return np.log2(np.abs(errors[:-1]) / np.abs(errors[1:]))
