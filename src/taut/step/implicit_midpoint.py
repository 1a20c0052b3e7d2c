"""Implicit midpoint: v' = v + h M⁻¹f(q_m, v_m, t + h/2), q' = q + h v_m, with q_m and v_m halfway."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from taut.step.advance import Advance, Stage
from taut.step.implicit import Implicit
from taut.step.integrator import Kind
from taut.step.prediction import Prediction, require_finite
from taut.system.state import State
from taut.system.system import System


class ImplicitMidpoint(Implicit):
    """Half a step of implicit Euler to the middle, and as far again along the same velocity.

    Second order; keeps the energy of linear oscillations and the momenta exactly, and damps nothing: fast oscillations that h
    does not resolve stay for ever. Use it for accuracy with a moderate h, `TRBDF2` or `BDF2` for stiff bodies.

    tolerance, solver, minimiser : see `taut.Tolerance`; "auto", "direct" or "cg"; "newton" or "lbfgs"

    >>> import taut
    >>> taut.ImplicitMidpoint().order, taut.ImplicitMidpoint.stability
    (2, 'A')
    """

    order: ClassVar[int] = 2
    stability: ClassVar[Kind] = "A"
    needs: ClassVar[tuple[str, ...]] = ("forces", "stiffness")

    def move(self, system: System, state: State, h: float) -> Advance:
        self.check(system, state, h)
        hold, half = system.hold, h / 2
        q, v = np.array(state.q), np.array(state.v)
        start = Prediction.of(system, state.t + half, q, v, half, held=hold.velocities(state.t, h, 0.5))
        frozen = state.with_(t=start.t, q=start.q)
        solved = self.solve(system, state, start, h, frozen=frozen, old=-half * hold.project(v))
        with np.errstate(over="ignore"):
            moved = h * solved.v
        require_finite(q + moved)
        end = state.t + h
        gained = 2.0 * solved.y / half  # v' - v in the free directions
        new_v = hold.project(v) + hold.project(gained) + hold.velocities(state.t, h, 1.0)
        new = State(end, hold.place(q + moved, end), new_v, state.active)
        if hold.scripts:
            moved += hold.place(q, end) - q - (moved - hold.project(moved))
        inertia = system.mass[:, None] * gained / h
        stage = Stage(1.0, start.t, solved.q, solved.v, frozen)
        return Advance(state, new, solved.report, moved, inertia, solved.residual, (stage,))
