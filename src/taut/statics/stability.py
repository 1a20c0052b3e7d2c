"""Stability: the smallest eigenvalues of the stiffness K in the free directions.

An equilibrium is stable if all eigenvalues of PᵀKP are positive, P an orthonormal basis of the free
directions. Along an eigenvector with a negative eigenvalue the energy falls; one with eigenvalue
zero is a motion that nothing resists: a rigid motion of the whole system, which changes no shape
and no stability (`_rigid_motions`), or a mechanism. An eigenvalue counts as zero up to

    8ε max_i Σ_j |K_ij| (1 + |q|/|q_i - q_j|),

which rounding of the coordinates can cause. A rotation of the whole body by ω meets the force
ω × r_i, r the unbalanced forces, so at an equilibrium that is only as good as its residual, the
larger of max |r_i|/size and ‖r‖/√Σ|ω × x_i|², |ω| = 1, is added; the latter for the worst rotation
that the constraints leave free.

Where a factorisation is affordable, its pivots count the eigenvalues exactly; elsewhere an
iteration finds the smallest (`_curvature`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from taut.arrays import EPS, Float, Int
from taut.linalg.blocks import BlockMatrix, row_norms
from taut.linalg.eigen import Spectrum
from taut.optimise.tolerance import ROUNDING_UNITS
from taut.statics._curvature import find_spectrum
from taut.statics._rigid_motions import find_free_motions, find_neutral_motions, separate
from taut.statics._static_objective import check_count, check_static
from taut.system.projector import ConstraintProjector
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

# Residual over the largest gross force: with a larger one a state is not meant as an equilibrium,
# and its residual is not an error of one.
_BALANCED = 1e-6
_MAX_NAMED = 8  # particles that a mechanism names in print
_TAKES_PART = 0.1  # of the largest displacement: particles that move less are not named


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A motion that nothing resists, other than a rigid motion of the whole system.

    eigenvalue : [N/m], zero or negative
    shape : displacements of unit length, (n, 3)
    particles : those that take part, the most displaced first
    """

    eigenvalue: float
    shape: Float
    particles: Int

    def __str__(self) -> str:
        named = ", ".join(str(p) for p in self.particles[:_MAX_NAMED])
        if len(self.particles) > _MAX_NAMED:
            named += f" and {len(self.particles) - _MAX_NAMED} more"
        return f"{self.eigenvalue:.4g} N/m: particles {named}"


