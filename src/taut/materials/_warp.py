"""The direction of the warp on each triangle of a mesh.

It is one vector for all, one per triangle, a painted map of the points, or follows from texture
coordinates: a pattern piece is laid out with its warp along v, so the warp is ∂x/∂v, the gradient
over the corners of each face.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float, to_floats
from taut.errors import ModelError, did_you_mean
from taut.mesh.measure import unit_normals
from taut.mesh.mesh import Mesh

# Part of a direction in the plane of its triangle, or area of a face in its texture over the square
# of its extent there, below which there is none.
_MIN_PART = 1e-6


def find_warp(mesh: Mesh, warp: Any) -> Float:
    """Return unit vectors in the planes of `mesh.triangles`, (t, 3).

    warp : a vector (3,), vectors (t, 3), the name of a vector map of the points, or None for v of
        the texture coordinates
    """
    if warp is None:
        directions, origin = _along_v(mesh), "v of the texture coordinates"
    elif isinstance(warp, str):
        directions, origin = _mean_of_map(mesh, warp), f"the map '{warp}'"
    else:
        directions, origin = _check_vectors(mesh, warp), "warp"
    normals = unit_normals(mesh.positions, mesh.triangles)
    inside = directions - np.einsum("ij,ij->i", directions, normals)[:, None] * normals
    length = np.linalg.norm(inside, axis=1)
    bad = np.flatnonzero(~(length > _MIN_PART * np.linalg.norm(directions, axis=1)))
    if len(bad):
        raise ModelError(
            f"{origin} must have a part in the plane of every triangle, got "
            f"{directions[bad[0]].tolist()} for triangle {bad[0]}"
        )
    return np.asarray(inside / length[:, None])


def _along_v(mesh: Mesh) -> Float:
    if mesh.uv is None:
        raise ModelError(
            "this fabric has a warp and a weft, and the mesh has no texture coordinates to tell "
            "them: pass warp=(x, y, z), or the name of a vector map of its points"
        )
    found = []
    for kind, cells in mesh.blocks(2):
        corners = mesh.uv.corners.get(kind.name)
        if corners is None or (corners < 0).any():
            raise ModelError(
                f"every corner of a face must have texture coordinates to tell the warp; those of "
                f"{kind.name} faces are missing: pass warp=(x, y, z)"
            )
        uv = mesh.uv.coordinates[corners]
        x = mesh.positions[cells]
        du, dx = uv - uv.mean(axis=1, keepdims=True), x - x.mean(axis=1, keepdims=True)
        square = np.einsum("fki,fkj->fij", du, du)
        bad = np.flatnonzero(~(np.linalg.det(square) > (_MIN_PART * _trace(square)) ** 2))
        if len(bad):
            raise ModelError(
                f"texture coordinates must span an area on every face to tell the warp, got none "
                f"on {kind.name} {bad[0]}: pass warp=(x, y, z)"
            )
        slopes = np.einsum("fki,fkj->fij", dx, du) @ np.linalg.inv(square)
        found.append(np.repeat(slopes[:, :, 1], kind.size - 2, axis=0))
    return np.concatenate(found)


def _trace(matrices: Float) -> Float:
    return np.asarray(np.einsum("fii->f", matrices))


def _mean_of_map(mesh: Mesh, name: str) -> Float:
    parts = [f"{name}_{axis}" for axis in "xyz"]
    if name not in mesh.point_data and all(part in mesh.point_data for part in parts):
        # A PLY file has one number per property.
        values = np.stack([mesh.point_data[part] for part in parts], axis=1).astype(np.float64)
        return np.asarray(values[mesh.triangles].mean(axis=1))
    if name not in mesh.point_data:
        raise ModelError(
            f"the mesh has no map '{name}'{did_you_mean(name, mesh.point_data)}; "
            f"it has {', '.join(sorted(mesh.point_data)) or 'none'}"
        )
    values = np.asarray(mesh.point_data[name], dtype=np.float64)
    if values.shape != (mesh.n, 3):
        raise ModelError(
            f"the map '{name}' must have three components to be a direction, "
            f"got shape {values.shape}"
        )
    return np.asarray(values[mesh.triangles].mean(axis=1))


def _check_vectors(mesh: Mesh, warp: Any) -> Float:
    count = len(mesh.triangles)
    try:
        vectors = to_floats(warp)
    except (TypeError, ValueError):
        vectors = np.zeros(())
    if vectors.shape not in ((3,), (count, 3)) or not np.isfinite(vectors).all():
        raise ModelError(
            f"warp must be a vector of three numbers, one for each of the {count} triangles, or "
            f"the name of a map, got {warp!r}"
        )
    return np.array(np.broadcast_to(vectors, (count, 3)))
