"""Linear buckling: the load factors at which an equilibrium becomes unstable, to first order.

The stiffness along the path of equilibria that begins at q₀ with the load factor 0 is

    K(λ) = K₀ + λ K₁ + …,    K₁ = ∂K/∂λ + (∂K/∂q) u,    u = -K₀⁻¹ p,    p = ∂r/∂λ.

K₁ is the geometric stiffness: how K changes with the member forces, and with the displacements u,
that a unit of the load causes. A buckling factor λ with its mode φ solves K₀φ + λK₁φ = 0. It is
exact where K is linear in λ, and otherwise an estimate; `path` finds the critical points
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.linalg.blocks import row_norms
from taut.linalg.eigen import all_eigenvalues_exceed
from taut.linalg.low_rank import Factor, SparsePlusLowRank
from taut.linalg.pencil import find_smallest_of_pencil
from taut.optimise.tolerance import all_within
from taut.statics._parametrised_forces import ParametrisedForces
from taut.statics._static_objective import check_count, check_static, check_tolerance
from taut.system.members import joined_pairs
from taut.system.state import State
from taut.system.system import System

# Displacement over the shortest member across which K is differentiated. The difference is one of
# fourth order: its error is below rounding, which is 1e-16 over this.
_DIFFERENCE = 1e-3
_NEVER = 1e-8  # of the largest |ν|, of any sign: modes with a smaller ν = -1/λ do not buckle


@dataclass(frozen=True, eq=False)
class Buckling:
    """The lowest positive buckling factors, ascending, and their modes.

    factors : load factors λ, (k,); empty if the load makes nothing unstable
    modes : displacements, (k, n, 3); the largest displacement of a particle is 1
    """

    factors: Float
    modes: Float

    def __str__(self) -> str:
        if not len(self.factors):
            return "no buckling under this load"
        lines = [f"{'mode':>4}  {'load factor':>12}"]
        lines += [f"{k:>4}  {factor:>12.6g}" for k, factor in enumerate(self.factors)]
        return "\n".join(lines)


def buckling(
    system: System, state: State | None = None, *, scaled: Iterable[str] | None = None, n: int = 6
) -> Buckling:
    """Compute the n lowest positive factors by which a load may be multiplied before it buckles.

    state : a stable equilibrium without the load, `taut.equilibrium(system, loads=[0]).state`
        (default: the initial state)
    scaled : names of the energy laws that make up the load (default: all that are linear in the
        positions, such as gravity and given forces)

    The factors are those of the linearised problem (see the theory); `taut.path` finds the critical
    points of the nonlinear one.

    >>> import taut
    >>> from taut import laws
    >>> rod = taut.mesh.rope(20)
    >>> column = taut.System(  # EI = 1 N m², 1 m, pinned at both ends: Euler's load is π² N
    ...     rod.points[:, :2],
    ...     mass=1.0,
    ...     fixed=[0],
    ...     constraints=[taut.constraints.on_line([20], (1, 0))],
    ...     energies=[
    ...         laws.spring(rod.edges, k=1e10),
    ...         laws.rod_bending(rod.rod_hinges, EI=1.0),
    ...         laws.force([20], f=(-1, 0)),
    ...     ],
    ... )
    >>> taut.buckling(column, n=2).factors.round(3)
    array([ 9.849, 39.155])
    """
    n = check_count(n, "buckling")
    start = check_static(system, state, "buckling", contact=False)
    forces = ParametrisedForces(system, start, "load", scaled, "buckling")
    q = forces.place(np.array(start.q), 0.0)
    _require_equilibrium(forces, q)
    K, zero = forces.stiffness(q, 0.0)
    if zero == 0.0 or not all_eigenvalues_exceed(K, zero):  # zero is 0 where K is
        raise ModelError(
            "buckling: K must be positive definite without the load; taut.stability names the "
            "mechanisms, rigid motions and unstable directions"
        )
    p = forces.slope(q, 0.0, 1.0)
    displacement = forces.free.expand(Factor(K).solve(-p))
    geometric = _differentiate_stiffness(forces, q, displacement, system)
    direct = forces.scaled_stiffness(q)
    geometric = geometric if direct is None else geometric + _write_out(direct)
    if not geometric.nnz or not abs(geometric).max() > 0.0:
        return Buckling(np.empty(0), np.empty((0, system.n, 3)))
    K = _write_out(K)
    near = float(abs(geometric).max() / abs(K).max())
    geometric = geometric.tocsc()
    values, vectors = find_smallest_of_pencil(geometric, K, n, near)
    # K₁φ = νK₀φ, ν = -1/λ: rounding leaves a ν of either sign where a mode does not buckle.
    (most_stiffened,), _ = find_smallest_of_pencil(-geometric, K, 1, near)
    buckles = values < -_NEVER * max(np.abs(values).max(), abs(float(most_stiffened)))
    shapes = [forces.free.expand(vector) for vector in vectors[:, buckles].T]
    modes = [shape / row_norms(shape).max() for shape in shapes]
    return Buckling(-1.0 / values[buckles], np.array(modes).reshape(-1, system.n, 3))


def _require_equilibrium(forces: ParametrisedForces, q: Float) -> None:
    balance = forces.balance(q, 0.0)
    tolerance = check_tolerance(None, "buckling")
    targets = tolerance.targets(balance.gross, balance.gross)
    limits = np.maximum(targets, forces.rounding_floors(q, 0.0, balance.gross))
    if not all_within(balance.residuals, limits):
        i = int(np.argmax(balance.residuals - limits))
        raise ModelError(
            "buckling: the state must be an equilibrium without the load, but particle "
            f"{i} has the unbalanced force {balance.residuals[i]:.3g} N; use "
            "taut.equilibrium(system, loads=[0]).state"
        )


def _differentiate_stiffness(
    forces: ParametrisedForces, q: Float, displacement: Float, system: System
) -> Any:
    """Return (∂K/∂q) u in the free coordinates, by a difference of fourth order."""
    largest = float(row_norms(displacement).max())
    if not largest > 0.0:
        from scipy.sparse import csc_array

        return csc_array((forces.free.size, forces.free.size))
    pairs = joined_pairs(system)
    lengths = row_norms(q[pairs[:, 1]] - q[pairs[:, 0]])
    shortest = float(lengths[lengths > 0.0].min(initial=float(np.ptp(q, axis=0).max()) or 1.0))
    h = _DIFFERENCE * shortest / largest
    at = {k: _write_out(forces.stiffness(q + k * h * displacement, 0.0)[0]) for k in (-2, -1, 1, 2)}
    return (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * h)


def _write_out(matrix: Any) -> Any:
    return matrix.tocsc() if isinstance(matrix, SparsePlusLowRank) else matrix
