"""The stiffness of hinges for a rigidity of the sheet.

The hinge law ½ c |e|²/(A₁+A₂) (θ - θ₀)² on the edges between triangles gives a sheet a bending
tensor D: with curvatures κ_a in an orthonormal basis its energy per area is ½ D_ab κ_a κ_b. D is c
times numbers that depend on the triangles. A strip cut along n with free sides bends with
EI/b = 1/S_nnnn, S = D⁻¹, as a strip pulled along n has the modulus 1/S_nnnn of the sheet's
compliance. c is chosen so that the mean of 1/EI over all directions is that of a beam of the
sheet's material.

At a hinge with edge length L, whose triangles have heights h, h′ and feet at s, s′ along the edge
from a to b, small deflections w make

    θ = (w_c - (1-s/L) w_a - (s/L) w_b)/h + (w_d - (1-s′/L) w_a - (s′/L) w_b)/h′.

Patches of the sheet (`_patches`) are pressed to w = ½ xᵀB_a x at their rim and at the points next
to it; those inside find their balance. The energies of the hinges in the core give D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.arrays import Float, Int
from taut.errors import ModelError
from taut.materials._arguments import check_mesh, check_positive
from taut.materials._cells import collect_cells
from taut.materials._patches import Patches, build_patches
from taut.materials._stretch_test import TIGHT_TOLERANCE, solve_balance
from taut.materials._tensors import basis, extreme_moduli, invert, mean_compliance
from taut.mesh.mesh import Mesh

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Smallest over largest eigenvalue of D: with less, a patch has too few hinges to resist every
# curvature
_MIN_EIGENVALUE_RATIO = 1e-6
# EI/b over the rigidity of a rolled sheet, on equilateral triangles. Nothing else is known of a
# single hinge.
_FREE_STRIP_RATIO = 8 / 9


class HingeFit(NamedTuple):
    """The stiffness of hinges, and how much strips of different directions differ."""

    c: float  # [J]
    softest: float  # EI/b of a free strip in the direction where it is least, over the mean
    stiffest: float


def bending(mesh: Mesh, rigidity: float) -> float:
    """Return the c [J] of `laws.shell_bending(mesh.hinges, c=…)` for a rigidity of strips.

    rigidity : EI/b [J] = [N·m²/m] of a strip with free sides: E t³/12 for a plate of thickness t,
        and the result of a cantilever test of cloth. It is the mean over the directions of strips
        (that of 1/EI): on most meshes some bend more easily

    >>> import taut
    >>> round(bending(taut.mesh.sheet(20, 20, pattern="equilateral"), 8.0), 1)  # EI/b = 8c/9
    9.0
    """
    return calibrate_hinges(mesh, rigidity).c


def calibrate_hinges(mesh: Mesh, rigidity: float) -> HingeFit:
    """Find the c for a rigidity EI/b [J], and by how much that differs between directions."""
    rigidity = check_positive(rigidity, "rigidity", "J")
    if not len(check_mesh(mesh).hinges):
        raise ModelError("the mesh has no two faces that share an edge: there is nothing to bend")
    triangles = Mesh(mesh.positions, {"triangle": mesh.triangles})
    d, area = _integrate_tensors(triangles, mesh.hinges)
    used = area > 0
    if not used.any():
        raise ModelError("every hinge of this mesh is folded: there is nothing to bend")
    d, part = d[used] / area[used, None, None], area[used] / area[used].sum()
    values = np.linalg.eigvalsh(d)
    if (values[:, 0] < _MIN_EIGENVALUE_RATIO * values[:, 2]).any():
        trace = np.einsum("aii->a", basis(2))
        rolled = (np.einsum("a,pab,b->p", trace, d, trace) + 2 * np.einsum("paa->p", d)) / 8
        return HingeFit(rigidity / (_FREE_STRIP_RATIO * float((part * rolled).sum())), 1.0, 1.0)
    s = invert(d)
    mean = float((part * mean_compliance(s)).sum())
    least, most = extreme_moduli(s)
    softest, stiffest = mean * float((part * least).sum()), mean * float((part * most).sum())
    return HingeFit(rigidity * mean, softest, stiffest)


def _integrate_tensors(mesh: Mesh, hinges: Int) -> tuple[Float, Float]:
    """Return area times D/c of each patch, (p, 3, 3), and the area of its hinges (p,) [m²]."""
    from scipy.sparse import csr_matrix, diags

    cells = collect_cells(mesh)
    patches = build_patches(mesh, cells)
    patch, copies = _find_hinges(patches, hinges, patches.faces @ cells.incidence.T)
    slopes, weight, areas = _linearise_hinges(patches.x[copies])
    is_open = weight > 0
    patch, copies = patch[is_open], copies[is_open]
    slopes, weight, areas = slopes[is_open], weight[is_open], areas[is_open]
    if not len(patch):
        return np.zeros((patches.total, 3, 3)), np.zeros(patches.total)
    row = np.repeat(np.arange(len(patch)), 4)
    theta = csr_matrix((slopes.ravel(), (row, copies.ravel())), shape=(len(patch), len(patches.x)))
    w = np.einsum("qi,qj,aij->qa", patches.x, patches.x, basis(2)) / 2
    near = patches.find_near_rim([corners for _, corners in patches.corners(cells, patches.faces)])
    free = np.flatnonzero(~near & (np.bincount(copies.ravel(), minlength=len(near)) > 0))
    if len(free):
        stiffness = (theta.T @ diags(weight) @ theta).tocsr()
        force = (stiffness @ w)[free]
        among_free = stiffness[free][:, free].tocsr()
        w[free] -= solve_balance(among_free, force, np.zeros_like(force), TIGHT_TOLERANCE, 1)
    core = (patches.core @ cells.incidence.T).tocsr()
    core.data[:] = 1.0
    points = patches.key[copies.ravel()] % patches.n
    in_core = np.asarray(core[np.repeat(patch, 4), points]).reshape(-1, 4).all(axis=1)
    angle = np.asarray(theta @ w)
    energy = (in_core * weight)[:, None, None] * angle[:, :, None] * angle[:, None, :]
    total = patches.sum_by_patch(patch, energy.reshape(-1, 9)).reshape(-1, 3, 3)
    return total, patches.sum_by_patch(patch, (in_core * areas / 3)[:, None])[:, 0]


def _find_hinges(patches: Patches, hinges: Int, points: csr_matrix) -> tuple[Int, Int]:
    """Return patch (r,) and copies (r, 4) of the hinges whose four points are in a patch.

    points : (p, n), not zero where the point is in the patch
    """
    from scipy.sparse import csr_matrix

    present = csr_matrix((np.ones(points.nnz), points.indices, points.indptr), shape=points.shape)
    corner = csr_matrix(
        (np.ones(hinges.size), (hinges.ravel(), np.repeat(np.arange(len(hinges)), 4))),
        shape=(patches.n, len(hinges)),
    )
    count = (present @ corner).tocoo()
    complete = count.data > 3.5
    patch = count.row[complete].astype(np.int64)
    return patch, patches.copies(patch, hinges[count.col[complete]])


def _linearise_hinges(x: Float) -> tuple[Float, Float, Float]:
    """Return dθ/dw (r, 4), |e|²/(A₁+A₂) (r,) and A₁+A₂ (r,) of hinges c, d, a, b (r, 4, 2).

    The second is 0 where the hinge is folded over.
    """
    c, d, a, b = x.transpose(1, 0, 2)
    edge = np.linalg.norm(b - a, axis=1)
    along = (b - a) / edge[:, None]
    up = np.stack([-along[:, 1], along[:, 0]], axis=1)
    first, second = (((p - a) * along).sum(axis=1) / edge for p in (c, d))
    h, h2 = ((((p - a) * up).sum(axis=1)) for p in (c, d))
    is_open = h * h2 < 0
    h, h2 = np.where(is_open, np.abs(h), 1.0), np.where(is_open, np.abs(h2), 1.0)
    slopes = np.stack(
        [1 / h, 1 / h2, (first - 1) / h + (second - 1) / h2, -first / h - second / h2], axis=1
    )
    areas = edge * (h + h2) / 2
    return slopes, np.where(is_open, edge**2 / areas, 0.0), areas
