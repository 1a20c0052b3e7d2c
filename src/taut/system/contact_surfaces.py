"""What can touch: the points, edges and triangles of meshes and of arrays of indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Int, describe
from taut.collision.proximity import Primitives
from taut.errors import ModelError
from taut.mesh.mesh import Mesh


def find_surface(mesh: Mesh) -> tuple[Int, Int, Int]:
    """Return the points (p,), edges (m, 2) and triangles (l, 3) with which a mesh touches others.

    Of a solid they are those of its boundary: what is inside touches nothing.
    """
    if not mesh.blocks(3):
        return np.arange(mesh.n), np.asarray(mesh.edges), np.asarray(mesh.triangles)
    triangles = np.asarray(Mesh(mesh.positions, mesh.boundary_faces).triangles)
    return np.unique(triangles), np.empty((0, 2), dtype=np.int64), triangles


def gather_primitives(surfaces: Sequence[Mesh | ArrayLike]) -> Primitives:
    """Return the points, edges and triangles of surfaces, each edge and point once."""
    points, edges, triangles = [], [], []
    for surface in surfaces:
        if isinstance(surface, Mesh):
            own = find_surface(surface)
            points.append(own[0])
            edges.append(own[1])
            triangles.append(own[2])
            continue
        array = np.array(surface)
        if array.dtype.kind not in "iu" or array.ndim not in (1, 2):
            raise ModelError(
                f"a surface must be a Mesh or an array of indices, got {describe(surface)}"
            )
        if array.ndim == 1:
            points.append(array)
        elif array.shape[1] == 2:
            edges.append(array)
        elif array.shape[1] == 3:
            triangles.append(array)
        else:
            raise ModelError(
                f"a surface must have two or three particles in a row, got shape {array.shape}"
            )
    faces = _stack(triangles, 3)
    _reject_repeated(faces, "triangle")
    _reject_repeated(_stack(edges, 2), "edge")
    sides = np.concatenate([_stack(edges, 2), faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)])
    lines = np.unique(np.sort(sides, axis=1), axis=0)
    every = np.concatenate([np.concatenate([*points, np.zeros(0, np.int64)]), lines.ravel()])
    every = np.unique(every.astype(np.int64))
    # A particle without an edge is an edge of no length.
    loose = np.setdiff1d(every, lines)
    return Primitives(every, lines, loose, faces)


def _reject_repeated(rows: Int, what: str) -> None:
    """Raise ModelError for a row that has a particle twice."""
    ordered = np.sort(rows, axis=1)
    bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(bad):
        raise ModelError(f"a {what} of a contact must have different particles, got {rows[bad[0]]}")


def _stack(arrays: list[Int], columns: int) -> Int:
    rows = [np.asarray(a, dtype=np.int64).reshape(-1, columns) for a in arrays]
    return np.concatenate([np.empty((0, columns), dtype=np.int64), *rows])
