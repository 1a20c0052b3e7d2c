"""Steps along an equilibrium path: predict along the tangent, correct by Newton's method.

At a point x = (y, λ) of the path the tangent ẋ = (ẏ, λ̇) solves K ẏ + p λ̇ = 0, p = ∂r/∂λ, with
|ẏ|² + ψ²λ̇² = 1; ψ is how far the prescribed positions move per unit of the parameter. A step goes
to x + σẋ and then, by Newton's method, to the point with

    r(y, λ) = 0,    c·(x' - x) = σ,

where c is the tangent (arc length), or one coordinate (displacement control). The matrix of these
equations, K bordered by p and c, is regular where K alone is singular: at limit points.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taut.arrays import Float
from taut.errors import EigenError, SingularState
from taut.linalg import eigen
from taut.linalg.blocks import row_norms
from taut.linalg.bordered import BorderedMatrix
from taut.optimise.descent import Outcome
from taut.optimise.tolerance import Tolerance, all_within, relative_residuals
from taut.statics._parametrised_forces import Balance, ParametrisedForces

_MAX_ITERATIONS = 12  # of a corrector: more mean that the step was too long
# A corrector may move as far from the predicted point as the step is long; one that goes further
# has left for another part of the path, or for another branch.
_MAX_CORRECTION = 1.0


class Missed(Exception):
    """A corrector that did not converge, or went too far: the step must be shorter."""


class Normal(NamedTuple):
    """The left side of c·(x' - x) = σ."""

    coordinates: Float  # (f,)
    parameter: float


class PathPoint(NamedTuple):
    """An equilibrium and its certificate.

    The numbers of the certificate are those of the particle closest to its limit.
    """

    q: Float  # [m], (n, 3)
    parameter: float
    balance: Balance
    outcome: Outcome
    limits: Float  # tolerance or rounding floor of each particle [N], (n,)
    iterations: int


class Tangent(NamedTuple):
    """The direction of a path, of unit length in the metric of the search."""

    coordinates: Float  # (f,)
    parameter: float


class Corrector:
    """Newton's method for points of a path."""

    def __init__(self, forces: ParametrisedForces, tolerance: Tolerance, scale: float) -> None:
        self.forces, self._tolerance = forces, tolerance
        self.scale = scale  # of the parameter: over which forces change smoothly

    def metric(self, parameter: float) -> float:
        """Return ψ², how far the prescribed positions move per unit of the parameter, squared."""
        rate = self.forces.prescribed_rate(parameter, self.scale)
        return float(np.einsum("ij,ij->", rate, rate))

    def product(self, a: Normal | Tangent, b: Normal | Tangent, parameter: float) -> float:
        """Return ⟨a, b⟩ in the metric."""
        coordinates = float(np.einsum("i,i->", a.coordinates, b.coordinates))
        return coordinates + self.metric(parameter) * a.parameter * b.parameter

    def normal_of(self, tangent: Tangent, parameter: float) -> Normal:
        """Return the c of a step by arc length along a tangent."""
        return Normal(tangent.coordinates, self.metric(parameter) * tangent.parameter)

    def largest_displacement(self, tangent: Tangent, parameter: float) -> float:
        """Return how far the fastest particle moves along a unit of the tangent [m]."""
        moved = self.forces.free.expand(tangent.coordinates)
        moved = moved + tangent.parameter * self.forces.prescribed_rate(parameter, self.scale)
        return float(row_norms(moved).max())

    def tangent(self, point: PathPoint, towards: Normal) -> Tangent:
        """Return the tangent at a point with c·ẋ > 0; raises Missed where there is none."""
        forces = self.forces
        matrix, _ = forces.stiffness(point.q, point.parameter)
        p = forces.slope(point.q, point.parameter, self.scale)
        try:
            whole = BorderedMatrix(matrix, p, towards.coordinates, towards.parameter)
            y, rate = whole.solve(np.zeros(forces.free.size), 1.0)
        except np.linalg.LinAlgError as error:
            raise Missed("the path has no single tangent") from error
        found = Tangent(y, rate)
        length = np.sqrt(self.product(found, found, point.parameter))
        if not (np.isfinite(length) and length > 0.0):
            raise Missed("the path has no single tangent")
        return Tangent(y / length, float(rate / length))

    def correct(
        self, start: PathPoint, predicted: Tangent, sigma: float, normal: Normal
    ) -> PathPoint:
        """Find the point with c·(x - start) = σ, beginning at start + predicted."""
        forces, f = self.forces, self.forces.free
        parameter = start.parameter + predicted.parameter
        q = forces.move(start.q, predicted.coordinates, parameter)
        y_start = f.basis.T @ start.q.reshape(-1)
        reach = _MAX_CORRECTION * np.sqrt(self.product(predicted, predicted, start.parameter))
        moved, moved_parameter = np.zeros(f.size), 0.0
        best: PathPoint | None = None
        for iteration in range(_MAX_ITERATIONS + 1):
            try:
                balance = forces.balance(q, parameter)
            except SingularState as error:
                raise Missed(str(error)) from error
            targets = self._tolerance.targets(balance.gross, balance.gross)
            point = PathPoint(q, parameter, balance, "converged", targets, iteration)
            if best is not None:
                # Once converged, on to rounding: zeros of eigenvalues are sought between points.
                if not _improves(point, best):
                    return best
                best = point._replace(iterations=best.iterations)
            elif all_within(balance.residuals, targets):
                best = point
            if iteration == _MAX_ITERATIONS:
                break
            y = f.basis.T @ q.reshape(-1)
            gap = sigma - float(np.einsum("i,i->", normal.coordinates, y - y_start))
            gap -= normal.parameter * (parameter - start.parameter)
            matrix, _ = forces.stiffness(q, parameter)
            p = forces.slope(q, parameter, self.scale)
            try:
                whole = BorderedMatrix(matrix, p, normal.coordinates, normal.parameter)
                step, change = whole.solve(-balance.unbalanced, gap)
            except (np.linalg.LinAlgError, SingularState) as error:
                if best is not None:
                    return best
                raise Missed(str(error)) from error
            parameter += change
            q = forces.move(q, step, parameter)
            moved, moved_parameter = moved + step, moved_parameter + change
            away = Tangent(moved, moved_parameter)
            if reach > 0.0 and self.product(away, away, start.parameter) > reach**2:
                if best is not None:
                    return best
                raise Missed("the corrector left the path")
        if best is not None:
            return best
        return self.certify(point)

    def certify(self, point: PathPoint) -> PathPoint:
        """Return the point with its limits and outcome; raises Missed if it is no equilibrium."""
        targets = self._tolerance.targets(point.balance.gross, point.balance.gross)
        if all_within(point.balance.residuals, targets):
            return point._replace(outcome="converged", limits=targets)
        floors = self.forces.rounding_floors(point.q, point.parameter, point.balance.gross)
        limits = np.maximum(targets, floors)
        if not all_within(point.balance.residuals, limits):
            raise Missed(f"the corrector did not converge in {_MAX_ITERATIONS} iterations")
        return point._replace(outcome="rounding floor", limits=limits)


def _improves(point: PathPoint, best: PathPoint) -> bool:
    """Whether the worst residual is less than half of that of the best point so far."""
    worst, before = (
        float(relative_residuals(p.balance.residuals, p.limits).max()) for p in (point, best)
    )
    return worst < 0.5 * before


def count_negative(matrix: Any, zero: float) -> int:
    """Return how many eigenvalues of PᵀKP are negative: by pivots, or all eigenvalues."""
    try:
        return eigen.count_below(matrix, -zero, zero)
    except EigenError:
        if matrix.shape[0] > eigen.DENSE_AT_MOST:
            raise
    return int((np.linalg.eigvalsh(matrix.toarray()) < -zero).sum())


def find_pairs(matrix: Any, count: int, zero: float) -> tuple[Float, Float]:
    """Return the lowest eigenvalues of PᵀKP (count,), and their vectors, columns (f, count)."""
    found = eigen.find_smallest(matrix, count, zero)
    return found.values, found.vectors
