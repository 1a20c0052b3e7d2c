"""The stiffness of hinges for a rigidity of the sheet.

The hinge law ½ c |e|²/(A₁+A₂) (θ - θ₀)² on the edges between triangles gives a sheet a bending tensor D: with curvatures κ_a in an
orthonormal basis it has the energy ½ D_ab κ_a κ_b for each area. D is c times numbers that depend on the triangles. A strip cut
along n whose sides are free bends with EI/b = 1/S_nnnn, S = D⁻¹, as a strip pulled along n has the modulus 1/S_nnnn of the sheet's
compliance. c is chosen so that the mean of 1/EI over all directions is that of a beam of the sheet's material.

At a hinge with edge length L, whose triangles have heights h, h′ and feet at s, s′ along the edge from a to b, small heights w make

    θ = (w_c - (1-s/L) w_a - (s/L) w_b)/h + (w_d - (1-s′/L) w_a - (s′/L) w_b)/h′.

Patches of the sheet (`patches`) are pressed to w = ½ xᵀB_a x at their rim and at the points next to it; those inside find their
balance. The energies of the hinges in the core give D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.materials.arguments import a_mesh, positive
from taut.materials.balance import TIGHT, balanced
from taut.materials.cells import cells_of
from taut.materials.directions import extremes, mean_along
from taut.materials.patches import Patches, patches_of
from taut.materials.tensors import basis, inverse
from taut.mesh.mesh import Mesh

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Float = NDArray[np.float64]
Int = NDArray[np.int64]
ROUND = 1e-6  # of the largest eigenvalue of D: with a lesser one a patch has too few hinges to resist every curvature
FREE = 8 / 9  # EI/b over the rigidity of a sheet that is rolled, on equilateral triangles: all that is known of a lone hinge


class Hinges(NamedTuple):
    """The stiffness of hinges, and what it leaves open."""

    c: float  # [J]
    softest: float  # EI/b of a free strip in the direction where it is least, of the mean
    stiffest: float


def bending(mesh: Mesh, rigidity: float) -> float:
    """The c [J] for `laws.shell_bending(mesh.hinges, c=…)` that makes strips of a sheet bend with this rigidity.

    rigidity : EI/b [J] = [N·m²/m] of a strip with free sides: E t³/12 for a plate of thickness t, and what a cantilever test of
        cloth gives. It is the mean over the directions of strips (that of 1/EI): on most meshes some bend more easily

    >>> import taut
    >>> round(bending(taut.mesh.sheet(20, 20, pattern="equilateral"), 8.0), 1)  # EI/b = 8c/9
    9.0
    """
    return hinges_of(mesh, rigidity).c


def hinges_of(mesh: Mesh, rigidity: float) -> Hinges:
    """The c for a rigidity EI/b [J], and by how much that differs between directions."""
    asked = positive(rigidity, "rigidity", "J")
    if not len(a_mesh(mesh).hinges):
        raise ModelError("the mesh has no two faces that share an edge: there is nothing to bend")
    triangles = Mesh(mesh.positions, {"triangle": mesh.triangles})
    d, area = _tensors(triangles, mesh.hinges)
    used = area > 0
    if not used.any():
        raise ModelError("no hinge of this mesh lies open: there is nothing to bend")
    d, part = d[used] / area[used, None, None], area[used] / area[used].sum()
    values = np.linalg.eigvalsh(d)
    if (values[:, 0] < ROUND * values[:, 2]).any():
        trace = np.einsum("aii->a", basis(2))
        rolled = (np.einsum("a,pab,b->p", trace, d, trace) + 2 * np.einsum("paa->p", d)) / 8
        return Hinges(asked / (FREE * float((part * rolled).sum())), 1.0, 1.0)
    s = inverse(d)
    mean = float((part * mean_along(s)).sum())
    least, most = extremes(s)
    return Hinges(asked * mean, mean * float((part * least).sum()), mean * float((part * most).sum()))


def _tensors(mesh: Mesh, hinges: Int) -> tuple[Float, Float]:
    """For c = 1, of the core of each patch: its area (p,) and, times that, D (p, 3, 3)."""
    from scipy.sparse import csr_matrix, diags

    cells = cells_of(mesh)
    patches = patches_of(mesh, cells)
    patch, copies = _hinges_in(patches, hinges, patches.faces @ cells.incidence.T)
    slopes, weight, areas = _hinge(patches.x[copies])
    lies = weight > 0
    patch, copies = patch[lies], copies[lies]
    slopes, weight, areas = slopes[lies], weight[lies], areas[lies]
    if not len(patch):
        return np.zeros((patches.many, 3, 3)), np.zeros(patches.many)
    row = np.repeat(np.arange(len(patch)), 4)
    theta = csr_matrix((slopes.ravel(), (row, copies.ravel())), shape=(len(patch), len(patches.x)))
    w = np.einsum("qi,qj,aij->qa", patches.x, patches.x, basis(2)) / 2
    near = patches.beside_the_rim([corners for _, corners in patches.corners(cells, patches.faces)])
    free = np.flatnonzero(~near & (np.bincount(copies.ravel(), minlength=len(near)) > 0))
    if len(free):
        stiffness = (theta.T @ diags(weight) @ theta).tocsr()
        force = (stiffness @ w)[free]
        w[free] -= balanced(stiffness[free][:, free].tocsr(), force, np.zeros_like(force), TIGHT, 1)
    core = (patches.core @ cells.incidence.T).tocsr()
    core.data[:] = 1.0
    among = np.asarray(core[np.repeat(patch, 4), patches.key[copies.ravel()] % patches.n]).reshape(-1, 4).all(axis=1)
    angle = np.asarray(theta @ w)
    each = (among * weight)[:, None, None] * angle[:, :, None] * angle[:, None, :]
    total = patches.sums(patch, each.reshape(-1, 9)).reshape(-1, 3, 3)
    return total, patches.sums(patch, (among * areas / 3)[:, None])[:, 0]


def _hinges_in(patches: Patches, hinges: Int, points: csr_matrix) -> tuple[Int, Int]:
    """The patch (r,) and the copies (r, 4) of hinges whose four points are in a patch; `points` is (p, n)."""
    from scipy.sparse import csr_matrix

    present = csr_matrix((np.ones(points.nnz), points.indices, points.indptr), shape=points.shape)
    corner = csr_matrix(
        (np.ones(hinges.size), (hinges.ravel(), np.repeat(np.arange(len(hinges)), 4))), shape=(patches.n, len(hinges))
    )
    count = (present @ corner).tocoo()
    whole = count.data > 3.5
    patch = count.row[whole].astype(np.int64)
    return patch, patches.copies(patch, hinges[count.col[whole]])


def _hinge(x: Float) -> tuple[Float, Float, Float]:
    """dθ/dw (r, 4), |e|²/(A₁+A₂) (r,) and A₁+A₂ (r,) of hinges c, d, a, b (r, 4, 2); the second is 0 if it is folded over."""
    c, d, a, b = x.transpose(1, 0, 2)
    edge = np.linalg.norm(b - a, axis=1)
    along = (b - a) / edge[:, None]
    up = np.stack([-along[:, 1], along[:, 0]], axis=1)
    first, second = (((p - a) * along).sum(axis=1) / edge for p in (c, d))
    h, h2 = ((((p - a) * up).sum(axis=1)) for p in (c, d))
    lies = h * h2 < 0
    h, h2 = np.where(lies, np.abs(h), 1.0), np.where(lies, np.abs(h2), 1.0)
    slopes = np.stack([1 / h, 1 / h2, (first - 1) / h + (second - 1) / h2, -first / h - second / h2], axis=1)
    areas = edge * (h + h2) / 2
    return slopes, np.where(lies, edge**2 / areas, 0.0), areas
