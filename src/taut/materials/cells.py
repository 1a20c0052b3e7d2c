"""The cells of a mesh, checked and measured, and the vectors that give their mean strain.

In a cell of volume V (area A) with corners i the mean gradient of a displacement u is Σ u_i ⊗ b_i / V, where b_i is the part of
∮ n dA that belongs to corner i. In a face with unit normal n, b_i = ½ (x_{i+1} - x_{i-1}) × n. In a solid each triangle of its
surface gives a third of its vector area to each corner; a four-sided face counts as the mean of the two ways to cut it.

A uniform stress σ loads the corners with σ b_i. Between cells these cancel, so that only the boundary is pulled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError, ModelError
from taut.materials.tensors import dense
from taut.mesh.kinds import Kind
from taut.mesh.measure import FLAT, unit_normals, vector_areas
from taut.mesh.mesh import Mesh

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Cells(NamedTuple):
    """The cells of the highest dimension in a mesh, counted through over all kinds."""

    dimension: int
    blocks: list[tuple[Kind, Int]]
    volume: Float  # (c,) [m³], [m²] or [m]
    incidence: csr_matrix  # (n, c), 1 where the point is a corner

    @property
    def many(self) -> int:
        """How many there are."""
        return len(self.volume)

    def name(self, number: int) -> str:
        """Of a cell: its kind and its number in that."""
        for kind, corners in self.blocks:
            if number < len(corners):
                return f"{kind.name} {number}"
            number -= len(corners)
        raise AssertionError(number)


def cells_of(mesh: Mesh) -> Cells:
    """The solids of a mesh, or its faces if it has none, or its lines; a flat or inverted one is an error that names it."""
    from scipy.sparse import csr_matrix

    dimension = next((d for d in (3, 2, 1) if mesh.blocks(d)), 0)
    if dimension == 0:
        raise ModelError("the mesh has no cells: springs need lines, faces or solids")
    blocks = mesh.blocks(dimension)
    volume = np.concatenate([_checked(mesh, kind, cells) for kind, cells in blocks])
    corner = np.concatenate([cells.ravel() for _, cells in blocks])
    cell = np.repeat(np.arange(len(volume)), np.concatenate([np.full(len(cells), kind.size) for kind, cells in blocks]))
    return Cells(dimension, blocks, volume, csr_matrix((np.ones(len(cell)), (corner, cell)), shape=(mesh.n, len(volume))))


def _checked(mesh: Mesh, kind: Kind, cells: Int) -> Float:
    volume = mesh.measure(kind.name)
    x = mesh.positions
    longest = np.max([np.linalg.norm(x[cells[:, a]] - x[cells[:, b]], axis=1) for a, b in kind.edges], axis=0)
    wrong = np.flatnonzero(~(volume > FLAT * longest**kind.dimension))
    if len(wrong):
        i = int(wrong[0])
        what = ("length", "area", "volume")[kind.dimension - 1]
        unit = ("m", "m²", "m³")[kind.dimension - 1]
        why = "is inverted" if volume[i] < -FLAT * longest[i] ** kind.dimension else f"has no {what}"
        also = f" ({len(wrong)} such cells)" if len(wrong) > 1 else ""
        raise MeshError(f"it {why}: {volume[i]:.3g} {unit}{also}; taut.mesh.clean mends such cells", element=f"{kind.name} {i}")
    if kind.dimension == 3 or kind.name == "quad":
        _refuse_pushed_in_corners(x, kind, cells)
    return volume


def _refuse_pushed_in_corners(x: Float, kind: Kind, cells: Int) -> None:
    """At every corner where three faces meet, and at those of a quad, the edges must span the cell and not its outside."""
    for corner, (after, before, third) in _trihedra(kind):
        a, b = (x[cells[:, i]] - x[cells[:, corner]] for i in (after, before))
        up = vector_areas(x, cells) if third is None else x[cells[:, corner]] - x[cells[:, third]]
        wrong = np.flatnonzero(~((np.cross(a, b) * up).sum(axis=1) > 0))
        if len(wrong):
            i = int(wrong[0])
            raise MeshError(f"its corner {corner} (point {cells[i, corner]}) is pushed in", element=f"{kind.name} {i}")


def _trihedra(kind: Kind) -> list[tuple[int, tuple[int, int, int | None]]]:
    """Corners with the next and the last corner of a face that looks outwards, and the third neighbour; a quad has none."""
    if kind.dimension == 2:
        return [(i, ((i + 1) % kind.size, (i - 1) % kind.size, None)) for i in range(kind.size)]
    found: list[tuple[int, tuple[int, int, int | None]]] = []
    for corner in range(kind.size):
        face = next(f for f in kind.faces if corner in f)
        at = face.index(corner)
        after, before = face[(at + 1) % len(face)], face[at - 1]
        others = {i for e in kind.edges if corner in e for i in e} - {corner, after, before}
        if len(others) == 1:
            found.append((corner, (after, before, others.pop())))
    return found


class Vectors(NamedTuple):
    """The b_i [m² or m] of all cells: one row for each corner of each face of each cell."""

    cell: Int
    point: Int
    b: Float  # (r, 3)

    def gradient(self, cells: Cells, n: int, axes: Float) -> list[csr_matrix]:
        """Matrices (c, n), one for each axis (d, 3): V times the mean derivative of a function of the points along it."""
        from scipy.sparse import csr_matrix

        along = dense(self.b, axes.T)
        return [csr_matrix((column, (self.cell, self.point)), shape=(cells.many, n)) for column in along.T]

    def pull(self, n: int) -> Float:
        """Σ b_i over the cells at each point, shape (n, 3): a uniform stress σ on the boundary loads it with σ times this."""
        return np.stack([np.bincount(self.point, weights=column, minlength=n) for column in self.b.T], axis=1)


def vectors_of(x: Float, blocks: list[tuple[Kind, Int]]) -> Vectors:
    """The b_i of faces or solids between points x (n, 3)."""
    rows: list[tuple[Int, Int, Float]] = []
    start = 0
    for kind, corners in blocks:
        number = start + np.arange(len(corners))
        rows += [(number, point, b) for point, b in (_face if kind.dimension == 2 else _solid)(x, kind, corners)]
        start += len(corners)
    cell, point, b = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return Vectors(cell, point, b)


def _face(x: Float, kind: Kind, corners: Int) -> list[tuple[Int, Float]]:
    normal = unit_normals(x, corners)
    k = kind.size
    return [(corners[:, i], np.cross(x[corners[:, (i + 1) % k]] - x[corners[:, i - 1]], normal) / 2) for i in range(k)]


def _solid(x: Float, kind: Kind, corners: Int) -> list[tuple[Int, Float]]:
    found = []
    for face in kind.faces:
        halves = ((0, 1, 2), (0, 2, 3), (0, 1, 3), (1, 2, 3))
        triangles = [face] if len(face) == 3 else [tuple(face[i] for i in half) for half in halves]
        for triangle in triangles:
            share = vector_areas(x, corners[:, list(triangle)]) / (3 if len(face) == 3 else 6)
            found += [(corners[:, i], share) for i in triangle]
    return found
