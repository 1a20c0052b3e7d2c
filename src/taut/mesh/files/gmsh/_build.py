"""Build the Mesh of an MSH file: tags become indices, physical groups groups, values arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.mesh.files.gmsh._sections import (
    DIMENSIONS,
    KINDS,
    MAX_GROUPS,
    VERTEX,
    Block,
    Data,
    Nodes,
    Records,
)
from taut.mesh.mesh import Mesh

Piece = TypeVar("Piece", Nodes, Block)
# A small file can ask for large arrays, by values at few nodes or by an entity in many groups.
_MAX_GROWTH = 32  # bytes of groups and data per byte of the file


class _TagIndex:
    """Finds tags in a list of tags; `duplicate` is the index of the first repeated one."""

    def __init__(self, tags: Int) -> None:
        self.order = np.argsort(tags, kind="stable")
        self.sorted = tags[self.order]
        repeats = np.flatnonzero(self.sorted[1:] == self.sorted[:-1])
        self.duplicate: int | None = None
        if len(repeats):
            self.duplicate = int(self.order[repeats[0] + 1])

    def find(self, tags: Int) -> Int:
        """Return the index of each tag, shape unchanged; -1 for unknown tags."""
        if not len(self.sorted):
            return np.full(tags.shape, -1)
        near = np.minimum(np.searchsorted(self.sorted, tags), len(self.sorted) - 1)
        return np.where(self.sorted[near] == tags, self.order[near], -1)


class _MemoryBudget:
    """The memory that a file of this size may still use for groups and data."""

    def __init__(self, path: Path, size: int) -> None:
        self.path, self.remaining = path, _MAX_GROWTH * size

    def spend(self, numbers: int, what: str) -> None:
        """Subtract an array of numbers."""
        self.remaining -= 8 * numbers
        if self.remaining < 0:
            raise MeshError(
                f"{what} must be at most {_MAX_GROWTH} times as large as the file; split it",
                path=self.path,
            )


def build_mesh(records: Records, path: Path, size: int) -> Mesh:
    """Return the mesh of a file of this size [bytes]."""
    budget = _MemoryBudget(path, size)
    points = np.concatenate([np.empty((0, 3)), *(some.points for some in records.nodes)])
    nodes = _TagIndex(
        np.concatenate([np.empty(0, np.int64), *(some.tags for some in records.nodes)])
    )
    if nodes.duplicate is not None:
        some, i = _find_piece(records.nodes, nodes.duplicate)
        raise some.stream.error(
            f"node tags must differ, got {some.tags[i]} twice",
            some.place + i * some.stride,
            f"point {nodes.duplicate}",
        )
    by_code: dict[int, list[Block]] = {}
    for block in records.blocks:
        by_code.setdefault(block.code, []).append(block)
    ranks = {
        code: np.cumsum(~np.concatenate([b.repeats for b in blocks])) - 1
        for code, blocks in by_code.items()
    }
    cells = {KINDS[code]: _find_cells(blocks, nodes) for code, blocks in by_code.items()}
    vertices = cells.pop(KINDS[VERTEX], None)
    groups = _collect_groups(records, by_code, ranks, vertices, budget)
    point_data: dict[str, Float] = {}
    steps: dict[str, int] = {}
    for data in records.node_data:
        rows = _find_rows(data, nodes, "node")
        point_data[_find_free_name(data.name, point_data, steps)] = _scatter(
            data, rows, np.arange(len(rows)), len(points), budget
        )
    cell_data = _collect_cell_data(records.element_data, by_code, ranks, cells, budget)
    return Mesh(points, cells, groups=groups, point_data=point_data, cell_data=cell_data)


def _find_cells(blocks: list[Block], nodes: _TagIndex) -> Int:
    """Return the node indices of each cell without repeats, shape (m, s)."""
    tags = np.concatenate([b.nodes for b in blocks])
    index = nodes.find(tags)
    bad = np.flatnonzero((index < 0).any(axis=1))
    if len(bad):
        first = int(bad[0])
        block, i = _find_piece(blocks, first)
        missing = block.nodes[i][index[first] < 0][0]
        message = f"element {block.tags[i]} must name nodes that exist, got {missing}"
        raise block.stream.error(message, int(block.places[i]), f"{KINDS[block.code]} {first}")
    return index[~np.concatenate([b.repeats for b in blocks])]


def _find_piece(pieces: Sequence[Piece], index: int) -> tuple[Piece, int]:
    """Return the piece that contains an index over all pieces, and the index within it."""
    ends = np.cumsum([len(piece.tags) for piece in pieces])
    which = int(np.searchsorted(ends, index, side="right"))
    return pieces[which], index - int(ends[which]) + len(pieces[which].tags)


def _collect_groups(
    records: Records,
    by_code: dict[int, list[Block]],
    ranks: dict[int, Int],
    vertices: Int | None,
    budget: _MemoryBudget,
) -> dict[str, dict[str, Int]]:
    """Return the physical groups by name."""
    members: dict[tuple[int, int], dict[str, list[Int]]] = {key: {} for key in records.names}
    for part, which in _sort_by_group_set(records, by_code):
        for code, rows in which:
            cells = (
                ranks[code][rows]
                if vertices is None or code != VERTEX
                else vertices[ranks[code][rows], 0]
            )
            for key in part:
                budget.spend(len(cells), "the groups")
                members.setdefault(key, {}).setdefault(KINDS[code], []).append(cells)
    if len(members) > MAX_GROUPS:
        raise MeshError(
            f"there must be at most {MAX_GROUPS} physical groups, got {len(members)}",
            path=budget.path,
        )
    dimensions: dict[int, set[int]] = {}  # of each number
    for dimension, number in members:
        dimensions.setdefault(number, set()).add(dimension)
    named = set(records.names.values())
    groups: dict[str, dict[str, list[Int]]] = {}
    for (dimension, number), found in members.items():
        name = records.names.get((dimension, number))
        if name is None:
            name = f"physical{number}"
            if len(dimensions[number]) > 1 or name in named:
                name += f"_{dimension}d"
        group = groups.setdefault(name, {})
        for kind, cells in (
            found.items() if found or dimension else [("point", [np.empty(0, np.int64)])]
        ):
            group.setdefault(kind, []).extend(cells)
    return {
        name: {kind: np.concatenate(cells) for kind, cells in found.items()}
        for name, found in groups.items()
    }


def _sort_by_group_set(
    records: Records, by_code: dict[int, list[Block]]
) -> Iterable[tuple[tuple[tuple[int, int], ...], list[tuple[int, Int]]]]:
    """Return the elements of each set of physical groups, by type."""
    found: dict[int, list[tuple[int, Int]]] = {}
    for code in sorted(by_code, key=lambda c: (DIMENSIONS[c], c)):
        parts = np.concatenate([b.group_sets for b in by_code[code]])
        order = np.argsort(parts, kind="stable")
        numbers, starts = np.unique(parts[order], return_index=True)
        for number, rows in zip(numbers.tolist(), np.split(order, starts[1:]), strict=False):
            found.setdefault(number, []).append((code, rows))
    return [(part, found.get(number, [])) for part, number in records.group_sets.items() if part]


def _find_rows(data: Data, tags: _TagIndex, what: str) -> Int:
    """Return the index of each value's node or element; raise for unknown ones."""
    rows = tags.find(data.tags)
    bad = np.flatnonzero(rows < 0)
    if len(bad):
        i = int(bad[0])
        raise data.stream.error(
            f"the {what} must exist, got {data.tags[i]}",
            data.place + i * data.stride,
            f"value {i} of '{data.name}'",
        )
    return rows


