"""Stability: the smallest eigenvalues of the stiffness K in the free directions.

An equilibrium is stable if all eigenvalues of PᵀKP are positive. A negative one is a direction along which the energy falls; a
zero one is a mechanism, a direction along which nothing pushes back. Counts are exact for what counts as zero: as much as
rounding of the coordinates, 8ε Σ_j |K_ij| (1 + |q|/|q_i - q_j|) at the worst particle, can make of an eigenvalue. Turning a body as
a whole by ω meets the force ω × r_i, r the unbalanced forces, so at an equilibrium as good as its residual that is added: the
largest |r_i|/size, or ‖r‖/√Σ|ω × x_i|² with |ω| = 1 where the constraints leave such a turn free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.solve.eigen import Spectrum, smallest
from taut.solve.tolerance import EPS, FLOOR
from taut.step.still import still_state
from taut.system.blocks import BlockMatrix, lengths
from taut.system.hold import Constraints
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
BALANCED = 1e-6  # of the largest gross force: a state with a larger residual is no equilibrium, and the residual no error
RIGID = 1e-12  # of a rigid motion: what the constraints may hold of one that they leave free
SHOWN = 8  # particles that a mechanism names in print
TAKES_PART = 0.1  # of the largest displacement: particles below it are not named


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A direction in which the system can move without being pushed back.

    eigenvalue : [N/m], zero or negative; shape : displacements of unit length, (n, 3)
    particles : those that take part, the most moved first
    """

    eigenvalue: float
    shape: Float
    particles: NDArray[np.int64]

    def __str__(self) -> str:
        named = ", ".join(str(p) for p in self.particles[:SHOWN])
        more = f" and {len(self.particles) - SHOWN} more" if len(self.particles) > SHOWN else ""
        return f"{self.eigenvalue:.4g} N/m: particles {named}{more}"


@dataclass(frozen=True, eq=False)
class Stability:
    """The smallest eigenvalues of K in the free directions, and what they mean.

    eigenvalues : [N/m], ascending; negative, zero : how many there are of all, those not computed included
    zero_below : what counts as zero [N/m]
    mechanisms : one for each of the computed eigenvalues that is zero or negative. Where all zero ones were computed their shapes
        are told apart by particle; else they are mixtures (`mixed`): ask for a larger n

    Counts are exact; eigenvalues and shapes are good to rounding, which may vary with the number of threads of BLAS.

    >>> print(Stability(np.array([2.0, 5.0]), negative=0, zero=0, zero_below=1e-14, mechanisms=()))
    stable; 0 mechanisms; smallest eigenvalues of K [N/m]: 2, 5
    """

    eigenvalues: Float
    negative: int
    zero: int
    zero_below: float
    mechanisms: tuple[Mechanism, ...]

    @property
    def stable(self) -> bool:
        """No negative and no zero eigenvalue."""
        return self.negative == 0 and self.zero == 0

    @property
    def mixed(self) -> bool:
        """Whether there are more zero eigenvalues than were computed, so that the shapes of mechanisms are mixtures."""
        return int((self.eigenvalues == 0.0).sum()) < self.zero

    def __str__(self) -> str:
        head = "stable" if self.stable else f"unstable in {self.negative} directions" if self.negative else "neutral"
        lowest = ", ".join(f"{value:.4g}" for value in self.eigenvalues) or "none: nothing can move"
        lines = [f"{head}; {self.zero} mechanisms; smallest eigenvalues of K [N/m]: {lowest}"]
        lines += [f"  {mechanism}" for mechanism in self.mechanisms]
        if self.mixed:
            lines.append(
                f"  of {self.zero} mechanisms; those shown are mixtures of all: n={self.negative + self.zero} tells them apart"
            )
        return "\n".join(lines)


def stability(system: System, state: State | None = None, *, n: int = 6) -> Stability:
    """The n smallest eigenvalues of the stiffness K at a state (default: the initial one), with exact counts.

    >>> import taut
    >>> from taut import laws
    >>> bar = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=[laws.spring([[0, 1]], k=5.0)])
    >>> found = taut.stability(bar)
    >>> found.eigenvalues, found.zero, found.stable, found.mechanisms[0].particles
    (array([0., 0., 5.]), 2, False, array([1]))
    """
    if isinstance(n, bool) or not (isinstance(n, (int, np.integer)) and n > 0):
        raise ModelError(f"stability: n is the number of eigenvalues, 1 or more, not {n!r}")
    state = still_state(system, state, "stability")
    stiffness = system.stiffness(state, project=False)
    _, gradient, gross = system.potential(state)
    return judged(system, state.q, stiffness, gradient, gross, int(n))


