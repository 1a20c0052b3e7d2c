"""The lower end of the spectrum of K in the free directions: by pivots, or by iteration.

Where a factorisation is affordable (`can_afford_pivots`, judged by the pattern alone) the signs of
the pivots count eigenvalues exactly (`linalg/eigen.py`). Elsewhere an iteration with a multigrid
finds the lowest (`linalg/lowest_eigenvalues.py`): what it finds is proved, that it missed none is
not. Where one of them fails (the iteration does not converge, LDLᵀ without pivoting does not exist)
the other is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from taut.arrays import Float
from taut.errors import EigenError
from taut.linalg import eigen
from taut.linalg.blocks import BlockMatrix, Pattern
from taut.linalg.low_rank import RankOne
from taut.linalg.lowest_eigenvalues import (
    ACCURACY,
    all_eigenvalues_seem_above,
    can_afford_pivots,
    find_lowest_pairs,
    find_vector_below,
    require_convergence,
)
from taut.system.projector import ConstraintProjector
from taut.system.reduction import Reduction

Result = TypeVar("Result")


def find_spectrum(
    projector: ConstraintProjector,
    stiffness: BlockMatrix,
    n: int,
    zero: float,
    weight: Float | None = None,
    accuracy: float = ACCURACY,
) -> eigen.Spectrum:
    """Find the n smallest eigenvalues of diag(weight)·K·diag(weight) in the free coordinates.

    stiffness : K before constraints; not changed
    zero : what counts as zero
    weight : (n,), default 1
    accuracy : relative, of an iteration; pivots are followed by Lanczos' method to rounding
    """
    free = Reduction.of(projector)

    def by_pivots() -> eigen.Spectrum:
        scale = None if weight is None else weight[free.particles]
        return eigen.find_smallest(free.matrix(stiffness, scale), n, zero)

    def by_iteration() -> eigen.Spectrum:
        pairs = find_lowest_pairs(
            _constrain(projector, stiffness, weight), n, zero, accuracy=accuracy
        )
        require_convergence(pairs)
        columns = free.basis.T @ pairs.vectors.reshape(len(pairs.values), -1).T
        return eigen.Spectrum(
            pairs.values,
            eigen.fix_signs(columns),
            int((pairs.values < -zero).sum()),
            int((np.abs(pairs.values) <= zero).sum()),
            pairs.bounds,
            exact=False,
        )

    return _try_both(stiffness.pattern, by_pivots, by_iteration)


def _try_both(
    pattern: Pattern, by_pivots: Callable[[], Result], by_iteration: Callable[[], Result]
) -> Result:
    """The result of the way that suits the pattern, or of the other one if that fails."""
    ways = [by_pivots, by_iteration]
    if not can_afford_pivots(pattern):
        ways.reverse()
    try:
        return ways[0]()
    except EigenError as error:
        try:
            return ways[1]()
        except EigenError:
            raise error from None


def all_curvatures_exceed(
    projector: ConstraintProjector, stiffness: BlockMatrix, shift: float
) -> bool:
    """Whether all eigenvalues of K in the free directions lie above the shift.

    False is proved. True is proved by pivots; by iteration it is an estimate. Raises EigenError if
    neither can tell.

    stiffness : K before constraints; not changed
    """

    def by_pivots() -> bool:
        return eigen.all_eigenvalues_exceed(Reduction.of(projector).matrix(stiffness), shift)

    def by_iteration() -> bool:
        return all_eigenvalues_seem_above(_constrain(projector, stiffness), shift, abs(shift))

    return _try_both(stiffness.pattern, by_pivots, by_iteration)


def find_negative_curvature(
    projector: ConstraintProjector, stiffness: BlockMatrix, zero: float
) -> Float | None:
    """Find a direction (n, 3) of unit length with xᵀKx < -zero, near the lowest one, or None.

    None is proved by pivots; by iteration it is an estimate. Raises EigenError if neither can tell.

    stiffness : K before constraints; not changed
    zero : what counts as zero, positive
    """

    def by_pivots() -> Float | None:
        free = Reduction.of(projector)
        matrix = free.matrix(stiffness)
        if eigen.all_eigenvalues_exceed(matrix, -zero):
            return None
        value, vector = eigen.find_lowest(matrix, zero)
        return free.expand(vector) if value < -zero else None

    def by_iteration() -> Float | None:
        below = find_vector_below(_constrain(projector, stiffness), -zero, zero)
        return None if below is None else below[1]

    return _try_both(stiffness.pattern, by_pivots, by_iteration)


def _constrain(
    projector: ConstraintProjector, stiffness: BlockMatrix, weight: Float | None = None
) -> BlockMatrix:
    """A copy of diag(weight)·K·diag(weight) with the constraints applied."""
    matrix = stiffness.copy()
    if weight is not None:
        pattern = matrix.pattern
        matrix.data *= (weight[pattern.rows] * weight[pattern.indices])[:, None, None]
        matrix.low_rank = tuple(
            RankOne(term.weight, weight[:, None] * term.vector) for term in matrix.low_rank
        )
    projector.apply_to_matrix(matrix)
    return matrix
