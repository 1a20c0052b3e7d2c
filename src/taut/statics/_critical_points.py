"""Critical points of a path: where an eigenvalue of K passes through zero.

Between two points with different numbers of negative eigenvalues, i and j > i, each of the
eigenvalues number i + 1 to j (in ascending order) has a zero. It is found by Brent's method along
the step. With its eigenvector φ, K φ = 0, and p = ∂r/∂λ, a critical point is

    a limit point   if φ·p ≠ 0: then λ̇ = 0, since φ·(K ẏ + p λ̇) = λ̇ φ·p,
    a bifurcation   if φ·p = 0: the path is crossed by a branch that leaves along φ.

Eigenvalues that vanish at the same point make it a multiple bifurcation, or a hilltop if one of
them alone would be a limit point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from taut.arrays import Float
from taut.statics._path_search import (
    Corrector,
    Missed,
    Normal,
    PathPoint,
    Tangent,
    find_pairs,
)

Kind = Literal["limit", "bifurcation", "hilltop"]

# |φ·p|/|p| up to which they are orthogonal. Where a bifurcation is located to rounding it is 1e-8
# or less; of an imperfect structure it is the size of its imperfection.
_ORTHOGONAL = 1e-5
_SAME = 1e-6  # part of a step within which eigenvalues vanish at the same point
_ACCURACY = 1e-12  # of a zero, relative to the step


class Critical(NamedTuple):
    """A critical point on a step, at the length σ from its start."""

    kind: Kind
    sigma: float
    point: PathPoint
    modes: Float  # eigenvectors in the free coordinates, columns (f, m)


class _Sample(NamedTuple):
    point: PathPoint
    values: Float
    vectors: Float


def locate_critical_points(
    corrector: Corrector,
    start: PathPoint,
    tangent: Tangent,
    normal: Normal,
    sigma: float,
    negative: tuple[int, int],
) -> list[Critical]:
    """Find the critical points on the step from a point to the length σ along its tangent.

    tangent : with c·tangent = 1, as `normal` is c
    negative : how many eigenvalues are negative at either end, two different numbers
    """
    low, high = min(negative), max(negative)
    samples: dict[float, _Sample] = {}

    def sample(length: float) -> _Sample:
        if length not in samples:
            point = start
            if length != 0.0:
                ahead = Tangent(length * tangent.coordinates, length * tangent.parameter)
                point = corrector.correct(start, ahead, length, normal)
            matrix, zero = corrector.forces.stiffness(point.q, point.parameter)
            samples[length] = _Sample(point, *find_pairs(matrix, high, zero))
        return samples[length]

    zeros = sorted((_find_zero(sample, j, sigma), j) for j in range(low, high))
    groups: list[list[tuple[float, int]]] = []
    for length, j in zeros:
        if groups and abs(length - groups[-1][-1][0]) <= _SAME * abs(sigma):
            groups[-1].append((length, j))
        else:
            groups.append([(length, j)])
    return [_classify(corrector, sample(g[0][0]), g[0][0], [j for _, j in g]) for g in groups]


def _find_zero(sample: Callable[[float], _Sample], j: int, sigma: float) -> float:
    """Return the length at which the eigenvalue number j (from 0) vanishes."""
    from scipy.optimize import brentq

    def value(length: float) -> float:
        return float(sample(length).values[j])

    at_start, at_end = value(0.0), value(sigma)
    if at_start * at_end >= 0.0:  # one of them is zero to rounding
        return 0.0 if abs(at_start) < abs(at_end) else sigma
    accuracy = _ACCURACY * abs(sigma)
    root = brentq(value, min(0.0, sigma), max(0.0, sigma), xtol=accuracy, rtol=8.9e-16)
    return float(root)


def _classify(corrector: Corrector, at: _Sample, length: float, which: list[int]) -> Critical:
    modes = at.vectors[:, which]
    p = corrector.forces.slope(at.point.q, at.point.parameter, corrector.scale)
    size = float(np.linalg.norm(p))
    if not size > 0.0:
        raise Missed("nothing changes with the parameter")
    kind: Kind = "bifurcation"
    if float(np.linalg.norm(modes.T @ p)) > _ORTHOGONAL * size:
        kind = "limit" if len(which) == 1 else "hilltop"
    return Critical(kind, length, at.point, modes)
