"""The formula of an explicit method, evaluated on weights instead of arrays.

Positions and velocities in such a formula are sums x q + y v + Σ z_s a_s of those at the start and
of the accelerations at its stages. A `Combination` is the weights of one sum: adding and scaling
costs nothing, and only the arguments of forces and the end of the step are computed as arrays, in
one pass.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from taut.arrays import Float
from taut.jit.compile import kernels
from taut.step._objective import require_finite


class Combination:
    """Weights of q, v and the accelerations, (2 + stages,), with the arithmetic of formulas.

    >>> q, v, a = (Combination(row) for row in np.eye(3))
    >>> (q + 0.5 * (v + a / 2)).weights.tolist()
    [1.0, 0.5, 0.25]
    """

    __array_ufunc__ = None  # NumPy scalars then leave arithmetic to this class

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


class StageSums:
    """The start of a step and the accelerations at its stages, from which sums are computed.

    q, v : at the start [m], [m/s], (n, 3)
    accelerations : a buffer for all stages [m/s²], (stages, n, 3)
    """

    def __init__(self, q: Float, v: Float, accelerations: Float) -> None:
        self.q, self.v, self._count = q, v, 0
        self._accelerations = accelerations
        self._unit = _unit(2 + len(accelerations))
        self.start = Combination(self._unit[0]), Combination(self._unit[1])  # q and v

    @property
    def next_acceleration(self) -> Float:
        """The buffer of the next acceleration, (n, 3)."""
        return self._accelerations[self._count]

    def add_acceleration(self) -> Combination:
        """Count the acceleration that has been written, and return it."""
        self._count += 1
        return Combination(self._unit[1 + self._count])

    def evaluate(self, q: Combination, v: Combination) -> tuple[Float, Float]:
        """Return positions and velocities (n, 3): the arrays of the start itself, or new ones.

        Raises SingularState if one is not finite.
        """
        if q is self.start[0] and v is self.start[1]:
            return self.q, self.v
        weights = np.array([q.weights, v.weights])
        sums = np.empty((2, *self.q.shape))
        known = self._accelerations[: self._count].reshape(self._count, self.q.size)
        combine = kernels("taut.step._combination_kernels").combine
        if combine(self.q.reshape(-1), self.v.reshape(-1), known, weights, sums.reshape(2, -1)):
            require_finite(*sums)
        return sums[0], sums[1]
