"""The rows of the elements of a PLY file as columns, from text or from bytes."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError
from taut.mesh.files.numbers import ByteReader, InvalidWord, find_word_starts, parse_words
from taut.mesh.files.ply._header import Columns, Element, Property, Table
from taut.mesh.files.text_reader import line_number
from taut.mesh.topology import ranges

_MAX_ROW_BYTES = 2**31 - 1  # limit of a numpy structured type


def read_binary_rows(binary: ByteReader, element: Element) -> Table:
    """Read the rows of an element from a binary file."""
    if not element.properties or not element.count:
        return Table.empty(element, binary.path)
    if all(p.length_dtype is None for p in element.properties):
        row_type = np.dtype([(f"p{i}", p.dtype) for i, p in enumerate(element.properties)])
        begin = binary.position
        rows = binary.take(row_type, element.count, f"{element.name} rows")
        columns: Columns = {p.name: rows[f"p{i}"] for i, p in enumerate(element.properties)}
        return Table(
            columns, _make_error(binary, element, lambda row: begin + row * row_type.itemsize)
        )
    return _read_equal_rows(binary, element) or _read_ragged_rows(binary, element)


def _make_error(
    binary: ByteReader, element: Element, find_byte: Callable[[int], int]
) -> Callable[[str, int], MeshError]:
    """Return a function that makes the error about a row, given the row's first byte."""

    def error(message: str, row: int) -> MeshError:
        reader = ByteReader(binary.path, binary.data, find_byte(row))
        return reader.error(message, f"{element.name} {row}")

    return error


def _read_equal_rows(binary: ByteReader, element: Element) -> Table | None:
    """Read all rows at once if their lists are as long as those of the first row, else None."""
    first_lengths = iter(_find_lengths(binary, element, 1)[0].tolist())
    begin, width = binary.position, 0
    fields: list[tuple[Any, ...]] = []
    lengths: dict[str, int] = {}
    for i, p in enumerate(element.properties):
        if p.length_dtype is None:
            fields.append((f"p{i}", p.dtype))
            width += p.dtype.itemsize
        else:
            length = lengths[p.name] = next(first_lengths)
            fields += [(f"n{i}", p.length_dtype), (f"p{i}", p.dtype, (length,))]
            width += p.length_dtype.itemsize + length * p.dtype.itemsize
    if width * element.count > binary.remaining or width > _MAX_ROW_BYTES:
        return None
    rows = np.frombuffer(binary.data, np.dtype(fields), element.count, begin)
    columns: Columns = {}
    for i, p in enumerate(element.properties):
        columns[p.name] = rows[f"p{i}"]
        if p.length_dtype is not None:
            if (rows[f"n{i}"] != lengths[p.name]).any():
                return None
            counts = np.full(element.count, lengths[p.name], np.int64)
            columns[p.name] = (rows[f"p{i}"].ravel(), counts)
    binary.position += width * element.count
    return Table(columns, _make_error(binary, element, lambda row: begin + row * width))


def _read_ragged_rows(binary: ByteReader, element: Element) -> Table:
    """Read rows with lists of different lengths: find the lengths, then gather each column."""
    lengths = _find_lengths(binary, element, element.count)
    width = np.zeros(element.count, np.int64)  # of the row so far
    offsets: list[Int] = []  # of a property's first number in its row
    lengths_by_property: list[Int | None] = []
    list_lengths = iter(lengths.T)
    for p in element.properties:
        if p.length_dtype is None:
            offsets.append(width)
            lengths_by_property.append(None)
            width = width + p.dtype.itemsize
        else:
            length = next(list_lengths)
            offsets.append(width + p.length_dtype.itemsize)
            lengths_by_property.append(length)
            width = offsets[-1] + p.dtype.itemsize * length
    starts = binary.position + np.cumsum(width) - width
    columns: Columns = {}
    for p, offset, lengths_of_p in zip(
        element.properties, offsets, lengths_by_property, strict=True
    ):
        # A number may begin at any byte: a view with a stride of one byte reads it without a copy.
        count = max(len(binary.data) - p.dtype.itemsize + 1, 0)
        view: NDArray[Any] = np.ndarray(count, p.dtype, binary.data, strides=(1,))
        if lengths_of_p is None:
            columns[p.name] = view[starts + offset]
        else:
            places = ranges(starts + offset, lengths_of_p, p.dtype.itemsize)
            columns[p.name] = (view[places], lengths_of_p)
    binary.position = int(starts[-1] + width[-1])
    return Table(columns, _make_error(binary, element, lambda row: int(starts[row])))


def _find_lengths(binary: ByteReader, element: Element, rows: int) -> Int:
    """Return the length of each list in each of the first rows, shape (rows, lists)."""
    # For each list: bytes before it, how to read its length, bytes of the length and of an entry.
    lists: list[tuple[int, Callable[..., tuple[int]], int, int, str]] = []
    skip = 0
    for p in element.properties:
        if p.length_dtype is None:
            skip += p.dtype.itemsize
            continue
        code = p.length_dtype.str[0].replace("|", "<") + p.length_dtype.char
        unpack = struct.Struct(code).unpack_from
        lists.append((skip, unpack, p.length_dtype.itemsize, p.dtype.itemsize, p.name))
        skip = 0
    data, at, end = binary.data, binary.position, len(binary.data)
    lengths = array("q")
    for row in range(rows):
        for before, unpack, head, entry, name in lists:
            at += before + head
            if at > end:
                raise _make_end_error(binary, element, row)
            (length,) = unpack(data, at - head)
            if length < 0 or at + length * entry > end:
                what = f"entries of {name} in {element.name} {row}"
                ByteReader(binary.path, data, at).take(f"V{entry}", length, what)  # raises
            at += length * entry
            lengths.append(length)
        at += skip
        if at > end:
            raise _make_end_error(binary, element, row)
    return np.frombuffer(lengths, np.int64).reshape(rows, len(lists))


