"""Natural vibrations: K φ = ω² M φ in the free directions.

With φ = M^{-½} y this is the symmetric problem M^{-½} K M^{-½} y = ω² y, and φᵀMφ = 1.
Systems too large to be factorised are solved by iteration (`_curvature`). A consistent mass matrix
is not diagonal: K φ = ω² M φ is then solved as it stands (`linalg/pencil.py`).

Damping D = ∂²Ψ/∂v², if it is small, lets mode i decay as e^{-ζωt} with ζ = φᵀDφ/(2ω φᵀMφ).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.linalg.blocks import BlockMatrix
from taut.linalg.low_rank import SparsePlusLowRank
from taut.linalg.pencil import find_smallest_of_pencil
from taut.statics._curvature import find_spectrum
from taut.statics._rigid_motions import find_neutral_motions
from taut.statics._static_objective import check_count, check_static
from taut.statics.stability import estimate_zero
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_INDEPENDENT = 1e-6  # part of a shape that must be new for it to be independent of others
_ACCURACY = 1e-6  # |Ay - ω²y|/ω² of an iteration; ω² itself is more accurate


@dataclass(frozen=True, eq=False)
class Modes:
    """The lowest natural vibrations, ascending.

    omega : angular frequencies [rad/s], (k,); a negative one is no vibration, its motion grows as
        e^{|ω|t}
    shapes : displacements, (k, n, 3), normalised by mass: φᵀMφ = 1 kg m², which is Σ_i m_i φ_i·φ_i
        for the masses of the particles
    method : "pivots": a factorisation proves that no mode is missing. "iteration": the system is
        too large for that; ω² is accurate to a millionth, that no mode was missed is an estimate
    damping : ratio ζ of each mode to critical damping, (k,), from the damping laws of the system;
        nan where ω ≤ 0. It neglects what damping laws couple between modes
    rigid : how many of the modes with ω = 0, the first ones, are rigid motions of the whole system;
        0 if not all modes with ω = 0 were computed
    system, state : what they are of; None for modes with another mass matrix than the system's

    >>> Modes(np.array([2 * np.pi]), np.zeros((1, 1, 3))).frequencies
    array([1.])
    """

    omega: Float
    shapes: Float
    method: Literal["pivots", "iteration"] = "pivots"
    damping: Float = field(default_factory=lambda: np.empty(0))
    rigid: int = 0
    system: System | None = None
    state: State | None = None

    @property
    def frequencies(self) -> Float:
        """ω/2π [Hz], (k,)."""
        return self.omega / (2 * np.pi)

    def __str__(self) -> str:
        is_damped = bool(np.nan_to_num(self.damping).any())
        heading = f"{'mode':>4}  {'ω [rad/s]':>12}  {'f [Hz]':>12}"
        lines = [heading + f"  {'ζ':>12}" * is_damped]
        first_free = int((self.omega < 0.0).sum())
        for k, (omega, f) in enumerate(zip(self.omega, self.frequencies, strict=True)):
            remark = ""
            if omega < 0:
                remark = "  grows: no vibration"
            elif omega == 0:
                is_rigid = k < first_free + self.rigid
                remark = "  free: rigid motion" if is_rigid else "  free: no stiffness"
            elif is_damped:
                remark = f"  {self.damping[k]:>12.6g}"
            lines.append(f"{k:>4}  {omega:>12.6g}  {f:>12.6g}{remark}")
        if self.method == "iteration":
            lines.append("found by iteration; that no mode was missed is an estimate")
        return "\n".join(lines)


def modes(
    system: System, state: State | None = None, *, n: int = 6, mass: Any | None = None
) -> Modes:
    """Compute the n lowest natural frequencies and shapes about a state (default: the initial one).

    n : if the system has fewer modes, all are returned
    mass : a symmetric positive definite matrix [kg], (n, n), of the system's n particles, to use
        instead of their masses, such as `taut.consistent_mass`. Time steps always have lumped
        masses

    The state should be an equilibrium (`taut.equilibrium`). Damping changes no frequency here; its
    ratios are reported. ω² within rounding of zero is returned as 0, and a negative ω², where the
    state is unstable, as ω = -√|ω²|. The rounding of ω² is the same for all modes: that of the
    stiffest of the light particles.

    >>> import taut
    >>> from taut import laws
    >>> bar = taut.System(
    ...     [[0, 0, 0], [1, 0, 0]],
    ...     mass=2.0,
    ...     fixed=[0],
    ...     energies=[laws.spring([[0, 1]], k=8.0)],
    ...     damping=[laws.drag(alpha=0.1)],
    ... )
    >>> print(taut.modes(bar))
    mode     ω [rad/s]        f [Hz]             ζ
       0             0             0  free: rigid motion
       1             0             0  free: rigid motion
       2             2       0.31831         0.025
    """
    from scipy.sparse import diags_array

    n = check_count(n, "modes")
    state = check_static(system, state, "modes")
    free = Reduction.of(system._projector)
    stiffness = workspace_for(system).stiffness(state, project=False).copy()
    _, gradient, gross = workspace_for(system).potential(state)
    weight = 1.0 / np.sqrt(system.mass)
    method: Literal["pivots", "iteration"] = "pivots"
    whole = None
    if mass is not None:
        whole = _check_mass(mass, system.n)
        # Rounding of ω²: as for lumped masses of the smallest eigenvalue of M, which no particle's
        # share of mass is below.
        weight = 1.0 / np.sqrt(_smallest_shares(whole))
    zero = estimate_zero(system._projector, state.q, gradient, gross, stiffness, weight)
    if whole is None:
        spectrum = find_spectrum(system._projector, stiffness, n, zero, weight, _ACCURACY)
        values, vectors = spectrum.values, weight[free.particles, None] * spectrum.vectors
        method = "pivots" if spectrum.exact else "iteration"
        all_zeros = spectrum.zero
    else:
        values, vectors = _solve_consistent(free, stiffness, whole, n, zero)
        all_zeros = int((np.abs(values) <= zero).sum())
        if len(values) and np.abs(values[-1]) <= zero and len(values) < free.size:
            all_zeros += 1  # there may be more
    squares = np.where(np.abs(values) <= zero, 0.0, values)
    null = np.flatnonzero(squares == 0.0)
    rigid = np.empty((0, system.n, 3))
    if len(null) == all_zeros and len(null):
        ones = np.ones(system.n)
        loose = estimate_zero(system._projector, state.q, gradient, gross, stiffness, ones)
        rigid = find_neutral_motions(system._projector, stiffness, state.q, ones, loose)
        rigid = rigid[: len(null)]
    shapes = np.array([free.expand(vector) for vector in vectors.T]).reshape(-1, system.n, 3)
    if len(rigid):
        lumped = diags_array(system.mass) if whole is None else whole
        shapes[null] = _put_rigid_motions_first(shapes[null], rigid, lumped)
    omega = np.sign(squares) * np.sqrt(np.abs(squares))
    ratios = _damping_ratios(system, state, omega, shapes)
    if whole is not None:
        return Modes(omega, shapes, method, ratios, len(rigid))
    return Modes(omega, shapes, method, ratios, len(rigid), system, state)


def _damping_ratios(system: System, state: State, omega: Float, shapes: Float) -> Float:
    """Return ζ = φᵀDφ/2ω of shapes with φᵀMφ = 1, (k,); D at rest."""
    ratios = np.full(len(omega), np.nan)
    vibrates = omega > 0.0
    ratios[vibrates] = 0.0
    if not system.damping or not vibrates.any():
        return ratios
    D = system.D(state.with_(v=np.zeros_like(state.v)))
    for k in np.flatnonzero(vibrates):
        shape = shapes[k].reshape(-1)
        ratios[k] = float(np.einsum("i,i->", shape, D @ shape)) / (2.0 * omega[k])
    return ratios


def _put_rigid_motions_first(null: Float, rigid: Float, mass: Any) -> Float:
    """Return a basis of the same space (z, n, 3), orthonormal by mass: rigid motions, then others.

    mass : matrix (n, n)
    """

    def product(a: Float, b: Float) -> float:
        return float(np.einsum("ij,ij->", a, mass @ b))

    found: list[Float] = []
    for motion in [*rigid, *null]:
        rest = np.array(motion)
        for _ in range(2):  # twice: once leaves rounding of what was subtracted
            for known in found:
                rest = rest - known * product(known, rest)
        size = product(rest, rest)
        if size > _INDEPENDENT**2 * product(motion, motion) and len(found) < len(null):
            found.append(rest / np.sqrt(size))
    return np.array(found)


def _check_mass(mass: Any, n: int) -> Any:
    from scipy.sparse import csc_array, issparse

    try:
        given: Any = mass if issparse(mass) else np.asarray(mass, np.float64)
        matrix = csc_array(given)
    except (TypeError, ValueError) as error:
        raise ModelError(f"modes: mass must be a matrix [kg], shape ({n}, {n})") from error
    if matrix.shape != (n, n):
        raise ModelError(f"modes: mass must have shape ({n}, {n}), got {matrix.shape}")
    if (
        not np.isfinite(matrix.data).all()
        or abs(matrix - matrix.T).max() > 1e-12 * abs(matrix).max()
    ):
        raise ModelError("modes: mass must be symmetric and finite")
    return matrix


def _smallest_shares(matrix: Any) -> Float:
    """Return a mass for each particle that bounds M from below: half of its diagonal entry.

    Of lines, triangles and tetrahedra M ≥ ½ diag M, since each cell has 1 + δ_ij.
    """
    diagonal: Float = matrix.diagonal()
    if not (diagonal > 0.0).all():
        i = int(np.argmin(diagonal))
        raise ModelError(f"modes: mass must be positive definite, particle {i} has {diagonal[i]:g}")
    return diagonal / 2.0


def _solve_consistent(
    free: Reduction, stiffness: BlockMatrix, mass: Any, n: int, zero: float
) -> tuple[Float, Float]:
    """Return ω² and shapes in the free coordinates, φᵀMφ = 1."""
    from scipy.sparse import eye_array, kron

    whole = kron(mass, eye_array(3), format="csc")
    M = (free.basis.T @ whole @ free.basis).tocsc()
    K = free.matrix(stiffness)
    if isinstance(K, SparsePlusLowRank):
        K = K.tocsc()
    return find_smallest_of_pencil(K, M, n, 4.0 * zero or 1.0)
