"""The classical Runge-Kutta method of fourth order."""

from __future__ import annotations

from typing import Any, ClassVar

from taut.step.explicit import Acceleration, Explicit


class RK4(Explicit):
    """Fourth order, four evaluations of the forces per step.

    The energy falls slowly while h·ω < 2√2, and grows beyond. The method for reference solutions of
    smooth problems.

    >>> import taut
    >>> taut.RK4().order
    4
    """

    order: ClassVar[int] = 4
    weights: ClassVar[tuple[float, ...]] = (1 / 6, 1 / 3, 1 / 3, 1 / 6)

    @staticmethod
    def formula(a: Acceleration, t: float, q: Any, v: Any, h: float) -> tuple[Any, Any]:
        v1, a1 = v, a(t, q, v)
        v2 = v + h / 2 * a1
        a2 = a(t + h / 2, q + h / 2 * v1, v2)
        v3 = v + h / 2 * a2
        a3 = a(t + h / 2, q + h / 2 * v2, v3)
        v4 = v + h * a3
        a4 = a(t + h, q + h * v3, v4)
        return q + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
