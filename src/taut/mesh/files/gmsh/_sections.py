"""What an MSH file consists of: sections `$Name … $EndName`, and the records read from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError
from taut.mesh.files.numbers import quote_word
from taut.mesh.files.text_reader import LINE_BREAK, line_number
from taut.mesh.kinds import get_kind

_BLANK = re.compile(rb"\s*")
_OPENING = re.compile(rb"\$(\w+)[ \t]*(?:\r\n|\n|\r)")
_DATA_SECTIONS = ("NodeData", "ElementData", "ElementNodeData")
# Each section or group costs time, however small it is. Data may have a section per time step.
_MAX_SECTIONS = 1000
MAX_DATA_SECTIONS = 10_000
MAX_GROUPS = 20_000

# Gmsh's numbers of element types.
VERTEX = 15
KINDS = {
    1: "line",
    2: "triangle",
    3: "quad",
    4: "tet",
    5: "hex",
    6: "wedge",
    7: "pyramid",
    VERTEX: "point",
}
CODES = {kind: code for code, kind in KINDS.items()}
SIZES = {code: get_kind(kind).size for code, kind in KINDS.items() if code != VERTEX} | {VERTEX: 1}
DIMENSIONS = {code: get_kind(kind).dimension for code, kind in KINDS.items() if code != VERTEX} | {
    VERTEX: 0
}
# fmt: off
_HIGHER_ORDER = {  # with nodes between the corners: kind, number of nodes
    8: ("line", 3), 9: ("triangle", 6), 10: ("quad", 9), 11: ("tet", 10), 12: ("hex", 27),
    13: ("wedge", 18), 14: ("pyramid", 14), 16: ("quad", 8), 17: ("hex", 20), 18: ("wedge", 15),
    19: ("pyramid", 13), 20: ("triangle", 9), 21: ("triangle", 10), 22: ("triangle", 12),
    23: ("triangle", 15), 24: ("triangle", 15), 25: ("triangle", 21), 26: ("line", 4),
    27: ("line", 5), 28: ("line", 6), 29: ("tet", 20), 30: ("tet", 35), 31: ("tet", 56),
    36: ("quad", 16), 37: ("quad", 25), 92: ("hex", 64), 93: ("hex", 125),
}
# fmt: on


def explain_unknown_type(code: int) -> str:
    """Return the message about a type of element that is not read.

    >>> explain_unknown_type(9)[:60]
    'elements must have corners only (save with Mesh.ElementOrder'
    """
    if code in _HIGHER_ORDER:
        kind, nodes = _HIGHER_ORDER[code]
        return (
            "elements must have corners only (save with Mesh.ElementOrder = 1), "
            f"got a {kind} with {nodes} nodes, of higher order"
        )
    return (
        "the element type must be that of a line, triangle, quad, tet, hex, wedge, pyramid or "
        f"point, got {code}"
    )


@dataclass(frozen=True)
class Section:
    """The bytes `start` … `end` - 1 of a file."""

    path: Path
    data: bytes
    name: str
    start: int
    end: int

    def error(self, message: str, at: int, element: str | None = None) -> MeshError:
        """Return an error on the line of a byte."""
        place = f" (in ${self.name})" if self.name else ""
        line = line_number(self.data, at)
        return MeshError(message + place, path=self.path, line=line, element=element)

    def read_line(self, at: int, what: str) -> tuple[bytes, int]:
        """Return the stripped line from byte `at` on, and where the next line begins."""
        if at >= self.end:
            raise self.error(f"the section ends before {what}", self.end)
        end = LINE_BREAK.search(self.data, at, self.end)
        if end is None:
            return self.data[at : self.end].strip(), self.end
        return self.data[at : end.start()].strip(), end.end()

    def read_count(self, at: int, what: str) -> tuple[int, int]:
        """Return the line from byte `at` on as a count, and where the next line begins."""
        text, after = self.read_line(at, what)
        if not re.fullmatch(rb"\d{1,18}", text):
            raise self.error(f"{what} must be a non-negative integer, got {quote_word(text)}", at)
        return int(text), after


def split_sections(path: Path, data: bytes, binary: bool, at: int = 0) -> Iterator[Section]:
    """Yield the sections from byte `at` on; raise if there is anything between them."""
    count = data_count = 0
    while True:
        blank = _BLANK.match(data, at)
        at = blank.end() if blank else at
        if at == len(data):
            return
        opening = _OPENING.match(data, at)
        if opening is None or opening[1].startswith(b"End"):
            word = quote_word(data[at : at + 80].split()[0])
            message = f"must be the start of a section such as $Nodes, got {word}"
            raise Section(path, data, "", at, at).error(message, at)
        # A quoted name may contain "$End…", so that in text the end must be at the start of a line.
        pattern = rb"\$End" + opening[1]
        if not binary:
            pattern = rb"^[ \t]*" + pattern + rb"\b"
        ending = re.compile(pattern, re.MULTILINE).search(data, opening.end())
        name = opening[1].decode("utf-8", "backslashreplace")
        here = Section(path, data, name, at, at)
        if ending is None:
            raise here.error(f"the section must end with $End{name}, got the end of the file", at)
        if name in _DATA_SECTIONS:
            data_count += 1
        else:
            count += 1
        if count > _MAX_SECTIONS:
            raise here.error(f"there must be at most {_MAX_SECTIONS} sections; split the file", at)
        if data_count > MAX_DATA_SECTIONS:
            raise here.error(
                f"there must be at most {MAX_DATA_SECTIONS} sections of data; split the file", at
            )
        yield Section(path, data, name, opening.end(), ending.start())
        at = ending.end()


@dataclass(frozen=True, eq=False)
class Block:
    """Elements of one type, in the order of the file.

    tags, nodes : Gmsh's numbers of the elements, shape (m,), and of their nodes, shape (m, s)
    group_sets : for each element a number in `Records.group_sets`, shape (m,)
    repeats : whether an element repeats the one before for another group, shape (m,)
    stream, places : where each element is, shape (m,), for errors
    """

    code: int
    tags: Int
    nodes: Int
    group_sets: Int
    repeats: Mask
    stream: Any
    places: Int


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes in the order of the file: tags, shape (m,), and positions, shape (m, 3).

    stream, place, stride : where the first tag is, and the distance to the next, for errors
    """

    tags: Int
    points: Float
    stream: Any
    place: int
    stride: int


