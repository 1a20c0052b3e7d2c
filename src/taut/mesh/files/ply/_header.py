"""The header of a PLY file: the elements that follow, how many, and the properties of each.

Also the two things that depend on properties alone: the columns of an element (`Table`), and how
names of groups and data become names of properties (`encode_name`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from taut.errors import MeshError
from taut.mesh.files.numbers import quote_word
from taut.mesh.files.text_reader import LINE_BREAK, LineReader

TYPES = {
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "float": "f4",
    "double": "f8",
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "float32": "f4",
    "float64": "f8",
}
_BYTE_ORDERS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}
_MAX_DIGITS = 18  # of a count, so that it fits int64
_END = re.compile(rb"(?<=[\r\n])[ \t]*end_header[ \t]*(?=[\r\n]|\Z)")
_EMPTY_NAME = "%-"  # no text is escaped to this
_ESCAPED = re.compile(r"[\s%:\x00-\x1f\x7f-\x9f]")  # the colon ends the prefix "group:"

# By property: one number per row, shape (m,), or for lists (flat values, lengths).
Columns = dict[str, Any]


@dataclass(frozen=True)
class Property:
    """One property; `length_dtype` is the type of a list's length, None for a single number."""

    name: str
    dtype: np.dtype[np.generic]
    length_dtype: np.dtype[np.generic] | None = None


@dataclass(frozen=True)
class Element:
    """A number of rows that have the same properties."""

    name: str
    count: int
    properties: list[Property] = field(default_factory=list)


@dataclass(frozen=True)
class Table:
    """The columns of an element, and a function that makes the error about one of its rows."""

    columns: Columns
    error: Callable[[str, int], MeshError]

    @classmethod
    def empty(cls, element: Element, path: Path) -> Table:
        """Return a table without rows."""
        columns: Columns = {}
        for p in element.properties:
            columns[p.name] = np.empty(0, p.dtype)
            if p.length_dtype is not None:
                columns[p.name] = (np.empty(0, p.dtype), np.empty(0, np.int64))

        def error(message: str, row: int) -> MeshError:
            return MeshError(message, path=path, element=f"{element.name} {row}")

        return cls(columns, error)


def find_body(data: bytes) -> int:
    """Return the first byte after the header and its line break; the file's end without one.

    >>> find_body(b"ply\\ncomment end_header\\nend_header\\n\\x03")
    34
    """
    end = _END.search(data)
    if end is None:
        return len(data)
    first_break = LINE_BREAK.search(data)
    assert first_break is not None  # end_header follows one
    if first_break[0] == b"\r":
        # Lines end with \r alone, so that a \n after the header is the first byte of the body.
        return min(end.end() + 1, len(data))
    last_break = LINE_BREAK.match(data, end.end())
    return last_break.end() if last_break else len(data)


def parse_header(rows: LineReader) -> tuple[str, list[Element]]:
    """Return the format and the elements; `rows` hold the header only."""
    _, first = rows.take_words("the word ply")
    if first != [b"ply"]:
        start = quote_word(b" ".join(first))
        raise rows.error(f"the file must start with ply, got {start}", 0)
    form = ""
    elements: dict[str, Element] = {}
    property_names: set[str] = set()  # of the last element
    while True:
        row, raw = rows.take_words("end_header")
        if raw == [b"end_header"]:
            break
        words = [word.decode("utf-8", "backslashreplace") for word in raw]
        keyword = words[0]
        is_count = len(raw) == 3 and raw[2].isdigit() and len(raw[2]) <= _MAX_DIGITS
        if keyword == "element" and is_count:
            if words[1] in elements:
                raise rows.error(f"the element '{words[1]}' must occur once, got it again", row)
            last = elements[words[1]] = Element(words[1], int(raw[2]))
            property_names = set()
        elif keyword == "property" and elements and form:
            prop = _parse_property(rows, row, words, _BYTE_ORDERS[form])
            # Two different words may decode to the same name.
            name = ":".join(map(decode_name, prop.name.split(":")))
            if name in property_names:
                raise rows.error(
                    f"the property '{prop.name}' must occur once, got it again",
                    row,
                    f"element {last.name}",
                )
            property_names.add(name)
            last.properties.append(prop)
        elif keyword == "format" and len(words) == 3 and words[1] in _BYTE_ORDERS and not form:
            form = words[1]
        elif keyword not in ("comment", "obj_info"):
            got = quote_word(b" ".join(raw))
            raise rows.error(
                f"must be a format, element, property or comment in its place, got {got}", row
            )
    if not form:
        raise rows.error("the header must name a format, got none", row)
    return form, list(elements.values())


def _parse_property(rows: LineReader, row: int, words: list[str], order: str) -> Property:
    """Parse `property type name` or `property list type type name`."""
    if len(words) == 3 and words[1] in TYPES:
        return Property(words[2], np.dtype(order + TYPES[words[1]]))
    is_list = len(words) == 5 and words[1] == "list" and words[2] in TYPES and words[3] in TYPES
    if is_list and TYPES[words[2]][0] != "f":
        dtype = np.dtype(order + TYPES[words[3]])
        return Property(words[4], dtype, np.dtype(order + TYPES[words[2]]))
    raise rows.error(
        "must be 'property type name' or 'property list type type name', "
        f"got {' '.join(words)[:60]!r}",
        row,
    )


def encode_name(name: str) -> str:
    """Return a name as one word, with %XX for characters that no word can hold, as in a URL.

    >>> encode_name("a b"), encode_name("100 %"), encode_name("größe"), encode_name("")
    ('a%20b', '100%20%25', 'größe', '%-')
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise MeshError(f"PLY names must be valid Unicode, got {name!r}; rename it") from None
    return _ESCAPED.sub(lambda match: quote(match[0], safe=""), name) or _EMPTY_NAME


def decode_name(word: str) -> str:
    """Return the name that `encode_name` encodes as this word; any other word is its own name.

    >>> decode_name("a%20b"), decode_name("50%"), decode_name("%41"), decode_name("%-")
    ('a b', '50%', '%41', '')
    """
    if "%" not in word:
        return word
    name = "" if word == _EMPTY_NAME else unquote(word)
    return name if encode_name(name) == word else word
