"""The search for the form of nets and membranes of uniform stress.

At a given shape a triangle pulls on its corners as three force densities do, s/2 times the
cotangents of its angles; solving the linear problem of these densities lowers the area (Pinkall,
Polthier 1993). Such linear steps come first, and Newton's method ends the search.

Moving points along the surface hardly changes its area, and where it does, the mesh is the reason
and not the surface: the discrete area has in general no minimum in these directions short of
collapsed triangles. So a point that belongs to triangles only moves along the surface normal, and
balances there.
"""

from __future__ import annotations

import time

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.binding.placed_law import PlacedLaw
from taut.constraints.sliding import on_line
from taut.errors import ModelError, NotConverged
from taut.linalg.blocks import row_norms
from taut.linalg.linear import make_solver
from taut.mesh.measure import vector_areas
from taut.optimise.descent import Descent
from taut.optimise.tolerance import Tolerance, relative_residuals
from taut.statics._proximal_descent import minimise_proximal
from taut.statics._static_objective import StaticObjective
from taut.step.report import report_descent
from taut.system.system import System

# Linear steps end with one that neither halves the residual nor lowers the energy by this part of
# its magnitude.
_RESIDUAL_DECREASE = 0.5
_ENERGY_DECREASE = 1e-4
_COLLAPSED = 1e-9  # length of an edge over the size of the form; area of a triangle over its square
_MAX_TANGENTIAL_LOAD = 0.1  # of a load: a larger part along the membrane is no load across it


class FormSearch:
    """The search for the form of a system of zero-length springs, surface tension and forces.

    net, membrane : the springs and the surface tension of the system, or None
    edges, density : (m, 2) and force densities [N/m], (m,)
    triangles, stress : (k, 3) and membrane stress [N/m], (k,)
    sliding : points that belong to triangles only and move along the surface normal
    iterations : linear steps and Newton iterations in total
    """

    def __init__(
        self,
        system: System,
        net: PlacedLaw | None,
        membrane: PlacedLaw | None,
        tolerance: Tolerance,
    ) -> None:
        self.edges, self.density = np.empty((0, 2), dtype=np.int64), np.empty(0)
        self.triangles, self.stress = np.empty((0, 3), dtype=np.int64), np.empty(0)
        if net is not None:
            self.edges, self.density = net.elements, net.parameters.pack(0.0)[:, 0]
        if membrane is not None:
            self.triangles, self.stress = membrane.elements, membrane.parameters.pack(0.0)[:, 0]
        not_sliding = np.concatenate([self.edges.ravel(), system.fixed])
        self.sliding = np.setdiff1d(np.unique(self.triangles), not_sliding)
        self.objective = StaticObjective(system, system.initial_state())
        self.iterations = 0
        self._system, self._tolerance = system, tolerance
        self._extent = float(np.ptp(system.rest, axis=0).max()) or 1.0
        pair = find_opposed_triangles(self.triangles, self.sliding)
        if pair is not None:
            named = " and ".join(f"{m} (particles {self.triangles[m].tolist()})" for m in pair)
            raise ModelError(
                f"form_finding: triangles {named} run along their common edge the same way; "
                "reverse one of them"
            )

    def find(self) -> tuple[Descent, Float]:
        """Find the form: the record of the last descent, and the positions [m], (n, 3)."""
        q = np.array(self._system.pose)
        self._reject_collapse(q)
        if len(self.triangles):
            q = self._take_linear_steps(q)
        while True:
            descent, q = self._descend_across(q)
            if not len(self.sliding) or self._is_balanced(q, descent):
                return descent, q

    def _descend_across(self, q: Float) -> tuple[Descent, Float]:
        """Find the equilibrium across the surface of shape q, along the normals of that shape."""
        system = self._constrain_to_normals(q)
        objective = StaticObjective(system, system.initial_state())
        solver = make_solver("direct")
        started = time.perf_counter()
        descent = minimise_proximal(objective, q, solver, self._tolerance, self._reject_collapse)
        seconds = time.perf_counter() - started
        self.iterations += descent.iterations
        q = system._projector.project_positions(descent.point.y, 0.0)
        self._reject_collapse(q)
        if descent.outcome == "not converged":
            report = report_descent(
                descent,
                solver,
                integrator="form_finding",
                t=0.0,
                h=0.0,
                seconds=seconds,
                note=descent.reason,
            )
            state = system.initial_state().with_(q=q)
            raise NotConverged(f"form_finding: {descent.reason}", report, state)
        return descent, q

    def _is_balanced(self, q: Float, descent: Descent) -> bool:
        """Whether the form is balanced along its own normals too, not only along those before."""
        system = self._constrain_to_normals(q)
        objective = StaticObjective(system, system.initial_state())
        point = objective.evaluate(q)
        limits = self._tolerance.targets(point.at_work, point.gross)
        if len(descent.rounding_floors):
            limits = np.maximum(limits, objective.rounding_floors(point))
        return bool((point.residuals <= np.maximum(limits, descent.point.residuals)).all())

    def _constrain_to_normals(self, q: Float) -> System:
        """Return the system whose sliding points move along the normals of shape q."""
        if not len(self.sliding):
            return self._system
        normals = vertex_normals(q, self.triangles)[self.sliding]
        missing = np.flatnonzero(~normals.any(axis=1))
        if len(missing):
            raise ModelError(
                f"form_finding: the surface has no normal at particle {self.sliding[missing[0]]}; "
                "orient its triangles consistently"
            )
        lines = [on_line([i], d) for i, d in zip(self.sliding.tolist(), normals, strict=True)]
        return self._system.with_(pose=q, constraints=lines)

    def _take_linear_steps(self, q: Float) -> Float:
        """Solve linear problems of the force densities while residual or energy fall well."""
        residual, value = np.inf, np.inf
        # Without loads: those along the surface would carry its points away.
        self.objective.load_factor = 0.0
        while True:
            point = self.objective.evaluate(q)
            new_residual = float(relative_residuals(point.residuals, point.gross).max())
            energy_stalls = value - point.value < _ENERGY_DECREASE * point.magnitude
            if new_residual > _RESIDUAL_DECREASE * residual and energy_stalls:
                return q
            if (point.residuals <= self._tolerance.targets(point.at_work, point.gross)).all():
                return q
            residual, value = new_residual, point.value
            q = self._take_linear_step(q)
            self.iterations += 1
            self._reject_collapse(q)

    def _take_linear_step(self, q: Float) -> Float:
        """Solve Σ_j d_ij (x_j - x_i) = 0 with the force densities of shape q."""
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        edges, density = cotangent_densities(q, self.triangles, self.stress)
        i, j = np.concatenate([self.edges, edges]).T
        d, n = np.concatenate([self.density, density]), len(q)
        rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
        matrix = csc_array((np.concatenate([-d, -d, d, d]), (rows, columns)), shape=(n, n))
        free = np.setdiff1d(np.unique(np.concatenate([i, j])), self._system.fixed)
        solved = q.copy()
        try:
            solved[free] += splu(matrix[free][:, free].tocsc()).solve(-(matrix @ q)[free])
        except RuntimeError as error:
            raise ModelError(
                f"form_finding: a part of the membrane is connected to no fixed point ({error})"
            ) from error
        return solved

    def reject_tangential_loads(self, q: Float, loads: Float) -> None:
        """Raise if loads (n, 3) [N] lie along the surface: a uniform stress cannot carry them."""
        p, normals = loads[self.sliding], vertex_normals(q, self.triangles)[self.sliding]
        tangential = p - normals * np.einsum("ij,ij->i", normals, p)[:, None]
        bad = np.flatnonzero(row_norms(tangential) > _MAX_TANGENTIAL_LOAD * row_norms(p))
        if len(bad):
            raise ModelError(
                f"form_finding: the load of particle {self.sliding[bad[0]]} has "
                f"{row_norms(tangential)[bad[0]]:.3g} N along the membrane, "
                f"of {row_norms(p)[bad[0]]:.3g} N: a uniform stress carries only loads across it"
            )

    def _reject_collapse(self, q: Float) -> None:
        lengths = np.linalg.norm(q[self.edges[:, 1]] - q[self.edges[:, 0]], axis=1)
        areas = triangle_areas(q, self.triangles)
        _reject_flagged("edge", self.edges, lengths <= _COLLAPSED * self._extent)
        _reject_flagged("triangle", self.triangles, areas <= _COLLAPSED * self._extent**2)


