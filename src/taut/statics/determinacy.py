"""Static and kinematic determinacy of pin-jointed structures: the equilibrium matrix.

Member k between particles i and j, with the direction d from i to j and the force N_k (tension
positive), pulls i with N_k d and j with -N_k d. Loads p in the free directions are in balance with
the member forces if A N = p, with the column -d at i and +d at j for each member. Aᵀ turns
displacements into elongations. So

    A N = 0      self-stress: member forces without loads, s = b - rank A of them,
    Aᵀ u = 0     inextensional motions: rigid motions and mechanisms, f - rank A of them,

and s - m = b - f whatever the geometry: the rule of Maxwell (1864) and Calladine (1978). A
self-stress N stiffens the mechanisms D if Dᵀ G D > 0, G the stiffness N/l (I - ddᵀ) of the members
across their directions (Calladine and Pellegrino 1991).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import EPS, Float, Int
from taut.errors import ModelError
from taut.statics._rigid_motions import find_free_motions, separate
from taut.system.members import Members, resolve_state
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System

_RANK = 1e-10  # singular values of A, relative to the largest, that count as zero
_MAX_SIZE = 6000  # free coordinates and members: the full singular value decomposition is dense
_STIFF = 1e-8  # eigenvalue of DᵀGD, relative to the largest, up to which nothing is stiffened
_MAX_CUTS = 200  # of the search for a self-stress: each adds a direction that it must stiffen


@dataclass(frozen=True, eq=False)
class Determinacy:
    """The equilibrium matrix of a pin-jointed structure, and what its null spaces mean.

    matrix : A, a scipy.sparse CSC array (f, b) for f free coordinates and b members
    basis : the free coordinates, a scipy.sparse CSC array (3n, f): a load (n, 3) [N] is
        `basis.T @ load.ravel()`. Where no constraint is oblique they are single coordinates
    members : the table of members, in the order of the columns
    rank : of A
    self_stress : states of self-stress, (s, b), orthonormal
    rigid : rigid motions of the whole structure that the constraints leave free, (r, n, 3)
    mechanisms : inextensional motions besides these, (m, n, 3), orthonormal
    stiffening : a self-stress (b,) under which every mechanism is stiff (prestress stability), of
        unit length, or None if there is none, or no mechanism. The signs that cables demand are
        not considered
    """

    matrix: Any
    basis: Any
    members: Members
    rank: int
    self_stress: Float
    rigid: Float
    mechanisms: Float
    stiffening: Float | None

    @property
    def maxwell(self) -> int:
        """Members less free coordinates, b - f; equal to s - (m + r)."""
        return int(self.matrix.shape[1] - self.matrix.shape[0])

    def __str__(self) -> str:
        f, b = self.matrix.shape
        s, m, r = len(self.self_stress), len(self.mechanisms), len(self.rigid)
        statically = "statically determinate" if s == 0 else "statically indeterminate"
        kinematically = "kinematically determinate" if m == 0 else "kinematically indeterminate"
        lines = [
            f"{b} members, {f} free coordinates, rank {self.rank}",
            f"{s} self-stress states, {m} mechanisms, {r} rigid motions: "
            f"{s} - ({m} + {r}) = {b} - {f}",
            f"{statically}, {kinematically}",
        ]
        if m and s:
            can = "can" if self.stiffening is not None else "cannot"
            lines.append(f"prestress {can} stiffen all mechanisms")
        return "\n".join(lines)


def determinacy(system: System, state: State | None = None) -> Determinacy:
    """Find the self-stress states and mechanisms of the members at a state (default: the initial).

    Members are the active elements of all energy laws on two particles that no rigid motion
    changes, such as springs and cables, slack or not: their directions matter, not their stiffness.

    >>> import taut
    >>> from taut import laws
    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> bars = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]
    >>> frame = taut.System(square, mass=1.0, energies=[laws.spring(bars, k=1e3)])
    >>> found = taut.determinacy(frame)
    >>> print(found)
    6 members, 8 free coordinates, rank 5
    1 self-stress states, 0 mechanisms, 3 rigid motions: 1 - (0 + 3) = 6 - 8
    statically indeterminate, kinematically determinate
    >>> (found.self_stress[0] / found.self_stress[0, 0]).round(6) + 0.0
    array([ 1.      ,  1.      ,  1.      ,  1.      , -1.414214, -1.414214])
    """
    if not isinstance(system, System):
        raise ModelError(f"determinacy: system must be a System, got {system!r}")
    state = resolve_state(system, state, "determinacy")
    free = Reduction.of(system._projector)
    members = _select_bars(system, state)
    if max(free.size, len(members)) > _MAX_SIZE:
        raise ModelError(
            f"determinacy: at most {_MAX_SIZE} members and free coordinates, "
            f"got {len(members)} and {free.size}"
        )
    q = np.array(state.q)
    directions = _directions(members, q)
    matrix = (free.basis.T @ _assemble(members, directions, system.n)).tocsc()
    left, values, right = np.linalg.svd(matrix.toarray())
    rank = int((values > _RANK * values.max(initial=0.0)).sum())
    inextensional, self_stress = left[:, rank:], right[rank:]
    motions, _ = find_free_motions(system._projector, q, np.ones(system.n))
    rigid = free.basis.T @ motions.reshape(-1, 3 * system.n).T
    loose = separate(inextensional, rigid)
    shapes = np.array([free.expand(u) for u in loose.T]).reshape(-1, system.n, 3)
    return Determinacy(
        matrix=matrix,
        basis=free.basis,
        members=members,
        rank=rank,
        self_stress=self_stress,
        rigid=motions,
        mechanisms=shapes,
        stiffening=_find_stiffening(members, directions, shapes, self_stress),
    )


def _select_bars(system: System, state: State) -> Members:
    """Return the members whose laws rigid motions do not change: not the clamped end of a rod."""
    table = system.members(state)
    names = [
        name
        for name, placed in system._placed_energies.items()
        if placed.particles == 2 and placed.law.invariant == "rigid motion"
    ]
    kept = np.isin(table.law, names)
    columns = {name: getattr(table, name)[kept] for name in table.__dataclass_fields__}
    return Members(**columns)


def _directions(members: Members, q: Float) -> Float:
    """Return the unit vectors from the first to the second particle of each member, (b, 3)."""
    offsets = q[members.j] - q[members.i]
    coincident = np.flatnonzero(members.length <= EPS * np.abs(q).max(initial=0.0))
    if len(coincident):
        k = coincident[0]
        raise ModelError(
            f"determinacy: element {members.element[k]} of '{members.law[k]}' (particles "
            f"{members.i[k]} and {members.j[k]}) has length 0, and so no direction"
        )
    return np.asarray(offsets / members.length[:, None])


def _assemble(members: Members, directions: Float, n: int) -> Any:
    """Return A in all coordinates, (3n, b)."""
    from scipy.sparse import csc_array

    def rows(particles: Int) -> Int:
        return np.asarray(3 * particles[:, None] + np.arange(3)).ravel()

    columns = np.repeat(np.arange(len(members)), 3)
    entries = np.concatenate([-directions.ravel(), directions.ravel()])
    places = (np.concatenate([rows(members.i), rows(members.j)]), np.tile(columns, 2))
    return csc_array((entries, places), shape=(3 * n, len(members)))


def _find_stiffening(
    members: Members, directions: Float, mechanisms: Float, self_stress: Float
) -> Float | None:
    """Return a self-stress N (b,), |N| = 1, with DᵀG(N)D > 0, or None.

    With Q_i = DᵀGD of the i-th state, the largest lowest eigenvalue of Σ a_i Q_i over |a_i| ≤ 1 is
    sought by cutting planes: a linear program over the directions v that a must stiffen, to which
    the least stiff direction of its solution is added, until its bound is reached or not positive.
    """
    from scipy.optimize import linprog

    s, m = len(self_stress), len(mechanisms)
    if not s or not m:
        return None
    # G is -N/l ddᵀ + N/l I: of an inextensional motion, d·(u_j - u_i) = 0.
    relative = mechanisms[:, members.j] - mechanisms[:, members.i]  # (m, b, 3)
    across = relative - np.einsum("mbi,bi,bj->mbj", relative, directions, directions)
    forms = np.einsum("sb,mbi,nbi->smn", self_stress / members.length, across, across)
    size = float(np.abs(forms).max())
    if not size > 0.0:
        return None
    cuts = [np.einsum("smm->s", forms) / (m * size)]
    for _ in range(_MAX_CUTS):
        found: Any = linprog(
            np.append(np.zeros(s), -1.0),
            A_ub=np.column_stack([-np.array(cuts), np.ones(len(cuts))]),
            b_ub=np.zeros(len(cuts)),
            bounds=[(-1.0, 1.0)] * s + [(None, None)],
        )
        a, bound = found.x[:s], float(found.x[s])
        if bound <= _STIFF:
            return None
        values, vectors = np.linalg.eigh(np.einsum("s,smn->mn", a, forms) / size)
        if values[0] >= 0.5 * bound:
            stress: Float = a @ self_stress
            return stress / np.linalg.norm(stress)
        cuts.append(np.einsum("smn,m,n->s", forms, vectors[:, 0], vectors[:, 0]) / size)
    return None
