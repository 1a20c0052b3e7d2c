"""The stiffness of hinges for a rigidity of the sheet.

The hinge law ½ c |e|²/(A₁+A₂) (θ - θ₀)² on the edges between triangles gives a sheet a cylindrical rigidity D: rolled with
curvature κ it has the energy ½ D κ² for each area. D is c times a number that depends on the triangles and on the direction. At a
hinge with edge length L, whose triangles have heights h, h′ and feet at s, s′ along the edge from a to b, small heights w make

    θ = (w_c - (1-s/L) w_a - (s/L) w_b)/h + (w_d - (1-s′/L) w_a - (s′/L) w_b)/h′.

A flat sheet is pressed to w = ½ xᵀB_a x for the three B_a of a basis, at its rim and at the points next to it; those inside find
their balance. The mean of D over all directions of rolling follows from the energies of the three. The hinges of a curved sheet are
pressed each by itself, unfolded, and nothing gives way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import splu

from taut.errors import ModelError
from taut.materials.arguments import positive
from taut.materials.plane import normal_of
from taut.materials.tensors import basis
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]


def bending(mesh: Mesh, rigidity: float) -> float:
    """The c [J] for `laws.shell_bending(mesh.hinges, c=…)` that gives a sheet this cylindrical rigidity, mean over all directions.

    rigidity : D [J] = [N·m], E t³/(12 (1 - ν²)) for a plate of thickness t

    >>> import taut
    >>> round(bending(taut.mesh.sheet(20, 20, pattern="equilateral"), 2.0), 9)
    2.0
    """
    asked = positive(rigidity, "rigidity", "J")
    if not len(mesh.hinges):
        raise ModelError("the mesh has no two faces that share an edge: there is nothing to bend")
    corner, edge, unfolded = _unfolded(mesh)
    areas = edge * (corner[:, 1] - corner[:, 3]) / 2
    slopes = _slopes(corner, edge)
    normal = normal_of(mesh.positions[np.unique(mesh.hinges)])
    if normal is None:
        angles = np.einsum("mp,mpi,mpj,aij->ma", slopes, unfolded, unfolded, basis(2), optimize=True) / 2
    else:
        angles = _balanced(mesh, slopes, edge**2 / areas, normal)
    energy = angles.T @ (angles * (edge**2 / areas)[:, None]) / (areas / 3).sum()
    trace = np.einsum("aii->a", basis(2))
    return asked / float((trace @ energy @ trace + 2 * np.trace(energy)) / 8)


def _unfolded(mesh: Mesh) -> tuple[Float, Float, Float]:
    """Hinges in the plane: (s, h, s′, -h′) of each (m, 4), edge lengths (m,), and the four points c, d, a, b (m, 4, 2)."""
    c, d, a, b = (mesh.positions[column] for column in mesh.hinges.T)
    edge = np.linalg.norm(b - a, axis=1)
    along = (b - a) / edge[:, None]
    foot, foot2 = (((p - a) * along).sum(axis=1) for p in (c, d))
    height, height2 = (np.linalg.norm(p - a - f[:, None] * along, axis=1) for p, f in ((c, foot), (d, foot2)))
    flat = np.flatnonzero(~(np.minimum(height, height2) > 0))
    if len(flat):
        raise ModelError(f"a triangle at the hinge {flat[0]} has no area: the hinge has no angle")
    corner = np.stack([foot, height, foot2, -height2], axis=1)
    zero = np.zeros_like(edge)
    points = np.stack([corner[:, :2], corner[:, 2:], np.stack([zero, zero], axis=1), np.stack([edge, zero], axis=1)], axis=1)
    return corner, edge, points


def _slopes(corner: Float, edge: Float) -> Float:
    """dθ/dw at the four points of each hinge, shape (m, 4)."""
    s, h, s2, below = corner.T
    first, second = s / edge, s2 / edge
    return np.stack([1 / h, -1 / below, (first - 1) / h - (second - 1) / below, -first / h + second / below], axis=1)


def _balanced(mesh: Mesh, slopes: Float, weight: Float, normal: Float) -> Float:
    """The angles of the hinges of a flat sheet for each B_a, shape (m, 3)."""
    m = len(slopes)
    theta = csr_matrix((slopes.ravel(), (np.repeat(np.arange(m), 4), mesh.hinges.ravel())), shape=(m, mesh.n))
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    x = (mesh.positions - mesh.positions.mean(axis=0)) @ np.stack([first, np.cross(normal, first)], axis=1)
    w = np.einsum("ni,nj,aij->na", x, x, basis(2)) / 2
    rim = np.zeros(mesh.n, dtype=bool)
    rim[mesh.boundary] = True
    held = rim.copy()
    held[mesh.edges[rim[mesh.edges].any(axis=1)].ravel()] = True
    inside = np.flatnonzero(~held & (np.bincount(mesh.hinges.ravel(), minlength=mesh.n) > 0))
    if len(inside):
        stiffness = (theta.T @ diags(weight) @ theta).tocsc()
        force = (stiffness @ w)[inside]
        w[inside] -= splu(stiffness[inside][:, inside], permc_spec="MMD_AT_PLUS_A").solve(force)
    return np.asarray(theta @ w)
