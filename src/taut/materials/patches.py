"""Patches of a surface, each laid into its own plane: what is measured where a sheet is curved, or bends.

A patch grows from a point, ring of faces by ring, as long as their normals stay near the normal at the point. It is projected onto
the plane across that normal, which to second order in the angle leaves the mean modulus as it is. The points at its rim are held,
those inside find their balance, and what is measured are its inner rings, the core, where the rim is hardly felt.

Every inner point of the surface has its patch, so that nothing depends on the order of faces. Of more than `MOST` points every
second (third, …) is taken, in the order of the area around them: a rule of the geometry alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.materials.cells import Cells
from taut.materials.plane import across, frames, normals_of
from taut.mesh.mesh import Mesh

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
MOST = 3000  # patches
RINGS, CORE = 4, 2  # of faces in a patch, and in its core
LEVEL = np.cos(np.radians(20))  # faces that lean more than this from the normal at the point are left out
STEEP = np.cos(np.radians(60))  # the same for the faces at the point itself


class Patches(NamedTuple):
    """Patches of a surface and the points in them; a point has a copy in each."""

    faces: csr_matrix  # (p, c), 1 where the face is in the patch
    core: csr_matrix  # (p, c), 1 where it is in its core
    key: Int  # (q,), patch · n + point of each copy, sorted
    n: int
    x: Float  # (q, 2) [m], in axes of the patch
    rim: Bool  # (q,), at the rim of the patch or of the surface

    @property
    def many(self) -> int:
        """How many there are."""
        return int(self.faces.shape[0])

    def copies(self, patch: Int, points: Int) -> Int:
        """The numbers of the copies of points (r, k) in patches (r,), shape (r, k)."""
        return np.searchsorted(self.key, patch[:, None] * self.n + points)

    def sums(self, patch: Int, values: Float) -> Float:
        """The sums of values (r, v) that belong to patches (r,), shape (p, v)."""
        each = [np.bincount(patch, weights=column, minlength=self.many) for column in values.T]
        return np.stack(each, axis=1).astype(np.float64)

    def beside_the_rim(self, corners: list[Int]) -> Bool:
        """Copies that are at the rim or share a face with one that is; `corners` are copies (r, k), by kind of face."""
        near = self.rim.copy()
        for rows in corners:
            near[rows[self.rim[rows].any(axis=1)].ravel()] = True
        return near

    def corners(self, cells: Cells, which: csr_matrix) -> list[tuple[Int, Int]]:
        """For each kind of face the patch (r,) and the copies of the corners (r, k) of the faces in `which`, (p, c)."""
        found, start = [], 0
        for _, rows in cells.blocks:
            part = which[:, start : start + len(rows)].tocoo()
            patch = part.row.astype(np.int64)
            found.append((patch, self.copies(patch, rows[part.col])))
            start += len(rows)
        return found


def patches_of(mesh: Mesh, cells: Cells, warp: Float | None = None) -> Patches:
    """The patches of the faces of a mesh; the first axis of each is along the warp as far as that lies in it."""
    normals = normals_of(mesh, cells)
    edge = np.zeros(mesh.n, dtype=bool)
    edge[mesh.boundary] = edge[_creases(mesh)] = True
    seeds = _seeds(cells, edge)
    at = cells.incidence[seeds].tocsr()
    upward = _normals(at, normals, cells.volume)
    first = _level(at, normals, upward, STEEP)
    near = (cells.incidence.T @ cells.incidence).tocsr()
    ring = core = first
    for number in range(2, RINGS + 1):
        ring = _level(ring @ near, normals, upward, LEVEL).maximum(first).tocsr()
        core = ring if number == CORE else core
    axes = frames(upward, across(upward) if warp is None else warp)
    count = (ring @ cells.incidence.T).tocsr()  # (p, n): faces of the patch at each point
    count.sort_indices()
    patch = np.repeat(np.arange(len(seeds)), np.diff(count.indptr))
    point = count.indices.astype(np.int64)
    whole = np.asarray(cells.incidence.sum(axis=1)).ravel()
    x = np.einsum("qij,qj->qi", axes[patch], mesh.positions[point] - mesh.positions[seeds[patch]])
    rim = edge[point] | (count.data < whole[point])
    return Patches(ring, core, patch * mesh.n + point, mesh.n, x, rim)


def _creases(mesh: Mesh) -> Int:
    """The ends of edges over which two triangles are folded onto each other, by more than a right angle."""
    c, d, a, b = (mesh.positions[column] for column in mesh.hinges.T)
    along = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    first, second = (p - a - ((p - a) * along).sum(axis=1)[:, None] * along for p in (c, d))
    return np.unique(mesh.hinges[(first * second).sum(axis=1) > 0][:, 2:])


def _seeds(cells: Cells, edge: Bool) -> Int:
    """The points that patches grow from: inner ones if there are any."""
    around = np.asarray(cells.incidence @ cells.volume).ravel()
    inner = np.flatnonzero((around > 0) & ~edge)
    found = inner if len(inner) else np.flatnonzero(around > 0)
    by_size = found[np.argsort(around[found], kind="stable")]
    return np.asarray(by_size[:: -(-len(by_size) // MOST)], dtype=np.int64)


def _normals(first: csr_matrix, normals: Float, area: Float) -> Float:
    """The mean normal of the faces at each seed, shape (p, 3); faces may be turned either way."""
    lead = normals[first.indices[first.indptr[:-1]]]
    entry = np.repeat(np.arange(first.shape[0]), np.diff(first.indptr))
    own = normals[first.indices]
    turned = own * (np.where((own * lead[entry]).sum(axis=1) < 0, -1.0, 1.0) * area[first.indices])[:, None]
    total = np.stack([np.bincount(entry, weights=column, minlength=len(lead)) for column in turned.T], axis=1)
    return total / np.linalg.norm(total, axis=1, keepdims=True)


def _level(faces: csr_matrix, normals: Float, upward: Float, least: float) -> csr_matrix:
    """The faces that do not lean too far, each counted once."""
    from scipy.sparse import csr_matrix

    entries = faces.tocoo()
    keep = np.abs((normals[entries.col] * upward[entries.row]).sum(axis=1)) > least
    row, col = entries.row[keep], entries.col[keep]
    return csr_matrix((np.ones(len(row)), (row, col)), shape=faces.shape)
