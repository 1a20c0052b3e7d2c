"""Members: the forces, lengths and strains of whatever joins two particles.

The force of a member is N = dV/dl, positive in tension: with u the direction from its first particle to its second,
N = u·∂V/∂x₁. The strain is l/l₀ - 1 where the law has a rest length l₀.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError
from taut.formula.placed import Placed
from taut.system.particles import positions
from taut.system.state import State
from taut.system.system import System
from taut.system.tables import aligned, write_csv

Float = NDArray[np.float64]
Int = NDArray[np.int64]
SHOWN = 10  # rows that a table prints
APART = 1e-6  # of the rest length: how far apart ends that meet are moved to see whether they push


@dataclass(frozen=True, eq=False)
class Members:
    """A table of members, one row each, as columns of shape (m,).

    law : name of the law; element : its number there; i, j : the two particles
    length, rest_length : [m], the latter nan where the law has none; strain : length/rest_length - 1, or nan
    force : [N], tension positive; nan where the ends meet and the member pushes them apart, in no direction
    slack : True where the member is shorter than its rest length and carries nothing

    >>> import taut
    >>> from taut import laws
    >>> system = taut.System([[0, 0, 0], [2, 0, 0]], mass=1.0, energies=[laws.cable([[0, 1]], k=50.0, l0=1.6)])
    >>> print(taut.members(system))
    law    element  i  j  length [m]  rest length [m]  strain  force [N]  slack
    cable        0  0  1           2              1.6    0.25         20     no
    """

    law: NDArray[np.str_]
    element: Int
    i: Int
    j: Int
    length: Float
    rest_length: Float
    strain: Float
    force: Float
    slack: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.law)

    def __str__(self) -> str:
        table = aligned(_HEADINGS, self._rows(SHOWN))
        return f"{table}\n… and {len(self) - SHOWN} more" if len(self) > SHOWN else table

    def _rows(self, count: int) -> list[tuple[object, ...]]:
        columns = [getattr(self, f.name)[:count].tolist() for f in fields(self)]
        return list(zip(*columns, strict=True))

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table, whole or not at all; a rest length or strain that is not there is left empty.

        >>> import pathlib, tempfile, taut
        >>> from taut import laws
        >>> system = taut.System([[0, 0, 0], [2, 0, 0]], mass=1.0, energies=[laws.zero_length_spring([[0, 1]], k=3.0)])
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "members.csv"
        >>> taut.members(system).write_csv(file)
        >>> print(file.read_text().splitlines()[1])
        zero_length_spring,0,0,1,2.0,,,6.0,0
        """
        header = [f"{f.name}_{_UNITS[f.name]}" if f.name in _UNITS else f.name for f in fields(self)]
        write_csv(path, header, self._rows(len(self)))


_HEADINGS = ["law", "element", "i", "j", "length [m]", "rest length [m]", "strain", "force [N]", "slack"]
_UNITS = {"length": "m", "rest_length": "m", "force": "N"}


def state_of(system: System, state: State | None, caller: str) -> State:
    """The state (default: the initial one), if these are a system and a state of it; the error names the caller."""
    if not isinstance(system, System):
        raise ModelError(f"{caller}: {system!r} is not a System")
    if state is not None and not isinstance(state, State):
        raise ModelError(f"{caller}: {state!r} is not a State")
    if system.loads and caller != "members":
        raise ModelError(f"{caller}: a load such as '{system.loads[0].name}' has no energy; simulate with damping until it rests")
    state = system.initial_state() if state is None else state
    system.assembly("potential", state)  # refuses a state, or a mask of elements, of another system
    return state


def members(system: System, state: State | None = None) -> Members:
    """The table of all members: the active elements of every energy law on two particles, at a state (default: the initial one).

    >>> import taut
    >>> from taut import laws
    >>> points = [[0, 0, 0], [3, 0, 0], [3, 4, 0]]
    >>> system = taut.System(points, mass=1.0, energies=[laws.spring([[0, 1], [0, 2]], k=10.0, l0=4.0)])
    >>> table = taut.members(system)
    >>> table.force, table.strain
    (array([-10.,  10.]), array([-0.25,  0.25]))
    """
    state = state_of(system, state, "members")
    parts = [
        _of_law(name, placed, state, np.flatnonzero(state.active.get(name, np.ones(len(placed.elements), dtype=bool))))
        for name, placed in system.placed.items()
        if placed.particles == 2
    ]
    empty = Members(np.empty(0, dtype=np.str_), *(np.empty(0, dtype=np.int64),) * 3, *(np.empty(0),) * 4, np.empty(0, dtype=bool))
    return Members(*(np.concatenate([getattr(p, f.name) for p in parts or [empty]]) for f in fields(Members)))


