"""Members: the forces, lengths and strains of whatever joins two particles.

The force of a member is N = dV/dl, positive in tension: with u the direction from its first
particle to its second, N = u·∂V/∂x₁. The strain is l/l₀ - 1 where the law has a rest length l₀.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int, Mask
from taut.binding.placed_law import PlacedLaw
from taut.system.plasticity import pack_parameters
from taut.system.state import State, require_state
from taut.system.workspace import workspace_for
from taut.tables import Table, format_table, write_csv

if TYPE_CHECKING:
    from taut.system.system import System

_PRINTED_ROWS = 10
# Part of the rest length by which coincident ends are moved apart to see whether they repel.
_SEPARATION = 1e-6


@dataclass(frozen=True, eq=False)
class Members(Table):
    """A table of members, one row each, as columns of shape (m,).

    law : name of the law; element : its number there; i, j : the two particles
    length, rest_length : [m], the latter nan where the law has none; strain : length/rest_length -
        1, or nan
    force : [N], tension positive; nan where the ends meet and the member pushes them apart, in no
        direction
    slack : True where the member is shorter than its rest length and carries nothing

    `pandas.DataFrame(members)` has these names as columns; a loop over the table yields its rows.

    >>> import taut
    >>> from taut import laws
    >>> cable = laws.cable([[0, 1]], k=50.0, l0=1.6)
    >>> system = taut.System([[0, 0, 0], [2, 0, 0]], mass=1.0, energies=[cable])
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
    slack: Mask

    def __len__(self) -> int:
        return len(self.law)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __str__(self) -> str:
        table = format_table(_HEADINGS, self._rows(_PRINTED_ROWS))
        return (
            f"{table}\n… and {len(self) - _PRINTED_ROWS} more"
            if len(self) > _PRINTED_ROWS
            else table
        )

    def _rows(self, count: int) -> list[tuple[object, ...]]:
        columns = [getattr(self, f.name)[:count].tolist() for f in fields(self)]
        return list(zip(*columns, strict=True))

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV; a law without rest length leaves its cells empty.

        >>> import pathlib, tempfile, taut
        >>> from taut import laws
        >>> spring = laws.zero_length_spring([[0, 1]], k=3.0)
        >>> system = taut.System([[0, 0, 0], [2, 0, 0]], mass=1.0, energies=[spring])
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "members.csv"
        >>> system.members().write_csv(file)
        >>> print(file.read_text().splitlines()[1])
        zero_length_spring,0,0,1,2.0,,,6.0,0
        """
        header = [
            f"{f.name}_{_UNITS[f.name]}" if f.name in _UNITS else f.name for f in fields(self)
        ]
        write_csv(path, header, self._rows(len(self)))


_HEADINGS = [
    "law",
    "element",
    "i",
    "j",
    "length [m]",
    "rest length [m]",
    "strain",
    "force [N]",
    "slack",
]
_UNITS = {"length": "m", "rest_length": "m", "force": "N"}


def resolve_state(system: System, state: State | None, caller: str) -> State:
    """Return the state (default: the initial one) if it fits the system; errors name the caller."""
    if state is None:
        state = system.initial_state()
    require_state(state, caller)
    workspace_for(system).assembly(
        "potential", state
    )  # refuses a state, or a mask of elements, of another system
    return state


def members(system: System, state: State | None = None) -> Members:
    """Return the table of all members: active elements of every energy law on two particles.

    state : default: the initial one

    >>> import taut
    >>> from taut import laws
    >>> points = [[0, 0, 0], [3, 0, 0], [3, 4, 0]]
    >>> springs = laws.spring([[0, 1], [0, 2]], k=10.0, l0=4.0)
    >>> system = taut.System(points, mass=1.0, energies=[springs])
    >>> table = members(system)
    >>> table.force, table.strain
    (array([-10.,  10.]), array([-0.25,  0.25]))
    """
    state = resolve_state(system, state, "members")
    parts = [
        _tabulate_law(
            name,
            placed,
            state,
            np.flatnonzero(state.active.get(name, np.ones(len(placed.elements), dtype=bool))),
        )
        for name, placed in system._placed_energies.items()
        if placed.particles == 2
    ]
    empty = Members(
        np.empty(0, dtype=np.str_),
        *(np.empty(0, dtype=np.int64),) * 3,
        *(np.empty(0),) * 4,
        np.empty(0, dtype=bool),
    )
    return Members(
        *(np.concatenate([getattr(p, f.name) for p in parts or [empty]]) for f in fields(Members))
    )


def joined_pairs(system: System) -> Int:
    """Return the pairs of particles that energies join, each once, (k, 2).

    They are the elements of two particles; if there are none, the sides of the others.

    >>> import taut
    >>> from taut import laws
    >>> triangle = taut.System(
    ...     [[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass=1.0, energies=[laws.area([[0, 1, 2]], k=1.0)]
    ... )
    >>> joined_pairs(triangle).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    elements = [placed.elements for placed in system._placed_energies.values()]
    sides = [e for e in elements if e.shape[1] == 2]
    if not sides:
        for e in elements:
            s = e.shape[1]
            if s > 2:
                sides += [e[:, [i, (i + 1) % s]] for i in range(s)]
    pairs = np.concatenate([np.empty((0, 2), np.int64), *sides])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _tabulate_law(name: str, placed: PlacedLaw, state: State, rows: Int) -> Members:
    packed = pack_parameters(placed, state)
    i, j = placed.elements[rows].T
    offset = state.q[j] - state.q[i]
    length = np.sqrt(np.einsum("ij,ij->i", offset, offset))
    direction = np.divide(
        offset, length[:, None], out=np.zeros_like(offset), where=length[:, None] > 0.0
    )
    pull = placed.gradients(np.array(state.q), parameters=packed)[rows, 1]
    force = np.einsum("ij,ij->i", direction, pull)
    rest = np.full(len(rows), np.nan)
    if placed.parameters.shapes.get("l0") == ():  # the law has an l0, and it is a scalar
        rest = packed[rows, placed.parameters.columns("l0")]
    coincident = np.flatnonzero((length == 0.0) & (rest > 0.0))
    force[
        coincident[
            _repel(placed, state, rows[coincident], float(rest[coincident].min(initial=np.inf)))
        ]
    ] = np.nan
    strain = np.divide(length, rest, out=np.full(len(rows), np.nan), where=rest > 0.0) - 1.0
    return Members(
        np.full(len(rows), name),
        rows,
        i,
        j,
        length,
        rest,
        strain,
        force,
        (force == 0.0) & (length < rest),
    )


def _repel(placed: PlacedLaw, state: State, rows: Int, rest: float) -> Mask:
    """Return which of these elements, whose ends coincide, have a force when moved apart."""
    q = np.array(state.q)
    ends = np.unique(placed.elements[rows])
    if not len(ends):
        return np.zeros(0, dtype=bool)
    # Each by its own distance, so that every pair comes apart.
    q[ends] += (_SEPARATION * rest * (1 + np.arange(len(ends))) / len(ends))[:, None]
    return np.asarray(placed.gradients(q, state.t)[rows, 1].any(axis=1))
