"""The search for the form of nets and membranes of uniform stress.

Moving points along a membrane hardly changes its area, and where it does, the mesh is the reason
and not the surface: the discrete area has in general no minimum in these directions short of
collapsed triangles. So the equilibrium that is sought is one across the surface: a point that
belongs to triangles only moves along the normal, and balances there. Where along the surface the
points lie is chosen for the sake of the triangles, in two ways:

- First the sides of the triangles are given force densities, ε times those of equilateral ones.
  Their energy keeps triangles open from any start; it is relaxed away, ε = 1, 0.1, 0.
- Then, as the points settle along the normals, each one moves in its tangent plane to where equal
  densities would hold it, until no side changes by more than a tenth.

Pinkall and Polthier's linear steps, with the densities s/2·cot of the angles as they are, lost:
from a flat start in a bent rim they leave a row of slivers along the rim, which stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.binding.placed_law import PlacedLaw
from taut.constraints.sliding import on_line
from taut.errors import ModelError, NotConverged
from taut.laws.surface_tension import surface_tension
from taut.laws.zero_length_spring import zero_length_spring
from taut.linalg.blocks import BlockMatrix, row_norms
from taut.linalg.linear import make_solver
from taut.optimise.descent import Descent
from taut.optimise.tolerance import Tolerance
from taut.statics._form_accuracy import bound_solver_error, estimate_mesh_error
from taut.statics._membrane import (
    find_folded_edge,
    find_opposed_triangles,
    side_densities,
    triangle_areas,
    triangle_qualities,
    vertex_normals,
)
from taut.statics._proximal_descent import minimise_proximal
from taut.statics._static_objective import StaticObjective
from taut.statics._strut_net import solve_net
from taut.statics._tangential_moves import find_largest_stretch, find_tangential_moves
from taut.step.report import report_descent
from taut.system.system import System

_RELAXATION = (1.0, 0.1)  # ε, before it is zero
_LOOSE_TOLERANCE = Tolerance(relative=1e-3)  # of the relaxed forms, which are only a start
_MAX_STRETCH = 0.1  # of a side: points that equal densities would move less stay where they are
_MAX_ROUNDS = 60
_COLLAPSED = 1e-9  # length of an edge over the size of the form; area of a triangle over its square
_MIN_QUALITY = 0.02  # of a triangle; it is a sliver, a hundred times as long as wide
_MAX_TANGENTIAL_LOAD = 0.1  # of a load: a larger part along the membrane is no load across it
_ACCURACY = 0.01  # default, of the size of the form


class FormSearch:
    """The search for the form of a system of zero-length springs, surface tension and more.

    net, membrane, inflation : the springs, the surface tension and the pressure of the system, or
        None
    edges, density : (m, 2) and force densities [N/m], (m,)
    triangles, stress, pressure : (k, 3), membrane stress [N/m], (k,), and pressure [Pa], (k,)
    sliding : points that belong to triangles only and move along the surface normal
    iterations : Newton iterations in total
    """

    def __init__(
        self,
        system: System,
        net: PlacedLaw | None,
        membrane: PlacedLaw | None,
        inflation: PlacedLaw | None,
        goal_points: Int,
        tolerance: Tolerance,
    ) -> None:
        self.edges, self.density = np.empty((0, 2), dtype=np.int64), np.empty(0)
        self.triangles, self.stress = np.empty((0, 3), dtype=np.int64), np.empty(0)
        if net is not None:
            self.edges, self.density = net.elements, net.parameters.pack(0.0)[:, 0]
        if membrane is not None:
            self.triangles, self.stress = membrane.elements, membrane.parameters.pack(0.0)[:, 0]
        self._membrane = membrane
        if len(self.triangles):
            mean = np.full(len(self.triangles), self.stress.mean())
            self._sides = side_densities(self.triangles, mean)
        self.pressure = np.zeros(len(self.triangles))
        if inflation is not None:
            self.pressure += inflation.parameters.pack(0.0)[:, 0]
        held = system._projector.constrained_particles
        not_sliding = np.concatenate([self.edges.ravel(), held, goal_points])
        self.sliding = np.setdiff1d(np.unique(self.triangles), not_sliding)
        self.iterations = 0
        self._system, self._tolerance = system, tolerance
        self._unconstrained = StaticObjective(system, system.initial_state())
        self._has_goals = len(goal_points) > 0
        # A net with struts and nothing else is a linear problem without a minimum.
        has_struts = bool((self.density < 0.0).any())
        self._is_strut_net = has_struts and membrane is None and not self._has_goals
        self._least_eigenvalue = np.inf  # of its matrix, the smallest magnitude [N/m]
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
        if self._is_strut_net:
            return self._solve_struts(q)
        if len(self.sliding):
            q = self._relax(q)
        for _ in range(_MAX_ROUNDS):
            descent, q = self._descend_across(q)
            if not len(self.sliding):
                return descent, q
            if not self._is_balanced(q, descent):
                continue
            moves = find_tangential_moves(q, self.triangles, self.sliding, *self._sides)
            if find_largest_stretch(q, moves, self._sides[0]) <= _MAX_STRETCH:
                return descent, q
            # In all directions: the objective leaves out those along the surface.
            q = q + self._unconstrained.free_part(q, moves) * moves
        raise self.error("the points slide along the membrane without end", descent, q)

    def certify(self, descent: Descent, q: Float, accuracy: float | None) -> tuple[float, float]:
        """Return the errors of solver and mesh [m]; raise if the form is none, or too far off.

        accuracy : what they may add up to [m] (default: a part of the size)
        """
        if self._is_strut_net:
            residual = float(np.sqrt(np.sum(descent.point.residuals**2)))
            return residual / self._least_eigenvalue, 0.0
        self._reject_slivers(descent, q)
        objective = self.objective(q)
        solver_error, least = bound_solver_error(objective, q)
        if least < 0.0:
            raise self.error(
                f"the form is in unstable equilibrium: an eigenvalue is {least:.3g} N/m",
                descent, q,
            )  # fmt: skip
        if least == 0.0:
            if self._has_goals:  # they may leave a motion free: the form is one of many
                return np.inf, np.inf if len(self.triangles) else 0.0
            raise self.error(
                "the stiffness has an eigenvalue of zero: the distance from the equilibrium has no "
                "bound",
                descent, q,
            )  # fmt: skip
        mesh_error = 0.0
        if len(self.triangles):
            mesh_error = estimate_mesh_error(
                objective, q, self.triangles, self.stress, self.pressure
            )
        limit = _ACCURACY * self._extent if accuracy is None else accuracy
        if not solver_error + mesh_error <= limit:
            raise self.error(
                f"the form is within {solver_error:.2e} m of the equilibrium of its mesh, and that "
                f"about {mesh_error:.2e} m off the smooth surface, more than the accuracy of "
                f"{limit:.2e} m: refine the mesh or the tolerance",
                descent, q,
            )  # fmt: skip
        return solver_error, mesh_error

    def objective(self, q: Float) -> StaticObjective:
        """Return the energy with the sliding points on the normals of shape q."""
        return _FormObjective(self._constrain_to_normals(q), self._reject_collapse)

    def gradient(self, q: Float) -> Float:
        """Return ∂V/∂q [N], (n, 3), in all directions."""
        return self._unconstrained.potential(q).gradient

    def error(self, reason: str, descent: Descent, q: Float, seconds: float = 0.0) -> NotConverged:
        """Return an error with a report on the last descent and the positions q."""
        report = report_descent(
            descent,
            make_solver("direct"),
            integrator="form_finding",
            t=0.0,
            h=0.0,
            outcome="not converged",
            seconds=seconds,
            note=reason,
        )
        state = self._system.initial_state().with_(q=q)
        return NotConverged(f"form_finding: {reason}", report, state)

    def _solve_struts(self, q: Float) -> tuple[Descent, Float]:
        """Solve the linear problem of a net with struts, whose energy has no minimum."""
        objective = self.objective(q)
        loads = -self.gradient(np.zeros_like(q))
        unreached = np.setdiff1d(np.flatnonzero(row_norms(loads)), self.edges)
        unreached = np.setdiff1d(unreached, self._system.fixed)
        if len(unreached):
            raise ModelError(
                f"form_finding: nothing holds particle {unreached[0]} against its load"
            )
        q, self._least_eigenvalue = solve_net(
            q, self.edges, self.density, loads, self._system.fixed
        )
        self._reject_collapse(q)
        self.iterations += 1
        descent = Descent.start(objective.evaluate(q), self._tolerance)
        if descent.meets(self._tolerance):
            descent.outcome = "converged"
        else:
            descent = descent.end_without_progress(
                objective, "the linear system is ill-conditioned"
            )
        if descent.outcome == "not converged":
            raise self.error(descent.reason, descent, q)
        return descent, q

    def _relax(self, q: Float) -> Float:
        """Find forms with force densities along the sides of the triangles, weaker and weaker."""
        sides, density = self._sides
        energies = list(self._system.energies)
        if np.ptp(self.stress) > 0.0 and self._membrane is not None:
            # Unequal stresses do not balance along the surface: they would drive its points.
            uniform: Any = surface_tension(self.triangles, stress=float(self.stress.mean()))
            energies = [uniform if e is self._membrane.bound else e for e in energies]
        for part in _RELAXATION:
            weak = zero_length_spring(sides, k=part * density, name="relaxation")
            system = self._system.with_(pose=q, energies=[*energies, weak])
            objective = _FormObjective(system, self._reject_collapse)
            # Without loads: those along the surface would carry its points away.
            objective.load_factor = 0.0
            descent = minimise_proximal(objective, q, make_solver("direct"), _LOOSE_TOLERANCE)
            self.iterations += descent.iterations
            q = system._projector.project_positions(descent.point.y, 0.0)
            self._reject_collapse(q)
        return q

    def _descend_across(self, q: Float) -> tuple[Descent, Float]:
        """Find the equilibrium across the surface of shape q, along the normals of that shape."""
        objective = self.objective(q)
        started = time.perf_counter()
        descent = minimise_proximal(objective, q, make_solver("direct"), self._tolerance)
        seconds = time.perf_counter() - started
        self.iterations += descent.iterations
        q = objective.projector.project_positions(descent.point.y, 0.0)
        self._reject_collapse(q)
        if descent.outcome == "not converged":
            raise self.error(descent.reason, descent, q, seconds)
        return descent, q

    def _is_balanced(self, q: Float, descent: Descent) -> bool:
        """Whether the form is balanced along its own normals too, not only along those before."""
        force = self.gradient(q)[self.sliding]
        across = np.einsum("ij,ij->i", force, vertex_normals(q, self.triangles)[self.sliding])
        limits = np.maximum(descent.targets, descent.point.residuals)
        if len(descent.rounding_floors):
            limits = np.maximum(limits, descent.rounding_floors)
        return bool((np.abs(across) <= limits[self.sliding]).all())

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
        return self._system.with_(pose=q, constraints=[*self._system.constraints, *lines])

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

    def _reject_slivers(self, descent: Descent, q: Float) -> None:
        quality = triangle_qualities(q, self.triangles)
        if len(quality) and quality.min() < _MIN_QUALITY:
            m = int(np.argmin(quality))
            raise self.error(
                f"triangle {m} (particles {self.triangles[m].tolist()}) has become a sliver of "
                f"quality {quality[m]:.2g}",
                descent, q,
            )  # fmt: skip
        edge = find_folded_edge(q, self.triangles, self.sliding) if len(quality) else None
        if edge is not None:
            raise self.error(
                f"the membrane folds by more than 90° over the edge {edge.tolist()}", descent, q
            )


class _FormObjective(StaticObjective):
    """The energy of a system in its initial state, with a look at the shape at every Hessian.

    A film that nothing keeps open shrinks to a line in twenty iterations, and Newton's method goes
    on for thousands in the rounding of its force.
    """

    def __init__(self, system: System, reject: Callable[[Float], None]) -> None:
        super().__init__(system, system.initial_state())
        self._reject = reject

    def hessian(self, y: Float, previous: Float | None) -> BlockMatrix:
        self._reject(y)
        return super().hessian(y, previous)


def _reject_flagged(kind: str, elements: Int, collapsed: Mask) -> None:
    if collapsed.any():
        m = int(np.argmax(collapsed))
        raise ModelError(
            f"form_finding: {kind} {m} (particles {elements[m].tolist()}) collapses: "
            "nothing keeps it open"
        )
