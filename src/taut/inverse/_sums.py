"""Sums of vectors with weights that depend on the length of the step: the arithmetic of tableaux.

A `Weight` is a number with its derivatives by h and by the length of the step before; a `Sum` has a
weight for each vector of a step, such as q + h v. An integrator's formula, applied to these, gives
its own derivative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float


@dataclass(frozen=True)
class Weight:
    """A number with its derivatives by h and by the length of the step before.

    >>> h = Weight(0.5, 1.0, 0.0)
    >>> h * h / 2 + 1
    Weight(value=1.125, by_h=0.5, by_last=0.0)
    """

    value: float
    by_h: float = 0.0
    by_last: float = 0.0

    def __add__(self, other: Any) -> Weight:
        b = to_weight(other)
        return Weight(self.value + b.value, self.by_h + b.by_h, self.by_last + b.by_last)

    __radd__ = __add__

    def __neg__(self) -> Weight:
        return Weight(-self.value, -self.by_h, -self.by_last)

    def __sub__(self, other: Any) -> Weight:
        return self + -to_weight(other)

    def __rsub__(self, other: Any) -> Weight:
        return to_weight(other) + -self

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Sum):
            return other * self
        b = to_weight(other)
        return Weight(
            self.value * b.value,
            self.by_h * b.value + self.value * b.by_h,
            self.by_last * b.value + self.value * b.by_last,
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Weight:
        b = to_weight(other)
        inverse = 1.0 / b.value
        square = inverse * inverse
        product: Weight = self * Weight(inverse, -b.by_h * square, -b.by_last * square)
        return product

    def __rtruediv__(self, other: Any) -> Weight:
        return to_weight(other) / self

    def __pow__(self, power: int) -> Weight:
        slope = power * self.value ** (power - 1)
        return Weight(self.value**power, slope * self.by_h, slope * self.by_last)


def to_weight(value: Any) -> Weight:
    """Return a number as a weight."""
    return value if isinstance(value, Weight) else Weight(float(value))


class Sum:
    """A sum of named vectors, each times a weight.

    >>> q, v, h = Sum.of("q"), Sum.of("v"), Weight(0.5, 1.0)
    >>> (q + h * v / 2).weights["v"].value
    0.25
    """

    __array_ufunc__ = None  # NumPy scalars then leave arithmetic to this class

    def __init__(self, weights: Mapping[str, Weight]) -> None:
        self.weights = dict(weights)

    @staticmethod
    def of(name: str) -> Sum:
        """Return the vector of this name."""
        return Sum({name: Weight(1.0)})

    def __add__(self, other: Sum) -> Sum:
        weights = dict(self.weights)
        for name, weight in other.weights.items():
            weights[name] = weights[name] + weight if name in weights else weight
        return Sum(weights)

    def __neg__(self) -> Sum:
        return self * -1.0

    def __sub__(self, other: Sum) -> Sum:
        return self + -other

    def __mul__(self, factor: Any) -> Sum:
        return Sum({name: to_weight(factor) * weight for name, weight in self.weights.items()})

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Sum:
        return Sum({name: weight / to_weight(factor) for name, weight in self.weights.items()})

    def evaluate(self, vectors: Mapping[str, Float]) -> Float:
        """Return the sum for given vectors, (n, 3)."""
        return self._combine({k: w.value for k, w in self.weights.items()}, vectors)

    def slope(self, vectors: Mapping[str, Float], *, last: bool = False) -> Float:
        """Return the derivative of the sum by h, or by the length of the step before."""
        slopes = {k: w.by_last if last else w.by_h for k, w in self.weights.items()}
        return self._combine(slopes, vectors)

    def _combine(self, factors: Mapping[str, float], vectors: Mapping[str, Float]) -> Float:
        total = np.zeros_like(next(iter(vectors.values())))
        for name, factor in factors.items():
            if factor:
                total = total + factor * vectors[name]
        return total


@dataclass
class Clock:
    """A gradient by the time at which a step starts, by its length, and that of the last one."""

    t: float = 0.0
    h: float = 0.0
    last: float = 0.0


def dot(a: Float, b: Float) -> float:
    """Return the inner product of two sets of vectors, (n, 3)."""
    return float(np.einsum("ni,ni->", a, b))


class Bars:
    """Gradients by the named vectors of a step, added up; those not mentioned are zero."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._vectors: dict[str, Float] = {}

    def add(self, name: str, vectors: Float) -> None:
        """Add a gradient by a vector."""
        known = self._vectors.get(name)
        self._vectors[name] = vectors if known is None else known + vectors

    def get(self, name: str) -> Float:
        """Return the gradient by a vector, (n, 3)."""
        found = self._vectors.get(name)
        return np.zeros((self._n, 3)) if found is None else found

    def pull_sum(self, total: Sum, bar: Float, vectors: Mapping[str, Float], clock: Clock) -> None:
        """Add the gradients by the vectors and weights of a sum whose gradient is `bar`."""
        for name, weight in total.weights.items():
            if weight.value:
                self.add(name, weight.value * bar)
            if weight.by_h or weight.by_last:
                along = dot(bar, vectors[name])
                clock.h += weight.by_h * along
                clock.last += weight.by_last * along


def pull_weight(weight: Weight, bar: float, clock: Clock) -> None:
    """Add the gradient by time and length of a weight whose gradient is `bar`."""
    clock.h += weight.by_h * bar
    clock.last += weight.by_last * bar
