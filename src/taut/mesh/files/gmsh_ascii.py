"""The numbers of a section of an MSH file in text.

`Ascii` here and `Bytes` for binary files give the same numbers for the same mesh, so that a section is understood in one place for
both encodings.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.gmsh_sections import Section
from taut.mesh.files.gmsh_types import Float, Int
from taut.mesh.files.numbers import LARGEST
from taut.mesh.files.text import shown
from taut.mesh.ranges import ranges

_PIECE = 1 << 20  # bytes of text turned into numbers at a time, so that words do not fill the memory

# what a record is made of: so many numbers of a type, "int", "size" or "double"
Fields = tuple[tuple[str, int], ...]


class Ascii:
    """The numbers of a section in text, from byte `start` on; places are words. `at` is the next one."""

    def __init__(self, section: Section, start: int | None = None) -> None:
        self.section, self.start, self.at = section, section.start if start is None else start, 0
        values = self._numbers()
        # checked once, since there may be many small blocks
        self.values: NDArray[Any] = values.astype(np.int64) if _whole(values).all() else values

    def _numbers(self) -> Float:
        found, at, data, end = [np.empty(0)], self.start, self.section.data, self.section.end
        count = 0
        while at < end:
            cut = data.find(b"\n", min(at + _PIECE, end), end)
            upto = end if cut < 0 else cut
            words = data[at:upto].split()
            try:
                found.append(np.fromiter(map(float, words), np.float64, len(words)))
            except ValueError:
                i = next(i for i, word in enumerate(words) if not _reads(word))
                raise self.error(f"{shown(words[i])} is not a number", count + i) from None
            count += len(words)
            at = upto
        return np.concatenate(found)

    def error(self, message: str, at: int | None = None, element: str | None = None) -> MeshError:
        """An error at a word (the next one unless told)."""
        return self.section.error(message, self._byte(self.at if at is None else at), element)

    def _byte(self, word: int) -> int:
        """Where a word begins; the end of the section if there is none."""
        words = re.compile(rb"\S+").finditer(self.section.data, self.start, self.section.end)
        found = next(islice(words, word, None), None)
        return self.section.end if found is None else found.start()

    def one(self, kind: str, what: str) -> int:
        """The next number, whole."""
        if self.at >= len(self.values):
            raise self.error(f"the section ends where {what} should stand")
        value = self.values.item(self.at)
        if isinstance(value, float) and not (value.is_integer() and abs(value) <= LARGEST):
            raise self.error(f"{what} is not a whole number")
        self.at += 1
        return int(value)

    def skip(self, kind: str, count: int, what: str) -> None:
        """Pass over the next numbers."""
        if not 0 <= count <= len(self.values) - self.at:
            raise self.error(f"the section ends within {what}", len(self.values) if count > 0 else None)
        self.at += count

    def take(self, kind: str, count: int, what: str) -> NDArray[Any]:
        """The next numbers, shape (count,)."""
        return self.records(count, ((kind, 1),), what)[0][:, 0]

    def records(self, count: int, fields: Fields, what: str) -> list[NDArray[Any]]:
        """The next `count` records, an array of shape (count, k) for each field."""
        columns = sum(k for _, k in fields)
        left = len(self.values) - self.at
        if count < 0:
            raise self.error(f"{count} is no number of {what}s")
        if count * columns > left:
            self.check_lines(np.array([self.at]), np.array([count]), np.array([columns]), what)
            raise self.error(f"the section ends after {left // columns} of {count} {what}s", len(self.values))
        block = self.values[self.at : self.at + count * columns].reshape(count, columns)
        found: list[NDArray[Any]] = []
        column = 0
        for kind, k in fields:
            part = block[:, column : column + k]
            if kind != "double" and part.dtype != np.int64:
                bad = np.flatnonzero(~_whole(part).all(axis=1))
                if len(bad):
                    self.check_lines(np.array([self.at]), np.array([count]), np.array([columns]), what)
                    i = int(bad[0])
                    raise self.error("a number is not whole", self.at + i * columns + column, f"{what} {i}")
            found.append(part.astype(np.float64 if kind == "double" else np.int64, copy=False))
            column += k
        self.at += count * columns
        return found

    def where(self, count: int, fields: Fields) -> Int:
        """The places of the last `count` records, shape (count,)."""
        columns = sum(k for _, k in fields)
        return self.at - columns * count + columns * np.arange(count)

    def lines(self) -> tuple[Int, Int]:
        """The first word of each line that has some, and how many it has, shape (m,) each."""
        rows = self.section.data[self.start : self.section.end].splitlines()
        counts = np.fromiter(map(len, map(bytes.split, rows)), np.int64, len(rows))
        counts = counts[counts > 0]
        return np.cumsum(counts) - counts, counts

    def gather(self, kind: str, starts: Int, counts: Int, columns: int) -> tuple[Int, Int]:
        """Blocks of whole numbers as one array, shape (m, columns), and the place of each row, shape (m,)."""
        where = ranges(starts, counts, columns)
        rows = self.values[where[:, None] + np.arange(columns)]
        bad = np.flatnonzero(~_whole(rows).all(axis=1))
        if len(bad):
            raise self.error("a number is not whole", int(where[bad[0]]), f"row {bad[0]}")
        return rows.astype(np.int64, copy=False), where

    def check_lines(self, starts: Int, counts: Int, columns: Int, what: str | None = None) -> None:
        """An error for the first row of these blocks that is not a line of its own, though single numbers may share one.

        `what` a row is, by its number; without, it is an element that begins with its tag.
        """
        first, widths = self.lines()
        if not len(first) or (len(columns) and columns.max() == 1):
            return
        fits = np.minimum(counts, (len(self.values) - starts) // columns + 1).clip(0)
        rows = ranges(starts, fits, columns)
        line = np.searchsorted(first, rows, side="right") - 1
        bad = np.flatnonzero((rows < len(self.values)) & ((first[line] != rows) | (widths[line] != np.repeat(columns, fits))))
        if len(bad):
            place, due = int(first[line[bad[0]]]), np.repeat(columns, fits)[bad[0]]
            element = f"element {self.values[place]:.0f}" if what is None else f"{what} {bad[0]}"
            raise self.error(f"it has {widths[line[bad[0]]]} numbers, not {due}", place, element)

    def finish(self) -> None:
        """An error if the section goes on."""
        if self.at < len(self.values):
            raise self.error("the section holds more than it announces")


def _whole(values: Float) -> NDArray[np.bool_]:
    return (values == np.floor(values)) & (np.abs(values) <= LARGEST)


def _reads(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
