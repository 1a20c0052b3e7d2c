"""Velocity Verlet: q' = q + h v + ½h²a, v' = v + ½h(a + a')."""

from __future__ import annotations

from typing import Any, ClassVar

from taut.step.explicit import Acceleration, Explicit


class VelocityVerlet(Explicit):
    """Second order, two evaluations of the forces per step.

    Keeps an energy close to the true one for ever while h·ω < 2. Damping at the end of the step
    uses the velocity v + h a, which is good to second order.

    >>> import taut
    >>> taut.VelocityVerlet().order
    2
    """

    order: ClassVar[int] = 2
    weights: ClassVar[tuple[float, ...]] = (0.5, 0.5)

    @staticmethod
    def formula(a: Acceleration, t: float, q: Any, v: Any, h: float) -> tuple[Any, Any]:
        now = a(t, q, v)
        q = q + h * (v + h / 2 * now)
        return q, v + h / 2 * (now + a(t + h, q, v + h * now))
