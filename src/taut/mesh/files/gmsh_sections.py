"""The sections of an MSH file, `$Name … $EndName`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from taut.errors import MeshError
from taut.mesh.files.text import BREAK, line_of, shown

_BLANK = re.compile(rb"\s*")
_OPENING = re.compile(rb"\$(\w+)[ \t]*(?:\r\n|\n|\r)")
# each section costs time however small it is; of values there may be one for each step in time
DATA = ("NodeData", "ElementData", "ElementNodeData")
_MOST, MOST_DATA = 1000, 10_000


@dataclass(frozen=True)
class Section:
    """The bytes from `start` to `end` of a file."""

    path: Path
    data: bytes
    name: str
    start: int
    end: int

    def error(self, message: str, at: int, element: str | None = None) -> MeshError:
        """An error on the line of a byte."""
        place = f" (in ${self.name})" if self.name else ""
        return MeshError(message + place, path=self.path, line=line_of(self.data, at), element=element)

    def line(self, at: int, what: str) -> tuple[bytes, int]:
        """The line from byte `at` on, without blanks around it, and where the next one begins."""
        if at >= self.end:
            raise self.error(f"the section ends where {what} should stand", self.end)
        found = BREAK.search(self.data, at, self.end)
        return self.data[at : found.start() if found else self.end].strip(), found.end() if found else self.end

    def whole(self, at: int, what: str) -> tuple[int, int]:
        """The line from byte `at` on as a whole number, never negative, and where the next one begins."""
        text, after = self.line(at, what)
        if not re.fullmatch(rb"\d{1,18}", text):
            raise self.error(f"{shown(text)} is not {what}", at)
        return int(text), after


def sections(path: Path, data: bytes, binary: bool, at: int = 0) -> Iterator[Section]:
    """The sections from byte `at` on; what stands between them is an error."""
    count = count_data = 0
    while True:
        blank = _BLANK.match(data, at)
        at = blank.end() if blank else at
        if at == len(data):
            return
        opening = _OPENING.match(data, at)
        if opening is None or opening[1].startswith(b"End"):
            word = data[at : at + 80].split()[0]
            raise Section(path, data, "", at, at).error(f"{shown(word)} stands where a section such as $Nodes should begin", at)
        name = opening[1]
        # a name in quotes may hold anything, so that in text the end is one only where a line begins
        pattern = rb"\$End" + name if binary else rb"^[ \t]*\$End" + name + rb"\b"
        ending = re.compile(pattern, re.MULTILINE).search(data, opening.end())
        shown_name = name.decode("utf-8", "backslashreplace")
        if ending is None:
            raise Section(path, data, shown_name, at, at).error(f"the section has no end: there is no $End{shown_name}", at)
        count, count_data = count + (shown_name not in DATA), count_data + (shown_name in DATA)
        if count > _MOST or count_data > MOST_DATA:
            many = f"{_MOST} sections" if count > _MOST else f"{MOST_DATA} sections of data"
            raise Section(path, data, shown_name, at, at).error(f"the file has more than {many}; split it", at)
        yield Section(path, data, shown_name, opening.end(), ending.start())
        at = ending.end()
