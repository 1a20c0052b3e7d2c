"""What several cases build of, and limits: f(h) = f + A h² + B h⁴ + … is extrapolated from spacings that are halved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from taut.solve.tolerance import Tolerance
from taut.system.system import System
from taut.validate.case import Float

TIGHT = Tolerance(1e-13)
G = 9.81


def body(points: Any, **more: Any) -> System:
    """A System. Its arguments are of any type here, since a bound law may be an energy, a damping or a load."""
    return System(points, **more)


def links(n: int) -> list[list[int]]:
    """Pairs of neighbours of a row of n + 1 particles."""
    return [[i, i + 1] for i in range(n)]


def turns(n: int) -> list[list[int]]:
    """Triples of neighbours of a row of n + 1 particles."""
    return [[i, i + 1, i + 2] for i in range(n - 1)]


def limit(values: Sequence[Any]) -> Float:
    """Of values with an error in even powers of a spacing that is halved from one to the next: without as many powers as it can.

    >>> bool(abs(limit([1 + h**2 + 3 * h**4 for h in (0.4, 0.2, 0.1)]) - 1) < 1e-15)
    True
    """
    found, power = [np.asarray(value, dtype=np.float64) for value in values], 4.0
    while len(found) > 1:
        found, power = [(power * fine - coarse) / (power - 1) for coarse, fine in pairwise(found)], 4 * power
    return found[0]
