"""The Mesh that an MSH file describes: tags become indices, physical groups named sets, values arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.gmsh_types import DIMENSIONS, KINDS, MOST_GROUPS, VERTEX, Block, Data, Float, Int, Nodes, Raw
from taut.mesh.mesh import Mesh

Piece = TypeVar("Piece", Nodes, Block)
_ROOM = 32  # bytes of groups and data that each byte of the file may become


class Tags:
    """Where a tag stands in a list of tags."""

    def __init__(self, tags: Int) -> None:
        self.order = np.argsort(tags, kind="stable")
        self.sorted = tags[self.order]
        twice = np.flatnonzero(self.sorted[1:] == self.sorted[:-1])
        self.twice = int(self.order[twice[0] + 1]) if len(twice) else None  # the first tag that stands there once more

    def find(self, tags: Int) -> Int:
        """The place of each tag, shape unchanged; -1 where it is not there."""
        if not len(self.sorted):
            return np.full(tags.shape, -1)
        near = np.minimum(np.searchsorted(self.sorted, tags), len(self.sorted) - 1)
        return np.where(self.sorted[near] == tags, self.order[near], -1)


class Room:
    """How much memory a file of this size may still ask for."""

    def __init__(self, path: Path, size: int) -> None:
        self.path, self.left = path, _ROOM * size

    def use(self, numbers: int, what: str) -> None:
        """Count an array in."""
        self.left -= 8 * numbers
        if self.left < 0:
            raise MeshError(f"{what} would be many times larger than the file; split it into several", path=self.path)


def build(raw: Raw, path: Path, size: int) -> Mesh:
    """The mesh of a file of this size [bytes]."""
    room = Room(path, size)
    points = np.concatenate([np.empty((0, 3)), *(some.points for some in raw.nodes)])
    nodes = Tags(np.concatenate([np.empty(0, np.int64), *(some.tags for some in raw.nodes)]))
    if nodes.twice is not None:
        some, i = _holder(raw.nodes, nodes.twice)
        raise some.stream.error(f"node {some.tags[i]} is there twice", some.at + i * some.stride, f"point {nodes.twice}")
    by_code: dict[int, list[Block]] = {}
    for block in raw.blocks:
        by_code.setdefault(block.code, []).append(block)
    ranks = {code: np.cumsum(~np.concatenate([b.repeats for b in blocks])) - 1 for code, blocks in by_code.items()}
    cells = {KINDS[code]: _cells(blocks, nodes) for code, blocks in by_code.items()}
    vertices = cells.pop(KINDS[VERTEX], None)
    groups = _groups(raw, by_code, ranks, vertices, room)
    point_data: dict[str, Float] = {}
    steps: dict[str, int] = {}
    for data in raw.node_data:
        rows = _known(data, nodes, "node")
        point_data[_free(data.name, point_data, steps)] = _filled(data, rows, np.arange(len(rows)), len(points), room)
    cell_data = _cell_data(raw.element_data, by_code, ranks, cells, room)
    return Mesh(points, cells, groups=groups, point_data=point_data, cell_data=cell_data)


def _cells(blocks: list[Block], nodes: Tags) -> Int:
    """Indices of the nodes of each cell, repeats left out, shape (m, s)."""
    tags = np.concatenate([b.nodes for b in blocks])
    index = nodes.find(tags)
    bad = np.flatnonzero((index < 0).any(axis=1))
    if len(bad):
        first = int(bad[0])
        block, i = _holder(blocks, first)
        missing = block.nodes[i][index[first] < 0][0]
        message = f"element {block.tags[i]} names node {missing}, which is not there"
        raise block.stream.error(message, int(block.where[i]), f"{KINDS[block.code]} {first}")
    return index[~np.concatenate([b.repeats for b in blocks])]


def _holder(pieces: Sequence[Piece], index: int) -> tuple[Piece, int]:
    """The piece that a number over all pieces falls into, and the number within it."""
    ends = np.cumsum([len(piece.tags) for piece in pieces])
    which = int(np.searchsorted(ends, index, side="right"))
    return pieces[which], index - int(ends[which]) + len(pieces[which].tags)


def _groups(
    raw: Raw, by_code: dict[int, list[Block]], ranks: dict[int, Int], vertices: Int | None, room: Room
) -> dict[str, dict[str, Int]]:
    """Physical groups by name."""
    members: dict[tuple[int, int], dict[str, list[Int]]] = {key: {} for key in raw.names}
    for part, which in _by_part(raw, by_code):
        for code, rows in which:
            cells = ranks[code][rows] if vertices is None or code != VERTEX else vertices[ranks[code][rows], 0]
            for key in part:
                room.use(len(cells), "the groups")
                members.setdefault(key, {}).setdefault(KINDS[code], []).append(cells)
    if len(members) > MOST_GROUPS:
        raise MeshError(f"it has {len(members)} physical groups, more than {MOST_GROUPS}; leave some out", path=room.path)
    many: dict[int, set[int]] = {}
    for dimension, number in members:
        many.setdefault(number, set()).add(dimension)
    named = set(raw.names.values())
    groups: dict[str, dict[str, list[Int]]] = {}
    for (dimension, number), found in members.items():
        name = raw.names.get((dimension, number))
        if name is None:
            name = f"physical{number}"
            name = f"{name}_{dimension}d" if len(many[number]) > 1 or name in named else name
        group = groups.setdefault(name, {})
        for kind, cells in found.items() if found or dimension else [("point", [np.empty(0, np.int64)])]:
            group.setdefault(kind, []).extend(cells)
    return {name: {kind: np.concatenate(cells) for kind, cells in found.items()} for name, found in groups.items()}


def _by_part(raw: Raw, by_code: dict[int, list[Block]]) -> Iterable[tuple[tuple[tuple[int, int], ...], list[tuple[int, Int]]]]:
    """For each set of physical groups its elements, by type."""
    found: dict[int, list[tuple[int, Int]]] = {}
    for code in sorted(by_code, key=lambda c: (DIMENSIONS[c], c)):
        parts = np.concatenate([b.parts for b in by_code[code]])
        order = np.argsort(parts, kind="stable")
        numbers, starts = np.unique(parts[order], return_index=True)
        for number, rows in zip(numbers.tolist(), np.split(order, starts[1:]), strict=False):
            found.setdefault(number, []).append((code, rows))
    return [(part, found.get(number, [])) for part, number in raw.parts.items() if part]


def _known(data: Data, tags: Tags, what: str) -> Int:
    """The place of each value's node or element; one that is not there is an error."""
    rows = tags.find(data.tags)
    bad = np.flatnonzero(rows < 0)
    if len(bad):
        i = int(bad[0])
        raise data.stream.error(f"there is no {what} {data.tags[i]}", data.at + i * data.stride, f"value {i} of '{data.name}'")
    return rows


