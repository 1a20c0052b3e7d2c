"""Irregular meshes and an independent linear solve, as references for the springs."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from scipy.spatial import Delaunay

import taut


def irregular_sheet(nx, ny, size, seed, shift=0.3):
    """A rectangle of Delaunay triangles; inner grid points are moved by up to `shift` of the
    spacing.
    """
    x, y = np.meshgrid(np.arange(nx + 1) / nx, np.arange(ny + 1) / ny)
    p = np.column_stack([x.ravel(), y.ravel()])
    inner = ((p > 1e-9) & (p < 1 - 1e-9)).all(axis=1)
    p[inner] += np.random.default_rng(seed).uniform(-shift, shift, (inner.sum(), 2)) / (nx, ny)
    return triangulated(p * size)


def irregular_block(n, seed, shift=0.2):
    """A cube of tetrahedra whose inner points are moved by up to `shift` of their spacing."""
    mesh = taut.mesh.block(n, n, n, cells="tet")
    inner = np.setdiff1d(np.arange(mesh.n), mesh.boundary)
    p = mesh.points.copy()
    p[inner] += np.random.default_rng(seed).uniform(-shift, shift, (len(inner), 3)) / n
    return mesh.with_(points=p)


def lumped_measure(mesh):
    """The part of the area or volume of a mesh that belongs to each point."""
    part = np.zeros(mesh.n)
    for kind, cells in mesh.blocks(max(k.dimension for k, _ in mesh.blocks())):
        np.add.at(part, cells.ravel(), np.repeat(mesh.measure(kind.name) / kind.size, kind.size))
    return part


def small_displacements(x, pairs, k, force, fixed):
    """Solve Ku = f for springs at rest between points x (n, d); fixed : d·point + axis."""
    n, d = x.shape
    along = x[pairs[:, 1]] - x[pairs[:, 0]]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    block = k[:, None, None] * along[:, :, None] * along[:, None, :]
    rows, cols, values = [], [], []
    for i, j, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -1), (1, 0, -1)):
        rows.append(
            np.broadcast_to(
                (pairs[:, i] * d)[:, None, None] + np.arange(d)[:, None], block.shape
            ).ravel()
        )
        cols.append(
            np.broadcast_to((pairs[:, j] * d)[:, None, None] + np.arange(d), block.shape).ravel()
        )
        values.append(sign * block.ravel())
    stiffness = sp.csc_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))), shape=(n * d, n * d)
    )
    free = np.setdiff1d(np.arange(n * d), fixed)
    moved = np.zeros(n * d)
    factor = splu(
        stiffness[free][:, free],
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    moved[free] = factor.solve(force.ravel()[free])
    return moved.reshape(n, d)


def irregular_strip(n, length, seed, shift=0.25):
    """A strip `length` × 1 of Delaunay triangles with sides of about 1/n; inner points are moved by
    up to shift/n.
    """
    along, up = np.arange(length * n + 1) / n, np.arange(1, n) / n
    sides = [np.column_stack([along, np.full(len(along), y)]) for y in (0.0, 1.0)]
    sides += [np.column_stack([np.full(len(up), x), up]) for x in (0.0, float(length))]
    rows = round(n * 2 / np.sqrt(3))
    x = [(np.arange(length * n) + 0.25 + 0.5 * (j % 2)) / n for j in range(1, rows)]
    inner = np.column_stack([np.concatenate(x), np.repeat(np.arange(1, rows) / rows, length * n)])
    inner += np.random.default_rng(seed).uniform(-shift, shift, inner.shape) / n
    inside = ((inner > 0.3 / n) & (inner < np.array([length, 1]) - 0.3 / n)).all(axis=1)
    return triangulated(np.concatenate([*sides, inner[inside]]))


def triangulated(p):
    """The Delaunay triangles of points (n, 2), in 3D, consistently oriented."""
    t = Delaunay(p).simplices
    a, b = p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]]
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    t = np.where(area[:, None] < 0, t[:, ::-1], t)[
        np.abs(area) > 1e-9
    ]  # along a straight side Qhull may create triangles without area
    return taut.mesh.Mesh(np.column_stack([p, np.zeros(len(p))]), {"triangle": t})
