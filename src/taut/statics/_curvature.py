"""The lower end of the spectrum of K in the free directions: by pivots, or by iteration.

Where a factorisation is affordable (`can_afford_pivots`, judged by the pattern alone) the signs of
the pivots count eigenvalues exactly (`linalg/eigen.py`). Elsewhere an iteration with a multigrid
finds the lowest (`linalg/lowest_eigenvalues.py`): what it finds is proved, that it missed none is
not. If it does not converge, K is factorised after all.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.errors import EigenError
from taut.linalg import eigen
from taut.linalg.blocks import BlockMatrix
from taut.linalg.low_rank import RankOne
from taut.linalg.lowest_eigenvalues import (
    ACCURACY,
    all_eigenvalues_seem_above,
    can_afford_pivots,
    find_lowest_pairs,
    find_vector_below,
)
from taut.system.projector import ConstraintProjector
from taut.system.reduction import Reduction


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
    if not can_afford_pivots(stiffness.pattern):
        found = _iterate(projector, free, stiffness, n, zero, weight, accuracy)
        if found is not None:
            return found
    scale = None if weight is None else weight[free.particles]
    return eigen.find_smallest(free.matrix(stiffness, scale), n, zero)


def _iterate(
    projector: ConstraintProjector,
    free: Reduction,
    stiffness: BlockMatrix,
    n: int,
    zero: float,
    weight: Float | None,
    accuracy: float,
) -> eigen.Spectrum | None:
    """The pairs that an iteration finds, or None."""
    try:
        matrix = _constrain(projector, stiffness, weight)
        pairs = find_lowest_pairs(matrix, n, zero, accuracy=accuracy)
    except EigenError:
        return None
    if not pairs.converged:
        return None
    columns = free.basis.T @ pairs.vectors.reshape(len(pairs.values), -1).T
    return eigen.Spectrum(
        pairs.values,
        eigen.fix_signs(columns),
        int((pairs.values < -zero).sum()),
        int((np.abs(pairs.values) <= zero).sum()),
        pairs.bounds,
        exact=False,
    )


def all_curvatures_exceed(
    projector: ConstraintProjector, stiffness: BlockMatrix, shift: float
) -> bool:
    """Whether all eigenvalues of K in the free directions lie above the shift.

    False is proved. True is proved by pivots; by iteration it is an estimate. Raises EigenError if
    neither can tell.

    stiffness : K before constraints; not changed
    """
    if not can_afford_pivots(stiffness.pattern):
        try:
            return all_eigenvalues_seem_above(_constrain(projector, stiffness), shift, abs(shift))
        except EigenError:  # it did not converge
            pass
    return eigen.all_eigenvalues_exceed(Reduction.of(projector).matrix(stiffness), shift)


def find_negative_curvature(
    projector: ConstraintProjector, stiffness: BlockMatrix, zero: float
) -> Float | None:
    """Find a direction (n, 3) of unit length with xᵀKx < -zero, near the lowest one, or None.

    None is proved by pivots; by iteration it is an estimate. Raises EigenError if neither can tell.

    stiffness : K before constraints; not changed
    zero : what counts as zero, positive
    """
    if not can_afford_pivots(stiffness.pattern):
        try:
            below = find_vector_below(_constrain(projector, stiffness), -zero, zero)
            return None if below is None else below[1]
        except EigenError:  # it did not converge
            pass
    free = Reduction.of(projector)
    matrix = free.matrix(stiffness)
    if eigen.all_eigenvalues_exceed(matrix, -zero):
        return None
    value, vector = eigen.find_lowest(matrix, zero)
    return free.expand(vector) if value < -zero else None


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
