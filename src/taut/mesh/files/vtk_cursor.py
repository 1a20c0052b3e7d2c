"""A place in a legacy VTK file: words of text, and numbers as text or as big-endian bytes.

A count in the file is checked against what is left of it before anything is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.text import BREAK, line_of, shown
from taut.mesh.files.vtk_types import LEGACY_TYPES, native
from taut.mesh.files.words import BadWord, parse, word_starts

Int = NDArray[np.int64]
_WORD = re.compile(rb"\s*(\S+)")
_REST = re.compile(rb"[^\r\n]*")
_TO_DATA = re.compile(rb"[ \t]*(?:\r\n|\n)")
_BLANK_LINE = re.compile(rb"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")
# how many bytes a binary string's length takes, by the first two bits of it
_LENGTH_BYTES = {3: 1, 2: 2, 1: 4, 0: 8}


class Block(NamedTuple):
    """Numbers of the file, flat, and where each stands."""

    values: NDArray[Any]
    place: Callable[[int], int]


class Cursor:
    """The bytes of a file from `at` on; numbers are text if `ascii`."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data, self.at, self.ascii = path, data, 0, True

    @cached_property
    def _starts(self) -> Int:
        return word_starts(self.data)

    def error(self, message: str, at: int | None = None, element: str | None = None) -> MeshError:
        """An error at a byte (the next one unless told), which is on a line if the file is text."""
        place = min(self.at if at is None else at, len(self.data))
        if not self.ascii:
            return MeshError(f"{message} (byte {place})", path=self.path, element=element)
        return MeshError(message, path=self.path, line=line_of(self.data, place), element=element)

    def line(self) -> str:
        """What is left of this line, without its end."""
        found = _REST.match(self.data, self.at)
        assert found is not None  # it matches nothing, too
        end = BREAK.match(self.data, found.end())
        self.at = end.end() if end else found.end()
        return found[0].decode("utf-8", "backslashreplace")

    def rest_of_line(self) -> list[bytes]:
        """The words left on this line; the line's end comes next."""
        found = _REST.match(self.data, self.at)
        assert found is not None
        self.at = found.end()
        return found[0].split()

    def peek(self) -> str:
        """The next word as a keyword, in capitals; empty at the end."""
        found = _WORD.match(self.data, self.at)
        return found[1][:64].decode("latin-1").upper() if found else ""

    def word(self, what: str) -> bytes:
        """The next word."""
        found = _WORD.match(self.data, self.at)
        if not found:
            raise self.error(f"the file ends where {what} should stand", len(self.data))
        self.at = found.end()
        return found[1]

    def keyword(self, expected: str) -> None:
        """The next word, which is this one."""
        word = self.word(expected)
        if word.upper() != expected.encode():
            raise self.error(f"{shown(word)} stands where {expected} should", self.at - len(word))

    def count(self, what: str) -> int:
        """The next word as a number of things, never negative and not more than the file has bits."""
        return self.as_count(self.word(f"the number of {what}"), what)

    def as_count(self, word: bytes, what: str) -> int:
        """The word just read as a number of things."""
        if not re.fullmatch(rb"\d{1,18}", word):
            raise self.error(f"{shown(word)} is no number of {what}", self.at - len(word))
        if int(word) > 8 * len(self.data):
            raise self.error(f"it promises {int(word)} {what}, more than the file can hold", self.at - len(word))
        return int(word)

    def type(self) -> str:
        """The next word as a type of number, in small letters."""
        word = self.word("a type of number")
        name = word.decode("latin-1").lower()
        if name not in LEGACY_TYPES and name not in ("bit", "string"):
            raise self.error(f"{shown(word)} is no type; there are bit, string, {', '.join(LEGACY_TYPES)}", self.at - len(word))
        return name

    def numbers(self, type_: str, count: int, columns: int, what: str) -> Block:
        """The next count·columns numbers; `what` is what has `columns` of them, such as "point"."""
        return self._text(type_, count, columns, what) if self.ascii else self._binary(type_, count, columns, what)

    def whole(self, type_: str, count: int, columns: int, what: str) -> Block:
        """The same, as int64; another type than of whole numbers is an error."""
        if type_ in ("float", "double", "bit", "string"):
            raise self.error(f"indices are of type {type_}, not whole numbers")
        block = self.numbers(type_, count, columns, what)
        return Block(block.values.astype(np.int64), block.place)

    def skip_strings(self, count: int) -> None:
        """Go past as many strings: one on each line of text, or each after its length."""
        if self.ascii:
            self.line()
            for _ in range(count):
                if self.at >= len(self.data):
                    raise self.error("the file ends among strings")
                self.line()
            return
        self._to_data()
        for _ in range(count):
            size = _LENGTH_BYTES[self.data[self.at] >> 6] if self.at < len(self.data) else 8
            head = int.from_bytes(self.data[self.at : self.at + size], "big")
            end = self.at + size + (head & ((1 << (8 * size - 2)) - 1))
            if end > len(self.data):
                raise self.error("the file ends among strings")
            self.at = end

    def skip_paragraph(self) -> None:
        """Go to the next blank line."""
        found = _BLANK_LINE.search(self.data, self.at)
        self.at = found.end() if found else len(self.data)

    def _text(self, type_: str, count: int, columns: int, what: str) -> Block:
        # text has no width: a vtkIdType may be as large as it likes
        dtype = np.dtype({"bit": "u1", "vtkidtype": "i8"}.get(type_) or LEGACY_TYPES[type_])
        first = int(np.searchsorted(self._starts, self.at))
        edges = self._starts[first : first + count * columns + 1]
        if len(edges) == count * columns:  # the last words of the file
            edges = np.append(edges, len(self.data))
        if len(edges) <= count * columns:
            raise self.error(f"the file ends after {len(edges) // columns} of {count} {what}s", len(self.data))
        try:
            values = parse(self.data, edges, dtype)
        except BadWord as bad:
            raise self.error(str(bad), int(edges[bad.index]), f"{what} {bad.index // columns}") from None
        self.at = int(edges[-1])
        return Block(values, lambda i: int(edges[i]))

    def _binary(self, type_: str, count: int, columns: int, what: str) -> Block:
        self._to_data()
        dtype = np.dtype("u1" if type_ == "bit" else f">{LEGACY_TYPES[type_]}")
        total = count * columns
        length = (total + 7) // 8 if type_ == "bit" else total * dtype.itemsize
        begin = self.at
        if length > len(self.data) - begin:
            there = (len(self.data) - begin) * (8 if type_ == "bit" else 1) // (dtype.itemsize * columns)
            raise self.error(f"the file ends after {there} of {count} {what}s", len(self.data))
        values = np.frombuffer(self.data, dtype, length // dtype.itemsize, begin)
        self.at = begin + length
        if type_ == "bit":
            return Block(np.unpackbits(values, count=total), lambda i: begin + i // 8)
        return Block(native(values), lambda i: begin + i * dtype.itemsize)

    def _to_data(self) -> None:
        """Past the end of the line, behind which the bytes begin."""
        found = _TO_DATA.match(self.data, self.at)
        if not found:
            raise self.error("the line does not end before the binary numbers")
        self.at = found.end()
