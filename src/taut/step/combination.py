"""A formula of an explicit method, run on weights instead of arrays.

Positions and velocities in such a formula are sums x q + y v + Σ z_s a_s of those at the start and of the accelerations it has
asked for. A `Combination` is the weights of one of them: adding and scaling costs nothing, and only what the forces are to be taken
at, and the end of the step, are worked out, in one pass.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from taut.formula.compile import kernels
from taut.step.prediction import require_finite

Float = NDArray[np.float64]


class Combination:
    """The weights of q, v and the accelerations, shape (2 + stages,), with the arithmetic that formulas need.

    >>> q, v, a = (Combination(row) for row in np.eye(3))
    >>> (q + 0.5 * (v + a / 2)).weights.tolist()
    [1.0, 0.5, 0.25]
    """

    __array_ufunc__ = None  # a number of numpy's leaves arithmetic to us

    def __init__(self, weights: Float) -> None:
        self.weights = weights

    def __add__(self, other: Combination) -> Combination:
        return Combination(self.weights + other.weights)

    def __neg__(self) -> Combination:
        return Combination(-self.weights)

    def __sub__(self, other: Combination) -> Combination:
        return Combination(self.weights - other.weights)

    def __mul__(self, factor: float) -> Combination:
        return Combination(factor * self.weights)

    __rmul__ = __mul__

    def __truediv__(self, factor: float) -> Combination:
        return Combination(self.weights / factor)


@cache
def _unit(size: int) -> Float:
    return np.eye(size)


class Course:
    """The start of a step, and the accelerations at its stages as they are found.

    q, v : (n, 3) [m], [m/s]; rooms : for the accelerations at all stages, (stages, n, 3), overwritten
    """

    def __init__(self, q: Float, v: Float, rooms: Float) -> None:
        self.q, self.v, self.count = q, v, 0
        self._accelerations = rooms
        self._unit = _unit(2 + len(rooms))
        self.start = Combination(self._unit[0]), Combination(self._unit[1])  # q and v

    @property
    def room(self) -> Float:
        """Where the next acceleration [m/s²] is to be written, (n, 3)."""
        return self._accelerations[self.count]

    def acceleration(self) -> Combination:
        """The one that has been written."""
        self.count += 1
        return Combination(self._unit[1 + self.count])

    def at(self, q: Combination, v: Combination) -> tuple[Float, Float]:
        """The arrays: those of the start themselves, where they are meant, or new ones; finite, or else a SingularState."""
        if q is self.start[0] and v is self.start[1]:
            return self.q, self.v
        weights = np.array([q.weights, v.weights])
        found = np.empty((2, *self.q.shape))
        known = self._accelerations[: self.count].reshape(self.count, -1)
        combine = kernels("taut.step.combination_kernels").combine
        if combine(self.q.reshape(-1), self.v.reshape(-1), known, weights, found.reshape(2, -1)):
            require_finite(*found)
        return found[0], found[1]