def _filled(data: Data, rows: Int, of: Int, count: int, room: Room) -> Float:
    """Values `of` the data at their rows, NaN where there are none, shape (count,) or (count, k)."""
    width = data.values.shape[1]
    room.use(count * width, "the data")
    array: NDArray[Any] = np.full((count, width), np.nan)
    array[rows] = data.values[of]
    return array[:, 0] if width == 1 else array


def _cell_data(
    sections: list[Data], by_code: dict[int, list[Block]], ranks: dict[int, Int], cells: dict[str, Int], room: Room
) -> dict[str, dict[str, Float]]:
    """Values at elements by name and kind; those at points that are elements belong to no cell."""
    if not sections:
        return {}
    every = [block for blocks in by_code.values() for block in blocks]
    tags = Tags(np.concatenate([np.empty(0, np.int64), *(block.tags for block in every)]))
    if tags.twice is not None:
        block, i = _holder(every, tags.twice)
        message = f"element {block.tags[i]} is there twice, so that values at it are ambiguous"
        raise block.stream.error(message, int(block.where[i]), f"element {block.tags[i]}")
    found: dict[str, dict[str, Float]] = {}
    steps: dict[str, int] = {}
    for data in sections:
        rows, first, own = _known(data, tags, "element"), 0, {}
        for code, rank in ranks.items():
            of = np.flatnonzero((rows >= first) & (rows < first + len(rank)))
            if len(of) and code != VERTEX:
                own[KINDS[code]] = _filled(data, rank[rows[of] - first], of, len(cells[KINDS[code]]), room)
            first += len(rank)
        name = data.name if not found.get(data.name, {}).keys() & own.keys() else _free(data.name, found, steps)
        found.setdefault(name, {}).update(own)
    return found


def _free(name: str, taken: dict[str, Any], steps: dict[str, int]) -> str:
    """The name, or for a later step of the same quantity "name@1", "name@2"…"""
    free = name
    while free in taken:
        steps[name] = steps.get(name, 0) + 1
        free = f"{name}@{steps[name]}"
    return free