def _reject_flagged(kind: str, elements: Int, collapsed: Mask) -> None:
    if collapsed.any():
        m = int(np.argmax(collapsed))
        raise ModelError(
            f"form_finding: {kind} {m} (particles {elements[m].tolist()}) collapses: "
            "nothing keeps it open"
        )


def triangle_areas(q: Float, triangles: Int) -> Float:
    """Return the areas of the triangles [m²], (k,).

    >>> triangle_areas(np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]), np.array([[0, 1, 2]]))
    array([6.])
    """
    return np.linalg.norm(vector_areas(q, triangles), axis=1)


def vertex_normals(q: Float, triangles: Int) -> Float:
    """Return the unit normal at each point, (n, 3), of consistently oriented triangles.

    Zero where there are no triangles or where their normals cancel.

    >>> vertex_normals(np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]), np.array([[0, 1, 2]]))[1]
    array([0., 0., 1.])
    """
    area = vector_areas(q, triangles)
    total = np.zeros_like(q)
    for corner in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(
                triangles[:, corner], weights=area[:, axis], minlength=len(q)
            )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, length, out=np.zeros_like(total), where=length > 0.0)


def find_opposed_triangles(triangles: Int, points: Int) -> tuple[int, int] | None:
    """Find two triangles that run along a common edge the same way, or None.

    points : only edges with an end among these are looked at

    >>> find_opposed_triangles(np.array([[0, 1, 2], [1, 2, 3]]), np.arange(4))
    (0, 1)
    """
    first: dict[tuple[int, int], int] = {}
    ends = set(points.tolist())
    for number, (a, b, c) in enumerate(triangles.tolist()):
        for edge in ((a, b), (b, c), (c, a)):
            if ends.intersection(edge) and first.setdefault(edge, number) != number:
                return first[edge], number
    return None


def cotangent_densities(q: Float, triangles: Int, stress: Float) -> tuple[Int, Float]:
    """Return edges (3k, 2) and the force densities [N/m] that pull as triangles of shape q do.

    A density is s/2·cot of the angle opposite to its edge, (3k,).

    >>> corner = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> edges, density = cotangent_densities(corner, np.array([[0, 1, 2]]), np.array([2.0]))
    >>> density.round(12)
    array([0., 1., 1.])
    """
    edges, densities = [], []
    for corner in range(3):
        c, a, b = (triangles[:, (corner + k) % 3] for k in range(3))
        u, v = q[a] - q[c], q[b] - q[c]
        edges.append(np.column_stack([a, b]))
        densities.append(
            stress / 2 * np.einsum("ij,ij->i", u, v) / np.linalg.norm(np.cross(u, v), axis=1)
        )
    return np.concatenate(edges), np.concatenate(densities)
