"""Linearly implicit Euler: (M + hD + h²K) Δv = h(f(q, v) - hK v), q' = q + h v'."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from taut.solve.linear import Solution
from taut.solve.minimum import Outcome
from taut.solve.tolerance import rounding_floors
from taut.step.advance import Advance, Linear, Stage
from taut.step.implicit import LinearImplicit
from taut.step.integrator import Kind
from taut.step.prediction import Prediction
from taut.step.report import report
from taut.system.blocks import BlockMatrix, lengths, magnitudes
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs

Float = NDArray[np.float64]


class LinearlyImplicitEuler(LinearImplicit):
    """One linear solve per step: forces are linearised at the old state (time-dependent parameters are taken at the new time).

    Cheap and stable in practice, but the energy of a nonlinear system may grow over a step; use `ImplicitEuler` for the
    guarantee. The stiffness is projected, each element's by itself and the same on both sides: with the true one, a spring under
    compression may leave the matrix nearly singular, and a single step without a line search would then throw particles far away.
    (An energy of a total has no elements that could be projected without giving up momentum: its true stiffness is tried first.)

    tolerance, solver : see `taut.Tolerance`; "auto", "direct" or "cg"

    >>> import taut
    >>> taut.LinearlyImplicitEuler(solver="cg").order
    1
    """

    order: ClassVar[int] = 1
    stability: ClassVar[Kind] = "L"
    needs: ClassVar[tuple[str, ...]] = ("forces", "stiffness")

    def move(self, system: System, state: State, h: float) -> Advance:
        begun = time.perf_counter()
        self.check(system, state, h)
        start = Prediction.of(system, state.t + h, np.array(state.q), np.array(state.v), h)
        hold, solver = system.hold, self._solver
        rayleigh = system.rayleigh_matrix(state) if system.rayleigh is not None else None
        together = any(placed.together for placed in system.placed.values())
        assembling = solving = 0.0
        solution: Solution | None = None
        for project in (False, True) if together else (True,):
            mark = time.perf_counter()
            matrix, b, gross, full = self._linearised(system, state, start, rayleigh, project=project)
            b = hold.project(b)
            targets = self.tolerance.targets(gross)
            hold.constrain(matrix)
            assembled = time.perf_counter()
            if solution is None:
                solver.analyse(matrix.pattern)
            solution = solver.solve(b, targets) if solver.factor(matrix) else None
            assembling, solving = assembling + assembled - mark, solving + time.perf_counter() - assembled
            if solution is not None and solution.definite:
                break
        solved = solution is not None and solution.definite
        y = hold.project(solution.x) if solution is not None and solved else np.zeros_like(b)
        residuals = solution.residuals if solution is not None and solved else lengths(b)
        outcome: Outcome = "converged" if solved and (residuals <= targets).all() else "not converged"
        floors = np.zeros_like(targets)
        if solved and outcome != "converged":
            floors = rounding_floors(full, matrix, y)
            outcome = "rounding floor" if (residuals <= np.maximum(targets, floors)).all() else "not converged"
        certificate = report(
            residuals,
            targets,
            floors,
            integrator=type(self).__name__,
            t=start.t,
            h=h,
            outcome=outcome,
            iterations=1,
            projections=int(project),
            evaluations=1 + (together and project),
            solver=solver.name,
            why=solver.why,
            linear_iterations=0 if solution is None else solution.iterations,
            seconds=time.perf_counter() - begun,
            assembling=assembling,
            solving=solving,
        )
        self.certify(certificate, state, "the linear solver stopped short of the tolerance")
        new = start.ended(y, state)
        moved, faster = h * new.v, new.v - state.v
        old_q, old_v = np.array(state.q), np.array(state.v)
        stage = Stage(1.0, start.t, old_q, old_v, state, linear=Linear(moved, faster, project))
        inertia, residual = system.mass[:, None] * faster / h, matrix.times(y) - b
        return Advance(state, new, certificate, moved, inertia, residual, (stage,))

    def _linearised(
        self, system: System, state: State, start: Prediction, rayleigh: BlockMatrix | None, *, project: bool
    ) -> tuple[BlockMatrix, Float, Float, Float]:
        """M/h² + D/h + K, the right-hand side for y = h(v' - ṽ) [N], (n, 3), and the gross forces in it [N], (n,),
        in the free directions and in all.

        ṽ is the predicted velocity: v where a particle is free, so that the right-hand side is f(q, v) - hK v there; where it is
        not, the difference v - ṽ acts on its neighbours through D.
        """
        h = start.h
        jump = np.array(state.v) - start.v
        energies = system.assembly("potential", state)
        at = [Inputs.at(state, start.t)] * len(energies.terms)
        energies.hessian(at, np.zeros(system.n), project=project)
        _, gradient, sizes = energies.sums()
        gross, full = energies.free_gross(system.hold), magnitudes(sizes)
        loads = [gradient, h * energies.matrix.times(start.v)]
        matrices, factors = [energies.matrix], [1.0]
        if system.placed_damping:
            damping = system.assembly("damping", state)
            at = [Inputs.rates(state, start.t)] * len(damping.terms)
            damping.hessian(at, np.zeros(system.n), project=False)
            loads += [damping.sums()[1], -damping.matrix.times(jump)]
            matrices.append(damping.matrix)
            factors.append(1.0 / h)
        if rayleigh is not None:
            loads.append(rayleigh.times(start.v))
            matrices.append(rayleigh)
            factors.append(1.0 / h)
        total = system.union([m.pattern for m in matrices]).sum(matrices, factors)
        total.data[total.pattern.diagonal] += (system.mass / h**2)[:, None, None] * np.eye(3)
        for load in loads[1:]:
            gross += magnitudes(system.hold.project(load))
            full += magnitudes(load)
        return total, -np.sum(loads, axis=0), gross, full
