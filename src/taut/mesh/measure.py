"""Lengths, areas and volumes of cells.

A face with corners p₀…p_{k-1} has the area of its vector area ½ Σ pᵢ × pᵢ₊₁ (for a triangle or a
planar polygon the area itself). A solid has V = ⅓ Σ over its faces of c · A, c the mean of the
corners of a face and A its vector area: exact for a tetrahedron, and for a hexahedron with bilinear
faces. It is negative for an inverted cell.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.kinds import Kind

# Relative to the size of the mesh: positions closer than this are the same. The rounding of decimal
# input, such as 0.1 * 3, stays well below it.
POSITION_TOLERANCE = 1e-9
# Relative to the square (cube) of its longest side: a face (solid) with less area (volume) is
# degenerate.
DEGENERATE_TOLERANCE = 1e-12


def vector_areas(x: Float, faces: Int) -> Float:
    """Vector areas [m²], shape (m, 3), along the normals; x is (n, 3), faces (m, k)."""
    # Relative to the first corner, so that a mesh far from the origin loses no digits.
    p = x[faces] - x[faces[:, :1]]
    total = np.zeros((len(faces), 3))
    for i in range(1, faces.shape[1] - 1):
        total += np.cross(p[:, i], p[:, i + 1])
    return total / 2


def unit_normals(x: Float, faces: Int) -> Float:
    """Unit normals, shape (m, 3), zero for a face without area; x is (n, 3), faces (m, k)."""
    area = vector_areas(x, faces)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    return np.divide(area, length, out=np.zeros_like(area), where=length > 0)


def measures(x: Float, cells: Int, kind: Kind) -> Float:
    """Length [m], area [m²] or signed volume [m³] of each cell, shape (m,); x is (n, 3)."""
    if kind.dimension == 1:
        return np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1)
    if kind.dimension == 2:
        return np.linalg.norm(vector_areas(x, cells), axis=1)
    p = x[cells] - x[cells[:, :1]]
    if kind.name == "tet":
        return np.einsum("ij,ij->i", p[:, 1], np.cross(p[:, 2], p[:, 3])) / 6
    flat, own = p.reshape(-1, 3), np.arange(p.shape[0] * p.shape[1]).reshape(p.shape[:2])
    volume = np.zeros(len(cells))
    for face in kind.faces:
        centre = p[:, list(face)].mean(axis=1)
        volume += np.einsum("ij,ij->i", centre, vector_areas(flat, own[:, list(face)]))
    return volume / 3


def share_among_corners(amount: Float, cells: Int, n: int) -> Float:
    """Split the amount of each cell (m,) equally among its corners (m, k); sums at the n points."""
    k = cells.shape[1]
    return np.bincount(cells.ravel(), weights=np.repeat(amount / k, k), minlength=n).astype(
        np.float64
    )


def enclosed_volume(x: Float, triangles: Int) -> float:
    """The volume [m³] inside a closed surface of triangles (m, 3) facing outwards; x is (n, 3)."""
    used = np.unique(triangles)
    p = x[triangles] - (x[used].mean(axis=0) if len(used) else 0.0)
    return float(np.einsum("ij,ij->", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6)
