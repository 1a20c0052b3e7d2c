"""The search for a form: linear steps of a membrane's force densities, then Newton's method across its surface."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from taut.constraints.sliding import on_line
from taut.errors import ModelError, NotConverged
from taut.formula.placed import Placed
from taut.solve.linear import linear_solver
from taut.solve.minimum import Minimum
from taut.solve.tolerance import Tolerance, excess
from taut.step.membrane import areas, cotangents, normals, turned_against
from taut.step.report import of_descent
from taut.step.settling import settle
from taut.step.static_objective import StaticObjective
from taut.system.blocks import lengths
from taut.system.reduction import Reduction
from taut.system.system import System

Float = NDArray[np.float64]
Int = NDArray[np.int64]
CREEP = 0.5, 1e-4  # a linear step that neither halves the residual nor lowers the energy by this part ends them
NOTHING = 1e-9  # of the size of the form: an edge shorter than this, or a triangle that thin, has collapsed
ALONG = 0.1  # of a load: more than this along a membrane is not a load across a surface that bends a little


class Finding:
    """The search for the form of a system of forces and the two laws given: zero-length springs and surface tension."""

    def __init__(self, system: System, nets: Placed | None, sheets: Placed | None, tolerance: Tolerance) -> None:
        self.system, self.tolerance = system, tolerance
        none = np.empty((0, 2), dtype=np.int64), np.empty((0, 3), dtype=np.int64)
        self.edges, self.triangles = nets.elements if nets else none[0], sheets.elements if sheets else none[1]
        self.density = nets.packed(0.0)[:, 0] if nets else np.empty(0)
        self.stress = sheets.packed(0.0)[:, 0] if sheets else np.empty(0)
        self.extent = float(np.ptp(system.rest, axis=0).max()) or 1.0
        self.sliding = np.setdiff1d(np.unique(self.triangles), np.concatenate([self.edges.ravel(), system.fixed]))
        self.objective = StaticObjective(system, system.initial_state())
        self.iterations = 0
        against = turned_against(self.triangles, self.sliding)
        if against is not None:
            pair = " and ".join(f"{m} (particles {self.triangles[m].tolist()})" for m in against)
            raise ModelError(f"form_finding: triangles {pair} run along their common edge the same way; turn one of them")

    def found(self) -> tuple[Minimum, Float]:
        """The certificate and the positions."""
        q = np.array(self.system.pose)
        self._refuse_collapse(q)
        if len(self.triangles):
            q = self._linear_steps(q)
        while True:
            record, q, turned = self._settled(q)
            if not turned:
                return record, q

    def _settled(self, q: Float) -> tuple[Minimum, Float, bool]:
        """The equilibrium across the surface of shape q, and whether another is needed because its normals have turned."""
        system = self._sliding_system(q)
        objective = StaticObjective(system, system.initial_state())
        solver, free = linear_solver("direct"), Reduction.of(system.hold)
        begun = time.perf_counter()
        record = settle(objective, q, solver, self.tolerance, free, self._refuse_collapse)
        seconds = time.perf_counter() - begun
        self.iterations += record.iterations
        q = system.hold.place(record.point.y, 0.0)
        self._refuse_collapse(q)
        if record.outcome == "not converged":
            report = of_descent(record, solver, integrator="form_finding", t=0.0, h=0.0, seconds=seconds, note=record.reason)
            raise NotConverged(f"form_finding: {record.reason}", report, system.initial_state().with_(q=q))
        if not len(self.sliding):
            return record, q, False
        turned = self._sliding_system(q)
        now = StaticObjective(turned, turned.initial_state())
        point = now.evaluate(q)
        limits = np.maximum(self.tolerance.targets(point.gross), now.floors(point) if len(record.floors) else 0.0)
        return record, q, not (point.residuals <= np.maximum(limits, record.point.residuals)).all()

    def _sliding_system(self, q: Float) -> System:
        """The system in which the points that only triangles hold move along the normals of shape q."""
        if not len(self.sliding):
            return self.system
        across = normals(q, self.triangles)[self.sliding]
        lost = np.flatnonzero(~across.any(axis=1))
        if len(lost):
            raise ModelError(
                f"form_finding: the surface has no normal at particle {self.sliding[lost[0]]}; turn its triangles alike"
            )
        lines = [on_line([i], d) for i, d in zip(self.sliding.tolist(), across, strict=True)]
        return self.system.with_(pose=q, constraints=lines)

    def _linear_steps(self, q: Float) -> Float:
        """Solutions of the linear problems of the force densities at the shape before, as long as residual or energy fall well."""
        residual, value = np.inf, np.inf
        self.objective.factor = 0.0  # loads along the surface would carry its points away: they come with Newton's method
        while True:
            point = self.objective.evaluate(q)
            now = float(excess(point.residuals, point.gross).max())
            if now > CREEP[0] * residual and value - point.value < CREEP[1] * point.magnitude:
                return q
            if (point.residuals <= self.tolerance.targets(point.gross)).all():
                return q
            residual, value = now, point.value
            q = self._linear_step(q)
            self.iterations += 1
            self._refuse_collapse(q)

    def _linear_step(self, q: Float) -> Float:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        edges, density = cotangents(q, self.triangles, self.stress)
        i, j = np.concatenate([self.edges, edges]).T
        d, n = np.concatenate([self.density, density]), len(q)
        rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
        matrix = csc_array((np.concatenate([-d, -d, d, d]), (rows, columns)), shape=(n, n))
        free = np.setdiff1d(np.unique(np.concatenate([i, j])), self.system.fixed)
        solved = q.copy()
        try:
            solved[free] += splu(matrix[free][:, free].tocsc()).solve(-(matrix @ q)[free])
        except RuntimeError as error:
            raise ModelError(f"form_finding: a part of the membrane reaches no fixed point ({error})") from error
        return solved

    def refuse_loads_along(self, q: Float, loads: Float) -> None:
        """Loads (n, 3) [N] that lie along the surface of shape q: a uniform stress does not carry them."""
        p, across = loads[self.sliding], normals(q, self.triangles)[self.sliding]
        along = p - across * np.einsum("ij,ij->i", across, p)[:, None]
        bad = np.flatnonzero(lengths(along) > ALONG * lengths(p))
        if len(bad):
            raise ModelError(
                f"form_finding: the load of particle {self.sliding[bad[0]]} has {lengths(along)[bad[0]]:.3g} N along the membrane, "
                f"of {lengths(p)[bad[0]]:.3g} N: a uniform stress carries only what is across it"
            )

    def _refuse_collapse(self, q: Float) -> None:
        apart = np.linalg.norm(q[self.edges[:, 1]] - q[self.edges[:, 0]], axis=1)
        for what, elements, thin in (
            ("edge", self.edges, apart <= NOTHING * self.extent),
            ("triangle", self.triangles, areas(q, self.triangles) <= NOTHING * self.extent**2),
        ):
            if thin.any():
                m = int(np.argmax(thin))
                raise ModelError(f"form_finding: {what} {m} (particles {elements[m].tolist()}) collapses: nothing spans it")
