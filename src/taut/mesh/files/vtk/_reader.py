"""Read a legacy VTK file in order: words of text, and numbers as text or as big-endian bytes.

A count in the file is checked against what is left of it before memory is allocated.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Int
from taut.errors import MeshError
from taut.mesh.files.numbers import InvalidWord, find_word_starts, parse_words, quote_word
from taut.mesh.files.text_reader import LINE_BREAK, line_number
from taut.mesh.files.vtk.arrays import to_native

_WORD = re.compile(rb"\s*(\S+)")
_REST = re.compile(rb"[^\r\n]*")
_LINE_END = re.compile(rb"[ \t]*(?:\r\n|\n)")
_BLANK_LINE = re.compile(rb"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")
# Bytes of the length of a binary string, by its first two bits.
_LENGTH_BYTES = {3: 1, 2: 2, 1: 4, 0: 8}

# Type → numpy's in binary files, where a vtkIdType has four bytes. Eight of "bit" share a byte.
LEGACY_TYPES = {
    "char": "i1",
    "signed_char": "i1",
    "unsigned_char": "u1",
    "short": "i2",
    "unsigned_short": "u2",
    "int": "i4",
    "unsigned_int": "u4",
    "long": "i8",
    "unsigned_long": "u8",
    "vtktypeint64": "i8",
    "vtktypeuint64": "u8",
    "vtkidtype": "i4",
    "float": "f4",
    "double": "f8",
}


class Numbers(NamedTuple):
    """Numbers of the file, flat, and a function that finds the byte of each."""

    values: NDArray[Any]
    find_byte: Callable[[int], int]


class VtkReader:
    """Reads a file from byte `at` on; numbers are text if `ascii`."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data, self.at, self.ascii = path, data, 0, True

    @cached_property
    def _starts(self) -> Int:
        return find_word_starts(self.data)

    def error(self, message: str, at: int | None = None, element: str | None = None) -> MeshError:
        """Return an error at a byte, by default the next one; text files have lines instead."""
        place = min(self.at if at is None else at, len(self.data))
        if not self.ascii:
            return MeshError(f"{message} (byte {place})", path=self.path, element=element)
        return MeshError(
            message, path=self.path, line=line_number(self.data, place), element=element
        )

    def take_line(self) -> str:
        """Return the rest of this line without its end."""
        found = _REST.match(self.data, self.at)
        assert found is not None  # the pattern matches an empty rest too
        end = LINE_BREAK.match(self.data, found.end())
        self.at = end.end() if end else found.end()
        return found[0].decode("utf-8", "backslashreplace")

    def take_rest_of_line(self) -> list[bytes]:
        """Return the words left on this line; the line's end comes next."""
        found = _REST.match(self.data, self.at)
        assert found is not None
        self.at = found.end()
        return found[0].split()

    def peek(self) -> str:
        """Return the next word as a keyword, in capitals, without taking it; empty at the end."""
        found = _WORD.match(self.data, self.at)
        return found[1][:64].decode("latin-1").upper() if found else ""

    def take_word(self, what: str) -> bytes:
        """Return the next word."""
        found = _WORD.match(self.data, self.at)
        if not found:
            raise self.error(f"the file ends before {what}", len(self.data))
        self.at = found.end()
        return found[1]

    def take_keyword(self, expected: str) -> None:
        """Take the next word, which must be this one."""
        word = self.take_word(expected)
        if word.upper() != expected.encode():
            raise self.error(f"must be {expected}, got {quote_word(word)}", self.at - len(word))

    def take_count(self, what: str) -> int:
        """Return the next word as a count, at most the number of bits in the file."""
        return self.parse_count(self.take_word(f"the number of {what}"), what)

    def parse_count(self, word: bytes, what: str) -> int:
        """Return the word that was just taken as a count."""
        if not re.fullmatch(rb"\d{1,18}", word):
            message = f"the number of {what} must be a non-negative integer, got {quote_word(word)}"
            raise self.error(message, self.at - len(word))
        if int(word) > 8 * len(self.data):
            raise self.error(
                f"the number of {what} must fit the file, got {int(word)}", self.at - len(word)
            )
        return int(word)

    def take_type(self) -> str:
        """Return the next word as a type of number, in small letters."""
        word = self.take_word("a type of number")
        name = word.decode("latin-1").lower()
        if name not in LEGACY_TYPES and name not in ("bit", "string"):
            raise self.error(
                f"the type must be bit, string, {', '.join(LEGACY_TYPES)}, got {quote_word(word)}",
                self.at - len(word),
            )
        return name

    def take_numbers(self, type_: str, count: int, columns: int, what: str) -> Numbers:
        """Return the next count·columns numbers.

        what : what has `columns` numbers, such as "point"
        """
        if self.ascii:
            return self._take_text(type_, count, columns, what)
        return self._take_binary(type_, count, columns, what)

    def take_integers(self, type_: str, count: int, columns: int, what: str) -> Numbers:
        """Return the next count·columns numbers as int64; raise for a type of floats."""
        if type_ in ("float", "double", "bit", "string"):
            raise self.error(f"indices must be integers, got the type {type_}")
        block = self.take_numbers(type_, count, columns, what)
        return Numbers(block.values.astype(np.int64), block.find_byte)

    def skip_strings(self, count: int) -> None:
        """Skip strings: one on each line of text, or in binary each after its length."""
        if self.ascii:
            self.take_line()
            for _ in range(count):
                if self.at >= len(self.data):
                    raise self.error(f"the file ends in {count} strings")
                self.take_line()
            return
        self._skip_line_end()
        for _ in range(count):
            size = _LENGTH_BYTES[self.data[self.at] >> 6] if self.at < len(self.data) else 8
            head = int.from_bytes(self.data[self.at : self.at + size], "big")
            end = self.at + size + (head & ((1 << (8 * size - 2)) - 1))
            if end > len(self.data):
                raise self.error(f"the file ends in {count} strings")
            self.at = end

    def skip_paragraph(self) -> None:
        """Skip to the next blank line."""
        found = _BLANK_LINE.search(self.data, self.at)
        self.at = found.end() if found else len(self.data)

    def _take_text(self, type_: str, count: int, columns: int, what: str) -> Numbers:
        # A vtkIdType has 32 bits in binary files, but any number of digits in text.
        dtype = np.dtype({"bit": "u1", "vtkidtype": "i8"}.get(type_) or LEGACY_TYPES[type_])
        first = int(np.searchsorted(self._starts, self.at))
        edges = self._starts[first : first + count * columns + 1]
        if len(edges) == count * columns:  # the last words of the file
            edges = np.append(edges, len(self.data))
        if len(edges) <= count * columns:
            raise self.error(
                f"the file ends after {len(edges) // columns} of {count} {what}s", len(self.data)
            )
        try:
            values = parse_words(self.data, edges, dtype)
        except InvalidWord as bad:
            raise self.error(
                str(bad), int(edges[bad.index]), f"{what} {bad.index // columns}"
            ) from None
        self.at = int(edges[-1])
        return Numbers(values, lambda i: int(edges[i]))

    def _take_binary(self, type_: str, count: int, columns: int, what: str) -> Numbers:
        self._skip_line_end()
        dtype = np.dtype("u1" if type_ == "bit" else f">{LEGACY_TYPES[type_]}")
        total = count * columns
        length = (total + 7) // 8 if type_ == "bit" else total * dtype.itemsize
        begin = self.at
        if length > len(self.data) - begin:
            per_byte = 8 if type_ == "bit" else 1
            there = (len(self.data) - begin) * per_byte // (dtype.itemsize * columns)
            raise self.error(f"the file ends after {there} of {count} {what}s", len(self.data))
        values = np.frombuffer(self.data, dtype, length // dtype.itemsize, begin)
        self.at = begin + length
        if type_ == "bit":
            return Numbers(np.unpackbits(values, count=total), lambda i: begin + i // 8)
        return Numbers(to_native(values), lambda i: begin + i * dtype.itemsize)

    def _skip_line_end(self) -> None:
        """Skip the end of the line, after which the bytes begin."""
        found = _LINE_END.match(self.data, self.at)
        if not found:
            raise self.error("the line must end before the binary numbers")
        self.at = found.end()
