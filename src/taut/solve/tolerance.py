"""When is a step solved? One measure and one default for every method.

The residual is the largest unbalanced force on any particle [N]. It is compared with

    tolerance = max(relative · F, force),

where F is the largest *gross* force on any particle: the sum of the magnitudes of everything that acts on it, inertia included.
Below the *rounding floor*, the force that shifting every coordinate by one unit in the last place can cause, no arithmetic in
double precision gets; reaching that floor above the tolerance is a separate, reported outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError

Float = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
FLOOR = 8.0  # units of rounding: the few operations between a coordinate and a force


@dataclass(frozen=True)
class Tolerance:
    """The residual a step must reach: `relative` to the largest gross force, or `force` [N], whichever is larger.

    >>> Tolerance().relative
    1e-08
    """

    relative: float = 1e-8
    force: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("relative", self.relative), ("force", self.force)):
            if not 0.0 <= value < float("inf"):
                raise ModelError(f"tolerance: {name} is {value}; it must be finite and not negative")

    def target(self, gross: Float) -> float:
        """The residual [N] to reach, given the gross force on each particle [N]."""
        return max(self.relative * float(gross.max(initial=0.0)), self.force)


def largest(vectors: Float) -> float:
    """The largest length among vectors of shape (n, 3)."""
    return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0.0)))


def rounding_floor(gross: Float, stiffness: Float, x: Float) -> float:
    """The residual [N] that rounding alone can cause.

    gross : gross force on each particle [N]; stiffness : trace of each particle's diagonal block [N/m]; x : coordinates [m]
    """
    size = np.abs(x).max(axis=1, initial=0.0)
    reach = max(float(size.max(initial=0.0)), 0.0)
    return FLOOR * EPS * float((gross + stiffness * np.maximum(size, 1e-3 * reach)).max(initial=0.0))
