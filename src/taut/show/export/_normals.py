"""Smooth normals of the faces of a mesh, by kind of face, and for OBJ files."""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.files.obj import Normals
from taut.mesh.mesh import Mesh
from taut.show.smooth_normals import SmoothNormals


def group_by_kind(mesh: Mesh) -> tuple[SmoothNormals, dict[str, Int]]:
    """Return the normals of a mesh, and by kind of face the number of that of each corner, (k, s).

    Edges are sharp where they are sharp in the mesh itself, which is at rest.
    """
    blocks = mesh.blocks(2)
    nothing = np.empty(0, np.int64)
    counts = np.concatenate([nothing, *(np.full(len(c), kind.size) for kind, c in blocks)])
    corners = np.concatenate([nothing, *(cells.ravel() for _, cells in blocks)])
    smooth = SmoothNormals(mesh.positions, counts, corners)
    ends = np.cumsum([0, *(cells.size for _, cells in blocks)])
    numbers = {
        kind.name: smooth.groups[start : start + cells.size].reshape(cells.shape)
        for (kind, cells), start in zip(blocks, ends.tolist(), strict=False)
    }
    return smooth, numbers


def find_obj_normals(mesh: Mesh, x: Float) -> Normals | None:
    """Return the normals of a mesh whose points are at x [m], (n, 3); None if it has no faces.

    >>> import taut
    >>> sheet = taut.mesh.sheet(1, 1, plane="xz")
    >>> find_obj_normals(sheet, sheet.points).vectors.tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    smooth, numbers = group_by_kind(mesh)
    return Normals(smooth.at(x), numbers) if numbers else None