def _of_law(name: str, placed: Placed, state: State, rows: Int) -> Members:
    i, j = placed.elements[rows].T
    offset = state.q[j] - state.q[i]
    length = np.sqrt(np.einsum("ij,ij->i", offset, offset))
    direction = np.divide(offset, length[:, None], out=np.zeros_like(offset), where=length[:, None] > 0.0)
    force = np.einsum("ij,ij->i", direction, placed.gradients(np.array(state.q), state.t)[rows, 1])
    rest = np.full(len(rows), np.nan)
    if placed.widths.get("l0", 1) is None:  # the law has a parameter l0, and it is a scalar
        rest = placed.packed(state.t)[rows, placed.columns("l0")]
    met = np.flatnonzero((length == 0.0) & (rest > 0.0))
    force[met[_pushes(placed, state, rows[met], float(rest[met].min(initial=np.inf)))]] = np.nan
    strain = np.divide(length, rest, out=np.full(len(rows), np.nan), where=rest > 0.0) - 1.0
    return Members(np.full(len(rows), name), rows, i, j, length, rest, strain, force, (force == 0.0) & (length < rest))


def _pushes(placed: Placed, state: State, rows: Int, rest: float) -> NDArray[np.bool_]:
    """Which of these elements, whose two ends meet, would have a force if they were a little apart."""
    q = np.array(state.q)
    ends = np.unique(placed.elements[rows])
    if not len(ends):
        return np.zeros(0, dtype=bool)
    q[ends] += (APART * rest * (1 + np.arange(len(ends))) / len(ends))[:, None]  # each its own way: all pairs come apart
    return np.asarray(placed.gradients(q, state.t)[rows, 1].any(axis=1))


def rest_length(points: ArrayLike, edges: ArrayLike, k: ArrayLike, force: ArrayLike) -> Float:
    """The rest lengths [m] with which members are prestressed: l₀ = l - force/k, shape (m,).

    points : positions [m], (n, 3) or (n, 2), at which the members shall have these forces; edges : their particles, (m, 2)
    k : stiffness [N/m]; force : [N], tension positive; each one number or one per member
    A member whose l₀ would not be positive is refused: it needs a larger k.

    >>> rest_length([[0, 0, 0], [2, 0, 0]], [[0, 1]], k=100.0, force=50.0)
    array([1.5])
    """
    x = positions(points, "points")
    try:
        pairs = np.asarray(edges)
    except ValueError as error:
        raise ModelError(f"rest_length: edges are pairs of particle indices, not {edges!r}") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ModelError(
            f"rest_length: edges are pairs of particle indices, shape (m, 2), not {pairs.dtype} of shape {pairs.shape}"
        )
    outside = np.flatnonzero(((pairs < 0) | (pairs >= len(x))).any(axis=1))
    if len(outside):
        raise ModelError(f"rest_length: member {outside[0]} joins {pairs[outside[0]].tolist()}, but there are {len(x)} particles")
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise ModelError(f"rest_length: member {loops[0]} joins particle {pairs[loops[0], 0]} to itself")
    stiffness, tension = _per_member(k, len(pairs), "k"), _per_member(force, len(pairs), "force")
    soft = np.flatnonzero(stiffness <= 0.0)
    if len(soft):
        raise ModelError(f"rest_length: k of member {soft[0]} is {stiffness[soft[0]]:g} N/m, not positive")
    length = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
    rest = length - tension / stiffness
    bad = np.flatnonzero(rest <= 0.0)
    if len(bad):
        m = bad[0]
        raise ModelError(
            f"rest_length: member {m} (particles {pairs[m].tolist()}) of length {length[m]:g} m would need the rest length "
            f"{rest[m]:g} m for {tension[m]:g} N with k = {stiffness[m]:g} N/m"
        )
    return rest


def _per_member(value: ArrayLike, m: int, what: str) -> Float:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"rest_length: {what} is not made of numbers: {value!r}") from error
    if array.shape not in ((), (m,)):
        raise ModelError(f"rest_length: {what} is one number or one per member, shape ({m},), not {array.shape}")
    if not np.isfinite(array).all():
        raise ModelError(f"rest_length: {what} of member {int(np.argmin(np.isfinite(np.atleast_1d(array))))} is not finite")
    return np.broadcast_to(array, (m,))
