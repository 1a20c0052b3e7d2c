"""Implicit Euler: q' = argmin Φ(q), v' = (q' - q)/h."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np

from taut.errors import SingularState
from taut.solve.newton import Minimum, minimise
from taut.step.integrator import Integrator
from taut.step.objective import ImplicitObjective
from taut.step.report import Report, report
from taut.system.state import State
from taut.system.system import System


class ImplicitEuler(Integrator):
    """Each step minimises ½|q - q̃|²_M/h² + V(q) + dissipation, q̃ = q + h v, by Newton's method to the stated tolerance.

    First order; takes energy out of fast motion. The objective never ends above its value at the old positions: if nothing
    depends on time, V' + ½|Δv|²_M ≤ V + ½|v|²_M for every h.

    >>> import taut
    >>> taut.ImplicitEuler(tolerance=taut.Tolerance(relative=1e-10)).order
    1
    """

    order: ClassVar[int] = 1
    descends: ClassVar[bool] = True

    def step(self, system: System, state: State, h: float) -> tuple[State, Report]:
        begun = time.perf_counter()
        self.check(system, state, h)
        objective = ImplicitObjective(system, state, h)
        solver = self.linear_solver(system.n)
        at_old = objective.evaluate(-h * system.hold.project(state.v))
        best: Minimum | None
        try:
            best, restarts = minimise(objective, np.zeros_like(at_old.y), solver, self.tolerance), 0
        except SingularState:
            best = None  # there is no energy at q̃
        if best is None or best.outcome == "not converged" or best.point.value > at_old.value + at_old.noise:
            first, best, restarts = best, minimise(objective, at_old.y, solver, self.tolerance), 1
            if first is not None:
                best.add_work_of(first)
        certificate = report(
            best.point.residuals,
            best.targets,
            best.floors,
            integrator=type(self).__name__,
            t=objective.start.t,
            h=h,
            outcome=best.outcome,
            decrease=at_old.value - best.point.value,
            iterations=best.iterations,
            projections=best.projections,
            restarts=restarts,
            evaluations=best.evaluations + 1,
            solver=solver.name,
            linear_iterations=best.linear_iterations,
            seconds=time.perf_counter() - begun,
        )
        self.certify(certificate, state, best.reason)
        return objective.start.ended(best.point.y, state), certificate
