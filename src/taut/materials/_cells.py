"""The cells of a mesh, checked and measured; the plane or the axes of its faces; mean gradients.

In a cell of volume V (area A) with corners i the mean gradient of a displacement u is
Σ u_i ⊗ b_i / V, where b_i is the part of ∮ n dA that belongs to corner i. In a face with unit
normal n, b_i = ½ (x_{i+1} - x_{i-1}) × n. In a solid each triangle of its surface gives a third of
its vector area to each corner; a four-sided face counts as the mean of the two ways to cut it.

A uniform stress σ loads the corners with σ b_i. Between cells these cancel, so that only the
boundary is pulled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.arrays import Float, Int
from taut.errors import MeshError, ModelError
from taut.materials._tensors import matmul, transpose_product
from taut.mesh.kinds import Kind, find_trihedra
from taut.mesh.measure import DEGENERATE_TOLERANCE, unit_normals, vector_areas
from taut.mesh.mesh import Mesh

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# A sheet counts as flat if no face leans further from its plane: springs are shorter there by 6e-4
# at most.
_MAX_LEAN = np.sin(np.radians(2))
_MIN_SINE = 1e-6  # of the angle between a warp and a face's normal


class Cells(NamedTuple):
    """The cells of the highest dimension in a mesh, numbered through all kinds."""

    dimension: int
    blocks: list[tuple[Kind, Int]]
    volume: Float  # (c,) [m³], [m²] or [m]
    incidence: csr_matrix  # (n, c), 1 where the point is a corner

    @property
    def total(self) -> int:
        """The number of cells."""
        return len(self.volume)

    def describe(self, number: int) -> str:
        """Return the kind of a cell and its number among that kind."""
        for kind, corners in self.blocks:
            if number < len(corners):
                return f"{kind.name} {number}"
            number -= len(corners)
        raise AssertionError(number)


def collect_cells(mesh: Mesh) -> Cells:
    """Return the solids of a mesh, or its faces if it has none, or its lines.

    A flat or inverted cell is a `MeshError` that names it.
    """
    from scipy.sparse import csr_matrix

    dimension = next((d for d in (3, 2, 1) if mesh.blocks(d)), 0)
    if dimension == 0:
        raise ModelError("the mesh has no cells: springs need lines, faces or solids")
    blocks = mesh.blocks(dimension)
    volume = np.concatenate([_measure(mesh, kind, cells) for kind, cells in blocks])
    corner = np.concatenate([cells.ravel() for _, cells in blocks])
    sizes = np.concatenate([np.full(len(cells), kind.size) for kind, cells in blocks])
    cell = np.repeat(np.arange(len(volume)), sizes)
    shape = (mesh.n, len(volume))
    incidence = csr_matrix((np.ones(len(cell)), (corner, cell)), shape=shape)
    return Cells(dimension, blocks, volume, incidence)


def _measure(mesh: Mesh, kind: Kind, cells: Int) -> Float:
    """Return the volumes of cells of one kind; raise if one is flat, inverted or concave."""
    volume = mesh.measure(kind.name)
    x = mesh.positions
    longest = np.max(
        [np.linalg.norm(x[cells[:, a]] - x[cells[:, b]], axis=1) for a, b in kind.edges], axis=0
    )
    wrong = np.flatnonzero(~(volume > DEGENERATE_TOLERANCE * longest**kind.dimension))
    if len(wrong):
        i = int(wrong[0])
        measure, unit = (("length", "m"), ("area", "m²"), ("volume", "m³"))[kind.dimension - 1]
        defect = f"has no {measure}"
        if volume[i] < -DEGENERATE_TOLERANCE * longest[i] ** kind.dimension:
            defect = "is inverted"
        others = f" ({len(wrong)} such cells)" if len(wrong) > 1 else ""
        raise MeshError(
            f"it {defect}: {volume[i]:.3g} {unit}{others}; taut.mesh.clean repairs such cells",
            element=f"{kind.name} {i}",
        )
    if kind.dimension == 3 or kind.name == "quad":
        _reject_concave_corners(x, kind, cells)
    return volume


def _reject_concave_corners(x: Float, kind: Kind, cells: Int) -> None:
    """Raise for a concave corner: one whose edges span the outside of the cell.

    Tested at each corner where three faces meet, and at those of a quad.
    """
    for corner, (after, before, third) in find_trihedra(kind):
        a, b = (x[cells[:, i]] - x[cells[:, corner]] for i in (after, before))
        if third is None:
            outwards = vector_areas(x, cells)
        else:
            outwards = x[cells[:, corner]] - x[cells[:, third]]
        wrong = np.flatnonzero(~((np.cross(a, b) * outwards).sum(axis=1) > 0))
        if len(wrong):
            i = int(wrong[0])
            raise MeshError(
                f"it must be convex, but corner {corner} (point {cells[i, corner]}) is concave",
                element=f"{kind.name} {i}",
            )


class CornerVectors(NamedTuple):
    """The b_i [m² or m] of all cells: one row for each corner of each face of each cell."""

    cell: Int
    point: Int
    b: Float  # (r, 3)

    def gradient(self, cells: Cells, n: int, axes: Float) -> list[csr_matrix]:
        """Return matrices (c, n), one for each axis (d, 3), that give V times the mean derivative.

        They act on functions of the n points.
        """
        from scipy.sparse import csr_matrix

        along = matmul(self.b, axes.T)
        return [
            csr_matrix((column, (self.cell, self.point)), shape=(cells.total, n))
            for column in along.T
        ]

    def boundary_pull(self, n: int) -> Float:
        """Return g = Σ b_i over the cells at each point, (n, 3): a stress σ loads it with σg."""
        return np.stack(
            [np.bincount(self.point, weights=column, minlength=n) for column in self.b.T], axis=1
        )


def compute_corner_vectors(x: Float, blocks: list[tuple[Kind, Int]]) -> CornerVectors:
    """Return the b_i of faces or solids between points x (n, 3)."""
    rows: list[tuple[Int, Int, Float]] = []
    start = 0
    for kind, corners in blocks:
        number = start + np.arange(len(corners))
        vectors = _face_vectors if kind.dimension == 2 else _solid_vectors
        rows += [(number, point, b) for point, b in vectors(x, kind, corners)]
        start += len(corners)
    cell, point, b = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return CornerVectors(cell, point, b)


def _face_vectors(x: Float, kind: Kind, corners: Int) -> list[tuple[Int, Float]]:
    normal = unit_normals(x, corners)
    k = kind.size
    return [
        (corners[:, i], np.cross(x[corners[:, (i + 1) % k]] - x[corners[:, i - 1]], normal) / 2)
        for i in range(k)
    ]


def _solid_vectors(x: Float, kind: Kind, corners: Int) -> list[tuple[Int, Float]]:
    vectors = []
    for face in kind.faces:
        triangles, divisor = [face], 3
        if len(face) == 4:  # both ways to cut it, each with half of the weight
            halves = ((0, 1, 2), (0, 2, 3), (0, 1, 3), (1, 2, 3))
            triangles, divisor = [tuple(face[i] for i in half) for half in halves], 6
        for triangle in triangles:
            share = vector_areas(x, corners[:, list(triangle)]) / divisor
            vectors += [(corners[:, i], share) for i in triangle]
    return vectors


def find_plane(mesh: Mesh, cells: Cells, warp: Float | None = None) -> Float | None:
    """Return two orthonormal axes (2, 3) of the plane of all faces, or None if they are curved.

    The first axis is along the warp.
    """
    normals = face_normals(mesh, cells)
    weighted = normals * np.sqrt(cells.volume / cells.volume.sum())[:, None]
    normal = np.linalg.eigh(transpose_product(weighted, weighted))[1][:, 2]
    if (np.linalg.norm(np.cross(normals, normal), axis=1) > _MAX_LEAN).any():
        return None
    _reject_folds(mesh, cells, (normals * normal).sum(axis=1))
    return _choose_axes(normal[None], warp, cells)[0]


def _reject_folds(mesh: Mesh, cells: Cells, upward: Float) -> None:
    """Raise if a face of a flat sheet is turned over.

    Only where the sheet has a boundary and its faces are oriented consistently.
    """
    edges = np.concatenate(
        [
            np.stack([rows, np.roll(rows, -1, axis=1)], axis=2).reshape(-1, 2)
            for _, rows in cells.blocks
        ]
    )
    directed = edges[:, 0] * mesh.n + edges[:, 1]
    if not len(mesh.boundary) or len(np.unique(directed)) < len(directed):
        return
    is_mostly_up = cells.volume[upward > 0].sum() >= cells.volume[upward < 0].sum()
    folded = np.flatnonzero(upward < 0 if is_mostly_up else upward > 0)
    if len(folded):
        raise MeshError(
            "it is folded over: it faces the other way than most of this flat sheet",
            element=cells.describe(int(folded[0])),
        )


def face_axes(mesh: Mesh, cells: Cells, warp: Float | None = None) -> Float:
    """Return two orthonormal axes of each face, (c, 2, 3), the first the projection of the warp."""
    return _choose_axes(face_normals(mesh, cells), warp, cells)


def _choose_axes(normals: Float, warp: Float | None, cells: Cells) -> Float:
    """Return orthonormal axes (m, 2, 3) across unit normals (m, 3), the first along the warp."""
    if warp is None:
        return make_frames(normals, pick_axes_across(normals))
    upright = np.flatnonzero(np.linalg.norm(np.cross(normals, warp), axis=1) < _MIN_SINE)
    if len(upright):
        raise MeshError(
            "the warp is perpendicular to this face and has no direction in it",
            element=cells.describe(int(upright[0])),
        )
    return make_frames(normals, warp)


def face_normals(mesh: Mesh, cells: Cells) -> Float:
    """Return the unit normals of all faces, (c, 3)."""
    return np.concatenate([unit_normals(mesh.positions, corners) for _, corners in cells.blocks])


def pick_axes_across(normals: Float) -> Float:
    """Return the coordinate axis least aligned with each normal (m, 3), (m, 3)."""
    return np.eye(3)[np.abs(normals).argmin(axis=1)]


def make_frames(normals: Float, along: Float) -> Float:
    """Return orthonormal axes (m, 2, 3) in the planes of unit normals (m, 3).

    along : vector whose projection is the first axis, (3,) or (m, 3)
    """
    first = along - (normals * along).sum(axis=1)[:, None] * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(normals, first)], axis=1)


def project_onto(x: Float, axes: Float) -> Float:
    """Return points (n, 3) projected onto the span of axes (d, 3)."""
    return matmul(to_axes(x, axes), axes)


def to_axes(x: Float, axes: Float) -> Float:
    """Return the components of points or vectors (n, 3) along axes (d, 3), (n, d)."""
    return matmul(x, axes.T)
