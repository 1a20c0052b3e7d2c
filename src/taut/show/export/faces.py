"""The faces of a body as lists of corners, with texture coordinates and normals.

The normal at a point is the sum of the vector areas of the triangles around it, made a unit vector: n = Σ aᵢ / |Σ aᵢ|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV, Cells
from taut.show.subject import Piece

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Polygons:
    """Faces of any size, one after the other.

    counts : corners of each face, (f,); corners : points, (c,)
    texture : numbers in `coordinates`, (c,), -1 where a corner has none; coordinates : (k, 2); both None without any
    """

    counts: Int
    corners: Int
    texture: Int | None
    coordinates: Float | None


def faced(piece: Piece) -> Mesh:
    """The lines and faces of a body on all its points, solids by their boundary; texture coordinates and materials follow.

    >>> import taut
    >>> faced(Piece("box", taut.mesh.block(1, 1, 1), 0, 8))
    Mesh(8 points, 6 quad)
    """
    mesh = piece.mesh
    cells = ({"line": piece.lines} if len(piece.lines) else {}) | piece.faces
    groups = {
        name: {kind: members for kind, members in by_kind.items() if kind in cells}
        for name, by_kind in mesh.groups.items()
        if name.startswith("material:")
    }
    return Mesh(mesh.positions, cells, groups=groups, uv=_padded(mesh.uv, cells))


def polygons(piece: Piece) -> Polygons:
    """The faces of a body, corner by corner; the faces of the mesh come first, in its order.

    >>> import taut
    >>> polygons(Piece("cloth", taut.mesh.sheet(1, 1), 0, 4)).counts.tolist()
    [4]
    """
    mesh = faced(piece)
    blocks = [c for _, c in mesh.blocks(2)]
    counts = np.concatenate([np.empty(0, np.int64), *(np.full(len(c), c.shape[1]) for c in blocks)])
    corners = np.concatenate([np.empty(0, np.int64), *(c.ravel() for c in blocks)])
    if mesh.uv is None:
        return Polygons(counts, corners, None, None)
    texture = [mesh.uv.corners[k.name].ravel() for k, _ in mesh.blocks(2)]
    return Polygons(counts, corners, np.concatenate([np.empty(0, np.int64), *texture]), mesh.uv.coordinates)


def _padded(uv: UV | None, cells: Cells) -> UV | None:
    """Texture coordinates for all faces; those that a solid brings have none."""
    if uv is None:
        return None
    corners = {}
    for kind, block in cells.items():
        if kind != "line":
            corners[kind] = np.full(block.shape, -1)
            known = uv.corners.get(kind, corners[kind][:0])
            corners[kind][: len(known)] = known
    return UV(uv.coordinates, corners)


def normals(x: Float, triangles: Int) -> Float:
    """Unit normals at points x [m], (n, 3), of triangles (k, 3); (0, 1, 0) where no face has an area.

    >>> normals(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]])).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    corners = x[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    at, weights = triangles.ravel(), np.repeat(area, 3, axis=0)
    total = np.column_stack([np.bincount(at, weights[:, i], len(x)) for i in range(3)])
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 0, total / np.where(length > 0, length, 1.0), [0.0, 1.0, 0.0])
