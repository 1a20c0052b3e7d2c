"""A Mesh as MSH 4.1, text.

In MSH 4.1 groups are sets of geometric entities, so that each set of groups that some cells of one dimension share becomes an
entity, and cells are written in their order as runs of one entity. Numbers are written so that they are read back as the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.gmsh_sections import MOST_DATA
from taut.mesh.files.gmsh_types import CODES, DIMENSIONS, MOST_GROUPS, VERTEX, Int
from taut.mesh.mesh import Mesh

_UNSPEAKABLE = re.compile('["\r\n\ud800-\udfff]')
_ROWS = 1 << 16  # turned into text at a time
Entities = list[dict[tuple[int, ...], int]]  # by dimension, the number of the entity that is in a set of groups
Values = dict[int, NDArray[Any]]  # by the number of the first node or element that has some
Run = tuple[int, int, int, NDArray[Any]]  # dimension, entity, type of element, rows of nodes


def text(mesh: Mesh) -> bytes:
    """The whole file."""
    entities: Entities = [{}, {}, {}, {}]
    runs: list[Run] = []
    held, sets = _sets(mesh, "point", mesh.n)
    vertices = np.flatnonzero(held)
    runs += _runs(VERTEX, vertices[:, None], held[vertices], sets, entities)
    first = {}  # the number of the first element of each kind
    count = 1 + len(vertices)
    for kind, cells in mesh.cells.items():
        held, sets = _sets(mesh, kind, len(cells))
        runs += _runs(CODES[kind], cells, held, sets, entities)
        first[kind] = count
        count += len(cells)
    parts = [["$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"], _names(mesh), _entities(mesh, entities), _nodes(mesh, entities)]
    parts += [_elements(runs, count - 1)]
    data = [_data("NodeData", name, {1: values}) for name, values in mesh.point_data.items()]
    for name, by_kind in mesh.cell_data.items():
        alike = _alike({first[kind]: by_kind[kind] for kind in first if kind in by_kind})
        data += [_data("ElementData", name, some) for some in alike]
    if len(data) > MOST_DATA:
        raise MeshError(f"an MSH file has data of {MOST_DATA} names at most; here are {len(data)}")
    return "".join(piece for part in [*parts, *data] for piece in part).encode()


def _sets(mesh: Mesh, what: str, count: int) -> tuple[Int, list[tuple[int, ...]]]:
    """The groups of each point or cell: the number of a set, shape (count,), and the sets, of which the first is empty."""
    held = np.zeros(count, np.int64)
    sets: list[tuple[int, ...]] = [()]
    for number, members in enumerate(mesh.groups.values(), 1):
        if len(members.get(what, ())):
            before, which = np.unique(held[members[what]], return_inverse=True)
            held[members[what]] = len(sets) + which
            sets += [(*sets[i], number) for i in before.tolist()]
    return held, sets


def _runs(code: int, cells: Int, held: Int, sets: list[tuple[int, ...]], entities: Entities) -> Iterator[Run]:
    """Successive cells of the same entity."""
    dimension = DIMENSIONS[code]
    known = entities[dimension]
    starts = np.flatnonzero(np.concatenate([[True], held[1:] != held[:-1]])[: len(held)]).tolist()
    for start, end in zip(starts, [*starts, len(held)][1:], strict=True):
        entity = known.setdefault(sets[held[start]], len(known) + 1)
        yield dimension, entity, code, cells[start:end]


def _names(mesh: Mesh) -> Iterator[str]:
    """$PhysicalNames: a group has one number, and a line for each dimension it has members in."""
    lines = []
    for number, (name, members) in enumerate(mesh.groups.items(), 1):
        dimensions = sorted({DIMENSIONS[CODES[kind]] for kind, found in members.items() if len(found)})
        lines += [f'{dimension} {number} "{_spoken(name, "group")}"\n' for dimension in dimensions or [0]]
    if len(lines) > MOST_GROUPS:
        raise MeshError(f"an MSH file has {MOST_GROUPS} groups at most, counted for each dimension; here are {len(lines)}")
    if lines:
        yield f"$PhysicalNames\n{len(lines)}\n{''.join(lines)}$EndPhysicalNames\n"


def _entities(mesh: Mesh, entities: Entities) -> Iterator[str]:
    low, high = (f(mesh.positions, axis=0).tolist() if mesh.n else [0.0] * 3 for f in (np.min, np.max))
    yield "$Entities\n" + " ".join(str(len(known)) for known in entities) + "\n"
    for dimension, known in enumerate(entities):
        box = low if dimension == 0 else low + high
        for groups, entity in known.items():
            yield " ".join(map(repr, [entity, *box, len(groups), *groups])) + (" 0\n" if dimension else "\n")
    yield "$EndEntities\n"


def _nodes(mesh: Mesh, entities: Entities) -> Iterator[str]:
    """All on one entity of the highest dimension, so that they keep their order."""
    dimension = max((d for d, known in enumerate(entities) if known), default=0)
    yield f"$Nodes\n1 {mesh.n} 1 {mesh.n}\n{dimension} 1 0 {mesh.n}\n"
    yield from _rows(np.arange(1, mesh.n + 1)[:, None])
    yield from _rows(mesh.positions)
    yield "$EndNodes\n"


def _elements(runs: list[Run], count: int) -> Iterator[str]:
    yield f"$Elements\n{len(runs)} {count} 1 {count}\n"
    first = 1
    for dimension, entity, code, cells in runs:
        yield f"{dimension} {entity} {code} {len(cells)}\n"
        yield from _rows(np.column_stack([np.arange(first, first + len(cells)), cells + 1]))
        first += len(cells)
    yield "$EndElements\n"


def _alike(values: Values) -> Iterable[Values]:
    """Values with the same number of components together: they share a section, which Gmsh shows as one view."""
    found: dict[int, Values] = {}
    for first, some in values.items():
        found.setdefault(1 if some.ndim == 1 else some.shape[1], {})[first] = some
    return found.values()


def _table(values: NDArray[Any]) -> NDArray[Any]:
    """Shape (m, k), of numbers that Python has: `repr` of a longer float would name its type."""
    table = values if values.ndim == 2 else values[:, None]
    if table.dtype == bool:
        return table.astype(np.int8)
    if table.dtype.kind != "f" or table.dtype.itemsize <= 8:
        return table
    with np.errstate(over="ignore"):
        made = table.astype(np.float64)
    if (np.isinf(made) & np.isfinite(table)).any():
        raise MeshError("MSH cannot hold data with a number beyond the floats of 64 bits")
    return made


def _data(section: str, name: str, values: Values) -> Iterator[str]:
    table = np.concatenate([_table(some) for some in values.values()])
    tags = np.concatenate([first + np.arange(len(some)) for first, some in values.items()])
    yield f'${section}\n1\n"{_spoken(name, "data")}"\n1\n0.0\n3\n0\n{table.shape[1]}\n{len(table)}\n'
    numbers = tags.tolist()
    for start in range(0, len(table), _ROWS):
        rows = zip(numbers[start : start + _ROWS], table[start : start + _ROWS].tolist(), strict=True)
        yield "".join([f"{tag} {' '.join(map(repr, row))}\n" for tag, row in rows])
    yield f"$End{section}\n"


def _rows(table: NDArray[Any]) -> Iterator[str]:
    """One line per row; %r gives the shortest decimals that are read back as the same float."""
    line = " ".join(["%r"] * table.shape[1]) + "\n"
    for start in range(0, len(table), _ROWS):
        piece = table[start : start + _ROWS]
        yield line * len(piece) % tuple(piece.ravel().tolist())


def _spoken(name: str, what: str) -> str:
    """A name that stands in quotes on a line of its own, and that Gmsh reads to the next quote."""
    found = _UNSPEAKABLE.search(name)
    if found:
        raise MeshError(f"MSH cannot hold the {what} {name!r}: its name has {found[0]!r} in it; give it another")
    return name
