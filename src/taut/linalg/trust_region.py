"""The minimum of a quadratic model ½x·H x - b·x within a ball |x| ≤ radius, on a Krylov space.

Conjugate gradients for H x = b begin at x = 0 and go outwards in the metric |x|² = x·M x of their
preconditioner M⁻¹. If they converge inside of the ball, that is the minimum. If they leave it, or
meet a direction p with p·H p ≤ 0 along which the model falls without bound, a step is found on the
space of the preconditioned residuals z_i so far: they are orthogonal in the metric, and H is
tridiagonal on them (GLTR, Gould et al. 1999). Once the space is there, another radius costs next
to nothing.

On that space the step is x = (|H| + λM)⁻¹b, with the absolute values of the eigenvalues of H
(saddle-free Newton, Dauphin et al. 2014) and the smallest λ ≥ 0 that keeps it in the ball. The
minimum of the model itself on the sphere has (H + λM)x = b, and λ exceeds the most negative
eigenvalue. Where a sheet wrinkles, there are thousands of those, each at home in a few particles.
The lowest one then takes the whole radius, twenty particles jump by several edges, and everything
else stands still: three to four times as many Newton iterations. Absolute values let every place
go as far as its own curvature says. `caution` is the factor on negative eigenvalues: less than 1
goes further along them, which leaves a saddle more quickly.

To end where the path of conjugate gradients crosses the sphere (Steihaug 1983) needs no basis, and
is as good where M is exact; with one cycle of a multigrid as M⁻¹ the path crosses it after one or
two iterations, and stiff cloth took twice as many Newton iterations.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from taut.arrays import Float
from taut.linalg.blocks import BlockMatrix, dot, row_norms

MAX_KRYLOV_VECTORS = 64
_MAX_ITERATIONS = 200
_BOUNDARY_ACCURACY = 0.1  # part of b, in the metric, that (H + λM)x = b may leave on the sphere
_MAX_CURVATURE = 1e6  # of H in the metric, where it should not be much more than 1
_MIN_EXTENSION = 4  # vectors to add where it leaves more
_MIN_CURVATURE = 1e-6  # smallest curvature that is believed, relative to the largest one


@dataclass(frozen=True, eq=False)
class ModelStep:
    """A step that lowers the model.

    x : (n, 3)
    decrease : of the model
    length : |x| in the metric
    ending : whether it is inside of the ball or on its boundary
    converged : whether each row's |b - H x| is at most its target; not on the boundary
    """

    x: Float
    decrease: float
    length: float
    ending: Literal["inside", "boundary"]
    converged: bool

    def shortened(self, part: float, slope: float) -> ModelStep:
        """Return a part of the step; slope : b·x, by which the model falls at first."""
        curvature = 2.0 * (slope - self.decrease)
        decrease = part * slope - 0.5 * part * part * curvature
        return ModelStep(part * self.x, decrease, part * self.length, "boundary", False)


class QuadraticModel(ABC):
    """A model ½x·H x - b·x on a Krylov space that grows as it is needed.

    iterations : of conjugate gradients so far
    is_inside : whether they ended inside of the ball, in `_minimum`, with H positive definite as
        far as they have seen; converged : whether they have reached their targets there
    length : |x| there; where H is not definite, the |x| at which that was found
    curvatures, slopes, betas, squares : p_i·H p_i, b·p_i, β_i and z_i·M z_i, each (k,), with
        directions p_i = z_i + β_i p_{i-1}
    """

    def __init__(self, hessian: BlockMatrix, b: Float) -> None:
        self._hessian, self._b = hessian, b
        self.iterations, self.is_inside, self.converged, self.length = 0, False, False, 0.0
        self.curvatures = self.slopes = self.betas = self.squares = np.zeros(0)
        self._has_begun = False

    @abstractmethod
    def _begin(self, radius: float) -> None:
        """Iterate until convergence, or until |x| > radius, or until H proves indefinite."""

    @abstractmethod
    def _extend(self, count: int) -> None:
        """Add vectors to the Krylov space, if there are more."""

    @abstractmethod
    def _minimum(self) -> Float:
        """Return where conjugate gradients have ended, (n, 3)."""

    @abstractmethod
    def _combine(self, weights: Float) -> Float:
        """Return Σ weights_i z_i, (n, 3)."""

    def minimise(self, radius: float, caution: float = 1.0) -> ModelStep:
        """Find a step within the radius. 0: there is none, but one is chosen if H is indefinite.

        caution : factor on the absolute values of negative curvatures, at most 1
        """
        if not self._has_begun:
            self._has_begun = True
            self._begin(radius)
        if self.is_inside and (radius == 0.0 or self.length <= radius):
            decrease = float(np.einsum("i,i->", self.slopes, self.slopes / self.curvatures)) / 2.0
            return ModelStep(self._minimum(), decrease, self.length, "inside", self.converged)
        if not len(self.slopes):  # b is so small that its square underflows
            return ModelStep(self._minimum(), 0.0, 0.0, "inside", self.converged)
        while True:
            tridiagonal = self._tridiagonal()
            slope = float(self.slopes[0] / self.squares[0] ** 0.5)
            radius = radius or max(self.length, slope)
            y = _find_step_in_ball(tridiagonal, slope, radius, caution)
            k = len(y)
            remaining = 0.0 if k == 1 else abs(tridiagonal[k - 2, k - 1] * y[-1])
            if (
                remaining <= _BOUNDARY_ACCURACY * slope
                or not k == len(self.slopes) < MAX_KRYLOV_VECTORS
            ):
                break
            self._extend(min(MAX_KRYLOV_VECTORS - k, max(_MIN_EXTENSION, k // 2)))
            if not len(self.slopes):  # the space was begun again, with another metric
                self._extend(k)
            if not len(self.slopes):
                return ModelStep(np.zeros_like(self._minimum()), 0.0, 0.0, "inside", False)
            if len(self.slopes) == k:
                break
        length = float(np.einsum("i,i->", y, y) ** 0.5)
        x = self._combine(y / np.sqrt(self.squares[: len(y)]))
        # Not from the tridiagonal matrix: rounding spoils the orthogonality of many vectors.
        decrease = dot(self._b, x) - 0.5 * dot(x, self._hessian.multiply(x))
        return ModelStep(x, decrease, length, "boundary", False)

    def _tridiagonal(self) -> Float:
        """Return H on the basis z_i/|z_i|, (k, k), from z_i = p_i - β_i p_{i-1}.

        Vectors after a direction with next to no curvature are left out: they are mostly rounding.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            d, beta, squares = self.curvatures, self.betas, self.squares
            carried = beta[1:] ** 2 * d[:-1] / squares[1:]
            main = d / squares
            main[1:] += carried
            side = -beta[1:] * d[:-1] / np.sqrt(squares[1:] * squares[:-1])
            sound = (np.abs(carried) < _MAX_CURVATURE) & np.isfinite(main[1:] + side)
        k = 1 + int(np.argmin(np.append(sound, False)))
        main, side = main[:k], side[: k - 1]
        return np.diag(main) + np.diag(side, 1) + np.diag(side, -1)


