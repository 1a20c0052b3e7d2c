"""Write a Mesh as MSH 4.1, text.

In MSH 4.1 groups are sets of geometric entities. Each set of groups that some cells of one
dimension share becomes an entity, and cells are written in their order as runs of one entity.
Numbers read back to the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Int
from taut.errors import MeshError
from taut.mesh.files.gmsh._sections import CODES, DIMENSIONS, MAX_DATA_SECTIONS, MAX_GROUPS, VERTEX
from taut.mesh.mesh import Mesh

_FORBIDDEN = re.compile('["\r\n\ud800-\udfff]')
_ROWS_PER_BATCH = 1 << 16  # formatted together
# For each dimension, the entity of each set of groups.
_Entities = list[dict[tuple[int, ...], int]]
_Values = dict[int, NDArray[Any]]  # by the tag of the first node or element
_Run = tuple[int, int, int, NDArray[Any]]  # dimension, entity, type of element, rows of nodes


def format_file(mesh: Mesh) -> bytes:
    """Return the content of the file."""
    entities: _Entities = [{}, {}, {}, {}]
    runs: list[_Run] = []
    set_numbers, sets = _number_group_sets(mesh, "point", mesh.n)
    vertices = np.flatnonzero(set_numbers)
    runs += _split_runs(VERTEX, vertices[:, None], set_numbers[vertices], sets, entities)
    first = {}  # the number of the first element of each kind
    count = 1 + len(vertices)
    for kind, cells in mesh.cells.items():
        set_numbers, sets = _number_group_sets(mesh, kind, len(cells))
        runs += _split_runs(CODES[kind], cells, set_numbers, sets, entities)
        first[kind] = count
        count += len(cells)
    parts = [
        ["$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"],
        _format_names(mesh),
        _format_entities(mesh, entities),
        _format_nodes(mesh, entities),
    ]
    parts += [_format_elements(runs, count - 1)]
    data = [_format_data("NodeData", name, {1: values}) for name, values in mesh.point_data.items()]
    for name, by_kind in mesh.cell_data.items():
        alike = _group_by_width({first[kind]: by_kind[kind] for kind in first if kind in by_kind})
        data += [_format_data("ElementData", name, some) for some in alike]
    if len(data) > MAX_DATA_SECTIONS:
        raise MeshError(f"MSH data must have at most {MAX_DATA_SECTIONS} names, got {len(data)}")
    return "".join(piece for part in [*parts, *data] for piece in part).encode()


def _number_group_sets(mesh: Mesh, what: str, count: int) -> tuple[Int, list[tuple[int, ...]]]:
    """Return the set of groups of each point or cell, shape (count,), and the sets; 0 is empty."""
    set_numbers = np.zeros(count, np.int64)
    sets: list[tuple[int, ...]] = [()]
    for number, members in enumerate(mesh.groups.values(), 1):
        if len(members.get(what, ())):
            before, which = np.unique(set_numbers[members[what]], return_inverse=True)
            set_numbers[members[what]] = len(sets) + which
            sets += [(*sets[i], number) for i in before.tolist()]
    return set_numbers, sets


def _split_runs(
    code: int, cells: Int, set_numbers: Int, sets: list[tuple[int, ...]], entities: _Entities
) -> Iterator[_Run]:
    """Yield successive cells of the same entity."""
    dimension = DIMENSIONS[code]
    known = entities[dimension]
    starts = np.flatnonzero(
        np.concatenate([[True], set_numbers[1:] != set_numbers[:-1]])[: len(set_numbers)]
    ).tolist()
    for start, end in zip(starts, [*starts, len(set_numbers)][1:], strict=True):
        entity = known.setdefault(sets[set_numbers[start]], len(known) + 1)
        yield dimension, entity, code, cells[start:end]


def _format_names(mesh: Mesh) -> Iterator[str]:
    """Yield $PhysicalNames: a group has one number, and a line per dimension of its members."""
    lines = []
    for number, (name, members) in enumerate(mesh.groups.items(), 1):
        dimensions = sorted(
            {DIMENSIONS[CODES[kind]] for kind, found in members.items() if len(found)}
        )
        lines += [
            f'{dimension} {number} "{_check_name(name, "group")}"\n'
            for dimension in dimensions or [0]
        ]
    if len(lines) > MAX_GROUPS:
        raise MeshError(
            f"MSH must have at most {MAX_GROUPS} groups, counted by dimension, got {len(lines)}"
        )
    if lines:
        yield f"$PhysicalNames\n{len(lines)}\n{''.join(lines)}$EndPhysicalNames\n"


def _format_entities(mesh: Mesh, entities: _Entities) -> Iterator[str]:
    low, high = (
        f(mesh.positions, axis=0).tolist() if mesh.n else [0.0] * 3 for f in (np.min, np.max)
    )
    yield "$Entities\n" + " ".join(str(len(known)) for known in entities) + "\n"
    for dimension, known in enumerate(entities):
        box = low if dimension == 0 else low + high
        for groups, entity in known.items():
            yield " ".join(map(repr, [entity, *box, len(groups), *groups])) + (
                " 0\n" if dimension else "\n"
            )
    yield "$EndEntities\n"


def _format_nodes(mesh: Mesh, entities: _Entities) -> Iterator[str]:
    """Yield $Nodes; all on one entity of the highest dimension, so that they keep their order."""
    dimension = max((d for d, known in enumerate(entities) if known), default=0)
    yield f"$Nodes\n1 {mesh.n} 1 {mesh.n}\n{dimension} 1 0 {mesh.n}\n"
    yield from _format_rows(np.arange(1, mesh.n + 1)[:, None])
    yield from _format_rows(mesh.positions)
    yield "$EndNodes\n"


def _format_elements(runs: list[_Run], count: int) -> Iterator[str]:
    yield f"$Elements\n{len(runs)} {count} 1 {count}\n"
    first = 1
    for dimension, entity, code, cells in runs:
        yield f"{dimension} {entity} {code} {len(cells)}\n"
        yield from _format_rows(np.column_stack([np.arange(first, first + len(cells)), cells + 1]))
        first += len(cells)
    yield "$EndElements\n"


def _group_by_width(values: _Values) -> Iterable[_Values]:
    """Return values with equal numbers of components together; Gmsh shows a section as one view."""
    found: dict[int, _Values] = {}
    for first, some in values.items():
        found.setdefault(1 if some.ndim == 1 else some.shape[1], {})[first] = some
    return found.values()


def _to_table(values: NDArray[Any]) -> NDArray[Any]:
    """Return values of shape (m, k) in a type of Python: `repr` of a longdouble names its type."""
    table = values if values.ndim == 2 else values[:, None]
    if table.dtype == bool:
        return table.astype(np.int8)
    if table.dtype.kind != "f" or table.dtype.itemsize <= 8:
        return table
    with np.errstate(over="ignore"):
        converted = table.astype(np.float64)
    if (np.isinf(converted) & np.isfinite(table)).any():
        raise MeshError("MSH data must fit 64-bit floats, got a larger number")
    return converted


def _format_data(section: str, name: str, values: _Values) -> Iterator[str]:
    table = np.concatenate([_to_table(some) for some in values.values()])
    tags = np.concatenate([first + np.arange(len(some)) for first, some in values.items()])
    yield f'${section}\n1\n"{_check_name(name, "data")}"\n'
    yield f"1\n0.0\n3\n0\n{table.shape[1]}\n{len(table)}\n"
    numbers = tags.tolist()
    for start in range(0, len(table), _ROWS_PER_BATCH):
        rows = zip(
            numbers[start : start + _ROWS_PER_BATCH],
            table[start : start + _ROWS_PER_BATCH].tolist(),
            strict=True,
        )
        yield "".join([f"{tag} {' '.join(map(repr, row))}\n" for tag, row in rows])
    yield f"$End{section}\n"


def _format_rows(table: NDArray[Any]) -> Iterator[str]:
    """Yield one line per row; %r gives the shortest decimals that read back to the same float."""
    line = " ".join(["%r"] * table.shape[1]) + "\n"
    for start in range(0, len(table), _ROWS_PER_BATCH):
        piece = table[start : start + _ROWS_PER_BATCH]
        yield line * len(piece) % tuple(piece.ravel().tolist())


def _check_name(name: str, what: str) -> str:
    """Return a name that can be quoted on a line: Gmsh reads it up to the next quote."""
    found = _FORBIDDEN.search(name)
    if found:
        raise MeshError(
            f"names in MSH must not contain {found[0]!r}, got {what} {name!r}; rename it"
        )
    return name