def _make_end_error(binary: ByteReader, element: Element, row: int) -> MeshError:
    message = f"the file ends after {row} of {element.count} {element.name} rows"
    reader = ByteReader(binary.path, binary.data, len(binary.data))
    return reader.error(message, f"{element.name} {row}")


class TextBody:
    """The body of a text file: where words and rows begin. A row is a line that has words.

    start : the first byte of the body
    """

    def __init__(self, path: Path, data: bytes, start: int) -> None:
        self.path, self.data, self.start = path, data, start
        self.body = data[start:]
        words = find_word_starts(self.body)
        self.edges = np.append(words, len(self.body))
        codes = np.frombuffer(self.body, np.uint8)
        breaks = np.flatnonzero((codes == 10) | (codes == 13))
        # Row i has the words rows[i] … rows[i + 1] - 1.
        first = np.searchsorted(words, np.concatenate([[0], breaks + 1, [len(self.body)]]))
        self.rows: Int = first[np.diff(first, prepend=-1) > 0]
        self.position = 0  # the next row

    @property
    def remaining(self) -> int:
        """Rows that are left."""
        return len(self.rows) - 1 - self.position

    def error(self, message: str, row: int, element: str | None = None) -> MeshError:
        """Return an error on a row; the row after the last one is the end of the file."""
        if row == len(self.rows) - 1:
            place = len(self.data.rstrip())
        else:
            place = self.start + int(self.edges[self.rows[row]])
        return MeshError(
            message, path=self.path, line=line_number(self.data, place), element=element
        )

    def check_end(self) -> None:
        """Raise if rows are left."""
        if self.remaining:
            message = f"the file must end after its last element, got {self.remaining} more rows"
            raise self.error(message, self.position)

    def read_rows(self, element: Element) -> Table:
        """Read the rows of an element."""
        if not element.properties or not element.count:
            return Table.empty(element, self.path)
        if element.count > self.remaining:
            raise self.error(
                f"the file ends after {self.remaining} of {element.count} {element.name} rows",
                len(self.rows) - 1,
            )
        rows = _TextRows(self, element)
        self.position += element.count
        return Table(rows.read_columns(), rows.error)


class _TextRows:
    """The rows of one element in text; each number is checked against its declared type."""

    def __init__(self, text: TextBody, element: Element) -> None:
        self.text, self.element, self.first = text, element, text.position
        bounds = text.rows[text.position : text.position + element.count + 1]
        self.start, self.end = bounds[:-1] - bounds[0], bounds[1:] - bounds[0]
        edges = text.edges[bounds[0] : bounds[-1] + 1]
        try:
            self.flat: Float = parse_words(text.body, edges, np.dtype("f8"))
        except InvalidWord as invalid:
            row = int(np.searchsorted(self.end, invalid.index, side="right"))
            raise self.error(str(invalid), row) from None

    def error(self, message: str, row: int) -> MeshError:
        return self.text.error(message, self.first + row, f"{self.element.name} {row}")

    def read_columns(self) -> Columns:
        """Return the numbers by property."""
        properties = self.element.properties
        if all(p.length_dtype is None for p in properties):
            self._reject(self.end - self.start != len(properties))
            table = self.flat.reshape(-1, len(properties))
            return {p.name: self._cast(p, p.dtype, table[:, i]) for i, p in enumerate(properties)}
        at = self.start  # the next word of each row
        columns: Columns = {}
        for p in properties:
            self._reject(at + 1 > self.end)
            number = self.flat[at]
            if p.length_dtype is None:
                columns[p.name] = self._cast(p, p.dtype, number)
                at = at + 1
                continue
            self._reject((number < 0) | (number != np.round(number)) | (at + 1 + number > self.end))
            length = self._cast(p, p.length_dtype, number).astype(np.int64)
            values = self.flat[ranges(at + 1, length)]
            columns[p.name] = (self._cast(p, p.dtype, values, length), length)
            at = at + 1 + length
        self._reject(at != self.end)
        return columns

    def _reject(self, wrong: Mask) -> None:
        """Raise for the first row that has not the numbers of its properties."""
        if wrong.any():
            row = int(np.argmax(wrong))
            got = int(self.end[row] - self.start[row])
            raise self.error(f"must have the numbers of its properties, got {got} numbers", row)

    def _cast(
        self, p: Property, dtype: np.dtype[Any], values: Float, length: Int | None = None
    ) -> NDArray[Any]:
        """Return numbers in their type; floats stay doubles, since text may have more digits."""
        if dtype.kind == "f":
            return values
        with np.errstate(invalid="ignore"):  # a number that overflows is found below
            cast = values.astype(dtype)
        if not np.array_equal(cast, values):
            i = int(np.argmax(cast != values))
            row = i
            if length is not None:
                row = int(np.searchsorted(np.cumsum(length), i, side="right"))
            raise self.error(f"{p.name} must be of type {dtype.name}, got {values[i]:.17g}", row)
        return cast