def judged(system: System, q: Float, stiffness: BlockMatrix, gradient: Float, gross: Float, n: int = 6) -> Stability:
    """The same from K [N/m], ∂V/∂q [N] (n, 3) and the gross forces [N] at positions q, whatever the load factor in them."""
    free = Reduction.of(system.hold)
    tol = zero_below(system.hold, q, gradient, gross, stiffness, np.ones(system.n))
    return of_spectrum(smallest(free.matrix(stiffness), n, tol), free, tol)


def of_spectrum(spectrum: Spectrum, free: Reduction, tol: float) -> Stability:
    """The same from eigenpairs in the free coordinates; those within ±tol are zero."""
    values = np.where(np.abs(spectrum.values) <= tol, 0.0, spectrum.values)
    vectors = spectrum.vectors.copy()
    null = np.flatnonzero(values == 0.0)
    if len(null) == spectrum.zero > 1:
        vectors[:, null] = _local(vectors[:, null])
    mechanisms = []
    for k in np.flatnonzero(values <= 0.0):
        shape = free.expand(vectors[:, k])
        moved = np.sqrt(np.einsum("ij,ij->i", shape, shape))
        order = np.argsort(-moved, kind="stable")
        particles = order[moved[order] > TAKES_PART * moved.max()]
        mechanisms.append(Mechanism(float(values[k]), shape, particles.astype(np.int64)))
    return Stability(values, spectrum.negative, spectrum.zero, tol, tuple(mechanisms))


def _local(null: Float) -> Float:
    """Another orthonormal basis of the same space, each vector as concentrated as may be: the rotation nearest to the one that
    makes the rows with the largest independent entries the identity."""
    from scipy.linalg import qr

    rows = qr(null.T, pivoting=True, mode="r")[1][: null.shape[1]]
    left, _, right = np.linalg.svd(null[np.sort(rows)].T)
    return null @ (left @ right)


def zero_below(hold: Constraints, q: Float, gradient: Float, gross: Float, stiffness: BlockMatrix, weight: Float) -> float:
    """What counts as zero among the eigenvalues of diag(weight)·K·diag(weight) at positions q (n, 3) [m], weight (n,).

    gradient : ∂V/∂q [N], (n, 3); gross : gross forces [N]
    """
    tol = rounding_of(stiffness, q, weight)
    residual = lengths(hold.project(gradient))
    extent = float(np.ptp(q, axis=0).max())
    if extent > 0.0 and residual.max() <= BALANCED * gross.max():
        turned = float(np.sqrt(np.einsum("i,i->", weight * residual, weight * residual))) * _turn(hold, q, weight, extent)
        tol += max(float((weight**2 * residual).max()) / extent, turned)
    return tol


def _turn(hold: Constraints, q: Float, weight: Float, extent: float) -> float:
    """The largest |ω| of a rigid motion that the constraints leave free with Σ |δ_i|²/weight_i² = 1; 0 if none turns."""
    part = 1.0 / weight**2
    x = (q - np.einsum("i,ij->j", part, q) / part.sum()) / extent
    motions = np.empty((6, len(q), 3))
    motions[:3] = np.eye(3)[:, None, :]
    motions[3:] = np.cross(np.eye(3)[:, None, :], x)
    motions /= weight[:, None]
    values, vectors = np.linalg.eigh(np.einsum("aij,bij->ab", motions, motions))
    kept = values > RIGID * values[-1]  # a straight row of particles does not turn about itself
    unit = vectors[:, kept] / np.sqrt(values[kept])
    moved = np.einsum("ak,aij->kij", unit, motions)
    stopped = moved - np.einsum("nij,knj->kni", hold.free, moved)
    held, mixed = np.linalg.eigh(np.einsum("aij,bij->ab", stopped, stopped))
    turns = unit[3:] @ mixed[:, held <= RIGID]
    return float(np.linalg.norm(turns, 2)) / extent if turns.size else 0.0


def rounding_of(stiffness: BlockMatrix, q: Float, weight: Float) -> float:
    """What rounding of the coordinates q (n, 3) [m] can make of an eigenvalue of diag(weight)·K·diag(weight), weight (n,)."""
    pattern = stiffness.pattern
    size = np.sqrt(np.einsum("bij,bij->b", stiffness.data, stiffness.data)) * weight[pattern.rows] * weight[pattern.indices]
    offset = q[pattern.rows] - q[pattern.indices]
    apart = np.sqrt(np.einsum("bi,bi->b", offset, offset))
    ratio = np.divide(float(np.abs(q).max()), apart, out=np.zeros_like(apart), where=apart > 0.0)
    sums = np.add.reduceat(size * (1.0 + ratio), pattern.indptr[:-1])
    for rank in stiffness.spread:
        slope = weight * lengths(rank.vector)
        far = float(np.abs(q).max()) / (float(np.ptp(q, axis=0).max()) or 1.0)
        sums += abs(rank.weight) * slope * float(slope.sum()) * (1.0 + far)
    return FLOOR * EPS * float(sums.max())
