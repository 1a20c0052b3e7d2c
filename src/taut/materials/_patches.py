"""Patches of a surface, each laid into its own plane, to measure a sheet that is curved or bends.

A patch grows from a point, ring of faces by ring, as long as their normals stay near the normal at
the point. It is projected onto the plane across that normal, which leaves the mean modulus
unchanged to second order in the angle. The points at its rim are held, those inside find their
balance, and its inner rings, the core, where the rim is hardly felt, are measured.

Every inner point of the surface has its patch, so that nothing depends on the order of faces. If
there are more than `_MAX_PATCHES` points, every second (third, …) is taken, sorted by the area
around them: a rule that depends on the geometry only.

For the compliance, the rim is moved as a strain would move it, for the three strains B_a of a
basis. In the core the mean strain is E_p and the mean stress Σ_p, the sum of k e l n⊗n over the
springs in it (e their elongation) per area; S_p = E_p Σ_p⁻¹.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.errors import ModelError
from taut.materials._cells import Cells, face_normals, make_frames, pick_axes_across
from taut.materials._lattice import Lattice
from taut.materials._stretch_test import TIGHT_TOLERANCE, elongation_matrix, solve_balance
from taut.materials._tensors import basis, dyads, invert, matmul, symmetrise
from taut.mesh.mesh import Mesh

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_MAX_PATCHES = 3000
_RINGS, _CORE_RINGS = 4, 2  # of faces in a patch, and in its core
_MIN_COSINE = np.cos(np.radians(20))  # faces that lean further from the normal are left out
_MIN_COSINE_AT_SEED = np.cos(np.radians(60))  # the same for the faces at the point itself
# Smallest over largest eigenvalue of the stress: with less, a patch has too few faces to measure
_MIN_EIGENVALUE_RATIO = 1e-3


class Patches(NamedTuple):
    """Patches of a surface and the points in them; a point has a copy in each of its patches."""

    faces: csr_matrix  # (p, c), 1 where the face is in the patch
    core: csr_matrix  # (p, c), 1 where it is in its core
    key: Int  # (q,), patch · n + point of each copy, sorted
    n: int
    x: Float  # (q, 2) [m], in the axes of the patch
    rim: Mask  # (q,), at the rim of the patch or of the surface

    @property
    def total(self) -> int:
        """The number of patches."""
        return int(self.faces.shape[0])

    def copies(self, patch: Int, points: Int) -> Int:
        """Return the numbers of the copies of points (r, k) in patches (r,), (r, k)."""
        return np.searchsorted(self.key, patch[:, None] * self.n + points)

    def sum_by_patch(self, patch: Int, values: Float) -> Float:
        """Return the sums of values (r, v) that belong to patches (r,), (p, v)."""
        sums = [np.bincount(patch, weights=column, minlength=self.total) for column in values.T]
        return np.stack(sums, axis=1).astype(np.float64)

    def find_near_rim(self, corners: list[Int]) -> Mask:
        """Return which copies are at the rim or share a face with one that is.

        corners : copies at the corners of faces, (r, k) for each kind of face
        """
        near = self.rim.copy()
        for rows in corners:
            near[rows[self.rim[rows].any(axis=1)].ravel()] = True
        return near

    def corners(self, cells: Cells, which: csr_matrix) -> list[tuple[Int, Int]]:
        """Return patch (r,) and corner copies (r, k) of the faces in `which` (p, c), by kind."""
        by_kind, start = [], 0
        for _, rows in cells.blocks:
            part = which[:, start : start + len(rows)].tocoo()
            patch = part.row.astype(np.int64)
            by_kind.append((patch, self.copies(patch, rows[part.col])))
            start += len(rows)
        return by_kind


def build_patches(mesh: Mesh, cells: Cells, warp: Float | None = None) -> Patches:
    """Build the patches of the faces of a mesh; the first axis of each is along the warp."""
    normals = face_normals(mesh, cells)
    edge = np.zeros(mesh.n, dtype=bool)
    edge[mesh.boundary] = edge[_find_creases(mesh)] = True
    seeds = _choose_seeds(cells, edge)
    at_seeds = cells.incidence[seeds].tocsr()
    upward = _mean_normals(at_seeds, normals, cells.volume)
    first = _keep_level(at_seeds, normals, upward, _MIN_COSINE_AT_SEED)
    neighbours = (cells.incidence.T @ cells.incidence).tocsr()
    faces = core = first
    for ring in range(2, _RINGS + 1):
        grown = _keep_level(faces @ neighbours, normals, upward, _MIN_COSINE)
        faces = grown.maximum(first).tocsr()
        if ring == _CORE_RINGS:
            core = faces
    axes = make_frames(upward, pick_axes_across(upward) if warp is None else warp)
    count = (faces @ cells.incidence.T).tocsr()  # (p, n): faces of the patch at each point
    count.sort_indices()
    patch = np.repeat(np.arange(len(seeds)), np.diff(count.indptr))
    point = count.indices.astype(np.int64)
    all_faces = np.asarray(cells.incidence.sum(axis=1)).ravel()
    x = np.einsum("qij,qj->qi", axes[patch], mesh.positions[point] - mesh.positions[seeds[patch]])
    rim = edge[point] | (count.data < all_faces[point])
    return Patches(faces, core, patch * mesh.n + point, mesh.n, x, rim)


def _find_creases(mesh: Mesh) -> Int:
    """Return the ends of edges over which two triangles fold by more than a right angle."""
    c, d, a, b = (mesh.positions[column] for column in mesh.hinges.T)
    along = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    first, second = (p - a - ((p - a) * along).sum(axis=1)[:, None] * along for p in (c, d))
    return np.unique(mesh.hinges[(first * second).sum(axis=1) > 0][:, 2:])


def _choose_seeds(cells: Cells, edge: Mask) -> Int:
    """Return the points that patches grow from: inner ones if there are any."""
    area = np.asarray(cells.incidence @ cells.volume).ravel()
    seeds = np.flatnonzero((area > 0) & ~edge)
    if not len(seeds):
        seeds = np.flatnonzero(area > 0)
    by_size = seeds[np.argsort(area[seeds], kind="stable")]
    stride = -(-len(by_size) // _MAX_PATCHES)
    return np.asarray(by_size[::stride], dtype=np.int64)


def _mean_normals(at_seeds: csr_matrix, normals: Float, area: Float) -> Float:
    """Return the mean normal of the faces at each seed, (p, 3), whatever their orientation."""
    lead = normals[at_seeds.indices[at_seeds.indptr[:-1]]]
    entry = np.repeat(np.arange(at_seeds.shape[0]), np.diff(at_seeds.indptr))
    own = normals[at_seeds.indices]
    sign = np.where((own * lead[entry]).sum(axis=1) < 0, -1.0, 1.0)
    oriented = own * (sign * area[at_seeds.indices])[:, None]
    total = np.stack(
        [np.bincount(entry, weights=column, minlength=len(lead)) for column in oriented.T], axis=1
    )
    return total / np.linalg.norm(total, axis=1, keepdims=True)


def _keep_level(faces: csr_matrix, normals: Float, upward: Float, min_cosine: float) -> csr_matrix:
    """Return the faces that do not lean too far, with the value 1."""
    from scipy.sparse import csr_matrix

    entries = faces.tocoo()
    keep = np.abs((normals[entries.col] * upward[entries.row]).sum(axis=1)) > min_cosine
    row, col = entries.row[keep], entries.col[keep]
    return csr_matrix((np.ones(len(row)), (row, col)), shape=faces.shape)


class PatchCompliances(NamedTuple):
    """The compliances of patches."""

    compliance: Float  # (p, 3, 3), in the axes of each
    weight: Float  # (p,), its part of the whole; sums to 1


def measure_patches(patches: Patches, cells: Cells, lattice: Lattice, k: Float) -> PatchCompliances:
    """Measure the compliance of every patch for springs of stiffness k (m,) [N/m]."""
    from scipy.sparse import diags

    inside = (patches.faces @ lattice.share).tocoo()
    patch, spring = inside.row.astype(np.int64), inside.col
    pairs = patches.copies(patch, lattice.pairs[spring])
    along = patches.x[pairs[:, 1]] - patches.x[pairs[:, 0]]
    length = np.linalg.norm(along, axis=1)
    direction = along / np.where(length > 0, length, 1.0)[:, None]
    elongation = elongation_matrix(pairs, direction, len(patches.x))
    stiffness = (elongation.T @ diags(inside.data * k[spring]) @ elongation).tocsr()
    u = np.stack([matmul(patches.x, b).ravel() for b in basis(2)], axis=1)
    free = np.flatnonzero(np.repeat(~patches.rim, 2))
    if len(free):
        force = (stiffness @ u)[free]
        among_free = stiffness[free][:, free].tocsr()
        u[free] -= solve_balance(among_free, force, np.zeros_like(force), TIGHT_TOLERANCE, 2)
    in_core = np.asarray((patches.core @ lattice.share)[patch, spring]).ravel()
    q = dyads(direction)
    weight = in_core * k[spring] * length
    stress = weight[:, None, None] * q[:, :, None] * (elongation @ u)[:, None, :]
    sigma = patches.sum_by_patch(patch, stress.reshape(-1, 9)).reshape(-1, 3, 3)
    strain, area = _integrate_strains(patches, cells, u)
    values = np.linalg.eigvalsh(symmetrise(sigma))
    good = (area > 0) & (values[:, 0] > _MIN_EIGENVALUE_RATIO * values[:, 2])
    if not good.any():
        raise ModelError(
            "this surface has no point around which it is flat enough to measure its springs"
        )
    compliance = symmetrise(matmul(strain[good], invert(sigma[good])))
    return PatchCompliances(compliance, area[good] / area[good].sum())


def _integrate_strains(patches: Patches, cells: Cells, u: Float) -> tuple[Float, Float]:
    """Return area · mean strain of each core for each displacement, (p, 3, 3), and area (p,)."""
    total, area = np.zeros((patches.total, 9)), np.zeros(patches.total)
    displacement = u.reshape(-1, 2, 3)
    for patch, corners in patches.corners(cells, patches.core):
        x = patches.x[corners]
        across = np.roll(x, -1, axis=1) - np.roll(x, 1, axis=1)
        b = np.stack([across[..., 1], -across[..., 0]], axis=-1) / 2
        twice_area = (x * b).sum(axis=(1, 2))
        b *= np.where(twice_area < 0, -1.0, 1.0)[:, None, None]  # faces have either orientation
        gradient = np.einsum("rkia,rkj->rija", displacement[corners], b)
        strain = np.einsum("rija,bij->rba", gradient, basis(2)).reshape(-1, 9)
        total += patches.sum_by_patch(patch, strain)
        area += patches.sum_by_patch(patch, np.abs(twice_area)[:, None] / 2)[:, 0]
    return total.reshape(-1, 3, 3), area
