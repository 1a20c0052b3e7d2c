"""Where a system is at rest, for the derivatives of its position by parameters.

An equilibrium has S ∂V/∂q(q, p) = 0. With L_q the gradient of a loss by q, and μ from
S K S μ = S L_q, the gradient by a parameter is -μ·∂²V/∂q∂p.

The points of a membrane balance across its surface, nᵢ·∂V/∂qᵢ = 0, and where they lie along it is a
choice: they are taken to move along their normals, which gives the derivative of the surface. The
normals turn with the form, so that the matrix of the equations is not symmetric,

    nᵢ (nᵢ·K + gᵢ·∂nᵢ/∂q),    gᵢ = ∂V/∂qᵢ, what is not balanced along the surface.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.constraints.sliding import on_line
from taut.errors import NotConverged
from taut.inverse._forces import Forces
from taut.inverse._kinks import find_kinks
from taut.inverse._moment import PathSums
from taut.inverse._part import Sums
from taut.inverse._sweep import KINK_MARGIN
from taut.inverse.result import TIGHTER
from taut.linalg.blocks import BlockMatrix, row_norms
from taut.linalg.indefinite import GeneralFactors, solve_indefinite
from taut.linalg.linear import Solution, make_solver
from taut.mesh.measure import vector_areas
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_SOLVED = 1e-6  # relative residual that a solution leaves where there is one


class StaticPoint:
    """An equilibrium, pulled back to parameters.

    factor : of the laws that are linear in the positions, the loads
    """

    def __init__(self, system: System, state: State, factor: float, accuracy: float) -> None:
        self.system, self.state, self.accuracy = system, state, accuracy
        self.forces = Forces(system, system._active_masks(state))
        self.factors = {
            name: factor
            for name, placed in system._placed_energies.items()
            if placed.forms["energy"].is_linear
        }

    def gradient(self) -> Float:
        """Return ∂V/∂q [N], (n, 3), in all directions, with the loads at their factor."""
        total = np.array(workspace_for(self.system).potential(self.state)[1])
        for name, factor in self.factors.items():
            placed = self.system._placed_energies[name]
            extra = placed.gradients(np.array(self.state.q), self.state.t)
            mask = self.forces.active.get(name)
            if mask is not None:
                extra = extra[mask]
            elements = placed.elements if mask is None else placed.elements[mask]
            np.add.at(total, elements, (factor - 1.0) * extra)
        return total

    def solve(self, right: Float, *, transposed: bool = False) -> Float:
        """Solve S K S μ = S right for μ, (n, 3); K is not symmetric for a membrane."""
        b = self._project(right)
        size = float(row_norms(b).max(initial=0.0))
        if size == 0.0:
            return np.zeros_like(b)
        found = self._solve(b, transposed=transposed)
        # A mechanism that the loss does not see leaves a solution; one that it sees does not.
        if found is None or float(found.residuals.max()) > _SOLVED * size:
            raise NotConverged(
                "the equilibrium has no derivative: a mechanism, or a critical point, moves what "
                "the loss depends on",
                None,
                self.state,
            )
        return self._project(found.x)

    def _project(self, vectors: Float) -> Float:
        """Return the part of vectors, (n, 3), in the directions in which forces balance."""
        return self.system._projector.project(vectors)

    def _solve(self, b: Float, *, transposed: bool) -> Solution | None:
        workspace = workspace_for(self.system)
        matrix = workspace.stiffness(self.state, project=False).copy()
        workspace.apply_constraints(matrix)
        solver = make_solver("auto")
        solver.analyse(matrix.pattern)
        found = None
        target = self.accuracy * float(row_norms(b).max())
        if solver.factor(matrix):
            found = solver.solve(b, np.full(len(b), target))
        if found is None or not found.definite or (found.residuals > target).any():
            exact = solve_indefinite(matrix, b)
            found = exact if exact is not None else found
        return found

    def pull(self, bar: Float, sums: Sums, paths: PathSums) -> None:
        """Add the gradient by the parameters for that by the positions, (n, 3)."""
        z = -self.solve(bar, transposed=True)
        q, t = np.array(self.state.q), self.state.t
        by_q, _ = self.forces.pull_energies(q, t, z, sums, self.factors)
        total = bar + by_q + self._pull_turns(z)
        paths.add(t, total - self.system._projector.project(total))

    def _pull_turns(self, z: Float) -> Float:
        """Return the gradient of z·S ∂V/∂q by q through S, (n, 3)."""
        return np.zeros_like(z)

    def polish(self) -> StaticPoint:
        """Return the point after one more Newton iteration."""
        moved = self.state.with_(q=self.state.q - self.solve(self.gradient()))
        factor = next(iter(self.factors.values()), 1.0)
        return StaticPoint(self.system, moved, factor, self.accuracy * TIGHTER)

    def find_kinks(self) -> list[tuple[float, str, int]]:
        """Return where the stiffness has a kink: time, law and element."""
        q, t = np.array(self.state.q), self.state.t
        found = find_kinks(self.forces.parts_of_energy, q, q, 0.0, t, KINK_MARGIN)
        return [(t, law, element) for law, element in found]


class MembranePoint(StaticPoint):
    """The form of a membrane, whose points move along their normals.

    triangles : (k, 3); sliding : points that balance across the surface only, (s,)
    """

    def __init__(
        self, triangles: Int, sliding: Int, system: System, state: State, accuracy: float
    ) -> None:
        super().__init__(system, state, 1.0, accuracy)
        self._triangles, self._sliding = triangles, sliding
        q = np.array(state.q)
        around = self._sum_up(np.repeat(vector_areas(q, triangles)[:, None], 3, axis=1))
        normals = np.zeros_like(q)
        normals[sliding] = around[sliding] / row_norms(around[sliding])[:, None]
        lines = [on_line([i], normals[i]) for i in sliding.tolist()]
        self._lined = system.with_(pose=q, constraints=[*system.constraints, *lines])
        # g·dn = w·dA, with A the sum of the vector areas around a point
        left = self.gradient()
        across = np.einsum("ni,ni->n", left, normals)
        turn = np.zeros_like(q)
        turn[sliding] = (left - across[:, None] * normals)[sliding]
        turn[sliding] /= row_norms(around[sliding])[:, None]
        self._normals = normals
        # of wᵣ·dA by the corner c: ½ (x_{c+1} - x_{c-1}) × wᵣ, (k, r, c, 3)
        x = q[triangles]
        sides = np.roll(x, -1, axis=1) - np.roll(x, 1, axis=1)
        self._turns = 0.5 * np.cross(sides[:, None, :, :], turn[triangles][:, :, None, :])

    def _project(self, vectors: Float) -> Float:
        return self._lined._projector.project(vectors)

    def _solve(self, b: Float, *, transposed: bool) -> Solution | None:
        workspace = workspace_for(self._lined)
        matrix = workspace.stiffness(self.state, project=False).copy()
        self._add_turns(matrix)
        workspace.apply_constraints(matrix)
        return GeneralFactors(matrix).solve(b, transposed=transposed)

    def _add_turns(self, matrix: BlockMatrix) -> None:
        """Add nᵢ (gᵢ·∂nᵢ/∂qⱼ) to a matrix, whose pattern has the sides of all triangles."""
        n, pattern = self.system.n, matrix.pattern
        known = pattern.rows.astype(np.int64) * n + pattern.indices
        wanted = self._triangles[:, :, None] * n + self._triangles[:, None, :]
        normals = self._normals[self._triangles]
        blocks = np.einsum("kri,krcj->krcij", normals, self._turns)
        np.add.at(matrix.data, np.searchsorted(known, wanted), blocks)

    def _pull_turns(self, z: Float) -> Float:
        along = np.einsum("kri,kri->kr", self._normals[self._triangles], z[self._triangles])
        slopes = np.einsum("kr,krci->kci", along, self._turns)
        return self._sum_up(slopes)

    def _sum_up(self, vectors: Float) -> Float:
        """Add vectors of the corners of triangles, (k, 3, 3), up at their points, (n, 3)."""
        total = np.zeros((self.system.n, 3))
        np.add.at(total, self._triangles, vectors)
        return total

    def polish(self) -> StaticPoint:
        """Return the point after one more Newton iteration."""
        moved = self.state.with_(q=self.state.q - self.solve(self.gradient()))
        accuracy = self.accuracy * TIGHTER
        return MembranePoint(self._triangles, self._sliding, self.system, moved, accuracy)
