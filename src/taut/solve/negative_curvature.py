"""A way down where the Hessian H is not positive definite.

The projected Hessian H⁺ (each element's negative eigenvalues taken away) is positive definite, but where much was taken away its
Newton direction creeps. So H itself is restricted to a few vectors, the Krylov space of (H⁺)⁻¹H that starts from that direction,
and in it each of its curvatures θ (relative to H⁺) is used with its sign turned: p = -Σ s (s·∇Φ)/|θ|. A saddle is left at a
constant factor per iteration; a nearly definite H gives nearly its own Newton direction. (Dauphin et al. 2014, with H⁺ as metric.)

Each of these vectors takes a solve with H⁺. For a solver that iterates they cost more than they gain: it goes along the direction
of H⁺ itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.solve.linear import LinearSolver
from taut.solve.minimum import Minimum, Objective
from taut.system.blocks import BlockMatrix, dot, lengths

Float = NDArray[np.float64]
VECTORS = 20  # at most
ENOUGH = 0.1  # part of the gradient, in the metric of H⁺, that further vectors could still balance
SLIGHTEST = 1e-6  # curvature, relative to H⁺, below which a direction counts as having this one
ACCURACY = 1e-2  # of the solves with H⁺, which only choose the vectors


def way_down(objective: Objective, solver: LinearSolver, aims: Float, m: Minimum) -> Float | None:
    """A direction (n, 3) [m] that leads down from m.point, or None; aims : what a linear solve may leave [N], (n,)."""
    with m.timed("assembling"):
        true = objective.hessian(m.point.y, project=False).copy() if solver.exact else None
        projected = objective.hessian(m.point.y, project=True)
    m.projections += 1
    with m.timed("solving"):
        if not _factor(solver, projected):
            return None
        direction = _along(solver, aims, m) if true is None else _in_krylov_space(solver, true, projected, m)
    if direction is None or not np.isfinite(direction).all() or not dot(direction, m.point.gradient) < 0.0:
        return None
    return direction


def _along(solver: LinearSolver, aims: Float, m: Minimum) -> Float:
    solution = solver.solve(-m.point.gradient, aims)
    m.linear_iterations += solution.iterations
    return solution.x


def _factor(solver: LinearSolver, matrix: BlockMatrix) -> bool:
    """Factor; where rounding keeps the matrix from being positive definite, add to its diagonal as little as helps."""
    if solver.factor(matrix, near=True):
        return True
    diagonal = matrix.data[matrix.pattern.diagonal].copy()
    size = np.abs(np.trace(diagonal, axis1=1, axis2=2))
    size = np.maximum(size, 1e-10 * size.max())
    for part in 10.0 ** np.arange(-12.0, 0.0, 2.0):
        matrix.data[matrix.pattern.diagonal] = diagonal + (part * size)[:, None, None] * np.eye(3)
        if solver.factor(matrix, near=True):
            return True
    return False


def _in_krylov_space(solver: LinearSolver, true: BlockMatrix, metric: BlockMatrix, m: Minimum) -> Float | None:
    g = m.point.gradient
    basis: list[Float] = []  # q, orthonormal in the metric: q_i·H⁺q_j = δ_ij
    images: list[Float] = []  # H⁺q
    curvature = np.zeros((VECTORS, VECTORS))  # q_i·H q_j
    load = np.zeros(VECTORS)  # q_i·∇Φ
    weights = np.zeros(0)
    residual = g
    for k in range(VECTORS):
        solution = solver.solve(residual, np.full(len(g), ACCURACY * float(lengths(residual).max())))
        m.linear_iterations += solution.iterations
        if not solution.definite:
            return None
        q = solution.x
        for b, image in zip(basis, images, strict=True):
            q = q - dot(image, q) * b
        image = metric.times(q)
        square = dot(q, image)
        if not (np.isfinite(square) and square > 0.0):
            break
        scale = square**0.5
        if k > 0 and scale * abs(float(weights[-1])) <= ENOUGH * abs(float(load[0])):
            break
        q, image = q / scale, image / scale
        basis.append(q)
        images.append(image)
        bent = true.times(q)
        curvature[k, : k + 1] = curvature[: k + 1, k] = [dot(b, bent) for b in basis]
        load[k] = dot(q, g)
        theta, s = np.linalg.eigh(curvature[: k + 1, : k + 1])
        weights = -np.einsum("ij,j->i", s, np.einsum("ji,j->i", s, load[: k + 1]) / np.maximum(np.abs(theta), SLIGHTEST))
        residual = bent - sum(c * image for c, image in zip(curvature[: k + 1, k].tolist(), images, strict=True))
    if not basis:
        return None
    return np.asarray(sum(w * q for w, q in zip(weights.tolist(), basis, strict=True)))
