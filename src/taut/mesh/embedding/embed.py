"""Points that ride on a mesh: a fine one to look at on a coarse one to simulate.

In a cage of solids a point x is bound to the tetrahedron that holds it, or if none does to the nearest one, by its barycentric
weights:

    x(q) = Σ wᵢ qᵢ,    Σ wᵢ = 1,

which reproduces every affine motion of the cage. On a cage of faces it is bound to the nearest triangle by the weights of its foot
on the plane of that triangle and by its height d along the unit normal:

    x(q) = Σ wᵢ qᵢ + d n(q),

which reproduces every rigid motion. A line has no normal, so a point must lie on a cage of lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import MeshError
from taut.mesh.embedding.nearest import holding_tet, nearest_segment, nearest_triangle
from taut.mesh.embedding.tetrahedra import skin, tetrahedra
from taut.mesh.measure import EXACT, FLAT
from taut.mesh.mesh import Mesh
from taut.mesh.parts import check_points
from taut.mesh.ranges import ranges

Float = NDArray[np.float64]
Int = NDArray[np.int64]

BATCH = 20_000  # points for which candidates are weighed at a time


@dataclass(frozen=True, eq=False)
class Embedding:
    """How m points follow the n points of a cage. Made by `embed`; call it with positions of the cage.

    indices : points of the cage that carry each point, shape (m, k): k = 4 in solids, 3 on faces, 2 on lines
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
        """The largest weight: 1 where the cage holds every point. A point outside moves by so many times the noise of the cage."""
        return float(np.abs(self.weights).max(initial=0.0))

    def __call__(self, q: ArrayLike) -> Float:
        """Positions [m], shape (m, 3), when the cage has the positions q [m], shape (n, 3)."""
        array = np.asarray(q)
        if array.shape != (self.n, 3):
            raise MeshError(f"the positions of the cage have shape {array.shape}, not ({self.n}, 3)")
        if not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
            raise MeshError(f"the positions of the cage are of type {array.dtype}, not numbers")
        corners = array.astype(np.float64, copy=False)[self.indices]
        # from the first corner: weights sum to 1, and far coordinates cost no digits
        found = corners[:, 0] + np.einsum("mk,mki->mi", self.weights[:, 1:], corners[:, 1:] - corners[:, :1])
        return found + self.offsets[:, None] * _normals(corners) if self.indices.shape[1] == 3 else found


def embed(points: ArrayLike | Mesh, cage: Mesh) -> Embedding:
    """Bind points to a mesh, so that they move with it.

    points : positions [m], shape (m, 3) or (m, 2), or a mesh, whose points are meant
    cage : its solids carry the points if it has any, else its faces, else its lines

    A point outside of all solids is extrapolated from one at the nearest boundary triangle, that whose weights are smallest:
    `reach` says how large they are. On faces it keeps its height above the nearest triangle.

    >>> cage = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], {"tet": [[0, 1, 2, 3]]})
    >>> skin = embed([[0.25, 0.25, 0.25], [0.5, 0.5, 0.5]], cage)
    >>> skin(2 * cage.points).tolist()
    [[0.5, 0.5, 0.5], [1.0, 1.0, 1.0]]
    """
    x = points.positions if isinstance(points, Mesh) else check_points(points)
    x = x if x.shape[1] == 3 else np.column_stack([x, np.zeros(len(x))])
    if cage.blocks(3):
        return _in_solids(x, cage)
    if cage.blocks(2):
        return _on_faces(x, cage)
    if cage.blocks(1):
        return _on_lines(x, cage)
    raise MeshError("the cage has no cells to carry points")


def _in_solids(x: Float, cage: Mesh) -> Embedding:
    tets = tetrahedra(cage)
    corners = cage.positions[tets]
    edges = corners[:, 1:] - corners[:, :1]
    volume = np.einsum("mi,mi->m", edges[:, 0], np.cross(edges[:, 1], edges[:, 2]))
    thick = np.abs(volume) > FLAT * _longest(corners) ** 3
    if not thick.any():
        raise MeshError("the solids of the cage have no volume")
    tets, corners, edges = tets[thick], corners[thick], edges[thick]
    held = holding_tet(x, corners)
    outside = np.flatnonzero(held < 0)
    if len(outside):
        faces = skin(tets, volume[thick] > 0)
        near = faces[nearest_triangle(x[outside], cage.positions[faces])[0]]
        held[outside] = _gentlest(x[outside], near, tets, corners[:, 0], edges, cage.n)
    columns = np.swapaxes(edges[held], 1, 2)
    weights = np.linalg.solve(columns, (x - corners[held, 0])[:, :, None])[:, :, 0]
    return _bound(tets[held], weights, np.zeros(len(x)), cage.n)


