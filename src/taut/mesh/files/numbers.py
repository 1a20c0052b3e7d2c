"""Numbers in mesh files: parse words, format text that reads back to the same bits, read bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError

LARGEST_EXACT_INTEGER = 2**53  # every integer up to here is a float64
_WORDS_PER_BATCH = 1 << 16  # parsed together, so that memory stays a small multiple of the text
_MAX_QUOTED = 40  # characters of a bad word that a message repeats
_IS_SPACE = np.isin(np.arange(256), list(b" \t\n\r\v\f"))


class InvalidWord(Exception):
    """A word that is not a number of the required type; caught inside the readers.

    index : the number of the word among those that were parsed
    """

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def quote_word(word: bytes) -> str:
    """Quote a word of a file for a message, shortened to 40 characters.

    >>> quote_word(b"ten")
    "'ten'"
    """
    text = word[: _MAX_QUOTED + 1].decode("utf-8", "backslashreplace")
    if len(text) > _MAX_QUOTED:
        text = text[:_MAX_QUOTED] + "…"
    return repr(text)


def find_word_starts(text: bytes) -> Int:
    """Return the position of the first byte of each word.

    >>> find_word_starts(b" 10 2\\n30").tolist()
    [1, 4, 6]
    """
    space = _IS_SPACE[np.frombuffer(text, np.uint8)]
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    if len(space) and not space[0]:
        return np.concatenate([[0], starts])
    return starts


def parse_words(text: bytes, edges: Int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Parse words as numbers, shape (len(edges) - 1,); raise InvalidWord for the first bad one.

    edges : the first byte of each word, and where the last one ends

    >>> parse_words(b"1 2\\n30", np.array([0, 2, 4, 6]), np.dtype("u1")).tolist()
    [1, 2, 30]
    """
    count = len(edges) - 1
    values = np.empty(count, dtype)
    convert: type[float] | type[int]
    if dtype.kind == "f":
        convert, wide = float, "f8"
    elif dtype == "u8":
        convert, wide = int, "O"  # int64 would overflow
    else:
        convert, wide = int, "i8"
    for start in range(0, count, _WORDS_PER_BATCH):
        end = min(start + _WORDS_PER_BATCH, count)
        batch = text[edges[start] : edges[end]]
        try:
            numbers = np.array(list(map(convert, batch.split())), dtype=wide)
        except (ValueError, OverflowError):
            raise _explain_first_invalid(batch, start, dtype) from None
        # Python accepts 1_000 as a number; files do not.
        if b"_" in batch or not _fit(numbers, dtype).all():
            raise _explain_first_invalid(batch, start, dtype)
        values[start:end] = numbers
    return values


def _fit(numbers: NDArray[Any], dtype: np.dtype[Any]) -> Mask:
    """Return which numbers the type can hold; infinity written as such counts as fitting."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.isfinite(numbers.astype(dtype)) | ~np.isfinite(numbers)
    limits = np.iinfo(dtype)
    return np.asarray((numbers >= limits.min) & (numbers <= limits.max), dtype=bool)


def _explain_first_invalid(batch: bytes, start: int, dtype: np.dtype[Any]) -> InvalidWord:
    """Return the error about the first word of a batch that is not a number of the type."""
    is_float = dtype.kind == "f"
    for i, word in enumerate(batch.split()):
        digits = word.replace(b"_", b"?")
        try:
            value = float(digits) if is_float else int(digits)
        except ValueError:
            noun = "a number" if is_float else "an integer"
            return InvalidWord(start + i, f"must be {noun}, got {quote_word(word)}")
        if not _fit(np.array([value], "f8" if is_float else "O"), dtype)[0]:
            message = f"must be a number of type {dtype.name}, got {quote_word(word)}"
            return InvalidWord(start + i, message)
    raise AssertionError("only called when a word is invalid")


def are_integers(values: NDArray[Any]) -> bool:
    """Whether all values are integers, and small enough to be exact as floats."""
    if values.dtype.kind in "biu":
        return True
    exact = (values == np.round(values)) & (np.abs(values) <= LARGEST_EXACT_INTEGER)
    return bool(exact.all())


def format_rows(array: NDArray[Any], prefix: str = "") -> list[str]:
    """Format an array of shape (m, k) or (m,) as m lines; floats in the shortest exact form.

    prefix : text in front of each line

    >>> format_rows(np.array([[0.1, 2.0]]), "v "), format_rows(np.array([[1, 2], [3, 4]]))
    (['v 0.1 2.0'], ['1 2', '3 4'])
    """
    if not array.size:
        return [prefix] * len(array)
    table = array.reshape(len(array), -1)
    if table.dtype.kind == "f":
        # repr of a longdouble would name its type
        words = map(repr, table.astype(np.float64, copy=False).ravel().tolist())
    elif table.dtype.kind == "b":
        words = map(str, table.astype(np.int64).ravel().tolist())
    else:
        words = map(str, table.ravel().tolist())
    columns = [words] * table.shape[1]  # one iterator k times: zip takes k words for each row
    return [prefix + " ".join(row) for row in zip(*columns, strict=True)]


class ByteReader:
    """Read the bytes of a file in order; a header's counts are checked against what is left.

    position : the next byte
    """

    def __init__(self, path: Path, data: bytes, position: int = 0) -> None:
        self.path, self.data, self.position = path, data, position
        self._last_start = position  # of the entries that were taken last

    @property
    def remaining(self) -> int:
        """Bytes that are left."""
        return len(self.data) - self.position

    def error(self, message: str, element: str | None = None) -> MeshError:
        """Return an error at the next byte."""
        return MeshError(f"{message} (byte {self.position})", path=self.path, element=element)

    def take(self, dtype: DTypeLike, count: int, what: str) -> NDArray[Any]:
        """Return the next `count` entries, shape (count,).

        what : the entries' name in the plural, for messages
        """
        entry = np.dtype(dtype)
        if count < 0:
            raise self.error(f"the number of {what} must not be negative, got {count}")
        if count * entry.itemsize > self.remaining:
            there = self.remaining // entry.itemsize
            raise self.error(f"the file ends after {there} of {count} {what}")
        values = np.frombuffer(self.data, entry, count, self.position)
        self._last_start = self.position
        self.position += count * entry.itemsize
        return values

    def take_int(self, dtype: DTypeLike, what: str) -> int:
        """Return the next entry as an int."""
        return int(self.take(dtype, 1, what)[0])

    def to_finite(self, values: NDArray[Any], what: str) -> Float:
        """Return entries that were just taken as float64; raise if one is not finite."""
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            row = np.unravel_index(bad[0], values.shape)[0]
            raise MeshError(
                f"numbers must be finite, got {values.flat[bad[0]]} "
                f"(in the data from byte {self._last_start})",
                path=self.path,
                element=f"{what} {row}",
            )
        return values.astype(np.float64)