def _scatter(data: Data, rows: Int, of: Int, count: int, budget: _MemoryBudget) -> Float:
    """Return the values `of` the data at their rows and NaN elsewhere, (count,) or (count, k)."""
    width = data.values.shape[1]
    budget.spend(count * width, "the data")
    array: NDArray[Any] = np.full((count, width), np.nan)
    array[rows] = data.values[of]
    return array[:, 0] if width == 1 else array


def _collect_cell_data(
    sections: list[Data],
    by_code: dict[int, list[Block]],
    ranks: dict[int, Int],
    cells: dict[str, Int],
    budget: _MemoryBudget,
) -> dict[str, dict[str, Float]]:
    """Return values at elements by name and kind; those of vertex elements are not kept."""
    if not sections:
        return {}
    every = [block for blocks in by_code.values() for block in blocks]
    tags = _TagIndex(np.concatenate([np.empty(0, np.int64), *(block.tags for block in every)]))
    if tags.duplicate is not None:
        block, i = _find_piece(every, tags.duplicate)
        message = f"element tags must differ where elements have values, got {block.tags[i]} twice"
        raise block.stream.error(message, int(block.places[i]), f"element {block.tags[i]}")
    found: dict[str, dict[str, Float]] = {}
    steps: dict[str, int] = {}
    for data in sections:
        rows, first, own = _find_rows(data, tags, "element"), 0, {}
        for code, rank in ranks.items():
            of = np.flatnonzero((rows >= first) & (rows < first + len(rank)))
            if len(of) and code != VERTEX:
                own[KINDS[code]] = _scatter(
                    data, rank[rows[of] - first], of, len(cells[KINDS[code]]), budget
                )
            first += len(rank)
        name = data.name
        if found.get(name, {}).keys() & own.keys():
            name = _find_free_name(name, found, steps)
        found.setdefault(name, {}).update(own)
    return found


def _find_free_name(name: str, taken: dict[str, Any], steps: dict[str, int]) -> str:
    """Return the name, or for a later time step of the same data "name@1", "name@2"…"""
    free = name
    while free in taken:
        steps[name] = steps.get(name, 0) + 1
        free = f"{name}@{steps[name]}"
    return free
