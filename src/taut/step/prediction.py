"""Where a step goes if no force acts: the positions and velocities it starts from.

Every implicit step solves for y = q' - q̃, the displacement from q̃ = q + h v, not for q' itself: then v' = v + y/h does not
suffer from the rounding of the coordinates, however far from the origin they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prediction:
    """q̃ and its velocity, with constrained directions where they belong at the new time."""

    t: float
    h: float
    q: Float  # (n, 3)
    v: Float  # (n, 3): (q̃ - q)/h, but exactly v in the free directions

    @staticmethod
    def of(system: System, state: State, h: float) -> Prediction:
        t, hold = state.t + h, system.hold
        v = hold.project(state.v) + (hold.place(state.q, t) - state.q) / h
        free = ~hold.constrained
        v[free] = state.v[free]
        with np.errstate(over="ignore"):
            q = state.q + h * state.v
        lost = np.flatnonzero(~np.isfinite(q).all(axis=1))
        if len(lost):
            raise ModelError(f"particle {lost[0]} is too fast for a step of {h:g} s: its position overflows")
        return Prediction(t, h, hold.place(q, t), v)

    def ended(self, y: Float, state: State) -> State:
        """The state after a displacement y from q̃."""
        return State(self.t, self.q + y, self.v + y / self.h, state.active)