def _gentlest(x: Float, near: Int, tets: Int, origin: Float, edges: Float, n: int) -> Int:
    """For each point the tetrahedron, among those at the corners of a triangle (m, 3) near it, whose largest weight is least."""
    order = np.argsort(tets.ravel(), kind="stable")
    owner, start = order // 4, np.searchsorted(tets.ravel()[order], np.arange(n + 1))
    inverse = np.linalg.inv(np.swapaxes(edges, 1, 2))
    found = np.empty(len(x), np.int64)
    for low in range(0, len(x), BATCH):
        corner = near[low : low + BATCH]
        count = (start[corner + 1] - start[corner]).sum(axis=1)
        first, last = start[corner].ravel(), start[corner + 1].ravel()
        tet = owner[ranges(first, last - first)]
        point = np.repeat(np.arange(len(corner)), count)
        weights = np.einsum("mij,mj->mi", inverse[tet], x[low + point] - origin[tet])
        largest = np.maximum(np.abs(weights).max(axis=1), np.abs(1 - weights.sum(axis=1)))
        best = np.lexsort((tet, largest, point))
        found[low : low + BATCH] = tet[best[np.cumsum(count) - count]]
    return found


def _on_faces(x: Float, cage: Mesh) -> Embedding:
    corners = cage.positions[cage.triangles]
    wide = np.linalg.norm(_vector_areas(corners), axis=1) > FLAT * _longest(corners) ** 2
    if not wide.any():
        raise MeshError("the faces of the cage have no area")
    triangles, corners = cage.triangles[wide], corners[wide]
    near, _ = nearest_triangle(x, corners)
    own = corners[near]
    normal = _normals(own)
    columns = np.stack([own[:, 1] - own[:, 0], own[:, 2] - own[:, 0], normal], axis=2)
    solved = np.linalg.solve(columns, (x - own[:, 0])[:, :, None])[:, :, 0]
    return _bound(triangles[near], solved[:, :2], solved[:, 2], cage.n)


def _on_lines(x: Float, cage: Mesh) -> Embedding:
    lines = cage.cells["line"]
    ends = cage.positions[lines]
    near, square = nearest_segment(x, ends)
    size = float(np.linalg.norm(np.ptp(ends.reshape(-1, 3), axis=0)))
    off = np.flatnonzero(square > (EXACT * size) ** 2)
    if len(off):
        message = f"it is {np.sqrt(square[off[0]]):g} m from the nearest line of the cage; lines carry only points that lie on them"
        raise MeshError(message, element=f"point {off[0]}")
    along = ends[near, 1] - ends[near, 0]
    length = np.einsum("mi,mi->m", along, along)
    weights = np.einsum("mi,mi->m", x - ends[near, 0], along) / np.where(length > 0, length, 1.0)
    return _bound(lines[near], weights[:, None], np.zeros(len(x)), cage.n)


def _bound(indices: Int, weights: Float, offsets: Float, n: int) -> Embedding:
    """With the weight of the first corner, and read-only."""
    found = Embedding(indices, np.column_stack([1 - weights.sum(axis=1), weights]), offsets, n)
    for array in (found.indices, found.weights, found.offsets):
        array.setflags(write=False)
    return found


def _vector_areas(corners: Float) -> Float:
    """Twice the areas [m²] along the normals of triangles (m, 3, 3), shape (m, 3)."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _normals(corners: Float) -> Float:
    """Unit normals of triangles (m, 3, 3), shape (m, 3); zero for one without area."""
    area = _vector_areas(corners)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    return area / np.where(length > 0, length, 1.0)


def _longest(corners: Float) -> Float:
    """The longest distances [m] between two corners, shape (m,); corners (m, k, 3)."""
    return np.linalg.norm(corners[:, :, None] - corners[:, None], axis=3).max(axis=(1, 2))
