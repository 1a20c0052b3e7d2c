"""The header of a PLY file: which elements follow, how many, and the properties of each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from taut.mesh.files.text import Rows, reads, shown

TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8",
    "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8",
}  # fmt: skip
ORDERS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}


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


def parse(rows: Rows) -> tuple[str, list[Element]]:
    """The format and the elements; `rows` stops behind the header."""
    _, first = rows.words("the word ply")
    if first != [b"ply"]:
        raise rows.error(f"the file begins with {shown(b' '.join(first))}, not with ply", 0)
    form, elements = "", list[Element]()
    while True:
        row, raw = rows.words("end_header")
        words = [word.decode("utf-8", "replace") for word in raw]
        if words[0] == "end_header":
            break
        if words[0] == "format" and len(words) == 3 and words[1] in ORDERS:
            form = words[1]
        elif words[0] == "element" and len(words) == 3 and reads(raw[2], int) and int(words[2]) >= 0:
            if any(element.name == words[1] for element in elements):
                raise rows.error(f"the element '{words[1]}' stands here for the second time", row)
            elements.append(Element(words[1], int(words[2])))
        elif words[0] == "property" and elements and form:
            elements[-1].properties.append(_property(rows, row, words, ORDERS[form]))
        elif words[0] not in ("comment", "obj_info"):
            raise rows.error(f"{shown(b' '.join(raw))} does not belong here", row)
    if not form:
        raise rows.error("the header names no format", row)
    return form, elements


def _property(rows: Rows, row: int, words: list[str], order: str) -> Property:
    """One line `property type name` or `property list type type name`."""
    if len(words) == 3 and words[1] in TYPES:
        return Property(words[2], np.dtype(order + TYPES[words[1]]))
    if len(words) == 5 and words[1] == "list" and words[2] in TYPES and words[3] in TYPES and TYPES[words[2]][0] != "f":
        return Property(words[4], np.dtype(order + TYPES[words[3]]), np.dtype(order + TYPES[words[2]]))
    raise rows.error(f"{' '.join(words)[:60]!r} is no property", row)
