"""Gmsh's numbers for types of element, and what a file says before it becomes a Mesh."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.kinds import known

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MOST_GROUPS = 20_000  # physical groups, since each costs time however small it is
VERTEX = 15
KINDS = {1: "line", 2: "triangle", 3: "quad", 4: "tet", 5: "hex", 6: "wedge", 7: "pyramid", VERTEX: "point"}
CODES = {name: code for code, name in KINDS.items()}
SIZES = {code: known(name).size for code, name in KINDS.items() if code != VERTEX} | {VERTEX: 1}
DIMENSIONS = {code: known(name).dimension for code, name in KINDS.items() if code != VERTEX} | {VERTEX: 0}
# types with nodes between the corners: the kind, and how many nodes
_CURVED = {
    8: ("line", 3), 9: ("triangle", 6), 10: ("quad", 9), 11: ("tet", 10), 12: ("hex", 27), 13: ("wedge", 18), 14: ("pyramid", 14),
    16: ("quad", 8), 17: ("hex", 20), 18: ("wedge", 15), 19: ("pyramid", 13), 20: ("triangle", 9), 21: ("triangle", 10),
    22: ("triangle", 12), 23: ("triangle", 15), 24: ("triangle", 15), 25: ("triangle", 21), 26: ("line", 4), 27: ("line", 5),
    28: ("line", 6), 29: ("tet", 20), 30: ("tet", 35), 31: ("tet", 56), 36: ("quad", 16), 37: ("quad", 25), 92: ("hex", 64),
    93: ("hex", 125),
}  # fmt: skip


def refusal(code: int) -> str:
    """Why elements of this type are not read.

    >>> refusal(9)[:60]
    'this is a triangle with 6 nodes, of higher order; only corne'
    """
    if code in _CURVED:
        kind, nodes = _CURVED[code]
        return f"this is a {kind} with {nodes} nodes, of higher order; only corners are read: save it with Mesh.ElementOrder = 1"
    return f"{code} is not the type of a line, triangle, quad, tet, hex, wedge, pyramid or point"


@dataclass(frozen=True, eq=False)
class Block:
    """Elements of one type, in the order of the file.

    tags, nodes : the numbers that Gmsh gave to elements, shape (m,), and to their nodes, shape (m, s)
    parts : for each element the number of one of `Raw.parts`, shape (m,)
    repeats : whether an element is the one before once more, for another group, shape (m,)
    stream, where : where each element stands, shape (m,), for errors
    """

    code: int
    tags: Int
    nodes: Int
    parts: Int
    repeats: NDArray[np.bool_]
    stream: Any
    where: Int


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes in the order of the file: tags, shape (m,), and positions, shape (m, 3).

    stream, at, stride : where the first tag stands, and how far from one to the next, for errors
    """

    tags: Int
    points: Float
    stream: Any
    at: int
    stride: int


@dataclass(frozen=True, eq=False)
class Data:
    """Values for some nodes or elements: tags, shape (m,), and values, shape (m, k)."""

    name: str
    tags: Int
    values: Float
    stream: Any
    at: int
    stride: int


Part = tuple[tuple[int, int], ...]  # physical groups, each by dimension and number


@dataclass(eq=False)
class Raw:
    """All that is kept of a file, piece by piece."""

    nodes: list[Nodes] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    entities: dict[tuple[int, int], Part] = field(default_factory=dict)
    parts: dict[Part, int] = field(default_factory=dict)
    _of_entity: dict[tuple[int, int], int] = field(default_factory=dict)
    node_data: list[Data] = field(default_factory=list)
    element_data: list[Data] = field(default_factory=list)

    def part(self, groups: Part) -> int:
        """The number that stands for these groups."""
        return self.parts.setdefault(groups, len(self.parts))

    def part_of(self, entity: tuple[int, int]) -> int:
        """The same for the groups of an entity, looked up once, since it may be in many and have many blocks."""
        known = self._of_entity.get(entity)
        if known is None:
            known = self._of_entity[entity] = self.part(self.entities.get(entity, ()))
        return known
