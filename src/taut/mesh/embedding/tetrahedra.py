"""Solids cut into tetrahedra, neighbours alike.

Each cell is pulled from its corner of smallest index: that corner is joined to all faces it is not on, and each four-cornered face
is cut along the diagonal from its own corner of smallest index. The diagonal depends on nothing beyond the face, so two cells agree
on the face they share. A hexahedron gives six tetrahedra, a wedge three, a pyramid two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.mesh.kinds import Kind
from taut.mesh.mesh import Mesh

Int = NDArray[np.int64]


def tetrahedra(mesh: Mesh) -> Int:
    """All solids as tetrahedra, shape (k, 4), of the orientation of their cells.

    >>> pyramid = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], {"pyramid": [[0, 1, 2, 3, 4]]})
    >>> tetrahedra(pyramid).tolist()
    [[0, 1, 2, 4], [0, 2, 3, 4]]
    """
    return np.concatenate([np.empty((0, 4), np.int64), *(_pulled(cells, kind) for kind, cells in mesh.blocks(3))])


def skin(tets: Int, positive: NDArray[np.bool_]) -> Int:
    """The faces with tetrahedra on one side only, shape (k, 3).

    positive : whether each of the tets (m, 4) has a positive volume

    A point outside of all tetrahedra is nearest to one of these. Tetrahedra folded onto one side of a face leave it bare.

    >>> faces = skin(np.array([[0, 1, 2, 3], [0, 2, 1, 4]]), np.array([True, True]))
    >>> [face for face in faces.tolist() if 4 in face]
    [[0, 1, 4], [0, 2, 4], [1, 2, 4]]
    """
    around = tets[:, [(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)]].reshape(-1, 3)
    a, b, c = around.T
    side = np.where(np.repeat(positive, 4), 1, -1) * np.sign(b - a) * np.sign(c - b) * np.sign(c - a)
    faces, which = np.unique(np.sort(around, axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    bare = (np.bincount(which[side > 0], minlength=len(faces)) == 0) | (np.bincount(which[side < 0], minlength=len(faces)) == 0)
    return faces[bare]


def _pulled(cells: Int, kind: Kind) -> Int:
    if kind.name == "tet":
        return cells
    found = []
    smallest = cells.argmin(axis=1)
    for corner in range(kind.size):
        pulled = cells[smallest == corner]
        for face in (face for face in kind.faces if corner not in face):
            for triangle in _cut(pulled[:, list(face)]):
                found.append(np.column_stack([pulled[:, corner], triangle]))
    return np.concatenate(found)


def _cut(face: Int) -> list[Int]:
    """Faces as triangles from their corner of smallest index, with the same orientation."""
    if face.shape[1] == 3:
        return [face]
    turn = (face.argmin(axis=1)[:, None] + np.arange(4)) % 4
    turned = np.take_along_axis(face, turn, axis=1)
    return [turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]]
