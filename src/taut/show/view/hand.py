"""The hand that pulls: a soft pin on every particle, V = Σ ½ kᵢ(t) |xᵢ - pᵢ(t)|², with kᵢ = 0 where nobody pulls.

It is an energy like any other, so a step that pulls is solved to its tolerance, and since k and p depend on time, the ledger books
the work of the hand. Within a step both go in a straight line from what they are to what is wanted at its end,

    k(t + s h) = (1 - s) k₀ + s k₁,     p(t + s h) = (1 - s) p₀ + s p₁,     0 ≤ s ≤ 1.

p₁ is what is wanted, or as far on the way to it as a hand moves in a step. The elements are all particles, once and for all: to
take hold of another point changes numbers, not the sparsity pattern.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from taut.formula.bound import Energy
from taut.laws.pin import pin
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
NAME = "hand"
QUICK = 2.0  # times the size of the body, in a second: how fast a hand moves
FALLBACK = 100.0  # 1/s²: k by mass where a body has no stiffness to go by


class Hand:
    """Soft pins whose strength and targets are set from step to step.

    system : whose particles are pulled; the pins are as stiff as the stiffness that its particles meet on average

    >>> import taut
    >>> ball = taut.System([[0, 0, 0]], mass=2.0)
    >>> hand = Hand(ball)
    >>> hand.aim(ball.initial_state(), 0.1, {0: np.array([0.2, 0.0, 0.0])})
    >>> hand.k(0.0).tolist(), hand.k(0.1).tolist(), hand.target(0.1).tolist()
    ([0.0], [200.0], [[0.2, 0.0, 0.0]])
    """

    def __init__(self, system: System) -> None:
        self.stiffness = strength(system)
        size = float(np.ptp(system.pose, axis=0).max())
        self.speed = QUICK * (size if size > 0.0 else 1.0)  # [m/s]
        self._begin, self._end = 0.0, 0.0
        self._k = (np.zeros(system.n), np.zeros(system.n))
        self._p = (np.array(system.pose), np.array(system.pose))
        made = pin(name=NAME, k=self.k, target=self.target)
        assert isinstance(made, Energy)
        self.energy = made

    @property
    def idle(self) -> bool:
        """Whether nothing is pulled, neither at the beginning of the step nor at its end."""
        return not (self._k[0].any() or self._k[1].any())

    def aim(self, state: State, h: float, pulled: Mapping[int, Float]) -> None:
        """Set what is wanted h seconds after a state: where each pulled particle shall be [m], (3,)."""
        t, k, p = state.t, self.k(state.t), self.target(state.t)
        k1, p1 = np.zeros_like(k), p
        if pulled:
            who = np.fromiter(pulled, dtype=np.int64, count=len(pulled))
            fresh = who[k[who] == 0.0]
            p = p.copy()
            p[fresh] = state.q[fresh]  # a hand begins where it takes hold
            way = np.array(list(pulled.values())) - p[who]
            far = np.sqrt(np.einsum("ij,ij->i", way, way))[:, None]
            k1[who], p1 = self.stiffness, p.copy()
            p1[who] += way * np.minimum(1.0, self.speed * h / np.maximum(far, 1e-300))
        self._k, self._p, self._begin, self._end = (k, k1), (p, p1), t, t + h

    def _part(self, t: float) -> float:
        span = self._end - self._begin
        return min(max((t - self._begin) / span, 0.0), 1.0) if span > 0.0 else 1.0

    def k(self, t: float) -> Float:
        """Stiffness [N/m] of each pin at time t [s], (n,)."""
        return self._between(self._k, t)

    def target(self, t: float) -> Float:
        """Where each pin pulls to [m] at time t [s], (n, 3)."""
        return self._between(self._p, t)

    def _between(self, ends: tuple[Float, Float], t: float) -> Float:
        s = self._part(t)
        if ends[0] is ends[1] or s == 1.0:
            return ends[1]
        return ends[0] if s == 0.0 else (1.0 - s) * ends[0] + s * ends[1]


def strength(system: System) -> float:
    """A stiffness for a hand [N/m]: the median of what the particles of a system meet, tr(Kᵢᵢ)/3.

    >>> import taut
    >>> from taut import laws
    >>> strength(taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.zero_length_spring([[0, 1]], k=30.0)]))
    30.0
    """
    matrix = system.stiffness(system.initial_state(), project=True)
    met = np.trace(matrix.data[matrix.pattern.diagonal], axis1=1, axis2=2) / 3
    met = met[met > 0.0]
    return float(np.median(met)) if len(met) else FALLBACK * float(system.mass.sum())
