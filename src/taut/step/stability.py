"""Stability: the smallest eigenvalues of the stiffness K in the free directions.

An equilibrium is stable if all eigenvalues of PᵀKP are positive. A negative one is a direction along which the energy falls; a
zero one is a mechanism, a direction along which nothing pushes back. Counts are exact for what counts as zero: as much as
rounding of the coordinates, 8ε Σ_j |K_ij| (1 + |q|/|q_i - q_j|) at the worst particle, can make of an eigenvalue. Turning a body as
a whole meets the stiffness (unbalanced force)/length, so at an equilibrium as good as its residual r that is added: |r|/size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.solve.eigen import Spectrum, smallest
from taut.solve.tolerance import EPS, FLOOR, lengths
from taut.system.blocks import BlockMatrix
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
BALANCED = 1e-6  # of the largest gross force: a state with a larger residual is no equilibrium, and the residual no error
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
        named = ", ".join(str(p) for p in self.particles[:8])
        more = f" and {len(self.particles) - 8} more" if len(self.particles) > 8 else ""
        return f"{self.eigenvalue:.4g} N/m: particles {named}{more}"


@dataclass(frozen=True, eq=False)
class Stability:
    """The smallest eigenvalues of K in the free directions, and what they mean.

    eigenvalues : [N/m], ascending; negative, zero : how many there are of all, those not computed included
    zero_below : what counts as zero [N/m]
    mechanisms : one for each of the computed eigenvalues that is zero or negative

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

    def __str__(self) -> str:
        head = "stable" if self.stable else f"unstable in {self.negative} directions" if self.negative else "neutral"
        lowest = ", ".join(f"{value:.4g}" for value in self.eigenvalues) or "none: nothing can move"
        lines = [f"{head}; {self.zero} mechanisms; smallest eigenvalues of K [N/m]: {lowest}"]
        return "\n".join(lines + [f"  {mechanism}" for mechanism in self.mechanisms])


def stability(system: System, state: State | None = None, n: int = 6) -> Stability:
    """The n smallest eigenvalues of the stiffness K at a state (default: the initial one), with exact counts.

    >>> import taut
    >>> from taut import laws
    >>> bar = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=[laws.spring([[0, 1]], k=5.0)])
    >>> found = taut.stability(bar)
    >>> found.eigenvalues, found.zero, found.stable, found.mechanisms[0].particles
    (array([0., 0., 5.]), 2, False, array([1]))
    """
    if not (isinstance(n, (int, np.integer)) and n > 0):
        raise ModelError(f"stability: n is the number of eigenvalues, 1 or more, not {n!r}")
    state = system.initial_state() if state is None else state
    free = Reduction.of(system.hold)
    stiffness = system.stiffness(state, project=False)
    tol = zero_below(system, state, stiffness, np.ones(system.n))
    spectrum = smallest(free.matrix(stiffness), int(n), tol)
    return of_spectrum(spectrum, free, tol)


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


def zero_below(system: System, state: State, stiffness: BlockMatrix, weight: Float) -> float:
    """What counts as zero among the eigenvalues of diag(weight)·K·diag(weight) at a state, weight (n,)."""
    tol = rounding_of(stiffness, state.q, weight)
    _, gradient, gross = system.potential(state)
    residual = lengths(system.hold.project(gradient))
    extent = float(np.ptp(state.q, axis=0).max())
    if extent > 0.0 and residual.max() <= BALANCED * gross.max():
        tol += float((weight**2 * residual).max()) / extent
    return tol


def rounding_of(stiffness: BlockMatrix, q: Float, weight: Float) -> float:
    """What rounding of the coordinates q (n, 3) [m] can make of an eigenvalue of diag(weight)·K·diag(weight), weight (n,)."""
    pattern = stiffness.pattern
    size = np.sqrt(np.einsum("bij,bij->b", stiffness.data, stiffness.data)) * weight[pattern.rows] * weight[pattern.indices]
    offset = q[pattern.rows] - q[pattern.indices]
    apart = np.sqrt(np.einsum("bi,bi->b", offset, offset))
    ratio = np.divide(float(np.abs(q).max()), apart, out=np.zeros_like(apart), where=apart > 0.0)
    sums = np.add.reduceat(size * (1.0 + ratio), pattern.indptr[:-1])
    return FLOOR * EPS * float(sums.max())
