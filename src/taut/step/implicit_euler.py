"""Implicit Euler: q' = argmin Φ(q), v' = (q' - q)/h."""

from __future__ import annotations

from typing import ClassVar

from taut.step.advance import Advance, Stage
from taut.step.implicit import Implicit
from taut.step.integrator import Kind
from taut.step.prediction import Prediction
from taut.system.state import State
from taut.system.system import System


class ImplicitEuler(Implicit):
    """Each step minimises ½|q - q̃|²_M/h² + V(q) + dissipation, q̃ = q + h v, to the stated tolerance.

    First order; takes energy out of fast motion. The objective never ends above its value at the old positions: if nothing
    depends on time, V' + ½|Δv|²_M ≤ V + ½|v|²_M for every h.

    tolerance, solver, minimiser : see `taut.Tolerance`; "auto", "direct" or "cg"; "newton" or "lbfgs"

    >>> import taut
    >>> taut.ImplicitEuler(tolerance=taut.Tolerance(relative=1e-10)).order
    1
    """

    order: ClassVar[int] = 1
    stability: ClassVar[Kind] = "L"
    needs: ClassVar[tuple[str, ...]] = ("forces", "stiffness")
    descends: ClassVar[bool] = True

    def move(self, system: System, state: State, h: float) -> Advance:
        self.check(system, state, h)
        q, v = state.q, state.v
        start = Prediction.of(system, state.t + h, q, v, h)
        solved = self.solve(system, state, start, h, frozen=state, old=-h * system.hold.project(v), increments=True)
        new = start.ended(solved.y, state)
        return Advance(
            state, new, solved.report,
            moved=lambda: h * new.v,
            inertia=lambda: system.mass[:, None] * (new.v - v) / h,
            residual=solved.residual,
            stages=(Stage(1.0, start.t, new.q, new.v, state, span=h),),
        )  # fmt: skip
