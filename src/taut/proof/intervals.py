"""Intervals that certainly contain a real number: arithmetic with outward rounding.

A sum, difference, product, quotient or square root of two numbers is rounded to the nearest one, so
that the exact result lies within one neighbour on each side. Every operation here moves its bounds
outward by that neighbour, except where its result is exact: sums and products with zero. Elementary
functions of numpy are not rounded to the nearest number; they are widened by WIDENING units in the
last place, many times the error that libraries of mathematical functions state (up to 4).

Bounds are double numbers or, for sums in which large numbers cancel, long double ones. These have
64 bits on x86-64, and no more than doubles on some other machines: bounds are then wider, and as
certain.

An operation that cannot bound its result, such as division by an interval that contains zero,
returns NaN, and NaN goes on through all that follows: where the end is a number, everything on the
way had a bound. To switch the rounding mode of the processor would give bounds half as wide; it
lost, since numpy does not promise to keep that mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Int, Mask

Floating = NDArray[np.floating[Any]]

WIDENING = 32.0  # units in the last place of an elementary function
_SMALLEST = 5e-324  # the smallest number above zero, which a widening may not miss
# How near an extremum of a sine counts as within an interval: rounding of a quotient by π.
_NEAR_EXTREMUM = 1e-6


@dataclass(frozen=True, eq=False)
class Interval:
    """Numbers of which only bounds are known, one for each element: lo ≤ x ≤ hi, both (m,) or ().

    Both are arrays of double or of long double numbers.

    >>> x = Interval.exactly(np.array([0.1, 0.2])) + Interval.exactly(np.array(0.3))
    >>> bool((x.lo < x.hi).all()), bool((x.hi - x.lo < 2e-16).all())
    (True, True)
    """

    lo: Floating
    hi: Floating

    @staticmethod
    def exactly(x: Floating | float) -> Interval:
        """Return an interval that is one number."""
        array = np.asarray(x)
        return Interval(array, array)

    def as_doubles(self) -> Interval:
        """Return the smallest interval between double numbers that certainly contains it."""
        lo, hi = self.lo.astype(np.float64), self.hi.astype(np.float64)
        # Conversion rounds to the nearest double.
        return Interval(np.where(lo > self.lo, _down(lo), lo), np.where(hi < self.hi, _up(hi), hi))

    @property
    def is_zero(self) -> Mask:
        """Whether it is exactly zero."""
        return np.asarray((self.lo == 0.0) & (self.hi == 0.0))

    @property
    def magnitude(self) -> Floating:
        """The largest |x|."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    def widen(self, radius: Floating | float) -> Interval:
        """Return the numbers at most a radius ≥ 0 away from it."""
        return Interval(_down(self.lo - radius), _up(self.hi + radius))

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __add__(self, other: Interval) -> Interval:
        lo, hi = self.lo + other.lo, self.hi + other.hi
        exact = self.is_zero | other.is_zero
        return Interval(np.where(exact, lo, _down(lo)), np.where(exact, hi, _up(hi)))

    def __sub__(self, other: Interval) -> Interval:
        return self + (-other)

    def __mul__(self, other: Interval) -> Interval:
        products = np.stack(
            np.broadcast_arrays(
                *(self.lo * other.lo, self.lo * other.hi),
                *(self.hi * other.lo, self.hi * other.hi),
            )
        )
        exact = self.is_zero | other.is_zero
        # An overflow times zero is not a number, and stays so.
        lo, hi = products.min(axis=0), products.max(axis=0)
        return Interval(np.where(exact, lo, _down(lo)), np.where(exact, hi, _up(hi)))

    def __truediv__(self, other: Interval) -> Interval:
        bounded = (other.lo > 0.0) | (other.hi < 0.0)
        quotients = np.stack(
            np.broadcast_arrays(
                *(self.lo / other.lo, self.lo / other.hi),
                *(self.hi / other.lo, self.hi / other.hi),
            )
        )
        lo, hi = quotients.min(axis=0), quotients.max(axis=0)
        exact = self.is_zero
        lo, hi = np.where(exact, lo, _down(lo)), np.where(exact, hi, _up(hi))
        return Interval(np.where(bounded, lo, np.nan), np.where(bounded, hi, np.nan))

    def square(self) -> Interval:
        """x², which is never negative."""
        smallest = np.where((self.lo < 0.0) & (self.hi > 0.0), 0.0, _smallest_magnitude(self))
        lo, hi = smallest * smallest, self.magnitude * self.magnitude
        exact = self.is_zero
        return Interval(
            np.where(exact, lo, np.maximum(_down(lo), 0.0)), np.where(exact, hi, _up(hi))
        )

    def sqrt(self) -> Interval:
        """√x; NaN where x may be negative."""
        lo, hi = np.sqrt(self.lo), np.sqrt(self.hi)
        exact = self.is_zero
        return Interval(
            np.where(exact, lo, np.maximum(_down(lo), 0.0)), np.where(exact, hi, _up(hi))
        )

    def exp(self) -> Interval:
        """The exponential."""
        return _monotone(np.exp, self)

    def log(self) -> Interval:
        """The logarithm; NaN where x may not be positive."""
        return _keep_where(self.lo > 0.0, _monotone(np.log, self))

    def tanh(self) -> Interval:
        """The hyperbolic tangent."""
        return _monotone(np.tanh, self)

    def asin(self) -> Interval:
        """The inverse sine, from -π/2 to π/2."""
        return _monotone(np.arcsin, self)

    def acos(self) -> Interval:
        """The inverse cosine, from 0 to π."""
        return _monotone(np.arccos, Interval(self.hi, self.lo))

    def power(self, exponent: float) -> Interval:
        """x to a constant power; NaN where x may not be positive."""
        ends = (self.lo, self.hi) if exponent > 0.0 else (self.hi, self.lo)
        result = _monotone(lambda x: np.power(x, exponent), Interval(*ends))
        return _keep_where(self.lo > 0.0, result)

    def sin(self) -> Interval:
        """The sine."""
        at = _monotone(np.sin, Interval(self.lo, self.hi), ordered=False)
        lo = np.where(self._contains_turn(-0.5 * np.pi), -1.0, at.lo)
        hi = np.where(self._contains_turn(0.5 * np.pi), 1.0, at.hi)
        return Interval(lo, hi)

    def cos(self) -> Interval:
        """The cosine."""
        at = _monotone(np.cos, Interval(self.lo, self.hi), ordered=False)
        lo = np.where(self._contains_turn(np.pi), -1.0, at.lo)
        hi = np.where(self._contains_turn(0.0), 1.0, at.hi)
        return Interval(lo, hi)

    def _contains_turn(self, angle: float) -> Mask:
        """Whether it may contain an angle [rad], up to full turns."""
        first = (self.lo - angle) / (2.0 * np.pi) - _NEAR_EXTREMUM
        last = (self.hi - angle) / (2.0 * np.pi) + _NEAR_EXTREMUM
        # Angles so large that a turn is lost in their rounding may be anything.
        return np.asarray((np.floor(last) >= np.ceil(first)) | (self.magnitude > 1e8))


