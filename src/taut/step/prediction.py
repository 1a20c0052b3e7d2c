"""Where a stage goes if no force acts: the positions and velocities it starts from.

Every implicit stage solves q' = q̄ + γ v', v' = v̄ + γ M⁻¹f(q', v', t') with its own q̄, v̄ and γ (implicit Euler: q, v and h). The
unknown is y = q' - q̃, the displacement from q̃ = q̄ + γ v̄, not q' itself: then v' = v̄ + y/γ does not suffer from the rounding of
the coordinates, however far from the origin they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import SingularState
from taut.system.blocks import lost
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


def require_finite(*arrays: Float) -> None:
    """Refuse positions or velocities (n, 3) that have left the finite numbers."""
    for array in arrays:
        gone = lost(array)
        if len(gone):
            raise SingularState(f"particle {gone[0]} has left the finite numbers: it is too fast for the step")


def _differenced(system: System, t: float, q: Float, h: float) -> Float:
    """(b(t) - q̄)/γ of the scripted particles; what is held but not scripted does not move."""
    held = np.zeros_like(q)
    if system.hold.scripts:
        way = (system.hold.place(q, t) - q) / h
        for who, _ in system.hold.scripts:
            held[who] = way[who]
    return held


@dataclass(frozen=True, eq=False)
class Prediction:
    """q̃ and its velocity, with constrained directions where they belong at the new time."""

    t: float  # t'
    h: float  # γ
    q: Float  # (n, 3)
    v: Float  # (n, 3): v̄ in the free directions

    @staticmethod
    def of(system: System, t: float, q: Float, v: Float, h: float, held: Float | None = None) -> Prediction:
        """From q̄ and v̄ over γ = h to the time t. `held` : velocities of scripted particles (default: (b(t) - q̄)/γ)."""
        hold = system.hold
        speeds, c = v.copy(), hold.among
        speeds[c] = hold.projected(v[c]) + (_differenced(system, t, q, h) if held is None else held)[c]
        with np.errstate(over="ignore"):
            ahead = q + h * v
        require_finite(ahead, speeds)
        return Prediction(t, h, hold.place(ahead, t), speeds)

    def positions(self, y: Float) -> Float:
        """q' after a displacement y from q̃ [m]."""
        return self.q + y

    def velocities(self, y: Float) -> Float:
        """v' after a displacement y from q̃ [m/s]."""
        return self.v + y / self.h

    def ended(self, y: Float, state: State) -> State:
        """The state after a displacement y from q̃."""
        q, v = self.positions(y), self.velocities(y)
        require_finite(q, v)
        return State.of_step(self.t, q, v, state)
