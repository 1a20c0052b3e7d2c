"""Embedding: points of a fine mesh for display follow a coarse mesh for simulation, the cage.

In a cage of solids a point x is bound to the tetrahedron that contains it, or if none does to one
nearby, by its barycentric weights:

    x(q) = Σ wᵢ qᵢ,    Σ wᵢ = 1,

which reproduces every affine motion of the cage. On a cage of faces it is bound to the nearest
triangle by the weights of its foot on the plane of that triangle and by its height d along the unit
normal:

    x(q) = Σ wᵢ qᵢ + d n(q),

which reproduces every rigid motion. A line has no normal, so a point must lie on a cage of lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError
from taut.mesh.embedding.nearest import (
    find_containing_tet,
    find_nearest_segment,
    find_nearest_triangle,
)
from taut.mesh.kinds import Kind
from taut.mesh.measure import DEGENERATE_TOLERANCE, POSITION_TOLERANCE
from taut.mesh.mesh import Mesh
from taut.mesh.parts import check_points
from taut.mesh.topology import ranges

_BATCH = 20_000  # points whose candidate tetrahedra are compared at a time: it bounds the memory


@dataclass(frozen=True, eq=False)
class Embedding:
    """The map from positions of a cage (n, 3) to m embedded points. Made by `embed`; callable.

    indices : points of the cage that carry each point, shape (m, k): k = 4 in solids, 3 on faces, 2
        on lines
    weights : of these, shape (m, k); each row sums to 1
    offsets : heights above the triangle [m], shape (m,); zero in solids and on lines
    n : the number of points of the cage
    """

    indices: Int
    weights: Float
    offsets: Float
    n: int

    @property
    def reach(self) -> float:
        """The largest weight; 1 if the cage contains every point.

        Points outside are extrapolated: they amplify the noise of the cage by this factor.
        """
        return float(np.abs(self.weights).max(initial=0.0))

    def __call__(self, q: ArrayLike) -> Float:
        """Return positions [m], shape (m, 3), for positions q [m] of the cage, shape (n, 3)."""
        array = np.asarray(q)
        if array.shape != (self.n, 3):
            raise MeshError(
                f"positions of the cage must have shape ({self.n}, 3), got {array.shape}"
            )
        if not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
            raise MeshError(f"positions of the cage must be real numbers, got {array.dtype}")
        corners = array.astype(np.float64, copy=False)[self.indices]
        # Relative to the first corner: weights sum to 1, and far coordinates lose no digits.
        found = corners[:, 0] + np.einsum(
            "mk,mki->mi", self.weights[:, 1:], corners[:, 1:] - corners[:, :1]
        )
        if self.indices.shape[1] == 3:
            found = found + self.offsets[:, None] * _normals(corners)
        return found


def embed(points: ArrayLike | Mesh, cage: Mesh) -> Embedding:
    """Bind points to a mesh, so that they move with it.

    points : positions [m], shape (m, 3) or (m, 2), or a mesh, whose points are embedded
    cage : its solids carry the points if it has any, else its faces, else its lines

    A point outside all solids is extrapolated from the tetrahedron near the closest boundary
    triangle with the smallest weights; `reach` is the largest weight. On faces a point keeps its
    height above the nearest triangle.

    >>> cage = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], {"tet": [[0, 1, 2, 3]]})
    >>> skin = embed([[0.25, 0.25, 0.25], [0.5, 0.5, 0.5]], cage)
    >>> skin(2 * cage.points).tolist()
    [[0.5, 0.5, 0.5], [1.0, 1.0, 1.0]]
    """
    x = points.positions if isinstance(points, Mesh) else check_points(points)
    x = x if x.shape[1] == 3 else np.column_stack([x, np.zeros(len(x))])
    if cage.blocks(3):
        return _embed_in_solids(x, cage)
    if cage.blocks(2):
        return _embed_on_faces(x, cage)
    if cage.blocks(1):
        return _embed_on_lines(x, cage)
    raise MeshError("the cage must have cells, got points only")


def _embed_in_solids(x: Float, cage: Mesh) -> Embedding:
    tets = tetrahedra(cage)
    corners = cage.positions[tets]
    edges = corners[:, 1:] - corners[:, :1]
    volume = np.einsum("mi,mi->m", edges[:, 0], np.cross(edges[:, 1], edges[:, 2]))
    thick = np.abs(volume) > DEGENERATE_TOLERANCE * _longest(corners) ** 3
    if not thick.any():
        raise MeshError("the solids of the cage must have a volume")
    tets, corners, edges = tets[thick], corners[thick], edges[thick]
    held = find_containing_tet(x, corners)
    outside = np.flatnonzero(held < 0)
    if len(outside):
        faces = find_outer_faces(tets, volume[thick] > 0)
        near = faces[find_nearest_triangle(x[outside], cage.positions[faces])[0]]
        held[outside] = _find_least_extrapolating_tet(
            x[outside], near, tets, corners[:, 0], edges, cage.n
        )
    columns = np.swapaxes(edges[held], 1, 2)
    weights = np.linalg.solve(columns, (x - corners[held, 0])[:, :, None])[:, :, 0]
    return _make_embedding(tets[held], weights, np.zeros(len(x)), cage.n)


def _find_least_extrapolating_tet(
    x: Float, near: Int, tets: Int, origin: Float, edges: Float, n: int
) -> Int:
    """Return the tetrahedron at a nearby triangle (m, 3) whose largest weight is smallest.

    The tetrahedron behind the nearest triangle may be a sliver, whose weights would be huge.
    """
    order = np.argsort(tets.ravel(), kind="stable")
    owner, start = order // 4, np.searchsorted(tets.ravel()[order], np.arange(n + 1))
    inverse = np.linalg.inv(np.swapaxes(edges, 1, 2))
    found = np.empty(len(x), np.int64)
    for low in range(0, len(x), _BATCH):
        corner = near[low : low + _BATCH]
        count = (start[corner + 1] - start[corner]).sum(axis=1)
        first, last = start[corner].ravel(), start[corner + 1].ravel()
        tet = owner[ranges(first, last - first)]
        point = np.repeat(np.arange(len(corner)), count)
        weights = np.einsum("mij,mj->mi", inverse[tet], x[low + point] - origin[tet])
        largest = np.maximum(np.abs(weights).max(axis=1), np.abs(1 - weights.sum(axis=1)))
        best = np.lexsort((tet, largest, point))
        found[low : low + _BATCH] = tet[best[np.cumsum(count) - count]]
    return found


def _embed_on_faces(x: Float, cage: Mesh) -> Embedding:
    corners = cage.positions[cage.triangles]
    wide = (
        np.linalg.norm(_vector_areas(corners), axis=1)
        > DEGENERATE_TOLERANCE * _longest(corners) ** 2
    )
    if not wide.any():
        raise MeshError("the faces of the cage must have an area")
    triangles, corners = cage.triangles[wide], corners[wide]
    near, _ = find_nearest_triangle(x, corners)
    own = corners[near]
    normal = _normals(own)
    columns = np.stack([own[:, 1] - own[:, 0], own[:, 2] - own[:, 0], normal], axis=2)
    solved = np.linalg.solve(columns, (x - own[:, 0])[:, :, None])[:, :, 0]
    return _make_embedding(triangles[near], solved[:, :2], solved[:, 2], cage.n)


def _embed_on_lines(x: Float, cage: Mesh) -> Embedding:
    lines = cage.cells["line"]
    ends = cage.positions[lines]
    near, square = find_nearest_segment(x, ends)
    size = float(np.linalg.norm(np.ptp(ends.reshape(-1, 3), axis=0)))
    off = np.flatnonzero(square > (POSITION_TOLERANCE * size) ** 2)
    if len(off):
        message = (
            "a cage of lines carries only points on its lines; "
            f"the nearest line is {np.sqrt(square[off[0]]):g} m away"
        )
        raise MeshError(message, element=f"point {off[0]}")
    along = ends[near, 1] - ends[near, 0]
    length = np.einsum("mi,mi->m", along, along)
    weights = np.einsum("mi,mi->m", x - ends[near, 0], along) / np.where(length > 0, length, 1.0)
    return _make_embedding(lines[near], weights[:, None], np.zeros(len(x)), cage.n)


def _make_embedding(indices: Int, weights: Float, offsets: Float, n: int) -> Embedding:
    """Complete the weights by that of the first corner; arrays are read-only."""
    found = Embedding(indices, np.column_stack([1 - weights.sum(axis=1), weights]), offsets, n)
    for array in (found.indices, found.weights, found.offsets):
        array.setflags(write=False)
    return found


def _vector_areas(corners: Float) -> Float:
    """Twice the vector areas [m²] of triangles (m, 3, 3), shape (m, 3)."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _normals(corners: Float) -> Float:
    """Unit normals of triangles (m, 3, 3), shape (m, 3); zero for one without area."""
    area = _vector_areas(corners)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    return area / np.where(length > 0, length, 1.0)


