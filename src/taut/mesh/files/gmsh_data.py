"""Names of physical groups, and values at nodes and elements, in MSH files of all versions.

The head of `$NodeData` and `$ElementData` is text in binary files too: the number of strings, then the strings, of which the first
is the name; the same with reals and with integers, of which the second is the number of components and the third that of values.
"""

from __future__ import annotations

import re

from taut.mesh.files.gmsh_ascii import Ascii, Fields
from taut.mesh.files.gmsh_bytes import Bytes
from taut.mesh.files.gmsh_sections import Section
from taut.mesh.files.gmsh_types import Data, Raw
from taut.mesh.files.text import shown

_NAME = re.compile(rb'(?:(\d{1,18})\s+)?(\d{1,18})\s+"(.*)"')


def read_names(raw: Raw, section: Section) -> None:
    """Add the names of physical groups: `dimension number "name"`."""
    count, at = section.whole(section.start, "a number of names")
    for i in range(count):
        here = at
        text, at = section.line(at, f"name {i} of {count}")
        found = _NAME.fullmatch(text)
        if found is None:
            raise section.error(f"{shown(text)} is not 'dimension number \"name\"'", here, f"name {i}")
        dimensions = range(4) if found[1] is None else [int(found[1])]  # MSH 2.0 had no dimension here
        for dimension in dimensions:
            raw.names[dimension, int(found[2])] = _decoded(found[3])
    if section.data[at : section.end].strip():
        raise section.error("the section holds more names than it announces", at)


def read_data(section: Section, types: dict[str, str] | None) -> Data:
    """The values of a section for some nodes or elements."""
    strings, at = _lines(section, section.start, "string")
    _, at = _lines(section, at, "real")
    head = at
    integers, at = _lines(section, at, "integer")
    numbers = [int(word) if re.fullmatch(rb"-?\d{1,18}", word) else -1 for word in integers]
    if len(numbers) < 3 or min(numbers[1:3]) < 0:
        raise section.error("the integers should be a step, a number of components and a number of values", head)
    width, count = numbers[1:3]
    if width > section.end - section.start:
        raise section.error(f"there are no {width} components to a value", head)
    fields: Fields = (("int", 1), ("double", width))
    stream = Ascii(section, at) if types is None else Bytes(section, types, at)
    start = stream.at
    tags, values = stream.records(count, fields, "value")
    stride = (stream.at - start) // max(count, 1)
    stream.finish()
    quoted = re.fullmatch(rb'"(.*)"', strings[0]) if strings else None
    name = _decoded(quoted[1] if quoted else strings[0]) if strings else section.name
    return Data(name, tags[:, 0], values, stream, start, stride)


def _lines(section: Section, at: int, what: str) -> tuple[list[bytes], int]:
    """A number of lines and those lines, and where the next one begins."""
    count, at = section.whole(at, f"a number of {what}s")
    found = []
    for i in range(count):
        text, at = section.line(at, f"{what} {i} of {count}")
        found.append(text)
    return found, at


def _decoded(text: bytes) -> str:
    """As text; what is no UTF-8 was written by an older Windows."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
