"""Reading text files of numbers, with the line at hand when something is wrong.

Counts in headers are never trusted with memory: what is kept is bounded by what the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError

Float = NDArray[np.float64]
Int = NDArray[np.int64]
SHOWN = 40  # characters of a bad token that an error repeats
BOM = b"\xef\xbb\xbf"  # with which some programs begin a text file
BREAK = re.compile(rb"\r\n|\r|\n")


class Rows:
    """A file read line by line: those that say something, without comments. `at` is the next one."""

    def __init__(self, path: Path, data: bytes, comment: bytes = b"#") -> None:
        self.path = path
        self.underscores = b"_" in data
        lines = data.removeprefix(BOM).splitlines()
        if comment and comment in data:
            lines = [line.partition(comment)[0] for line in lines]
        self.lines = lines
        self.told = [i for i, line in enumerate(lines) if line and not line.isspace()]
        self.at = 0

    def error(self, message: str, row: int | None = None, element: str | None = None) -> MeshError:
        """An error on a row: the number of one of `lines`."""
        return MeshError(message, path=self.path, line=None if row is None else row + 1, element=element)

    def take(self, count: int, what: str) -> list[int]:
        """The next `count` rows that say something."""
        rows = self.told[self.at : self.at + count]
        if len(rows) < count:
            raise self.error(f"the file ends after {len(rows)} of {count} {what}", len(self.lines) - 1)
        self.at += count
        return rows

    def words(self, what: str) -> tuple[int, list[bytes]]:
        """The next row and its words."""
        if self.at == len(self.told):
            raise self.error(f"the file ends where {what} should stand", len(self.lines) - 1)
        row = self.told[self.at]
        self.at += 1
        return row, self.lines[row].split()

    def ragged(self, rows: Sequence[int], what: str, kind: type[float] | type[int]) -> tuple[NDArray[Any], Int]:
        """All numbers on these rows, flat, and how many each row has."""
        parts = [self.lines[row].split() for row in rows]
        counts = np.fromiter(map(len, parts), np.int64, len(parts))
        values = self.values(rows, parts, what, kind)
        if kind is float and not np.isfinite(values).all():
            i = int(np.searchsorted(np.cumsum(counts), np.flatnonzero(~np.isfinite(values))[0], side="right"))
            raise self.error("a number is not finite", rows[i], f"{what} {i}")
        return values, counts

    def table(
        self, rows: Sequence[int], columns: int, what: str, kind: type[float] | type[int], *, more: bool = False
    ) -> NDArray[Any]:
        """Numbers with the same count on each row, shape (len(rows), columns); with `more`, further ones are ignored."""
        values, counts = self.ragged(rows, what, kind)
        wrong = np.flatnonzero(counts < columns if more else counts != columns)
        if len(wrong):
            i = int(wrong[0])
            raise self.error(f"it has {counts[i]} numbers, not {columns}", rows[i], f"{what} {i}")
        if not more:
            return values.reshape(len(rows), columns)
        return values[(np.cumsum(counts) - counts)[:, None] + np.arange(columns)]

    def in_range(
        self, cells: Int, rows: Sequence[int], n: int, what: str, base: int = 0, numbers: Sequence[int] | Int | None = None
    ) -> Int:
        """The cells, counted from `base` in the file, as indices from 0; one that names no point is an error on its row.

        numbers : the number of each cell in the file, if they are not all the cells there
        """
        wrong = misnamed(cells, n, base)
        if wrong is not None:
            i, message = wrong
            raise self.error(message, rows[i], f"{what} {i if numbers is None else numbers[i]}")
        return cells - base

    def values(self, rows: Sequence[int], parts: list[list[bytes]], what: str, kind: type[float] | type[int]) -> NDArray[Any]:
        """The words of each row as numbers, flat."""
        try:
            return _array(list(chain.from_iterable(parts)), kind, self.underscores)
        except (ValueError, OverflowError):
            i, word = next((i, word) for i, part in enumerate(parts) for word in part if not reads(word, kind))
            raise self.error(f"{shown(word)} is not {_noun(kind)}", rows[i], f"{what} {i}") from None


class Tokens:
    """A file read word by word, whatever its lines. `at` is the next word."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.underscores = b"_" in data
        self.data = re.sub(rb"#[^\r\n]*", b"", data.removeprefix(BOM))  # without comments
        self.words = self.data.split()
        self.at = 0

    @property
    def left(self) -> int:
        """How many words are left."""
        return len(self.words) - self.at

    def line(self, word: int) -> int:
        """The line on which a word stands."""
        end = len(self.data)
        for i, found in enumerate(re.finditer(rb"\S+", self.data)):
            if i == word:
                end = found.start()
                break
        return line_of(self.data, end)

    def error(self, message: str, word: int | None = None, element: str | None = None) -> MeshError:
        """An error at a word (the next one unless told)."""
        return MeshError(message, path=self.path, line=self.line(self.at if word is None else word), element=element)

    def next(self, what: str) -> bytes:
        """The next word."""
        if not self.left:
            raise self.error(f"the file ends where {what} should stand")
        self.at += 1
        return self.words[self.at - 1]

    def count(self, what: str) -> int:
        """The next word as a number of things; never negative."""
        word = self.next(f"the number of {what}")
        if not reads(word, int) or int(word) < 0:
            raise self.error(f"{shown(word)} is no number of {what}", self.at - 1)
        return int(word)

    def numbers(self, count: int, columns: int, what: str, kind: type[float] | type[int]) -> NDArray[Any]:
        """The next count·columns words as numbers, shape (count, columns)."""
        if count * columns > self.left:
            got = self.left // columns if columns else 0
            raise self.error(f"the file ends within {what} {got} of {count}", len(self.words))
        words = self.words[self.at : self.at + count * columns]
        try:
            values = _array(words, kind, self.underscores)
        except (ValueError, OverflowError):
            i = next(i for i, word in enumerate(words) if not reads(word, kind))
            raise self.error(f"{shown(words[i])} is not {_noun(kind)}", self.at + i, f"{what} {i // columns}") from None
        if kind is float and not np.isfinite(values).all():
            i = int(np.flatnonzero(~np.isfinite(values))[0])
            raise self.error("a number is not finite", self.at + i, f"{what} {i // columns}")
        self.at += count * columns
        return values.reshape(count, columns)

    def in_range(self, cells: Int, word: int, columns: int, n: int, what: str, base: int) -> Int:
        """The cells, counted from `base`, as indices from 0; cell i stands at word + i·columns of the file."""
        wrong = misnamed(cells, n, base)
        if wrong is not None:
            i, message = wrong
            raise self.error(message, word + i * columns, f"{what} {i}")
        return cells - base


