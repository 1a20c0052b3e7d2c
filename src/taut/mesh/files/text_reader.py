"""Read text files of numbers line by line or word by word; errors name the line.

A count in a header never allocates memory: it is checked against what the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Int
from taut.errors import MeshError
from taut.mesh.files.numbers import quote_word

BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some programs write it at the start of a text file
LINE_BREAK = re.compile(rb"\r\n|\r|\n")


class LineReader:
    """The lines of a file without comments; blank lines are skipped.

    lines : all lines, so that the index of a line gives its number
    nonblank : the indices of the lines that are not blank
    position : the next entry of `nonblank`
    """

    def __init__(self, path: Path, data: bytes, comment: bytes = b"#") -> None:
        self.path = path
        self.has_underscores = b"_" in data
        lines = data.removeprefix(BYTE_ORDER_MARK).splitlines()
        if comment and comment in data:
            lines = [line.partition(comment)[0] for line in lines]
        self.lines = lines
        self.nonblank = [i for i, line in enumerate(lines) if line and not line.isspace()]
        self.position = 0

    def error(self, message: str, row: int | None = None, element: str | None = None) -> MeshError:
        """Return an error on a row, which is an index into `lines`."""
        line = None if row is None else row + 1
        return MeshError(message, path=self.path, line=line, element=element)

    def take(self, count: int, what: str) -> list[int]:
        """Return the next `count` rows.

        what : the rows' name in the plural, for messages
        """
        rows = self.nonblank[self.position : self.position + count]
        if len(rows) < count:
            raise self.error(
                f"the file ends after {len(rows)} of {count} {what}", len(self.lines) - 1
            )
        self.position += count
        return rows

    def take_words(self, what: str) -> tuple[int, list[bytes]]:
        """Return the next row and its words."""
        if self.position == len(self.nonblank):
            raise self.error(f"the file ends before {what}", len(self.lines) - 1)
        row = self.nonblank[self.position]
        self.position += 1
        return row, self.lines[row].split()

    def parse_ragged(
        self, rows: Sequence[int], what: str, kind: type[float] | type[int]
    ) -> tuple[NDArray[Any], Int]:
        """Return all numbers on these rows, flat, and how many each row has."""
        words = [self.lines[row].split() for row in rows]
        counts = np.fromiter(map(len, words), np.int64, len(words))
        values = self.parse(rows, words, what, kind)
        if kind is float and not np.isfinite(values).all():
            bad = np.flatnonzero(~np.isfinite(values))[0]
            i = int(np.searchsorted(np.cumsum(counts), bad, side="right"))
            raise self.error(f"numbers must be finite, got {values[bad]}", rows[i], f"{what} {i}")
        return values, counts

    def parse_table(
        self,
        rows: Sequence[int],
        columns: int,
        what: str,
        kind: type[float] | type[int],
        *,
        allow_more: bool = False,
    ) -> NDArray[Any]:
        """Return the numbers on these rows, shape (len(rows), columns).

        allow_more : ignore further numbers on a row
        """
        values, counts = self.parse_ragged(rows, what, kind)
        wrong = np.flatnonzero(counts < columns if allow_more else counts != columns)
        if len(wrong):
            i = int(wrong[0])
            raise self.error(
                f"must have {columns} numbers, got {counts[i]}", rows[i], f"{what} {i}"
            )
        if not allow_more:
            return values.reshape(len(rows), columns)
        return values[(np.cumsum(counts) - counts)[:, None] + np.arange(columns)]

    def to_indices(
        self,
        cells: Int,
        rows: Sequence[int],
        n: int,
        what: str,
        base: int = 0,
        numbers: Sequence[int] | Int | None = None,
    ) -> Int:
        """Return cells that count points from `base` as indices from 0; raise for unknown points.

        rows : the row of each cell
        n : number of points
        numbers : the number of each cell in the file, if these are only some of its cells
        """
        unknown = find_unknown_point(cells, n, base)
        if unknown is not None:
            i, message = unknown
            number = i if numbers is None else numbers[i]
            raise self.error(message, rows[i], f"{what} {number}")
        return cells - base

    def parse(
        self,
        rows: Sequence[int],
        words: list[list[bytes]],
        what: str,
        kind: type[float] | type[int],
    ) -> NDArray[Any]:
        """Return the words of each row as numbers, flat."""
        try:
            return _to_array(list(chain.from_iterable(words)), kind, self.has_underscores)
        except (ValueError, OverflowError):
            for i, row_words in enumerate(words):
                for word in row_words:
                    if not is_number(word, kind):
                        message = _explain_invalid(word, kind)
                        raise self.error(message, rows[i], f"{what} {i}") from None
            raise


class TokenReader:
    """The words of a file without comments; line breaks have no meaning.

    position : the next word
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.has_underscores = b"_" in data
        self.data = re.sub(rb"#[^\r\n]*", b"", data.removeprefix(BYTE_ORDER_MARK))
        self.words = self.data.split()
        self.position = 0

    @property
    def remaining(self) -> int:
        """Words that are left."""
        return len(self.words) - self.position

    def error(self, message: str, word: int | None = None, element: str | None = None) -> MeshError:
        """Return an error on the line of a word, by default the next one."""
        line = self._find_line(self.position if word is None else word)
        return MeshError(message, path=self.path, line=line, element=element)

    def _find_line(self, word: int) -> int:
        """Return the line of a word; only errors need it, so lines are not recorded."""
        end = len(self.data)
        for i, match in enumerate(re.finditer(rb"\S+", self.data)):
            if i == word:
                end = match.start()
                break
        return line_number(self.data, end)

    def take(self, what: str) -> bytes:
        """Return the next word."""
        if not self.remaining:
            raise self.error(f"the file ends before {what}")
        self.position += 1
        return self.words[self.position - 1]

    def take_count(self, what: str) -> int:
        """Return the next word as an integer from 0 on."""
        word = self.take(what)
        if not is_number(word, int) or int(word) < 0:
            message = f"{what} must be a non-negative integer, got {quote_word(word)}"
            raise self.error(message, self.position - 1)
        return int(word)

    def take_table(
        self, count: int, columns: int, what: str, kind: type[float] | type[int]
    ) -> NDArray[Any]:
        """Return the next count·columns words as numbers, shape (count, columns)."""
        if count * columns > self.remaining:
            there = self.remaining // columns if columns else 0
            raise self.error(f"the file ends in {what} {there} of {count}", len(self.words))
        words = self.words[self.position : self.position + count * columns]
        try:
            values = _to_array(words, kind, self.has_underscores)
        except (ValueError, OverflowError):
            i = next(i for i, word in enumerate(words) if not is_number(word, kind))
            message = _explain_invalid(words[i], kind)
            raise self.error(message, self.position + i, f"{what} {i // columns}") from None
        if kind is float and not np.isfinite(values).all():
            i = int(np.flatnonzero(~np.isfinite(values))[0])
            message = f"numbers must be finite, got {values[i]}"
            raise self.error(message, self.position + i, f"{what} {i // columns}")
        self.position += count * columns
        return values.reshape(count, columns)

    def to_indices(self, cells: Int, start: int, columns: int, n: int, what: str, base: int) -> Int:
        """Return cells that count points from `base` as indices from 0; raise for unknown points.

        start, columns : cell i begins at the word start + i·columns
        n : number of points
        """
        unknown = find_unknown_point(cells, n, base)
        if unknown is not None:
            i, message = unknown
            raise self.error(message, start + i * columns, f"{what} {i}")
        return cells - base


