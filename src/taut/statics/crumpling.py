"""Foresee crumpling: compression that makes the steps of a thin body hard to solve.

An implicit step minimises an objective whose Hessian is M/h² + K. A spring of length l under the
compression P adds -P/l across its direction: it tends to give way sideways. Inertia, M/h², and
bending stiffness resist that. Where they do not suffice, the objective has many valleys, one for
each pattern of wrinkles, and a step takes many iterations to find its way among them.

How much compression there will be is estimated from the linear answer to the forces at the start,
u = (K + M/T²)⁻¹ f. T is the duration of the run: inertia holds a body that nothing else holds. As
in the linear theory of buckling, a spring of stiffness k, length l and direction d, between i and
j, then has the tension N = N₀ + k δ and the length l + δ, δ = d·(u_j - u_i). Under the part s of
the load the Hessian is

    A(s) = M/h² + K + Σ s N/(l + s δ) (I - d dᵀ)  over all springs,

and a step bears that part if A(s) is positive definite. A spring that is to be shortened by more
than its length is not borne either: soft bodies collapse.

Only springs and other energies between two particles are counted. Compression in other energies,
and what a body does on its way, such as cloth that falls into folds, are not foreseen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taut.arrays import Float, Int
from taut.linalg.blocks import BlockMatrix, row_norms
from taut.linalg.linear import make_solver
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_PARTS = tuple(0.5**k for k in range(10))  # parts of the load that are tried
_COLLAPSED = 1e-9  # length of a spring that would be shortened by more than its length, per length
_ACCURACY = 1e-6  # of linear solves, relative to the largest force


def find_bearable_load(system: System, state: State, h: float, duration: float) -> float:
    """Return the part of the load at the start that steps of h [s] bear without crumpling.

    duration : of the run [s]

    It is 1, ½, ¼, … or 0; and 1 if the stiffness at the start is singular, so that nothing is
    known.

    >>> import taut
    >>> from taut import laws
    >>> mesh = taut.mesh.rope(40)
    >>> weights = [laws.spring(mesh.edges, k=1e6), laws.gravity()]
    >>> upright = mesh.points[:, [1, 0, 2]]
    >>> for end in (40, 0):  # hanging from its upper end, then standing on its lower one
    ...     rope = taut.System(upright, mass=0.1, fixed=[end], energies=weights)
    ...     print(find_bearable_load(rope, rope.initial_state(), h=0.05, duration=1.0))
    1.0
    0.00390625
    """
    stiffness = workspace_for(system).stiffness(state, project=True).copy()
    force = system.f(state)
    for load in system.load_forces(state).values():
        force = force + load
    over_run = _add_inertia(system, stiffness, duration)
    displacement = _solve(over_run, system._projector.project(force))
    if displacement is None:
        return 1.0
    springs = _Springs.join(system, state, displacement)
    # Any vector that is orthogonal to no eigenvector: the solver notices a negative eigenvalue.
    trial = np.sin(1.0 + np.arange(force.size)).reshape(force.shape)
    for part in _PARTS:
        under_load = stiffness.copy()
        springs.add_stiffness(under_load, part)
        hessian = _add_inertia(system, under_load, h)
        if _solve(hessian, system._projector.project(trial)) is not None:
            return part
    return 0.0


def _add_inertia(system: System, stiffness: BlockMatrix, h: float) -> BlockMatrix:
    """Return M/h² plus a stiffness, with the constraints applied."""
    matrix = stiffness.copy()
    matrix.data[matrix.pattern.diagonal] += (system.mass / h**2)[:, None, None] * np.eye(3)
    system._projector.apply_to_matrix(matrix)
    return matrix


def _solve(matrix: BlockMatrix, b: Float) -> Float | None:
    """Solve A x = b; None if A proves not to be positive definite."""
    solver = make_solver("auto")
    if not solver.factor(matrix):
        return None
    solution = solver.solve(b, np.full(len(b), _ACCURACY * np.abs(b).max(initial=0.0)))
    if not solution.definite or not np.isfinite(solution.x).all():
        return None
    return solution.x


class _Springs(NamedTuple):
    """All elements of two particles, with what a displacement does to them.

    i, j : particles, (m,); direction : from i to j, (m, 3); length : at the start [m], (m,)
    tension : after the displacement [N], (m,); change : of the length [m], (m,)
    """

    i: Int
    j: Int
    direction: Float
    length: Float
    tension: Float
    change: Float

    @staticmethod
    def join(system: System, state: State, u: Float) -> _Springs:
        """Gather the springs of a system; those without length have no direction, and are left out.

        u : displacement of each particle [m], (n, 3)
        """
        none = np.zeros(0, dtype=np.int64)
        parts = [_Springs(none, none, np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros(0))]
        q = np.array(state.q)
        for placed in system._placed_energies.values():
            if placed.particles != 2 or placed.couples_all_elements:
                continue
            offset = q[placed.elements[:, 1]] - q[placed.elements[:, 0]]
            length = row_norms(offset)
            chosen = length > 0.0
            i, j = placed.elements[chosen].T
            direction, length = offset[chosen] / length[chosen, None], length[chosen]
            hessians = placed.hessians(q, state.t)[chosen, 3:, 3:]
            k = np.einsum("ij,ijk,ik->i", direction, hessians, direction)
            forces = placed.gradients(q, state.t)[chosen, 1]
            change = np.einsum("ij,ij->i", direction, u[j] - u[i])
            tension = np.einsum("ij,ij->i", direction, forces) + k * change
            parts.append(_Springs(i, j, direction, length, tension, change))
        return _Springs(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))

    def add_stiffness(self, matrix: BlockMatrix, part: float) -> None:
        """Add the stiffness of tension and compression across all springs to a matrix [N/m].

        part : of the load
        """
        length = np.maximum(self.length + part * self.change, _COLLAPSED * self.length)
        ratio = part * self.tension / length
        d = self.direction
        blocks = ratio[:, None, None] * (np.eye(3) - d[:, :, None] * d[:, None, :])
        pattern, i, j = matrix.pattern, self.i, self.j
        places = pattern.rows.astype(np.int64) * pattern.n + pattern.indices
        for row, column, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
            at = np.searchsorted(places, row * pattern.n + column)
            np.add.at(matrix.data, at, sign * blocks)
