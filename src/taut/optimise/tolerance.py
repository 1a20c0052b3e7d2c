"""Residual tolerances and rounding floors, particle by particle.

The residual r_i is the length of the unbalanced force on particle i in its free directions [N]. It
has converged when

    r_i ≤ max(relative · w_i, 10⁻¹² g_i, force)

with w_i the forces at work. In a time step w_i is the particle's mass times the accelerations at
work in the system (`taut.step._accelerations`), so that the tolerance says what the residual does
to the motion. In statics it is g_i, the particle's gross force: the sum of the magnitudes of
everything that acts on it in its free directions, inertia included. 10⁻¹² of that is what sums of
forces in double precision can balance; a smaller `relative` takes its place.

Below its rounding floor, the force that a change of every coordinate in its last digit can cause,

    8ε (g_i + Σ_j |K_ij| |x_j|),

double precision cannot balance a particle. A minimisation that cannot be improved, with every
residual within its tolerance or its floor, has the outcome "rounding floor", which is reported as
such and not as converged.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from taut.arrays import EPS, Float
from taut.errors import ModelError
from taut.linalg.blocks import BlockMatrix, row_norms, row_norms_max

# Part of a particle's gross force that is never asked to be balanced, unless `relative` is smaller.
_RELATIVE_ROUNDING = 1e-12
_TINY_FORCE = 1e-150  # [N]; the squares of smaller ones, and the energies they change, underflow
_LARGEST_FLOOR = 0.1  # part of the forces at work that may be left to rounding
ROUNDING_UNITS = 8.0  # units of ε lost in the few operations between a coordinate and a force


@dataclass(frozen=True)
class Tolerance:
    """The residual that each particle must reach: max(relative · the forces at work, force).

    relative : part of the forces at work, 0 or more and less than 1. In a time step these are the
        particle's mass times the root mean square of the accelerations of the step and of constant
        loads; in statics, where the default is 1e-8, its gross force
    force : absolute tolerance [N], 0 or more

    >>> Tolerance().relative
    1e-06
    """

    relative: float = 1e-6
    force: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "relative", _check_number("relative", self.relative, 1.0))
        object.__setattr__(self, "force", _check_number("force", self.force, float("inf")))

    def targets(self, at_work: Float, gross: Float) -> Float:
        """Return the residual [N] that each particle must reach, (n,).

        at_work : forces at work on each particle [N]; gross : its gross force [N], both (n,)
        """
        rounding = min(self.relative, _RELATIVE_ROUNDING) * gross
        least = max(self.force, _TINY_FORCE)
        return np.maximum(np.maximum(self.relative * at_work, rounding), least)


def _check_number(name: str, value: object, upper: float) -> float:
    """Return the value as a float; raise unless it is a real number in [0, upper)."""
    number = float("nan")
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # an integer beyond the largest float
            number = float("inf")
    if not 0.0 <= number < upper:
        raise ModelError(
            f"tolerance: {name} must be a number with 0 <= {name} < {upper:g}, got {value!r}"
        )
    return number


def estimate_rounding_floors(gross: Float, stiffness: BlockMatrix, x: Float) -> Float:
    """Return the residual [N] that rounding alone can cause, 8ε(g_i + Σ_j |K_ij| |x_j|), (n,).

    gross : gross forces [N], (n,)
    stiffness : derivative of the forces by the coordinates, before constraints [N/m]
    x : coordinates [m], (n, 3)
    """
    pattern = stiffness.pattern
    size = row_norms_max(x)
    block_norms = np.sqrt(np.einsum("bij,bij->b", stiffness.data, stiffness.data))
    sums = gross + np.add.reduceat(block_norms * size[pattern.indices], pattern.indptr[:-1])
    for term in stiffness.low_rank:
        slopes = row_norms(term.vector)
        sums += abs(term.weight) * slopes * float(np.einsum("i,i->", slopes, size))
    return ROUNDING_UNITS * EPS * sums


def refuse_large_floors(floors: Float, residuals: Float, at_work: Float) -> Float:
    """Return floors of at most a tenth of the forces at work; infinite where residuals are larger.

    An estimate above the forces at work certifies nothing. It is a bound, though, and a residual
    far below it may be small.

    floors, residuals, at_work : of each particle [N], (n,)

    >>> floors, residuals = np.array([0.01, 5.0, 5.0]), np.array([1e-3, 1e-3, 0.5])
    >>> refuse_large_floors(floors, residuals, np.ones(3)).tolist()
    [0.01, 0.1, inf]
    """
    limits = _LARGEST_FLOOR * at_work
    allowed = np.where(residuals > limits, np.inf, limits)
    return np.where(floors > limits, allowed, floors)


def all_within(residuals: Float, limits: Float) -> bool:
    """Whether each particle's residual is within its limit [N], both (n,): the certificate.

    A limit that is not finite allows nothing: an infinite residual must not pass for converged
    because the forces it is compared with have overflowed too.

    >>> all_within(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    True
    >>> all_within(np.array([np.inf]), np.array([np.inf]))
    False
    """
    return bool((residuals <= limits).all() and np.isfinite(limits).all())


def relative_residuals(residuals: Float, limits: Float) -> Float:
    """Return residual/limit of each particle, (n,).

    0 where there is no residual, infinite where a residual is compared with the limit 0.
    """
    if limits.size and limits.min() > 0.0:
        return residuals / limits
    ratios = np.where(residuals > 0.0, np.inf, 0.0)
    np.divide(residuals, limits, out=ratios, where=limits > 0.0)
    return ratios


def find_worst_particle(residuals: Float, targets: Float, floors: Float) -> dict[str, Any]:
    """Find the particle closest to its limit or furthest beyond it, with its own numbers [N].

    residuals, targets, floors : of each particle [N], (n,); floors may be empty

    >>> find_worst_particle(np.array([1.0, 3.0]), np.array([2.0, 4.0]), np.zeros(0))
    {'particle': 1, 'residual': 3.0, 'tolerance': 4.0, 'floor': 0.0}
    """
    if not len(floors):
        floors = np.zeros_like(targets)
    worst = int(np.argmax(relative_residuals(residuals, np.maximum(targets, floors))))
    return {
        "particle": worst,
        "residual": float(residuals[worst]),
        "tolerance": float(targets[worst]),
        "floor": float(floors[worst]),
    }
