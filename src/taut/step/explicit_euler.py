"""Explicit (forward) Euler: both derivatives at the start of the step."""

from __future__ import annotations

from typing import Any, ClassVar

from taut.step.explicit import Acceleration, Explicit
from taut.step.integrator import Kind


class ExplicitEuler(Explicit):
    """q' = q + h v, v' = v + h M⁻¹f(q, v, t).

    First order, one evaluation of the forces a step. It is here to show why the others exist: each
    step multiplies an undamped oscillation by √(1 + h²ω²), so that no step is short enough.
    `SymplecticEuler` moves the particles by v' instead of v, and is stable for h·ω < 2 at the same
    cost. With damping of a rate d, an oscillation decays if h ≤ d/ω² and h·d ≤ 2.

    >>> import taut
    >>> taut.ExplicitEuler().order, taut.ExplicitEuler.stability
    (1, 'unstable')
    >>> ball = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.pin(k=4.0)], pose=[[1, 0, 0]])
    >>> state, _ = taut.ExplicitEuler().step(ball, ball.initial_state(), h=0.5)
    >>> state.q[0].tolist(), state.v[0].tolist()
    ([1.0, 0.0, 0.0], [-2.0, 0.0, 0.0])
    """

    order: ClassVar[int] = 1
    stability: ClassVar[Kind] = "unstable"
    weights: ClassVar[tuple[float, ...]] = (1.0,)

    @staticmethod
    def formula(a: Acceleration, t: float, q: Any, v: Any, h: float) -> tuple[Any, Any]:
        return q + h * v, v + h * a(t, q, v)

    @classmethod
    def limit(cls, omega: float, rate: float = 0.0) -> float:
        """Return the longest stable step [s]: 0 if anything oscillates.

        omega : the highest frequency [rad/s]; rate : the largest damping rate [1/s], which need not
            be that of the fastest oscillation

        >>> import taut
        >>> taut.ExplicitEuler.limit(100.0), round(taut.ExplicitEuler.limit(0.0, 10.0), 6)
        (0.0, 0.2)
        """
        longest = super().limit(omega, rate)
        # The search of the base class would find the step whose growth is lost in rounding.
        return 0.0 if omega else longest
