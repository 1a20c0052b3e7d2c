"""A stretch test of springs on a mesh: tractions σn on all of the boundary, Ku = f, the mean strain ∮(un + nu)/2 by volume."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import spsolve
from scipy.spatial import Delaunay

from taut import laws
from taut.mesh.mesh import Mesh
from taut.validate.bodies import body
from taut.validate.case import Float


def irregular(n: int, seed: int) -> Mesh:
    """A square metre of Delaunay triangles whose inner points are moved from a grid by up to 0.3 of its spacing."""
    x, y = np.meshgrid(np.arange(n + 1) / n, np.arange(n + 1) / n)
    p = np.column_stack([x.ravel(), y.ravel()])
    inner = ((p > 1e-9) & (p < 1 - 1e-9)).all(axis=1)
    p[inner] += np.random.default_rng(seed).uniform(-0.3, 0.3, (inner.sum(), 2)) / n
    t = Delaunay(p).simplices
    a, b = p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]]
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    whole = np.abs(area) > 1e-9  # along a straight side Qhull may leave triangles without area
    return Mesh(np.column_stack([p, np.zeros(len(p))]), {"triangle": np.where(area[:, None] < 0, t[:, ::-1], t)[whole]})


def faces(mesh: Mesh, d: int) -> tuple[Any, Float]:
    """The boundary's edges or triangles (m, d), and their areas as vectors outwards (m, d) [m^(d-1)]."""
    cells = mesh.cells["triangle" if d == 2 else "tet"]
    corners = np.concatenate([np.delete(cells, i, axis=1) for i in range(d + 1)])
    across = np.concatenate([cells[:, i] for i in range(d + 1)])
    _, first, count = np.unique(np.sort(corners, axis=1), axis=0, return_index=True, return_counts=True)
    rim, inside = corners[first[count == 1]], across[first[count == 1]]
    x = mesh.points[:, :d]
    a = x[rim]
    normal = (a[:, 1] - a[:, 0])[:, ::-1] * [1, -1] if d == 2 else np.cross(a[:, 1] - a[:, 0], a[:, 2] - a[:, 0]) / 2
    outwards = np.sign(np.einsum("mi,mi->m", normal, a[:, 0] - x[inside]))
    return rim, normal * outwards[:, None]


def compliance(mesh: Mesh, pairs: Any, k: Any, d: int) -> Float:
    """The mean strain for each stress, in the orthonormal basis of symmetric tensors, (s, s): a stretch test of springs at rest."""
    system = body(mesh.points, mass=1.0, energies=[laws.spring(pairs, k=k)])
    keep = (3 * np.arange(mesh.n)[:, None] + np.arange(d)).ravel()
    stiff = system.K(system.initial_state()).tocsc()[keep][:, keep].tocsc()
    rim, normal = faces(mesh, d)
    x, y, z = mesh.points.T
    far, up = int(np.argmax(x - 2 * y - 2 * z)), int(np.argmax(y - 2 * x - 2 * z))  # two corners beside the first point, a corner
    held = [0, 1, 2 * far + 1] if d == 2 else [0, 1, 2, 3 * far + 1, 3 * far + 2, 3 * up + 2]  # take the rigid motion, no load
    free = np.setdiff1d(np.arange(d * mesh.n), held)
    volume = float(np.einsum("mi,mi->", mesh.points[rim, :d].mean(axis=1), normal)) / d
    basis = []
    for i in range(d):
        for j in range(i, d):
            e = np.zeros((d, d))
            e[i, j] = e[j, i] = 1.0 if i == j else np.sqrt(0.5)
            basis.append(e)
    found = []
    for stress in basis:
        force = np.zeros((mesh.n, d))
        for corner in rim.T:
            np.add.at(force, corner, normal @ stress / d)
        u = np.zeros(d * mesh.n)
        u[free] = spsolve(stiff[free][:, free], force.ravel()[free])
        strain = np.einsum("mi,mj->ij", u.reshape(-1, d)[rim].mean(axis=1), normal) / volume
        found.append([np.sum((strain + strain.T) / 2 * e) for e in basis])
    return np.array(found)


def young(s: Float, directions: Float) -> Float:
    """Young's modulus along unit vectors (m, d): 1/(n⊗n : S : n⊗n)."""
    d = directions.shape[1]
    parts = [directions[:, i] * directions[:, j] * (1.0 if i == j else np.sqrt(2.0)) for i in range(d) for j in range(i, d)]
    return np.asarray(1 / np.einsum("im,ij,jm->m", np.array(parts), s, np.array(parts)))
