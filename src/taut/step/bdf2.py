"""BDF2: the second-order backward difference, with the step free to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from taut.arrays import Float
from taut.constraints.constraint import SAME_TIME
from taut.errors import ModelError
from taut.step._objective import StageStart, extrapolate
from taut.step.implicit import Implicit, SolvedStage
from taut.step.integrator import Kind
from taut.step.report import Report
from taut.step.step_result import Stage, StepResult
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import Workspace

# Times the last step: a longer one starts afresh. The method is unstable beyond 1 + √2.
_MAX_GROWTH = 2.4
# Keys in State.history; run folders contain them.
_DISPLACEMENT, _VELOCITY, _STEP = "BDF2 moved", "BDF2 v", "BDF2 h"


@dataclass(eq=False)
class _DifferenceStart(StageStart):
    """The start of a stage, with the terms of the backward difference.

    drift : κ(q - q_last) [m]; gain : κ(v - v_last) [m/s]; gamma : γ [s]
    note : why it is a step of implicit Euler; empty: it is not
    """

    drift: Float = field(kw_only=True)
    gain: Float = field(kw_only=True)
    gamma: float = field(kw_only=True)
    note: str = field(kw_only=True)


def _read_history(state: State) -> tuple[float, Float, Float]:
    """Return the previous step's length [s], its displacement [m], the velocities before [m/s]."""
    try:
        last = float(state.history[_STEP])
        displacement, velocity = state.history[_DISPLACEMENT], state.history[_VELOCITY]
    except (KeyError, TypeError) as error:
        known = ", ".join(state.history)
        raise ModelError(
            f"the state's history must have {_STEP}, {_DISPLACEMENT} and {_VELOCITY}, got {known}"
        ) from error
    if not (
        0.0 < last < float("inf")
        and displacement.shape == velocity.shape == state.q.shape
        and np.isfinite([displacement, velocity]).all()
    ):
        raise ModelError(
            "the state's history of BDF2 must have a positive step and finite arrays of the "
            f"shape {state.q.shape}"
        )
    return last, displacement, velocity


class BDF2(Implicit):
    """The backward difference, with r = h/h_last, κ = r²/(1 + 2r) and γ = h(1 + r)/(1 + 2r),

        y' = y + κ(y - y_last) + γ ẏ',    for positions and velocities.

    Second order, damps fast oscillations, one solve a step. It remembers the previous step in
    `State.history`; without one, or when h grows to more than 2.4 times the last, or a constraint
    has ended since, it takes a step of implicit Euler.

    tolerance, solver, minimiser : see `taut.Tolerance`; "auto", "direct" or "cg"; "newton" or
        "lbfgs"

    >>> import taut
    >>> taut.BDF2().order, taut.BDF2.needs[-1]
    (2, 'the previous step')
    """

    order: ClassVar[int] = 2
    stability: ClassVar[Kind] = "L"
    needs: ClassVar[tuple[str, ...]] = ("forces", "stiffness", "the previous step")

    @property
    def doubling(self) -> float:
        """The error of two half steps by their difference from a whole one.

        At a steady pace, one step twice as long as those before has the error 1.2 h³, two halves
        0.518 h³ (in the same unit).
        """
        return 0.76

    def predict(
        self, workspace: Workspace, state: State, h: float, solved: Sequence[SolvedStage]
    ) -> StageStart:
        system = workspace.system
        q, v = np.array(state.q), np.array(state.v)
        drift, gain, gamma = np.zeros_like(q), np.zeros_like(v), h
        note = "a step of implicit Euler: there is no previous step"
        if _STEP in state.history:
            last, displacement, velocity = _read_history(state)
            r, note = h / last, "a step of implicit Euler: h has grown too much"
            if state.t - last < system._released_at - SAME_TIME * last:
                note = "a step of implicit Euler: a constraint has ended"
            elif r <= _MAX_GROWTH:
                kappa, gamma, note = r * r / (1 + 2 * r), h * (1 + r) / (1 + 2 * r), ""
                drift, gain = kappa * displacement, kappa * (v - velocity)
        is_euler = bool(note)
        prediction = extrapolate(system, state.t + h, q + drift, v + gain, gamma)
        frozen = state
        if not is_euler:
            t = prediction.t
            frozen = state.with_(t=t, q=system._projector.project_positions(q + h * v, t))
        old = -system._projector.project(drift + gamma * (v + gain))
        return _DifferenceStart(
            prediction, frozen, old, is_euler, drift=drift, gain=gain, gamma=gamma, note=note
        )

    def book(
        self, system: System, state: State, h: float, solved: Sequence[SolvedStage], report: Report
    ) -> StepResult:
        (end,) = solved
        start = end.start
        assert isinstance(start, _DifferenceStart)
        q, v = np.array(state.q), np.array(state.v)
        new = start.prediction.end_state(end.y, state)
        displacement = start.drift + start.gamma * end.v
        new = new.with_(history={_DISPLACEMENT: displacement, _VELOCITY: v, _STEP: h})
        if start.increments:
            stages: tuple[Stage, ...] = (Stage(1.0, end.t, end.q, end.v, start.frozen, span=h),)
        else:
            # The forces at the end move it, but work counts at both ends, to second order.
            stages = (
                Stage(0.0, state.t, q, v, state, share=0.5),
                Stage(1.0, end.t, end.q, end.v, start.frozen, share=0.5),
            )
        return StepResult(
            state,
            new,
            replace(report, note=start.note),
            displacement,
            inertia=system.mass[:, None] * (new.v - v - start.gain) / start.gamma,
            residual=end.residual,
            stages=stages,
        )