@dataclass(frozen=True, eq=False)
class Data:
    """Values at some nodes or elements: tags, shape (m,), and values, shape (m, k)."""

    name: str
    tags: Int
    values: Float
    stream: Any
    place: int
    stride: int


GroupSet = tuple[tuple[int, int], ...]  # physical groups, each by dimension and number


@dataclass(eq=False)
class Records:
    """All that is kept of a file, before it becomes a Mesh.

    group_sets : numbers the sets of physical groups that elements are in
    """

    nodes: list[Nodes] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    entities: dict[tuple[int, int], GroupSet] = field(default_factory=dict)
    group_sets: dict[GroupSet, int] = field(default_factory=dict)
    _set_of_entity: dict[tuple[int, int], int] = field(default_factory=dict)
    node_data: list[Data] = field(default_factory=list)
    element_data: list[Data] = field(default_factory=list)

    def number_group_set(self, groups: GroupSet) -> int:
        """Return the number of a set of groups."""
        return self.group_sets.setdefault(groups, len(self.group_sets))

    def number_entity_groups(self, entity: tuple[int, int]) -> int:
        """Return the number of the set of groups of an entity."""
        # Cached: an entity may be in many groups and have many blocks, and hashing a set is slow.
        if entity not in self._set_of_entity:
            number = self.number_group_set(self.entities.get(entity, ()))
            self._set_of_entity[entity] = number
        return self._set_of_entity[entity]
