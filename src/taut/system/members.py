"""Members: the forces, lengths and strains of whatever joins two particles.

The force of a member is N = dV/dl, positive in tension: with u the direction from its first particle to its second,
N = u·∂V/∂x₁. The strain is l/l₀ - 1 where the law has a rest length l₀.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.formula.placed import Placed
from taut.system.state import State
from taut.system.tables import aligned, write_csv

if TYPE_CHECKING:
    from taut.system.system import System

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
    >>> print(system.members())
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
        >>> system.members().write_csv(file)
        >>> print(file.read_text().splitlines()[1])
        zero_length_spring,0,0,1,2.0,,,6.0,0
        """
        header = [f"{f.name}_{_UNITS[f.name]}" if f.name in _UNITS else f.name for f in fields(self)]
        write_csv(path, header, self._rows(len(self)))


_HEADINGS = ["law", "element", "i", "j", "length [m]", "rest length [m]", "strain", "force [N]", "slack"]
_UNITS = {"length": "m", "rest_length": "m", "force": "N"}


def state_of(system: System, state: State | None, caller: str) -> State:
    """The state (default: the initial one), if it is one of the system; the error names the caller."""
    if state is not None and not isinstance(state, State):
        raise ModelError(f"{caller}: {state!r} is not a State")
    state = system.initial_state() if state is None else state
    system.assembly("potential", state)  # refuses a state, or a mask of elements, of another system
    return state


def members(system: System, state: State | None = None) -> Members:
    """The table of all members: the active elements of every energy law on two particles, at a state (default: the initial one).

    >>> import taut
    >>> from taut import laws
    >>> points = [[0, 0, 0], [3, 0, 0], [3, 4, 0]]
    >>> system = taut.System(points, mass=1.0, energies=[laws.spring([[0, 1], [0, 2]], k=10.0, l0=4.0)])
    >>> table = members(system)
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
