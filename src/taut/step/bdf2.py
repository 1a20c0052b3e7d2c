"""BDF2: the second-order backward difference, with the step free to change."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from taut.constraints.constraint import SAME_TIME
from taut.errors import ModelError
from taut.step.advance import Advance, Stage
from taut.step.implicit import Implicit
from taut.step.integrator import Kind
from taut.step.prediction import Prediction
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
STRETCH = 2.4  # times the last step: a longer one starts afresh (the method is unstable beyond 1 + √2)
MOVED, SPEED, STEP = "BDF2 moved", "BDF2 v", "BDF2 h"


def _remembered(state: State) -> tuple[float, Float, Float]:
    """The length of the previous step [s], the displacement in it [m] and the velocities before it [m/s]."""
    try:
        last, moved, speed = float(state.history[STEP]), state.history[MOVED], state.history[SPEED]
    except (KeyError, TypeError) as error:
        raise ModelError(f"the state's history is not one of BDF2: it has {', '.join(state.history)}") from error
    if not (0.0 < last < float("inf") and moved.shape == speed.shape == state.q.shape and np.isfinite([moved, speed]).all()):
        raise ModelError("the state's history of BDF2 does not fit: a step that is not positive, or arrays of another shape")
    return last, moved, speed


class BDF2(Implicit):
    """With r = h/h_last, κ = r²/(1 + 2r) and γ = h(1 + r)/(1 + 2r), for positions and velocities alike

        y' = y + κ(y - y_last) + γ ẏ'.

    Second order, damps fast oscillations, one solve a step. It remembers the previous step in `State.history`; without one, or
    when h grows to more than 2.4 times the last, or a constraint has ended since, it takes a step of implicit Euler.

    tolerance, solver, minimiser : see `taut.Tolerance`; "auto", "direct" or "cg"; "newton" or "lbfgs"

    >>> import taut
    >>> taut.BDF2().order, taut.BDF2.needs[-1]
    (2, 'the previous step')
    """

    order: ClassVar[int] = 2
    stability: ClassVar[Kind] = "L"
    needs: ClassVar[tuple[str, ...]] = ("forces", "stiffness", "the previous step")

    @property
    def doubling(self) -> float:
        """At a steady pace: one step twice as long as those before errs by 1.2 h³, two halves by 0.518 h³ (in the same unit)."""
        return 0.76

    def move(self, system: System, state: State, h: float) -> Advance:
        self.check(system, state, h)
        q, v = np.array(state.q), np.array(state.v)
        drift, gain, gamma, note = np.zeros_like(q), np.zeros_like(v), h, "a step of implicit Euler: there is no previous step"
        if STEP in state.history:
            last, moved, speed = _remembered(state)
            r, note = h / last, "a step of implicit Euler: h has grown too much"
            if state.t - last < system.loosened - SAME_TIME * last:
                note = "a step of implicit Euler: a constraint has ended"
            elif r <= STRETCH:
                kappa, gamma, note = r * r / (1 + 2 * r), h * (1 + r) / (1 + 2 * r), ""
                drift, gain = kappa * moved, kappa * (v - speed)
        first = bool(note)
        start = Prediction.of(system, state.t + h, q + drift, v + gain, gamma)
        frozen = state if first else state.with_(t=start.t, q=system.hold.place(q + h * v, start.t))
        old = -system.hold.project(drift + gamma * (v + gain))
        solved = self.solve(system, state, start, h, frozen=frozen, old=old, increments=first)
        new, moved = start.ended(solved.y, state), drift + gamma * solved.v
        new = new.with_(history={MOVED: moved, SPEED: v, STEP: h})
        inertia = system.mass[:, None] * (new.v - v - gain) / gamma
        if first:
            stages: tuple[Stage, ...] = (Stage(1.0, start.t, solved.q, solved.v, frozen, span=h),)
        else:  # the forces at the end move it, but work counts at both ends, to second order
            stages = (Stage(0.0, state.t, q, v, state, share=0.5), Stage(1.0, start.t, solved.q, solved.v, frozen, share=0.5))
        return Advance(state, new, replace(solved.report, note=note), moved, inertia, solved.residual, stages)
