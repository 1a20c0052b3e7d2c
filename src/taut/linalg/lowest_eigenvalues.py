"""The lowest eigenpairs of a large symmetric block matrix by iteration, without factorising it.

Block Davidson with a multigrid as preconditioner: an orthonormal basis V of a few dozen vectors is
extended by the preconditioned residuals of its lowest Ritz pairs, eigenpairs of VᵀAV; when it is
full, the lowest Ritz vectors are kept, and those of the step before, which make the next step
nearly as good as if nothing had been dropped. With no more than these and the residuals it would be
LOBPCG, whose basis becomes nearly dependent as it converges; here it stays orthonormal to rounding.
All sums have a fixed order, except in matrices of a few dozen rows.

The multigrid needs a positive definite matrix: it gets A + sI, where s follows the Ritz values
(`_shifted_multigrid`).

What is known of a Ritz pair (θ, u), |u| = 1, apart from rounding:

- There are at least j eigenvalues up to θ_j, the j-th lowest (Courant and Fischer): a negative θ
  proves that A is not positive definite, and negative ones are never counted in excess.
- Some eigenvalue is within |Au - θu| of θ.
- That none is lower is not proved: a start vector, drawn at random but always the same, could have
  had no part in its eigenvector. No cheap bound is known. Pivots prove it (`eigen.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import EPS, Float
from taut.errors import EigenError
from taut.linalg._shifted_multigrid import MAX_CYCLES, ShiftedMultigrid
from taut.linalg.blocks import BlockMatrix, Pattern
from taut.linalg.linear import bandwidth

# b·max(n, b²) of n rows in a band of b, up to which a factorisation takes about half a second: the
# work of nested dissection, whose largest separator has b rows. The n·b² of a band would be wrong
# by a factor of a hundred between a sheet and a block that take the same time.
MAX_PIVOT_WORK = 5e7
ACCURACY = 1e-3  # |Au - θu|/|θ| at which a pair is found
ACCURACY_OF_SIGN = 0.03  # the same where only a sign is asked for, or a direction
_GUARDS = 3  # vectors more than pairs asked for: they separate these from the rest of the spectrum
_ROOM = 4  # vectors of the basis for each pair and guard
_MAX_STEPS = 150
_SLOW = 0.3  # a residual that falls by less from restart to restart gets twice as many cycles
_DEPENDENT = 1e-10  # squared part of a new vector outside the space of the others, at least


@dataclass(frozen=True, eq=False)
class LowestPairs:
    """The lowest eigenpairs that an iteration found.

    values : Ritz values, ascending, (k,)
    vectors : orthonormal, in the free directions of the constrained rows, (k, n, 3)
    bounds : |Au - θu|: an eigenvalue is within it of the value, (k,)
    converged : whether each bound is within what was asked for
    """

    values: Float
    vectors: Float
    bounds: Float
    converged: bool


def can_afford_pivots(pattern: Pattern) -> bool:
    """Whether a factorisation is cheap enough to be repeated, judged by the pattern alone.

    >>> can_afford_pivots(Pattern.from_pairs(np.array([[0, 1], [1, 2]]), 3))
    True
    """
    band = bandwidth(pattern)
    return band * max(pattern.n, band**2) <= MAX_PIVOT_WORK


def find_lowest_pairs(
    matrix: BlockMatrix,
    k: int,
    tol: float,
    *,
    accuracy: float = ACCURACY,
    stop_below: float = -np.inf,
    start: Float | None = None,
) -> LowestPairs:
    """Find the k lowest eigenpairs (fewer if there are fewer) in the free directions.

    matrix : symmetric, with its constraints applied; it may be indefinite or singular
    tol : what counts as zero, in the unit of the matrix
    accuracy : a pair is found when |Au - θu| is at most this part of |θ|, or at most tol
    stop_below : the iteration ends as soon as a value is below this
    start : vectors to begin with, (m, n, 3), such as those found at a point nearby

    >>> pattern = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 40)
    >>> matrix = BlockMatrix(pattern, np.arange(-2.0, 38)[:, None, None] * np.diag([1, 100, 100]))
    >>> found = find_lowest_pairs(matrix, 1, 1e-9)
    >>> found.values.round(3), found.converged
    (array([-200.]), True)
    """
    return _Iteration(matrix, k, tol, accuracy).run(stop_below, start)


def find_vector_below(
    matrix: BlockMatrix, limit: float, tol: float, *, accuracy: float = ACCURACY_OF_SIGN
) -> tuple[float, Float] | None:
    """Find a unit vector x (n, 3) with xᵀAx < limit, near the lowest eigenvector, or None.

    Returns xᵀAx with it. A vector is a proof that an eigenvalue is below the limit; None is an
    estimate: the lowest eigenvalue that was found is not. Raises EigenError if none was found.

    >>> pattern = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 2)
    >>> matrix = BlockMatrix(pattern, np.array([np.diag([3.0, 4, 5]), np.diag([6.0, -2, 7])]))
    >>> value, vector = find_vector_below(matrix, 0.0, 1e-9)
    >>> round(value, 3), np.abs(vector[1]).round(3).tolist()
    (-2.0, [0.0, 1.0, 0.0])
    """
    found = find_lowest_pairs(matrix, 1, tol, accuracy=accuracy)
    if not len(found.values):
        return None
    if found.values[0] < limit:
        return float(found.values[0]), found.vectors[0]
    require_convergence(found)
    return None


def all_eigenvalues_seem_above(matrix: BlockMatrix, limit: float, tol: float) -> bool:
    """Whether no eigenvalue was found up to the limit.

    False is proved, True an estimate. Raises EigenError if the iteration did not converge.

    >>> pattern = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 2)
    >>> matrix = BlockMatrix(pattern, np.array([np.diag([3.0, 4, 5]), np.diag([6.0, 2, 7])]))
    >>> all_eigenvalues_seem_above(matrix, 1.9, 1e-9), all_eigenvalues_seem_above(matrix, 2.1, 1e-9)
    (True, False)
    """
    found = find_lowest_pairs(matrix, 1, tol, accuracy=ACCURACY_OF_SIGN, stop_below=limit)
    if not len(found.values) or found.values[0] <= limit:
        return not len(found.values)
    require_convergence(found)
    return bool(found.values[0] - found.bounds[0] > limit)


def require_convergence(found: LowestPairs) -> None:
    """Raise EigenError unless the pairs are as accurate as was asked for.

    >>> require_convergence(LowestPairs(np.empty(0), np.empty((0, 1, 3)), np.empty(0), True))
    """
    if not found.converged:
        worst = int(np.argmax(found.bounds))
        raise EigenError(
            f"the eigenvalue {found.values[worst]:g}, found by iteration, is certain only to "
            f"{found.bounds[worst]:.2e} after {_MAX_STEPS} steps"
        )


class _Iteration:
    """The basis V, its products AV and VᵀAV; vectors are rows of 3n numbers."""

    def __init__(self, matrix: BlockMatrix, k: int, tol: float, accuracy: float) -> None:
        self._matrix, self._accuracy = matrix, accuracy
        free = 3.0 * matrix.pattern.n - 3.0 * len(matrix.constrained.rows)
        free += float(np.trace(matrix.constrained.projectors, axis1=1, axis2=2).sum())
        self._free = round(free)  # directions
        self._k = min(k, self._free)
        self._kept = min(self._k + _GUARDS, self._free)  # Ritz pairs that are improved
        # what rounding leaves of a residual
        blocks = np.abs(matrix.data).sum(axis=2).max(axis=1)
        sums = np.add.reduceat(blocks, matrix.pattern.indptr[:-1])
        self._tol = max(tol, EPS * float(sums.max(initial=0.0)))
        self._size = float(sums.mean())
        self._basis = np.empty((0, 3 * matrix.pattern.n))
        self._products = self._basis
        self._small = np.empty((0, 0))

    def run(self, stop_below: float, start: Float | None) -> LowestPairs:
        if not self._k:
            shape = (0, self._matrix.pattern.n, 3)
            return LowestPairs(np.empty(0), np.empty(shape), np.empty(0), True)
        preconditioner = ShiftedMultigrid(self._matrix, self._size)
        self._begin(preconditioner, start)
        before = np.empty((0, 0))  # the Ritz vectors of the last step, in the basis
        worst = np.inf  # residual at the last restart
        for _ in range(_MAX_STEPS):
            values, turn = np.linalg.eigh(self._small)
            values, turn = values[: self._kept], turn[:, : self._kept]
            residuals = _mix(turn, self._products) - values[:, None] * _mix(turn, self._basis)
            norms = _norms(residuals)
            limits = np.maximum(self._accuracy * np.abs(values), self._tol)
            missing = np.flatnonzero(norms > limits)
            # guards alone do not matter
            if values[0] <= stop_below or not (missing < self._k).any():
                break
            self._follow(preconditioner, values, float(norms[missing].min()))
            if len(self._basis) + len(missing) > _ROOM * self._kept:
                part = float((norms / limits)[: self._k].max())
                if part > _SLOW * worst:
                    preconditioner.cycles = min(2 * preconditioner.cycles, MAX_CYCLES)
                worst = part
                before = self._restart(turn, before)
            else:
                before = turn
            corrections = [preconditioner.apply(r.reshape(-1, 3)) for r in residuals[missing]]
            added = self._extend(np.array(corrections))
            if not added:  # the basis holds all free directions, or rounding ends the iteration
                break
        return self._finish()

    def _begin(self, preconditioner: ShiftedMultigrid, start: Float | None) -> None:
        """A first basis: random vectors, smoothed, and those that are given."""
        random = np.random.default_rng(0).standard_normal((self._kept, self._matrix.pattern.n, 3))
        if start is not None:
            self._extend(start)
        self._extend(np.array([preconditioner.apply(b) for b in self._project(random)]))
        if len(self._basis) < self._kept:  # smoothing has made some too similar
            self._extend(random)

    def _follow(self, preconditioner: ShiftedMultigrid, values: Float, residual: float) -> None:
        """Place -s below the Ritz values, by about the distances between them.

        Where all are zero and there may be more, s must be large enough that the rounding of the
        residuals, ε|A|, is not amplified by 1/s to more than the part that counts, |residual|/|A|:
        the basis would fill with ever other vectors of the null space.
        """
        low = values[0]
        if np.abs(values).max() <= self._tol:
            best = EPS * self._size**2 / max(residual, self._tol)
        else:
            others = values[self._k - 1 :]  # a guard, if all that are asked for are zero
            high = others[np.argmax(np.abs(others) > self._tol)]
            best = max((high - low) / 4 - low, abs(low) / 4 if low > 0.0 else 1.25 * abs(low))
        preconditioner.follow(best)

    def _restart(self, turn: Float, before: Float) -> Float:
        """Keep the Ritz vectors, and the part of those of the last step outside their space."""
        if len(before):
            padded = np.zeros((len(turn), before.shape[1]))
            padded[: len(before)] = before
            padded -= turn @ (turn.T @ padded)
            left, sizes, _ = np.linalg.svd(padded, full_matrices=False)
            kept = left[:, sizes > np.sqrt(_DEPENDENT)]
            kept, _ = np.linalg.qr(kept - turn @ (turn.T @ kept))
            turn = np.hstack([turn, kept])
        self._basis, self._products = _mix(turn, self._basis), _mix(turn, self._products)
        self._small = _symmetric(turn.T @ self._small @ turn)
        return np.eye(len(turn), self._kept)

    def _extend(self, vectors: Float) -> int:
        """Add vectors (m, n, 3) to the basis, orthonormalised; returns how many are independent."""
        vectors = self._project(vectors).reshape(len(vectors), -1)
        vectors = vectors[_norms(vectors) > 0.0]
        for _ in range(3):  # twice is enough (Kahan) but for those that only a part is left of
            vectors = vectors / _norms(vectors)[:, None]
            vectors = vectors - _mix(_dots(self._basis, vectors), self._basis)
            values, turn = np.linalg.eigh(_dots(vectors, vectors))
            good = values > _DEPENDENT
            if not good.any() or len(self._basis) >= self._free:
                return 0
            vectors = _mix(turn[:, good] / np.sqrt(values[good]), vectors)
        products = self._multiply(vectors)
        mixed = _dots(self._basis, products)
        self._small = np.block(
            [[self._small, mixed], [mixed.T, _symmetric(_dots(vectors, products))]]
        )
        self._basis = np.vstack([self._basis, vectors])
        self._products = np.vstack([self._products, products])
        return len(vectors)

    def _finish(self) -> LowestPairs:
        """The lowest pairs, with residuals from fresh products."""
        values, turn = np.linalg.eigh(self._small)
        vectors = _mix(turn[:, : self._k], self._basis)
        vectors /= _norms(vectors)[:, None]
        products = self._multiply(vectors)
        values = np.einsum("ki,ki->k", vectors, products)
        order = np.argsort(values, kind="stable")
        values, vectors, products = values[order], vectors[order], products[order]
        bounds = _norms(products - values[:, None] * vectors)
        limits = np.maximum(self._accuracy * np.abs(values), self._tol)
        shaped = vectors.reshape(len(vectors), -1, 3)
        # a little more than asked for: the fresh residual has other rounding
        return LowestPairs(values, shaped, bounds, bool((bounds <= 1.01 * limits).all()))

    def _project(self, vectors: Float) -> Float:
        """Onto the free directions, (m, n, 3), a new array."""
        constrained = self._matrix.constrained
        vectors = vectors.copy()
        vectors[:, constrained.rows] = np.einsum(
            "cij,kcj->kci", constrained.projectors, vectors[:, constrained.rows]
        )
        return vectors

    def _multiply(self, vectors: Float) -> Float:
        products = np.array([self._matrix.multiply(x.reshape(-1, 3)) for x in vectors])
        return self._project(products).reshape(vectors.shape)


def _dots(a: Float, b: Float) -> Float:
    """All a·b of rows; not BLAS, whose order of summation depends on its threads."""
    return np.asarray(np.einsum("ki,li->kl", a, b))


def _mix(coefficients: Float, vectors: Float) -> Float:
    """Σ_k coefficients[k, l]·vectors[k]."""
    return np.asarray(np.einsum("kl,ki->li", coefficients, vectors))


def _norms(vectors: Float) -> Float:
    return np.asarray(np.sqrt(np.einsum("ki,ki->k", vectors, vectors)))


def _symmetric(matrix: Float) -> Float:
    return np.asarray((matrix + matrix.T) / 2)