def atan2(y: Interval, x: Interval) -> Interval:
    """The angle of the point (x, y); NaN where it may be the origin, or where the angle jumps.

    On a rectangle without the origin and the jump, the extremes are at corners: along each side the
    angle is monotone.
    """
    corners = np.stack(
        np.broadcast_arrays(*(np.arctan2(b, a) for b in (y.lo, y.hi) for a in (x.lo, x.hi)))
    )
    jumps = (y.lo < 0.0) & (y.hi >= 0.0) & (x.lo <= 0.0)
    at_origin = (y.lo <= 0.0) & (y.hi >= 0.0) & (x.lo <= 0.0) & (x.hi >= 0.0)
    exact = y.is_zero & (x.lo > 0.0)  # the angle of a point on the axis is zero
    lo, hi = corners.min(axis=0), corners.max(axis=0)
    result = Interval(np.where(exact, lo, _widen_down(lo)), np.where(exact, hi, _widen_up(hi)))
    return _keep_where(~(jumps | at_origin), result)


def hypot(parts: list[Interval]) -> Interval:
    """√(Σ x²)."""
    total = parts[0].square()
    for part in parts[1:]:
        total = total + part.square()
    return Interval(np.maximum(total.lo, 0.0), total.hi).sqrt()


def add_up(at: Int, terms: Interval, size: int) -> Interval:
    """Return sums of intervals by their target: those of terms with at = i, for each i < size.

    at : (m,), the target of each term; the result has the shape (size,)
    """
    count = np.bincount(at, minlength=size)
    # k terms are added with an error of at most (k - 1) u Σ|x|, with u half the distance from 1 to
    # the next number; Σ|x| itself is rounded.
    unit = 0.5 * np.finfo(terms.lo.dtype).eps
    error = _up(1.01 * unit * count * _sum_by_target(at, terms.magnitude, size))
    lo, hi = _sum_by_target(at, terms.lo, size), _sum_by_target(at, terms.hi, size)
    return Interval(_down(lo - error), _up(hi + error))


def _sum_by_target(at: Int, terms: Floating, size: int) -> Floating:
    total = np.zeros(size, dtype=terms.dtype)
    np.add.at(total, at, terms)
    return total


def select(yes: Mask, no: Mask, a: Interval, b: Interval) -> Interval:
    """Return a where a condition certainly holds, b where it certainly does not, else both."""
    lo = np.where(yes, a.lo, np.where(no, b.lo, np.minimum(a.lo, b.lo)))
    hi = np.where(yes, a.hi, np.where(no, b.hi, np.maximum(a.hi, b.hi)))
    return Interval(lo, hi)


def _down(x: Floating) -> Floating:
    return np.asarray(np.nextafter(x, -np.inf))


def _up(x: Floating) -> Floating:
    return np.asarray(np.nextafter(x, np.inf))


def _widen_down(x: Floating) -> Floating:
    return np.asarray(x - WIDENING * np.finfo(x.dtype).eps * np.abs(x) - _SMALLEST)


def _widen_up(x: Floating) -> Floating:
    return np.asarray(x + WIDENING * np.finfo(x.dtype).eps * np.abs(x) + _SMALLEST)


def _smallest_magnitude(x: Interval) -> Floating:
    return np.minimum(np.abs(x.lo), np.abs(x.hi))


def _keep_where(mask: Mask, x: Interval) -> Interval:
    return Interval(np.where(mask, x.lo, np.nan), np.where(mask, x.hi, np.nan))


def _monotone(
    function: Callable[[Floating], Floating], x: Interval, *, ordered: bool = True
) -> Interval:
    """Return an elementary function at both ends, widened; ordered : whether it never falls."""
    lo, hi = function(x.lo), function(x.hi)
    if not ordered:
        lo, hi = np.minimum(lo, hi), np.maximum(lo, hi)
    return Interval(_widen_down(lo), _widen_up(hi))
