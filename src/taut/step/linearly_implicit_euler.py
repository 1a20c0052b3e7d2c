"""Linearly implicit Euler: (M + hD + h²K) Δv = h(f(q, v) - hK v), q' = q + h v'."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from taut.solve.newton import Outcome
from taut.solve.tolerance import largest, rounding_floor
from taut.step.integrator import Integrator
from taut.step.report import Report
from taut.system.assembly import Inputs
from taut.system.blocks import BlockMatrix
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


class LinearlyImplicitEuler(Integrator):
    """One linear solve per step: forces are linearised at the old state (time-dependent parameters are taken at the new time).

    Cheap and stable in practice, but the energy of a nonlinear system may grow over a step; use `ImplicitEuler` for the
    guarantee. If the true stiffness makes the matrix indefinite, the projected one is used on both sides, and reported.

    >>> import taut
    >>> taut.LinearlyImplicitEuler(solver="cg").order
    1
    """

    order: ClassVar[int] = 1
    descends: ClassVar[bool] = False

    def step(self, system: System, state: State, h: float) -> tuple[State, Report]:
        begun = time.perf_counter()
        self.check(system, state, h)
        t, hold = state.t + h, system.hold
        solver = self.linear_solver(system.n)
        rayleigh = system.rayleigh_matrix(state) if system.rayleigh is not None else None
        prescribed = hold.place(state.q, t) - state.q - h * (state.v - hold.project(state.v))  # what y must be where not free
        for project in (False, True):
            matrix, b, gross = self._linearised(system, state, h, rayleigh, project=project)
            stiffness = matrix.diagonal_trace() * ~hold.held
            b = hold.project(b - matrix.times(prescribed))
            hold.constrain(matrix)
            gross = np.where(hold.held, 0.0, gross)
            target = self.tolerance.target(gross)
            solver.analyse(matrix.pattern)
            solution = solver.solve(b, target) if solver.factor(matrix) else None
            if solution is not None and solution.definite:
                break
        y = np.zeros_like(b) if solution is None else prescribed + hold.project(solution.x)
        residual = largest(b) if solution is None else solution.residual
        floor = rounding_floor(gross, stiffness, y)
        solved: Outcome = "converged" if residual <= target else "rounding floor" if residual <= floor else "not converged"
        report = Report(
            integrator=type(self).__name__,
            t=t,
            h=h,
            outcome=solved,
            residual=residual,
            tolerance=target,
            floor=floor,
            decrease=0.0,
            iterations=1,
            projections=int(project),
            restarts=0,
            evaluations=1 + project,
            solver=solver.name,
            linear_iterations=0 if solution is None else solution.iterations,
            seconds=time.perf_counter() - begun,
        )
        self.certify(report, state, "the linear solver stopped short of the tolerance")
        q = hold.place(state.q + h * state.v + y, t)
        return State(t, q, (q - state.q) / h, state.active), report

    def _linearised(
        self, system: System, state: State, h: float, rayleigh: BlockMatrix | None, *, project: bool
    ) -> tuple[BlockMatrix, Float, Float]:
        """M/h² + D/h + K, the right-hand side f(q, v) - hK v for y = h Δv [N], and the gross forces in it [N]."""
        t, v = state.t + h, np.array(state.v)
        energies = system.assembly("potential", state)
        _, gradient, gross = energies.hessian([Inputs.at(state, t)] * len(energies.terms), np.zeros(system.n), project=project)
        loads = [gradient, h * energies.matrix.times(v)]
        matrices, factors = [energies.matrix], [1.0]
        if system.placed_damping:
            damping = system.assembly("damping", state)
            loads.append(damping.hessian([Inputs.rates(state, t)] * len(damping.terms), np.zeros(system.n), project=False)[1])
            matrices.append(damping.matrix)
            factors.append(1.0 / h)
        if rayleigh is not None:
            loads.append(rayleigh.times(v))
            matrices.append(rayleigh)
            factors.append(1.0 / h)
        union = system.union([m.pattern for m in matrices])
        total = BlockMatrix(union.pattern, np.empty((len(union.pattern.indices), 3, 3)))
        union.add(matrices, factors, total.data)
        total.data[total.pattern.diagonal] += (system.mass / h**2)[:, None, None] * np.eye(3)
        gross = gross + sum(np.abs(load).sum(axis=1) for load in loads[1:])
        return total, -np.sum(loads, axis=0), gross