def _find_step_in_ball(matrix: Float, slope: float, radius: float, caution: float) -> Float:
    """Return y = (|T| + λ)⁻¹ slope e₀, (k,), |y| ≤ radius, for a small symmetric T (k, k).

    |T| has the absolute values of the eigenvalues of T, the negative ones times `caution`.

    >>> y = _find_step_in_ball(np.array([[1.0, 0.5], [0.5, -1.0]]), 1.0, 0.5, 1.0)
    >>> round(float(np.linalg.norm(y)), 5), bool(y[0] > 0.0 > y[1])
    (0.5, True)
    """
    theta, vectors = np.linalg.eigh(matrix)
    c = slope * vectors[0]
    size = np.where(theta < 0.0, -caution * theta, theta)
    size = np.maximum(size, _MIN_CURVATURE * np.abs(theta).max())
    shift = 0.0
    if np.linalg.norm(c / size) > radius:
        # |y(λ)| falls with λ; it is `radius` between these two.
        low, high = 0.0, abs(slope) / radius
        for _ in range(100):
            length = float(np.linalg.norm(c / (size + shift)))
            if abs(length - radius) <= 1e-6 * radius or not high - low > 1e-12 * high:
                break
            if length > radius:
                low = shift
            else:
                high = shift
            # Newton's method for 1/|y| - 1/radius = 0, which is nearly straight
            steepness = float((c**2 / (size + shift) ** 3).sum())
            shift -= length**2 * (radius - length) / (radius * steepness)
            if not low < shift < high:
                shift = 0.5 * (low + high)
    return np.einsum("ij,j->i", vectors, c / (size + shift))


class FactoredModel(QuadraticModel):
    """A model whose metric can be solved with exactly.

    precondition : multiplies a vector (n, 3) by M⁻¹
    """

    def __init__(
        self,
        hessian: BlockMatrix,
        precondition: Callable[[Float], Float],
        b: Float,
        targets: Float,
    ) -> None:
        super().__init__(hessian, b)
        self._precondition, self._targets = precondition, targets
        self._x, self._residual = np.zeros_like(b), b
        self._direction, self._product, self._curvature = np.zeros_like(b), np.zeros_like(b), 1.0
        self._basis: list[Float] = []
        self._products = (0.0, 0.0, 0.0)  # x·M x, x·M p and p·M p

    def _begin(self, radius: float) -> None:
        for _ in range(_MAX_ITERATIONS):
            self.converged = bool((row_norms(self._residual) <= self._targets).all())
            if self.converged:
                break
            self.length = math.sqrt(self._products[0])
            if not self._iterate():
                return
            if not self._curvature > 0.0:
                return
            if 0.0 < radius * radius < self._products[0]:
                return
        self.is_inside, self.length = True, math.sqrt(self._products[0])

    def _extend(self, count: int) -> None:
        for _ in range(count):
            if not self._iterate():
                return

    def _iterate(self) -> bool:
        """Add a direction and go along it; False if rounding leaves none."""
        z = self._precondition(self._residual)
        square = dot(self._residual, z)
        if not 0.0 < square < np.inf or len(self._basis) == _MAX_ITERATIONS:
            return False
        # Not the usual quotient of two r·z: this one stays conjugate although the preconditioner
        # may differ a little from call to call.
        beta = -dot(self._product, z) / self._curvature
        p = z + beta * self._direction
        product = self._hessian.multiply(p)
        curvature, slope = dot(p, product), dot(p, self._residual)
        if curvature == 0.0 or not np.isfinite(curvature):
            return False
        self._basis.append(z)
        for name, value in (
            ("curvatures", curvature),
            ("slopes", slope),
            ("betas", beta),
            ("squares", square),
        ):
            setattr(self, name, np.append(getattr(self, name), value))
        length = slope / curvature
        xx, xp, pp = self._products
        xp, pp = beta * xp, square + beta * beta * pp
        self._products = (xx + length * (2.0 * xp + length * pp), xp + length * pp, pp)
        self._x, self._residual = self._x + length * p, self._residual - length * product
        self._direction, self._product, self._curvature = p, product, curvature
        self.iterations += 1
        return True

    def _minimum(self) -> Float:
        return self._x

    def _combine(self, weights: Float) -> Float:
        total = np.zeros_like(self._x)
        for weight, z in zip(weights.tolist(), self._basis[: len(weights)], strict=True):
            total += weight * z
        return total
