"""Where a sheet lies: the plane of a flat one, and the two directions in each of its faces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.materials.cells import Cells, unit_normals
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]
FLATNESS = 1e-6  # of the size of the sheet: points off the plane by more make it a curved one
UPRIGHT = 1e-6  # the sine of an angle: a warp, a unit vector, so close to the normal of a face has no direction in it


def normal_of(x: Float) -> Float | None:
    """The unit normal (3,) of the plane in which points (n, 3) lie; None if they lie in none."""
    x = x - x.mean(axis=0)
    normal = np.linalg.svd(x.T @ x)[0][:, 2]
    return None if np.abs(x @ normal).max() > FLATNESS * np.linalg.norm(x, axis=1).max() else normal


def plane_of(mesh: Mesh, cells: Cells, warp: Float | None = None) -> Float | None:
    """Two orthonormal axes (2, 3) of the plane in which all faces lie, the first along the warp; None if they are curved."""
    normal = normal_of(mesh.positions[np.flatnonzero(np.asarray(cells.incidence.sum(axis=1)).ravel())])
    if normal is None:
        return None
    along = warp if warp is not None else np.eye(3)[np.abs(normal).argmin()]
    if np.linalg.norm(np.cross(normal, along)) < UPRIGHT:
        raise MeshError("the warp stands on this face and has no direction in it", element=_name(cells, 0))
    return _axes(normal[None], along)[0]


def face_axes(mesh: Mesh, cells: Cells, warp: Float | None = None) -> Float:
    """Two orthonormal axes of each face, shape (c, 2, 3), the first along the warp as far as it lies in the face."""
    normals = np.concatenate([unit_normals(mesh.positions, corners) for _, corners in cells.blocks])
    if warp is None:
        return _axes(normals, np.eye(3)[np.abs(normals).argmin(axis=1)])
    lost = np.flatnonzero(np.linalg.norm(np.cross(normals, warp), axis=1) < UPRIGHT)
    if len(lost):
        name = _name(cells, int(lost[0]))
        raise MeshError("the warp stands on this face and has no direction in it", element=name)
    return _axes(normals, warp)


def _axes(normals: Float, along: Float) -> Float:
    """Orthonormal (m, 2, 3) in the planes of unit normals (m, 3); the first is the projection of `along`."""
    first = along - (normals * along).sum(axis=1)[:, None] * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(normals, first)], axis=1)


def _name(cells: Cells, number: int) -> str:
    for kind, corners in cells.blocks:
        if number < len(corners):
            return f"{kind.name} {number}"
        number -= len(corners)
    raise AssertionError(number)
