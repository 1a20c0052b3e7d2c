"""When is a step solved? One measure and one default for every method, particle by particle.

The residual of a particle is the length of the unbalanced force on it, in the directions in which it may move [N]. It is compared
with the particle's own

    tolerance = max(relative · gross, force),

where its *gross* force is the sum of the magnitudes of everything that acts on it in those directions, inertia included. So a
heavy or strongly loaded particle does not excuse a light one.

Below its *rounding floor*, the force that changing every coordinate in its last place can cause, no arithmetic in double
precision gets. A step that cannot be improved, with every particle within its tolerance or its floor, has the outcome
"rounding floor": a result of its own, not called converged.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.system.blocks import BlockMatrix, largest, lengths

Float = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
FLOOR = 8.0  # units of rounding: the few operations between a coordinate and a force


@dataclass(frozen=True)
class Tolerance:
    """The residual a step must reach on each particle: `relative` to its gross force, or `force` [N], whichever is larger.

    >>> Tolerance().relative
    1e-08
    """

    relative: float = 1e-8
    force: float = 0.0

    def __post_init__(self) -> None:
        for name, below, words in (("relative", 1.0, "less than 1"), ("force", float("inf"), "finite")):
            value = getattr(self, name)
            number = _number(value)
            if not 0.0 <= number < below:
                raise ModelError(f"tolerance: {name} is {value!r}; it must be a number, not negative and {words}")
            object.__setattr__(self, name, number)

    def targets(self, gross: Float) -> Float:
        """The residual [N] each particle must reach, given its gross force [N], shape (n,)."""
        return np.maximum(self.relative * gross, self.force)


def _number(value: object) -> float:
    """A real number as a float, infinite where it is too large for one; NaN for anything else, truth values included."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def rounding_floors(gross: Float, stiffness: BlockMatrix, x: Float) -> Float:
    """The residual [N] that rounding alone can cause on each particle: 8ε(gross_i + Σ_j |K_ij| |x_j|), shape (n,).

    gross : gross forces [N]; stiffness : how forces depend on the coordinates x [m], before constraints [N/m]
    """
    pattern = stiffness.pattern
    size = largest(x)
    blocks = np.sqrt(np.einsum("bij,bij->b", stiffness.data, stiffness.data)) * size[pattern.indices]
    sums = gross + np.add.reduceat(blocks, pattern.indptr[:-1])
    for rank in stiffness.spread:
        slope = lengths(rank.vector)
        sums += abs(rank.weight) * slope * float(np.einsum("i,i->", slope, size))
    return FLOOR * EPS * sums


def excess(residuals: Float, limits: Float) -> Float:
    """residual/limit of each particle: 0 where there is no residual, infinite where a residual meets the limit 0."""
    if limits.size and limits.min() > 0.0:
        return residuals / limits
    ratio = np.where(residuals > 0.0, np.inf, 0.0)
    np.divide(residuals, limits, out=ratio, where=limits > 0.0)
    return ratio


def decisive(residuals: Float, targets: Float, floors: Float) -> dict[str, Any]:
    """Which particle comes closest to its limit, or goes furthest beyond it, and its own residual, tolerance and floor [N].

    >>> decisive(np.array([1.0, 3.0]), np.array([2.0, 4.0]), np.zeros(0))
    {'particle': 1, 'residual': 3.0, 'tolerance': 4.0, 'floor': 0.0}
    """
    floors = floors if len(floors) else np.zeros_like(targets)
    worst = int(np.argmax(excess(residuals, np.maximum(targets, floors))))
    return {
        "particle": worst, "residual": float(residuals[worst]), "tolerance": float(targets[worst]), "floor": float(floors[worst]),
    }  # fmt: skip