@dataclass(frozen=True, eq=False)
class Stability:
    """The smallest eigenvalues of K in the free directions, and what they mean.

    eigenvalues : [N/m], ascending
    negative, zero : how many eigenvalues are negative and zero. With pivots of all there are, and
        exact; by iteration of those in `eigenvalues`: there may be more
    zero_below : the magnitude up to which an eigenvalue counts as zero [N/m]
    mechanisms : one for each computed eigenvalue that is negative, or zero and not that of a rigid
        motion. If all zero ones were computed, their shapes are separated by particles; if not,
        they are mixtures (`mixed`), and a larger n separates them
    rigid : how many of the zero eigenvalues are rigid motions of the whole system: those that its
        constraints leave free and no force resists. Six for a free body, five if it is a line
    method : "pivots": K was factorised, which proves how many eigenvalues are negative and zero.
        "iteration": K is too large for that, or has no LDLᵀ without pivoting. There are at least as
        many negative eigenvalues as were found; that no lower one was missed is an estimate
    bounds : of the error of each eigenvalue [N/m]: K has one within this distance

    With pivots eigenvalues and shapes are accurate to rounding, by iteration to a thousandth. In
    their last digits they may vary with the number of threads of BLAS.

    >>> print(Stability(np.array([2.0, 5.0]), negative=0, zero=0, zero_below=1e-14, mechanisms=()))
    stable; 0 mechanisms; smallest eigenvalues of K [N/m]: 2, 5
    """

    eigenvalues: Float
    negative: int
    zero: int
    zero_below: float
    mechanisms: tuple[Mechanism, ...]
    method: Literal["pivots", "iteration"] = "pivots"
    bounds: Float = field(default_factory=lambda: np.empty(0))
    rigid: int = 0

    @property
    def stable(self) -> bool:
        """Whether no eigenvalue is negative, and none zero but those of rigid motions.

        By iteration, whether no other was found.
        """
        return self.negative == 0 and self.zero == self.rigid

    @property
    def mixed(self) -> bool:
        """Whether not all zero eigenvalues were computed, so that shapes are mixtures.

        By iteration, whether there may be more than those computed.
        """
        if self.method == "iteration":
            return bool(len(self.eigenvalues) and self.eigenvalues[-1] == 0.0)
        return int((self.eigenvalues == 0.0).sum()) < self.zero

    def __str__(self) -> str:
        iterated = self.method == "iteration"
        if self.stable:
            verdict = "stable"
        elif self.negative:
            verdict = f"unstable in {'at least ' * iterated}{self.negative} directions"
        else:
            verdict = "neutral"
        lowest = ", ".join(f"{value:.4g}" for value in self.eigenvalues) or "none: nothing can move"
        some = "at least " * (iterated and self.mixed)
        rigid = f" {self.rigid} rigid motions;" if self.rigid else ""
        lines = [
            f"{verdict};{rigid} {some}{self.zero - self.rigid} mechanisms; "
            f"smallest eigenvalues of K [N/m]: {lowest}"
        ]
        if iterated:
            lines.append(
                f"  found by iteration, to {self.bounds.max(initial=0.0):.1e} N/m; "
                "that none is lower is an estimate, since K was not factorised"
            )
        lines += [f"  {mechanism}" for mechanism in self.mechanisms]
        if self.mixed:
            lines.append(
                "  the shapes shown may be mixtures of more mechanisms: a larger n separates them"
                if iterated
                else f"  the shapes shown are mixtures of all {self.zero - self.rigid} mechanisms: "
                f"n={self.negative + self.zero - self.rigid} separates them"
            )
        return "\n".join(lines)


def stability(system: System, state: State | None = None, *, n: int = 6) -> Stability:
    """Compute the n smallest eigenvalues of K at a state (default: the initial one).

    The zeros of rigid motions come in addition to these n. `Stability.method` tells whether the
    signs of pivots or an iteration decided; the choice depends on the sparsity pattern alone.

    >>> import taut
    >>> from taut import laws
    >>> bar = taut.System(
    ...     [[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=[laws.spring([[0, 1]], k=5.0)]
    ... )
    >>> found = taut.stability(bar)
    >>> found.eigenvalues, found.zero, found.rigid, found.stable  # it turns about its fixed end
    (array([0., 0., 5.]), 2, 2, True)
    """
    n = check_count(n, "stability")
    state = check_static(system, state, "stability")
    stiffness = workspace_for(system).stiffness(state, project=False)
    _, gradient, gross = workspace_for(system).potential(state)
    return analyse_stiffness(system, state.q, stiffness, gradient, gross, n)


def analyse_stiffness(
    system: System, q: Float, stiffness: BlockMatrix, gradient: Float, gross: Float, n: int = 6
) -> Stability:
    """Compute the stability of positions q (n, 3) [m] from K and the forces there.

    stiffness : K [N/m], before constraints
    gradient : ∂V/∂q [N], (n, 3); gross : gross forces [N], (n,). Both at any load factor
    """
    free = Reduction.of(system._projector)
    weight = np.ones(system.n)
    zero = estimate_zero(system._projector, q, gradient, gross, stiffness, weight)
    rigid = find_neutral_motions(system._projector, stiffness, q, weight, zero)
    spectrum = find_spectrum(system._projector, stiffness, n + len(rigid), zero)
    return _interpret(spectrum, free, zero, free.basis.T @ rigid.reshape(-1, 3 * system.n).T)


