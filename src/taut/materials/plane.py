"""Where a sheet lies: the plane of a flat one, and the two directions in each of its faces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.materials.cells import Cells
from taut.materials.tensors import dense, overlap
from taut.mesh.measure import unit_normals
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]
LEAN = np.sin(np.radians(2))  # faces that lean less from a plane lie in it: their springs are shorter there by 6e-4 at most
UPRIGHT = 1e-6  # the sine of an angle: a warp, a unit vector, so close to the normal of a face has no direction in it


def plane_of(mesh: Mesh, cells: Cells, warp: Float | None = None) -> Float | None:
    """Two orthonormal axes (2, 3) of the plane in which all faces lie, the first along the warp; None if they are curved."""
    normals = normals_of(mesh, cells)
    weighed = normals * np.sqrt(cells.volume / cells.volume.sum())[:, None]
    normal = np.linalg.eigh(overlap(weighed, weighed))[1][:, 2]
    if (np.linalg.norm(np.cross(normals, normal), axis=1) > LEAN).any():
        return None
    _refuse_folds(mesh, cells, (normals * normal).sum(axis=1))
    return _axes(normal[None], warp, cells)[0]


def _refuse_folds(mesh: Mesh, cells: Cells, upward: Float) -> None:
    """In a flat sheet with a boundary, faces that all run one way must all show the same side."""
    edges = np.concatenate([np.stack([rows, np.roll(rows, -1, axis=1)], axis=2).reshape(-1, 2) for _, rows in cells.blocks])
    directed = edges[:, 0] * mesh.n + edges[:, 1]
    if not len(mesh.boundary) or len(np.unique(directed)) < len(directed):
        return
    main = 1.0 if cells.volume[upward > 0].sum() >= cells.volume[upward < 0].sum() else -1.0
    over = np.flatnonzero(main * upward < 0)
    if len(over):
        raise MeshError("it is folded over: it shows the other side than most of this flat sheet", element=cells.name(int(over[0])))


def face_axes(mesh: Mesh, cells: Cells, warp: Float | None = None) -> Float:
    """Two orthonormal axes of each face, shape (c, 2, 3), the first along the warp as far as it lies in the face."""
    return _axes(normals_of(mesh, cells), warp, cells)


def _axes(normals: Float, warp: Float | None, cells: Cells) -> Float:
    """Orthonormal (m, 2, 3) across unit normals (m, 3); without a warp, from the axis of space that is most across each."""
    if warp is None:
        return frames(normals, across(normals))
    lost = np.flatnonzero(np.linalg.norm(np.cross(normals, warp), axis=1) < UPRIGHT)
    if len(lost):
        raise MeshError("the warp stands on this face and has no direction in it", element=cells.name(int(lost[0])))
    return frames(normals, warp)


def normals_of(mesh: Mesh, cells: Cells) -> Float:
    """The unit normals of all faces, shape (c, 3)."""
    return np.concatenate([unit_normals(mesh.positions, corners) for _, corners in cells.blocks])


def across(normals: Float) -> Float:
    """The axis of space that stands least along each of the normals (m, 3), shape (m, 3)."""
    return np.eye(3)[np.abs(normals).argmin(axis=1)]


def frames(normals: Float, along: Float) -> Float:
    """Orthonormal (m, 2, 3) in the planes of unit normals (m, 3); the first is the projection of `along`, (3,) or (m, 3)."""
    first = along - (normals * along).sum(axis=1)[:, None] * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(normals, first)], axis=1)


def pressed(x: Float, axes: Float) -> Float:
    """Points (n, 3) pressed into the plane of axes (2, 3); in space, axes (3, 3), they stay where they are."""
    return dense(laid(x, axes), axes)


def laid(x: Float, axes: Float) -> Float:
    """Points or vectors (n, 3) in the axes (d, 3), shape (n, d)."""
    return dense(x, axes.T)