def _longest(corners: Float) -> Float:
    """The longest distances [m] between two corners, shape (m,); corners (m, k, 3)."""
    return np.linalg.norm(corners[:, :, None] - corners[:, None], axis=3).max(axis=(1, 2))


# Solids are cut into tetrahedra by pulling: the corner of smallest index is joined to all faces
# that do not contain it, and each quadrilateral face is cut along the diagonal from its own corner
# of smallest index. That diagonal depends on the face alone, so that neighbouring cells agree on
# the face they share. A hexahedron gives six tetrahedra, a wedge three, a pyramid two.


def tetrahedra(mesh: Mesh) -> Int:
    """All solids as tetrahedra, shape (k, 4), with the orientation of their cells.

    >>> points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> tetrahedra(Mesh(points, {"pyramid": [[0, 1, 2, 3, 4]]})).tolist()
    [[0, 1, 2, 4], [0, 2, 3, 4]]
    """
    return np.concatenate(
        [np.empty((0, 4), np.int64), *(_pull(cells, kind) for kind, cells in mesh.blocks(3))]
    )


def find_outer_faces(tets: Int, positive: Mask) -> Int:
    """The faces with tetrahedra on one side only, shape (k, 3).

    positive : whether each of the tets (m, 4) has a positive volume

    The nearest face to a point outside all tetrahedra is one of these. Where tetrahedra are folded
    onto the same side of a face, the face counts as boundary.

    >>> faces = find_outer_faces(np.array([[0, 1, 2, 3], [0, 2, 1, 4]]), np.array([True, True]))
    >>> [face for face in faces.tolist() if 4 in face]
    [[0, 1, 4], [0, 2, 4], [1, 2, 4]]
    """
    around = tets[:, [(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)]].reshape(-1, 3)
    a, b, c = around.T
    side = (
        np.where(np.repeat(positive, 4), 1, -1) * np.sign(b - a) * np.sign(c - b) * np.sign(c - a)
    )
    faces, which = np.unique(np.sort(around, axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    bare = (np.bincount(which[side > 0], minlength=len(faces)) == 0) | (
        np.bincount(which[side < 0], minlength=len(faces)) == 0
    )
    return faces[bare]


def _pull(cells: Int, kind: Kind) -> Int:
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