def _interpret(spectrum: Spectrum, free: Reduction, zero: float, rigid: Float) -> Stability:
    """Turn eigenpairs in the free coordinates into a Stability; those within ±zero are zero.

    rigid : neutral rigid motions, orthonormal columns of (f, r)
    """
    values = np.where(np.abs(spectrum.values) <= zero, 0.0, spectrum.values)
    vectors = spectrum.vectors.copy()
    null = np.flatnonzero(values == 0.0)
    rigid = rigid[:, : len(null)]
    all_found = len(null) == spectrum.zero and (spectrum.exact or values[-1] > 0.0)
    if rigid.shape[1]:
        # The rigid motions come first among the zeros, the mechanisms are orthogonal to them.
        vectors[:, null] = np.hstack([rigid, separate(vectors[:, null], rigid)])
    loose = null[rigid.shape[1] :]
    if all_found and len(loose) > 1:
        vectors[:, loose] = _localise(vectors[:, loose])
    mechanisms = []
    for k in [*np.flatnonzero(values < 0.0), *loose]:
        shape = free.expand(vectors[:, k])
        moved = np.sqrt(np.einsum("ij,ij->i", shape, shape))
        order = np.argsort(-moved, kind="stable")
        particles = order[moved[order] > _TAKES_PART * moved.max()]
        mechanisms.append(Mechanism(float(values[k]), shape, particles.astype(np.int64)))
    return Stability(
        values,
        spectrum.negative,
        spectrum.zero,
        zero,
        tuple(mechanisms),
        "pivots" if spectrum.exact else "iteration",
        spectrum.bounds,
        rigid.shape[1],
    )


def _localise(null: Float) -> Float:
    """Return an orthonormal basis of the same space (f, z) whose vectors are concentrated.

    Equal eigenvalues have no eigenvectors of their own, so any rotation is as good; the one that
    comes nearest to making the most independent rows the identity names the fewest particles.
    """
    from scipy.linalg import qr

    rows = qr(null.T, pivoting=True, mode="r")[1][: null.shape[1]]
    left, _, right = np.linalg.svd(null[np.sort(rows)].T)
    return null @ (left @ right)


def estimate_zero(
    projector: ConstraintProjector,
    q: Float,
    gradient: Float,
    gross: Float,
    stiffness: BlockMatrix,
    weight: Float,
) -> float:
    """Return the magnitude up to which an eigenvalue of diag(weight)·K·diag(weight) is zero.

    q : positions [m], (n, 3); weight : (n,)
    gradient : ∂V/∂q [N], (n, 3); gross : gross forces [N], (n,)
    """
    zero = estimate_stiffness_rounding(stiffness, q, weight)
    residual = row_norms(projector.project(gradient))
    extent = float(np.ptp(q, axis=0).max())
    if extent > 0.0 and residual.max() <= _BALANCED * gross.max():
        weighted = weight * residual
        norm = float(np.sqrt(np.einsum("i,i->", weighted, weighted)))
        # the largest |ω| of a free rigid motion with Σ |δ_i|²/weight_i² = 1
        _, turns = find_free_motions(projector, q, weight)
        rotation = norm * (float(np.linalg.norm(turns, 2)) if len(turns) else 0.0)
        zero += max(float((weight**2 * residual).max()) / extent, rotation)
    return zero


def estimate_stiffness_rounding(stiffness: BlockMatrix, q: Float, weight: Float) -> float:
    """Return the eigenvalue of diag(weight)·K·diag(weight) that rounding of q can cause.

    q : positions [m], (n, 3); weight : (n,)
    """
    pattern = stiffness.pattern
    rows, columns = pattern.rows, pattern.indices
    data = stiffness.data
    scale = weight[rows] * weight[columns]
    block_norms = np.sqrt(np.einsum("bij,bij->b", data, data)) * scale
    # A pair that turns changes only what its stiffness has besides a multiple of I: stitches, which
    # have nothing else, join particles that may be apart by rounding alone.
    turning = data - np.trace(data, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
    turning_norms = np.sqrt(np.einsum("bij,bij->b", turning, turning)) * scale
    offset = q[rows] - q[columns]
    distance = np.sqrt(np.einsum("bi,bi->b", offset, offset))
    largest = float(np.abs(q).max())
    ratio = np.divide(largest, distance, out=np.zeros_like(distance), where=distance > 0.0)
    sums = np.add.reduceat(block_norms + turning_norms * ratio, pattern.indptr[:-1])
    for term in stiffness.low_rank:
        slope = weight * row_norms(term.vector)
        far = largest / (float(np.ptp(q, axis=0).max()) or 1.0)
        sums += abs(term.weight) * slope * float(slope.sum()) * (1.0 + far)
    return ROUNDING_UNITS * EPS * float(sums.max())
