"""The moduli of a curved sheet: those of patches of it, each laid into its own plane.

A patch grows from a face over its neighbours as long as their normals stay near the normal of the first face. It is projected onto
the plane across that normal, which to second order in the angle leaves the mean modulus as it is. The inner points of a patch give
way; springs at its rim count with the part that lies inside. Pulled at a free rim a patch is too soft, and held at a rim that
moves as the continuum would it is too stiff. The compliance taken is the mean of the two, over all patches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from taut.materials.cells import Cells, vectors_of
from taut.materials.lattice import Lattice
from taut.materials.stretch import Stretch
from taut.materials.tensors import inverse
from taut.mesh.kinds import Kind
from taut.mesh.measure import vector_areas

Float = NDArray[np.float64]
Int = NDArray[np.int64]
PATCHES = 24
FACES = 200  # of a patch at most
LEVEL = np.cos(np.radians(20))  # faces that lean more than this from the first are left out
TIGHT = 1e-6  # residual of the stretch tests, of the load


class Surface(NamedTuple):
    """What the patches are cut from."""

    x: Float  # (n, 3) [m]
    cells: Cells
    lattice: Lattice
    axes: Float  # (c, 2, 3)


def patch_compliance(body: Surface, k: Float, ideal: Float) -> Float:
    """The mean compliance of patches, shape (3, 3), each in the axes of its first face; `ideal` (3, 3) is what is aimed at."""
    normals = np.cross(body.axes[:, 0], body.axes[:, 1])
    neighbours = (body.cells.incidence.T @ body.cells.incidence).tocsr()
    seeds = np.unique(np.linspace(0, body.cells.many - 1, PATCHES).round().astype(np.int64)).tolist()
    found = [_measured(body, _grown(neighbours, normals @ normals[i] > LEVEL, i), k, ideal, body.axes[i]) for i in seeds]
    return np.asarray(np.mean(found, axis=0))


def _grown(neighbours: csr_matrix, level: NDArray[np.bool_], seed: int) -> Int:
    """Faces around a face, ring by ring."""
    inside = np.array([seed])
    while True:
        reached = np.unique(neighbours[inside].indices)
        ring = reached[level[reached]]
        if len(ring) == len(inside) or len(ring) > FACES:
            return inside
        inside = ring


def _measured(body: Surface, inside: Int, k: Float, ideal: Float, axes: Float) -> Float:
    """The compliance of one patch in its plane."""
    part = np.asarray(body.lattice.share[inside].sum(axis=0)).ravel()
    springs = np.flatnonzero(part)
    points, ends = np.unique(body.lattice.pairs[springs], return_inverse=True)
    x, pairs = body.x[points] @ axes.T, ends.reshape(-1, 2)
    along = x[pairs[:, 1]] - x[pairs[:, 0]]
    number = np.full(len(body.x), -1)
    number[points] = np.arange(len(points))
    flat = np.column_stack([x, np.zeros(len(x))])
    blocks = [(kind, number[corners]) for kind, corners in _within(body.cells, inside)]
    area = float(sum(np.linalg.norm(vector_areas(flat, corners), axis=1).sum() for _, corners in blocks))
    pull = vectors_of(flat, blocks).pull(len(points))[:, :2]
    test = Stretch(x, pairs, along / np.linalg.norm(along, axis=1, keepdims=True), pull, area)
    stiffness, affine = k[springs] * part[springs], test.affine(ideal)
    free = test.compliance(test.relaxed(stiffness, affine, TIGHT))
    outside = np.linalg.norm(pull, axis=1) > 1e-9 * np.linalg.norm(pull, axis=1).max()
    held = test.held(stiffness, np.repeat(outside, 2), affine, TIGHT)
    return (free + ideal @ inverse(held) @ ideal) / 2


def _within(cells: Cells, inside: Int) -> list[tuple[Kind, Int]]:
    """The faces of a patch by kind."""
    found, start = [], 0
    for kind, corners in cells.blocks:
        here = inside[(inside >= start) & (inside < start + len(corners))] - start
        if len(here):
            found.append((kind, corners[here]))
        start += len(corners)
    return found
