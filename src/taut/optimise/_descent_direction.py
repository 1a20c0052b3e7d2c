"""A descent direction where the Hessian H is not positive definite.

The projected Hessian H⁺ (each element's negative eigenvalues set to zero) is positive definite, but
where much was removed its Newton direction creeps; a blend of H and H⁺ crept along valleys of
negative curvature and ran out of iterations on crumpled bodies. So H itself is restricted to a few
vectors, the Krylov space of (H⁺)⁻¹H that starts from the direction of H⁺, and each of its
curvatures θ (relative to H⁺) there is used by its magnitude:

    p = -Σ s (s·∇Φ)/|θ|.

A saddle is left at a constant factor per iteration; a nearly definite H gives nearly its own Newton
direction (Dauphin et al. 2014, with H⁺ as metric).

Each vector takes a solve with H⁺, cheap once H⁺ is factorised. An iterative solver would begin
again for each of them, which costs more than it gains: it uses the direction of H⁺ itself.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.linalg.blocks import BlockMatrix, dot, row_norms
from taut.linalg.linear import LinearSolver
from taut.optimise.descent import Descent, Objective

_MAX_VECTORS = 20
_CONVERGED = 0.1  # part of the gradient, in the metric of H⁺, that further vectors could balance
_MIN_CURVATURE = 1e-6  # smallest |θ| to divide by
_SOLVE_ACCURACY = 1e-2  # of the solves with H⁺: they only choose the vectors


def find_descent_direction(
    objective: Objective, solver: LinearSolver, targets: Float, descent: Descent
) -> Float | None:
    """Find a direction (n, 3) [m] along which the objective falls from descent.point, or None.

    targets : residual that a linear solve may leave on each particle [N], (n,)
    """
    point = descent.point
    true: BlockMatrix | None = None
    with descent.timed("assembling"):
        if solver.is_direct:
            true = objective.hessian(point.y, project=False).copy()
        projected = objective.hessian(point.y, project=True)
    descent.projections += 1
    with descent.timed("solving"):
        if not _factor(solver, projected):
            return None
        if true is None:
            solution = solver.solve(-point.gradient, targets)
            descent.linear_iterations += solution.iterations
            direction: Float | None = solution.x
        else:
            direction = _turn_negative_curvature(solver, true, projected, descent)
    if direction is None or not np.isfinite(direction).all():
        return None
    if not dot(direction, point.gradient) < 0.0:
        return None
    return direction


def _factor(solver: LinearSolver, matrix: BlockMatrix) -> bool:
    """Factor a matrix that is positive definite but for rounding.

    Where rounding spoils it, add the smallest part of its diagonal, in steps of 100, that helps.
    """
    if solver.factor(matrix, similar=True):
        return True
    diagonal = matrix.data[matrix.pattern.diagonal].copy()
    size = np.abs(np.trace(diagonal, axis1=1, axis2=2))
    size = np.maximum(size, 1e-10 * size.max())
    for part in 10.0 ** np.arange(-12.0, 0.0, 2.0):
        matrix.data[matrix.pattern.diagonal] = diagonal + (part * size)[:, None, None] * np.eye(3)
        if solver.factor(matrix, similar=True):
            return True
    return False


def _turn_negative_curvature(
    solver: LinearSolver, true: BlockMatrix, metric: BlockMatrix, descent: Descent
) -> Float | None:
    """Return p = -Σ s (s·∇Φ)/|θ| over the Krylov space of metric⁻¹·true, or None.

    solver : holds the factors of the metric H⁺
    """
    gradient = descent.point.gradient
    basis: list[Float] = []  # q_i, orthonormal in the metric: q_i·H⁺q_j = δ_ij
    images: list[Float] = []  # H⁺q_i
    curvature = np.zeros((_MAX_VECTORS, _MAX_VECTORS))  # q_i·H q_j
    slopes = np.zeros(_MAX_VECTORS)  # q_i·∇Φ
    weights = np.zeros(0)  # of the q_i in p
    residual = gradient
    for k in range(_MAX_VECTORS):
        accuracy = np.full(len(gradient), _SOLVE_ACCURACY * float(row_norms(residual).max()))
        solution = solver.solve(residual, accuracy)
        descent.linear_iterations += solution.iterations
        if not solution.definite:
            return None
        q = solution.x
        for previous, image in zip(basis, images, strict=True):
            q = q - dot(image, q) * previous
        image = metric.multiply(q)
        square = dot(q, image)
        if not (np.isfinite(square) and square > 0.0):
            break
        scale = square**0.5
        if k > 0 and scale * abs(float(weights[-1])) <= _CONVERGED * abs(float(slopes[0])):
            break
        q, image = q / scale, image / scale
        basis.append(q)
        images.append(image)
        curved = true.multiply(q)
        curvature[k, : k + 1] = curvature[: k + 1, k] = [dot(b, curved) for b in basis]
        slopes[k] = dot(q, gradient)
        weights = _weigh(curvature[: k + 1, : k + 1], slopes[: k + 1])
        residual = curved - sum(
            c * image for c, image in zip(curvature[: k + 1, k].tolist(), images, strict=True)
        )
    if not basis:
        return None
    return np.asarray(sum(w * q for w, q in zip(weights.tolist(), basis, strict=True)))


def _weigh(curvature: Float, slopes: Float) -> Float:
    """Return -|C|⁻¹ g for the small symmetric matrix C (k, k) and slopes g (k,)."""
    theta, s = np.linalg.eigh(curvature)
    along = np.einsum("ji,j->i", s, slopes) / np.maximum(np.abs(theta), _MIN_CURVATURE)
    return -np.einsum("ij,j->i", s, along)
