"""Symplectic Euler: kick, then drift."""

from __future__ import annotations

from typing import Any, ClassVar

from taut.step.explicit import Acceleration, Explicit


class SymplecticEuler(Explicit):
    """v' = v + h M⁻¹f(q, v, t), q' = q + h v'.

    First order, one evaluation of the forces a step; keeps an energy close to the true one for ever
    while h·ω < 2.

    >>> import taut
    >>> taut.SymplecticEuler().order, taut.SymplecticEuler.stability
    (1, 'conditional')
    """

    order: ClassVar[int] = 1
    weights: ClassVar[tuple[float, ...]] = (1.0,)

    @staticmethod
    def formula(a: Acceleration, t: float, q: Any, v: Any, h: float) -> tuple[Any, Any]:
        v = v + h * a(t, q, v)
        return q + h * v, v
