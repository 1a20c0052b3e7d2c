"""Implicit midpoint: v' = v + h M⁻¹f(q_m, v_m, t + h/2), q' = q + h v_m, q_m and v_m halfway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from taut.step._objective import StageStart, extrapolate, require_finite
from taut.step.implicit import Implicit, SolvedStage
from taut.step.integrator import Kind
from taut.step.report import Report
from taut.step.step_result import Stage, StepResult
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import Workspace


class ImplicitMidpoint(Implicit):
    """Half a step of implicit Euler to the middle, and as far again along the same velocity.

    Second order; keeps the energy of linear oscillations and the momenta exactly, and damps
    nothing: fast oscillations that h does not resolve stay for ever. Use it for accuracy with a
    moderate h, `TRBDF2` or `BDF2` for stiff bodies.

    tolerance, solver, minimiser : see `taut.Tolerance`; "auto", "direct" or "cg"; "newton" or
        "lbfgs"

    >>> import taut
    >>> taut.ImplicitMidpoint().order, taut.ImplicitMidpoint.stability
    (2, 'A')
    """

    order: ClassVar[int] = 2
    stability: ClassVar[Kind] = "A"
    needs: ClassVar[tuple[str, ...]] = ("forces", "stiffness")
    velocity_gain: ClassVar[float] = 2.0  # v' = 2 v_middle - v

    def predict(
        self, workspace: Workspace, state: State, h: float, solved: Sequence[SolvedStage]
    ) -> StageStart:
        system, half = workspace.system, h / 2
        q, v = np.array(state.q), np.array(state.v)
        prescribed = system._projector.prescribed_velocities(state.t, h, 0.5)
        prediction = extrapolate(system, state.t + half, q, v, half, prescribed)
        frozen = state.with_(t=prediction.t, q=prediction.q)
        return StageStart(prediction, frozen, old=-half * system._projector.project(v))

    def book(
        self, system: System, state: State, h: float, solved: Sequence[SolvedStage], report: Report
    ) -> StepResult:
        (middle,) = solved
        projector, half, end = system._projector, h / 2, state.t + h
        q, v = np.array(state.q), np.array(state.v)
        with np.errstate(over="ignore"):
            displacement = h * middle.v
        require_finite(q + displacement)
        gained = 2.0 * middle.y / half  # v' - v in the free directions
        new_v = projector.project(v) + projector.project(gained)
        new_v = new_v + projector.prescribed_velocities(state.t, h, 1.0)
        new_q = projector.project_positions(q + displacement, end)
        new = State(end, new_q, new_v, state.active, rest=state.rest)
        if projector.scripts:
            displacement += (
                projector.project_positions(q, end)
                - q
                - (displacement - projector.project(displacement))
            )
        return StepResult(
            state,
            new,
            report,
            displacement,
            inertia=system.mass[:, None] * gained / h,
            residual=middle.residual,
            stages=(Stage(1.0, middle.t, middle.q, middle.v, middle.start.frozen),),
        )