def line_of(data: bytes, at: int) -> int:
    """The number of the line, from 1, on which a byte stands; a line ends as on Unix, Windows or an old Mac.

    >>> line_of(b"a\\r\\nb\\rc", 5)
    3
    """
    return 1 + len(BREAK.findall(data, 0, at))


def shown(word: bytes) -> str:
    """A word of a file as an error repeats it."""
    text = word[: SHOWN + 1].decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")


def _noun(kind: type) -> str:
    return "a number" if kind is float else "a whole number"


def outside(cells: Int, n: int, base: int) -> Int:
    """The numbers of the cells, counted from `base`, that name a point beyond the n there are."""
    return np.flatnonzero(((cells < base) | (cells >= n + base)).any(axis=tuple(range(1, cells.ndim))))


def misnamed(cells: Int, n: int, base: int) -> tuple[int, str] | None:
    """The first of the cells, counted from `base`, that names a point beyond the n there are, and what an error says of it."""
    wrong = outside(cells, n, base)
    if not len(wrong):
        return None
    i = int(wrong[0])
    point = next(v for v in cells[i].ravel().tolist() if not base <= v < n + base)
    return i, f"it names point {point}; there are {n} ({base} to {n - 1 + base})"


def _array(words: list[bytes], kind: type[float] | type[int], underscores: bool) -> NDArray[Any]:
    """The words as numbers; a ValueError if one is none. Python takes 1_0 for a number, files do not."""
    if underscores and b"_" in b"".join(words):
        raise ValueError
    return np.array(list(map(kind, words)), dtype=np.float64 if kind is float else np.int64)


def reads(word: bytes, kind: type[float] | type[int]) -> bool:
    """Whether the word is a number that an array holds."""
    if b"_" in word:
        return False
    try:
        value = kind(word)
    except ValueError:
        return False
    return kind is float or -(2**63) <= value < 2**63