def line_number(data: bytes, position: int) -> int:
    """Return the number of the line, from 1, of a byte; lines end as on Unix, Windows or old Macs.

    >>> line_number(b"a\\r\\nb\\rc", 5)
    3
    """
    return 1 + len(LINE_BREAK.findall(data, 0, position))


def find_cells_outside(cells: Int, n: int, base: int = 0) -> Int:
    """Return which cells name a point that is not one of `base` … `base` + n - 1."""
    outside = (cells < base) | (cells >= n + base)
    return np.flatnonzero(outside.any(axis=tuple(range(1, cells.ndim))))


def find_unknown_point(cells: Int, n: int, base: int) -> tuple[int, str] | None:
    """Return the first cell that names a point which does not exist, and the message about it."""
    wrong = find_cells_outside(cells, n, base)
    if not len(wrong):
        return None
    i = int(wrong[0])
    point = next(v for v in cells[i].ravel().tolist() if not base <= v < n + base)
    return i, explain_unknown_point(point, n, base)


def explain_unknown_point(point: int, n: int, base: int = 0) -> str:
    """Return the message about a point index that is not one of `base` … `base` + n - 1."""
    if not n:
        return f"names point {point}, but the file has no points"
    return f"point indices must be {base} to {n - 1 + base}, got {point}"


def is_number(word: bytes, kind: type[float] | type[int]) -> bool:
    """Whether a word is a number that a float64 or int64 array can hold."""
    if b"_" in word:
        return False
    try:
        value = kind(word)
    except ValueError:
        return False
    return kind is float or -(2**63) <= value < 2**63


def _explain_invalid(word: bytes, kind: type[float] | type[int]) -> str:
    noun = "a number" if kind is float else "an integer"
    return f"must be {noun}, got {quote_word(word)}"


def _to_array(
    words: list[bytes], kind: type[float] | type[int], has_underscores: bool
) -> NDArray[Any]:
    """Return words as numbers, or raise ValueError. Python accepts 1_0; files do not."""
    if has_underscores and b"_" in b"".join(words):
        raise ValueError
    return np.array(list(map(kind, words)), dtype=np.float64 if kind is float else np.int64)
