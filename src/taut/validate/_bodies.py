"""What several groups share: systems, Richardson extrapolation, and a stretch test.

The stretch test applies tractions σn to the whole boundary of a mesh of springs, solves Ku = f, and
takes the mean strain ∮(un + nu)/2 divided by the volume.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse.linalg import spsolve
from scipy.spatial import Delaunay

from taut import laws
from taut.arrays import Float
from taut.mesh.mesh import Mesh
from taut.optimise.tolerance import Tolerance
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

TIGHT = Tolerance(1e-13)  # near rounding, so that no error of the solver hides one of the physics
G = 9.81  # m/s²


def build_system(points: Any, **more: Any) -> System:
    """Build a System; untyped, since a bound law may be an energy, a damping law or a load."""
    return System(points, **more)


def take_steps(system: System, integrator: Integrator, h: float, steps: int) -> Iterator[State]:
    """Yield the state after each step of h [s].

    Without the warnings of `simulate`: what a method does where it is unstable is measured too.
    """
    state = system.initial_state()
    for _ in range(steps):
        state = integrator.advance(system, state, h).state
        yield state


def neighbour_pairs(n: int) -> list[list[int]]:
    """Return the pairs of neighbours in a row of n + 1 particles."""
    return [[i, i + 1] for i in range(n)]


def neighbour_triples(n: int) -> list[list[int]]:
    """Return the triples of neighbours in a row of n + 1 particles."""
    return [[i, i + 1, i + 2] for i in range(n - 1)]


def extrapolate(values: Sequence[Any]) -> Float:
    """Extrapolate f(h) = f + A h² + B h⁴ + … to h = 0 from values at h, h/2, h/4, …

    >>> bool(abs(extrapolate([1 + h**2 + 3 * h**4 for h in (0.4, 0.2, 0.1)]) - 1) < 1e-15)
    True
    """
    found, power = [np.asarray(value, dtype=np.float64) for value in values], 4.0
    while len(found) > 1:
        found, power = (
            [(power * fine - coarse) / (power - 1) for coarse, fine in pairwise(found)],
            4 * power,
        )
    return found[0]


def build_irregular_sheet(n: int, seed: int) -> Mesh:
    """Triangulate (Delaunay) a unit square of points, moved from a grid by up to 0.3 spacings."""
    x, y = np.meshgrid(np.arange(n + 1) / n, np.arange(n + 1) / n)
    p = np.column_stack([x.ravel(), y.ravel()])
    inner = ((p > 1e-9) & (p < 1 - 1e-9)).all(axis=1)
    p[inner] += np.random.default_rng(seed).uniform(-0.3, 0.3, (inner.sum(), 2)) / n
    t = Delaunay(p).simplices
    a, b = p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]]
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    whole = np.abs(area) > 1e-9  # along a straight side Qhull may leave triangles without area
    return Mesh(
        np.column_stack([p, np.zeros(len(p))]),
        {"triangle": np.where(area[:, None] < 0, t[:, ::-1], t)[whole]},
    )


def boundary_faces(mesh: Mesh, d: int) -> tuple[Any, Float]:
    """Return the boundary's faces (m, d) and their outward vector areas (m, d) [m^(d-1)]."""
    cells = mesh.cells["triangle" if d == 2 else "tet"]
    corners = np.concatenate([np.delete(cells, i, axis=1) for i in range(d + 1)])
    across = np.concatenate([cells[:, i] for i in range(d + 1)])
    _, first, count = np.unique(
        np.sort(corners, axis=1), axis=0, return_index=True, return_counts=True
    )
    rim, inside = corners[first[count == 1]], across[first[count == 1]]
    x = mesh.points[:, :d]
    a = x[rim]
    if d == 2:
        normal = (a[:, 1] - a[:, 0])[:, ::-1] * [1, -1]
    else:
        normal = np.cross(a[:, 1] - a[:, 0], a[:, 2] - a[:, 0]) / 2
    outwards = np.sign(np.einsum("mi,mi->m", normal, a[:, 0] - x[inside]))
    return rim, normal * outwards[:, None]


def measure_compliance(mesh: Mesh, pairs: Any, k: Any, d: int) -> Float:
    """Return the compliance (s, s) of springs at rest, in the basis of symmetric tensors."""
    system = build_system(mesh.points, mass=1.0, energies=[laws.spring(pairs, k=k)])
    keep = (3 * np.arange(mesh.n)[:, None] + np.arange(d)).ravel()
    stiff = system.K(system.initial_state()).tocsc()[keep][:, keep].tocsc()
    rim, normal = boundary_faces(mesh, d)
    x, y, z = mesh.points.T
    # Point 0 is a corner; these are the corners next to it along x and along y. Three (six in 3D)
    # coordinates of them are fixed against rigid motion; they carry no load.
    far, up = int(np.argmax(x - 2 * y - 2 * z)), int(np.argmax(y - 2 * x - 2 * z))
    fixed = [0, 1, 2 * far + 1]
    if d == 3:
        fixed = [0, 1, 2, 3 * far + 1, 3 * far + 2, 3 * up + 2]
    free = np.setdiff1d(np.arange(d * mesh.n), fixed)
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


def young_modulus(s: Float, directions: Float) -> Float:
    """Return Young's modulus along unit vectors (m, d): 1/(n⊗n : S : n⊗n)."""
    d = directions.shape[1]
    parts = [
        directions[:, i] * directions[:, j] * (1.0 if i == j else np.sqrt(2.0))
        for i in range(d)
        for j in range(i, d)
    ]
    return np.asarray(1 / np.einsum("im,ij,jm->m", np.array(parts), s, np.array(parts)))
