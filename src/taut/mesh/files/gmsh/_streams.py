"""The numbers of a section of an MSH file, as text (`TextStream`) or as bytes (`ByteStream`).

Both have the same methods, so that a section is parsed by the same code in both encodings. Places
are words in text and bytes in binary sections.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError
from taut.mesh.files.gmsh._sections import Section
from taut.mesh.files.numbers import LARGEST_EXACT_INTEGER, quote_word
from taut.mesh.topology import ranges

_BYTES_PER_BATCH = 1 << 20  # of text, parsed together, so that words do not fill the memory

# A record: for each field its type ("int", "size" or "double") and how many numbers it has.
Fields = tuple[tuple[str, int], ...]


class TextStream:
    """The numbers of a section in text, from byte `start` on; `at` is the next word."""

    def __init__(self, section: Section, start: int | None = None) -> None:
        self.section = section
        self.start = section.start if start is None else start
        self.at = 0
        self.values: NDArray[Any] = self._parse_all()
        # Checked once for the section: it may have many small blocks.
        if _are_integers(self.values).all():
            self.values = self.values.astype(np.int64)

    def _parse_all(self) -> Float:
        """Return all numbers of the section."""
        data, at, end = self.section.data, self.start, self.section.end
        batches = [np.empty(0)]
        count = 0
        while at < end:
            cut = data.find(b"\n", min(at + _BYTES_PER_BATCH, end), end)
            upto = end if cut < 0 else cut
            words = data[at:upto].split()
            try:
                batches.append(np.fromiter(map(float, words), np.float64, len(words)))
            except ValueError:
                i = next(i for i, word in enumerate(words) if not _is_number(word))
                raise self.error(
                    f"must be a number, got {quote_word(words[i])}", count + i
                ) from None
            count += len(words)
            at = upto
        return np.concatenate(batches)

    def error(self, message: str, at: int | None = None, element: str | None = None) -> MeshError:
        """Return an error at a word, by default the next one."""
        byte = self._find_byte(self.at if at is None else at)
        return self.section.error(message, byte, element)

    def _find_byte(self, word: int) -> int:
        """Return where a word begins; the end of the section if there is none."""
        words = re.compile(rb"\S+").finditer(self.section.data, self.start, self.section.end)
        found = next(islice(words, word, None), None)
        return self.section.end if found is None else found.start()

    def take_int(self, kind: str, what: str) -> int:
        """Return the next number, an integer."""
        if self.at >= len(self.values):
            raise self.error(f"the section ends before {what}")
        value = self.values.item(self.at)
        if isinstance(value, float) and not _are_integers(self.values[self.at : self.at + 1])[0]:
            raise self.error(f"{what} must be an integer, got {value!r}")
        self.at += 1
        return int(value)

    def skip(self, kind: str, count: int, what: str) -> None:
        """Skip the next numbers."""
        if not 0 <= count <= len(self.values) - self.at:
            raise self.error(f"the section ends in {what}", len(self.values) if count > 0 else None)
        self.at += count

    def take(self, kind: str, count: int, what: str) -> NDArray[Any]:
        """Return the next numbers, shape (count,)."""
        return self.take_records(count, ((kind, 1),), what)[0][:, 0]

    def take_records(self, count: int, fields: Fields, what: str) -> list[NDArray[Any]]:
        """Return the next `count` records: for each field an array of shape (count, k)."""
        columns = sum(k for _, k in fields)
        left = len(self.values) - self.at
        if count < 0:
            raise self.error(f"the number of {what}s must not be negative, got {count}")
        if count * columns > left:
            self.check_lines(np.array([self.at]), np.array([count]), np.array([columns]), what)
            raise self.error(
                f"the section ends after {left // columns} of {count} {what}s", len(self.values)
            )
        block = self.values[self.at : self.at + count * columns].reshape(count, columns)
        found: list[NDArray[Any]] = []
        column = 0
        for kind, k in fields:
            part = block[:, column : column + k]
            if kind != "double" and part.dtype != np.int64:
                bad = np.flatnonzero(~_are_integers(part).all(axis=1))
                if len(bad):
                    self.check_lines(
                        np.array([self.at]), np.array([count]), np.array([columns]), what
                    )
                    i = int(bad[0])
                    place = self.at + i * columns + column
                    raise self.error("the number must be an integer", place, f"{what} {i}")
            found.append(part.astype(np.float64 if kind == "double" else np.int64, copy=False))
            column += k
        self.at += count * columns
        return found

    def find_places(self, count: int, fields: Fields) -> Int:
        """Return the places of the last `count` records, shape (count,)."""
        columns = sum(k for _, k in fields)
        return self.at - columns * count + columns * np.arange(count)

    def find_lines(self) -> tuple[Int, Int]:
        """Return the first word and the number of words of each line that has any, shape (m,)."""
        rows = self.section.data[self.start : self.section.end].splitlines()
        counts = np.fromiter(map(len, map(bytes.split, rows)), np.int64, len(rows))
        counts = counts[counts > 0]
        return np.cumsum(counts) - counts, counts

    def gather(self, kind: str, starts: Int, counts: Int, columns: int) -> tuple[Int, Int]:
        """Return blocks of integers as one array, shape (m, columns), and the rows' places (m,)."""
        where = ranges(starts, counts, columns)
        rows = self.values[where[:, None] + np.arange(columns)]
        bad = np.flatnonzero(~_are_integers(rows).all(axis=1))
        if len(bad):
            raise self.error("numbers must be integers", int(where[bad[0]]), f"row {bad[0]}")
        return rows.astype(np.int64, copy=False), where

    def check_lines(self, starts: Int, counts: Int, columns: Int, what: str | None = None) -> None:
        """Raise for the first row of these blocks that is not a line; single numbers may share one.

        what : the name of a row; by default it is an element that begins with its tag
        """
        first, widths = self.find_lines()
        if not len(first) or (len(columns) and columns.max() == 1):
            return
        fits = np.minimum(counts, (len(self.values) - starts) // columns + 1).clip(0)
        rows = ranges(starts, fits, columns)
        line = np.searchsorted(first, rows, side="right") - 1
        bad = np.flatnonzero(
            (rows < len(self.values))
            & ((first[line] != rows) | (widths[line] != np.repeat(columns, fits)))
        )
        if len(bad):
            place, due = int(first[line[bad[0]]]), np.repeat(columns, fits)[bad[0]]
            element = f"element {self.values[place]:.0f}" if what is None else f"{what} {bad[0]}"
            raise self.error(f"must have {due} numbers, got {widths[line[bad[0]]]}", place, element)

    def check_end(self) -> None:
        """Raise if the section goes on."""
        if self.at < len(self.values):
            raise self.error("the section must end after the entries it announces, got more")


class ByteStream:
    """The numbers of a section in binary, from byte `start` on; `at` is the next byte.

    types : how numbers are stored, {"int": dtype, "size": dtype, "double": dtype}
    """

    def __init__(self, section: Section, types: dict[str, str], start: int | None = None) -> None:
        self.section, self.types = section, types
        self.sizes = {kind: np.dtype(dtype).itemsize for kind, dtype in types.items()}
        self.order: Literal["little", "big"] = "little" if types["int"].startswith("<") else "big"
        self.at = section.start if start is None else start

    def error(self, message: str, at: int | None = None, element: str | None = None) -> MeshError:
        """Return an error at a byte, by default the next one."""
        place = f"(in ${self.section.name}, byte {self.at if at is None else at})"
        return MeshError(f"{message} {place}", path=self.section.path, element=element)

    def take_int(self, kind: str, what: str) -> int:
        """Return the next number, an integer."""
        end = self.at + self.sizes[kind]
        if end > self.section.end:
            raise self.error(f"the section ends before {what}")
        value = int.from_bytes(self.section.data[self.at : end], self.order, signed=kind == "int")
        self.at = end
        return value

    def skip(self, kind: str, count: int, what: str) -> None:
        """Skip the next numbers."""
        if not 0 <= count * self.sizes[kind] <= self.section.end - self.at:
            raise self.error(f"the section ends in {what}")
        self.at += count * self.sizes[kind]

    def take(self, kind: str, count: int, what: str) -> NDArray[Any]:
        """Return the next numbers, shape (count,)."""
        return self.take_records(count, ((kind, 1),), what)[0][:, 0]

    def take_records(self, count: int, fields: Fields, what: str) -> list[NDArray[Any]]:
        """Return the next `count` records: for each field an array of shape (count, k)."""
        dtype = self._dtype(fields)
        left = self.section.end - self.at
        if count < 0:
            raise self.error(f"the number of {what}s must not be negative, got {count}")
        if count * dtype.itemsize > left:
            raise self.error(f"the section ends after {left // dtype.itemsize} of {count} {what}s")
        block = np.frombuffer(self.section.data, dtype, count, self.at)
        self.at += count * dtype.itemsize
        native = [np.float64 if kind == "double" else np.int64 for kind, _ in fields]
        return [
            block[str(i)].astype(native[i]).reshape(count, k) for i, (_, k) in enumerate(fields)
        ]

    def find_places(self, count: int, fields: Fields) -> Int:
        """Return the places of the last `count` records, shape (count,)."""
        size = self._dtype(fields).itemsize
        return self.at - size * count + size * np.arange(count)

    def gather(self, kind: str, starts: Int, counts: Int, columns: int) -> tuple[Int, Int]:
        """Return blocks of integers as one array, shape (m, columns), and the rows' places (m,)."""
        data, dtype = self.section.data, np.dtype(self.types[kind])
        pieces = [
            np.frombuffer(data, dtype, n * columns, at)
            for at, n in zip(starts.tolist(), counts.tolist(), strict=True)
        ]
        where = ranges(starts, counts, columns * dtype.itemsize)
        return np.concatenate(pieces).astype(np.int64).reshape(-1, columns), where

    def check_end(self) -> None:
        """Raise if the section goes on."""
        if self.section.data[self.at : self.section.end].strip():
            raise self.error("the section must end after the entries it announces, got more")

    def _dtype(self, fields: Fields) -> np.dtype[np.void]:
        return np.dtype([(str(i), self.types[kind], (k,)) for i, (kind, k) in enumerate(fields)])


Stream = TextStream | ByteStream


def _are_integers(values: NDArray[Any]) -> Mask:
    """Return which values are integers that a float64 holds exactly."""
    return (values == np.floor(values)) & (np.abs(values) <= LARGEST_EXACT_INTEGER)


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
