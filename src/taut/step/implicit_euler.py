"""Implicit Euler: q' = argmin Φ(q), v' = (q' - q)/h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from taut.step._objective import StageStart, extrapolate
from taut.step.implicit import Implicit, SolvedStage
from taut.step.integrator import Kind
from taut.step.report import Report
from taut.step.step_result import Stage, StepResult
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import Workspace


class ImplicitEuler(Implicit):
    """Each step minimises ½|q - q̃|²_M/h² + V(q) + dissipation, q̃ = q + h v, to the tolerance.

    First order; takes energy out of fast motion. The objective never ends above its value at the
    old positions: if nothing depends on time, V' + ½|Δv|²_M ≤ V + ½|v|²_M for every h.

    tolerance, solver, minimiser : see `taut.Tolerance`; "auto", "direct" or "cg"; "newton" or
        "lbfgs"

    >>> import taut
    >>> taut.ImplicitEuler(tolerance=taut.Tolerance(relative=1e-10)).order
    1
    """

    order: ClassVar[int] = 1
    stability: ClassVar[Kind] = "L"
    needs: ClassVar[tuple[str, ...]] = ("forces", "stiffness")
    descends: ClassVar[bool] = True

    def predict(
        self, workspace: Workspace, state: State, h: float, solved: Sequence[SolvedStage]
    ) -> StageStart:
        system = workspace.system
        prediction = extrapolate(system, state.t + h, state.q, state.v, h)
        old = -h * system._projector.project(state.v)
        return StageStart(prediction, frozen=state, old=old, increments=True)

    def book(
        self, system: System, state: State, h: float, solved: Sequence[SolvedStage], report: Report
    ) -> StepResult:
        (stage,) = solved
        new = stage.start.prediction.end_state(stage.y, state)
        return StepResult(
            state,
            new,
            report,
            displacement=lambda: h * new.v,
            inertia=lambda: system.mass[:, None] * (new.v - state.v) / h,
            residual=stage.residual,
            stages=(Stage(1.0, new.t, new.q, new.v, state, span=h),),
        )
