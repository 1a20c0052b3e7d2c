"""The header of a PLY file: which elements follow, how many, and the properties of each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from taut.mesh.files.ply_names import decode
from taut.mesh.files.text import BREAK, Rows, shown

TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8",
    "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8",
}  # fmt: skip
ORDERS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}
DIGITS = 18  # of a count, so that it is an index
_END = re.compile(rb"(?<=[\r\n])[ \t]*end_header[ \t]*(?=[\r\n]|\Z)")


@dataclass(frozen=True)
class Property:
    """One property; a list has the type of its length in `count`."""

    name: str
    dtype: np.dtype[np.generic]
    count: np.dtype[np.generic] | None = None


@dataclass(frozen=True)
class Element:
    """Rows of the same properties."""

    name: str
    count: int
    properties: list[Property] = field(default_factory=list)


def header_size(data: bytes) -> int:
    """How many bytes the header takes, with the line break behind it; all of them if it does not end.

    >>> header_size(b"ply\\ncomment end_header\\nend_header\\n\\x03")
    34
    """
    end = _END.search(data)
    if end is None:
        return len(data)
    first = BREAK.search(data)
    assert first is not None  # the last line stands behind one
    if first[0] == b"\r":  # then a line feed behind the last line is a number of the body
        return min(end.end() + 1, len(data))
    behind = BREAK.match(data, end.end())
    return behind.end() if behind else len(data)


def parse(rows: Rows) -> tuple[str, list[Element]]:
    """The format and the elements; `rows` hold the header only."""
    _, first = rows.words("the word ply")
    if first != [b"ply"]:
        raise rows.error(f"the file begins with {shown(b' '.join(first))}, not with ply", 0)
    form, elements = "", dict[str, Element]()
    names = set[str]()  # those of the last element's properties
    while True:
        row, raw = rows.words("end_header")
        if raw == [b"end_header"]:
            break
        words = [word.decode("utf-8", "backslashreplace") for word in raw]
        if words[0] == "element" and len(words) == 3 and raw[2].isdigit() and len(raw[2]) <= DIGITS:
            if words[1] in elements:
                raise rows.error(f"the element '{words[1]}' stands here for the second time", row)
            last = elements[words[1]] = Element(words[1], int(raw[2]))
            names = set()
        elif words[0] == "property" and elements and form:
            found = _property(rows, row, words, ORDERS[form])
            name = ":".join(map(decode, found.name.split(":"))) if "%" in found.name else found.name
            if name in names:  # which two words may be
                raise rows.error(f"the property '{found.name}' stands here for the second time", row, f"element {last.name}")
            names.add(name)
            last.properties.append(found)
        elif words[0] == "format" and len(words) == 3 and words[1] in ORDERS and not form:
            form = words[1]
        elif words[0] not in ("comment", "obj_info"):
            raise rows.error(f"{shown(b' '.join(raw))} does not belong here", row)
    if not form:
        raise rows.error("the header names no format", row)
    return form, list(elements.values())


def _property(rows: Rows, row: int, words: list[str], order: str) -> Property:
    """One line `property type name` or `property list type type name`."""
    if len(words) == 3 and words[1] in TYPES:
        return Property(words[2], np.dtype(order + TYPES[words[1]]))
    if len(words) == 5 and words[1] == "list" and words[2] in TYPES and words[3] in TYPES and TYPES[words[2]][0] != "f":
        return Property(words[4], np.dtype(order + TYPES[words[3]]), np.dtype(order + TYPES[words[2]]))
    raise rows.error(f"{' '.join(words)[:60]!r} is no property", row)
