"""Where a stage goes if no force acts: the positions and velocities it starts from.

Every implicit stage solves q' = q̄ + γ v', v' = v̄ + γ M⁻¹f(q', v', t') with its own q̄, v̄ and γ (implicit Euler: q, v and h). The
unknown is y = q' - q̃, the displacement from q̃ = q̄ + γ v̄, not q' itself: then v' = v̄ + y/γ does not suffer from the rounding of
the coordinates, however far from the origin they are.
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

    t: float  # t'
    h: float  # γ
    q: Float  # (n, 3)
    v: Float  # (n, 3): v̄ in the free directions

    @staticmethod
    def of(system: System, t: float, q: Float, v: Float, h: float, held: Float | None = None) -> Prediction:
        """From q̄ and v̄ over γ = h to the time t. `held` : velocities of the constrained directions (default: (b(t) - q̄)/γ)."""
        hold = system.hold
        speeds = hold.project(v) + ((hold.place(q, t) - q) / h if held is None else held)
        free = ~hold.constrained
        speeds[free] = v[free]
        with np.errstate(over="ignore"):
            ahead = q + h * v
        lost = np.flatnonzero(~np.isfinite(ahead).all(axis=1))
        if len(lost):
            raise ModelError(f"particle {lost[0]} is too fast for a step of {h:g} s: its position overflows")
        return Prediction(t, h, hold.place(ahead, t), speeds)

    def positions(self, y: Float) -> Float:
        """q' after a displacement y from q̃ [m]."""
        return self.q + y

    def velocities(self, y: Float) -> Float:
        """v' after a displacement y from q̃ [m/s]."""
        return self.v + y / self.h

    def ended(self, y: Float, state: State) -> State:
        """The state after a displacement y from q̃."""
        return State(self.t, self.positions(y), self.velocities(y), state.active)
