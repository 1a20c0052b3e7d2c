"""The rows of the elements of a text PLY file, as columns (see `ply_body`), each number checked against its declared type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.ply_body import Columns, Int, Table
from taut.mesh.files.ply_header import Element, Property
from taut.mesh.files.text import line_of
from taut.mesh.files.words import BadWord, parse, word_starts
from taut.mesh.ranges import ranges

Float = NDArray[np.float64]


class Text:
    """The body of a text file, from byte `start` on: where its words and its rows begin. `at` is the next row."""

    def __init__(self, path: Path, data: bytes, start: int) -> None:
        self.path, self.data, self.start = path, data, start
        self.body = data[start:]
        words = word_starts(self.body)
        self.edges = np.append(words, len(self.body))
        codes = np.frombuffer(self.body, np.uint8)
        breaks = np.flatnonzero((codes == 10) | (codes == 13))
        # a row is a line with words on it: the words rows[i] … rows[i + 1] - 1
        first = np.searchsorted(words, np.concatenate([[0], breaks + 1, [len(self.body)]]))
        self.rows: Int = first[np.diff(first, prepend=-1) > 0]
        self.at = 0

    @property
    def left(self) -> int:
        """How many rows are left."""
        return len(self.rows) - 1 - self.at

    def error(self, message: str, row: int, element: str | None = None) -> MeshError:
        """An error on a row, or at the end for the row behind the last."""
        place = len(self.data.rstrip()) if row == len(self.rows) - 1 else self.start + int(self.edges[self.rows[row]])
        return MeshError(message, path=self.path, line=line_of(self.data, place), element=element)

    def end(self) -> None:
        """Refuse rows that the header does not tell of."""
        if self.left:
            raise self.error(f"the file goes on after its last element; {self.left} rows are too many", self.at)

    def take(self, element: Element) -> Table:
        """The next rows."""
        if not element.properties or not element.count:
            return Table.empty(element, self.path)
        if element.count > self.left:
            raise self.error(f"the file ends after {self.left} of {element.count} {element.name} rows", len(self.rows) - 1)
        rows = _TextRows(self, element)
        self.at += element.count
        return Table(rows.columns(), rows.error)


class _TextRows:
    """The rows of one element."""

    def __init__(self, text: Text, element: Element) -> None:
        self.text, self.element, self.first = text, element, text.at
        bounds = text.rows[text.at : text.at + element.count + 1]
        self.start, self.end = bounds[:-1] - bounds[0], bounds[1:] - bounds[0]
        try:
            self.flat: Float = parse(text.body, text.edges[bounds[0] : bounds[-1] + 1], np.dtype("f8"))
        except BadWord as bad:
            raise self.error(str(bad), int(np.searchsorted(self.end, bad.index, side="right"))) from None

    def error(self, message: str, row: int) -> MeshError:
        return self.text.error(message, self.first + row, f"{self.element.name} {row}")

    def columns(self) -> Columns:
        """The numbers by property."""
        properties = self.element.properties
        if all(p.count is None for p in properties):
            self._room(self.end - self.start != len(properties))
            table = self.flat.reshape(-1, len(properties))
            return {p.name: self._cast(p, p.dtype, table[:, i], None) for i, p in enumerate(properties)}
        at = self.start
        columns: Columns = {}
        for p in properties:
            self._room(at + 1 > self.end)
            one = self.flat[at]
            if p.count is None:
                columns[p.name] = self._cast(p, p.dtype, one, None)
                at = at + 1
                continue
            self._room((one < 0) | (one != np.round(one)) | (at + 1 + one > self.end))
            length = self._cast(p, p.count, one, None).astype(np.int64)
            columns[p.name] = (self._cast(p, p.dtype, self.flat[ranges(at + 1, length)], length), length)
            at = at + 1 + length
        self._room(at != self.end)
        return columns

    def _room(self, wrong: NDArray[np.bool_]) -> None:
        if wrong.any():
            raise self.error("it has too few or too many numbers", int(np.argmax(wrong)))

    def _cast(self, p: Property, dtype: np.dtype[Any], values: Float, length: Int | None) -> NDArray[Any]:
        """Numbers of a property in their type; floats stay doubles, since a text may say more than a float holds."""
        if dtype.kind == "f":
            return values
        with np.errstate(invalid="ignore"):  # a number too large for the type becomes another one
            cast = values.astype(dtype)
        if not np.array_equal(cast, values):
            i = int(np.argmax(cast != values))
            row = i if length is None else int(np.searchsorted(np.cumsum(length), i, side="right"))
            raise self.error(f"{values[i]:.17g} in {p.name} is no whole number of the type {dtype.name}", row)
        return cast
