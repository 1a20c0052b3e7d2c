"""The rows of one element of a PLY file, as columns: a number per row, or a list per row as (flat values, counts)."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.binary import Binary
from taut.mesh.files.ply_header import Element
from taut.mesh.ranges import ranges

Int = NDArray[np.int64]
Columns = dict[str, Any]
LARGEST_ROW = 2**31 - 1  # bytes in a row of a numpy table


@dataclass(frozen=True)
class Table:
    """The columns of an element, and the error about one of its rows."""

    columns: Columns
    error: Callable[[str, int], MeshError]

    @classmethod
    def empty(cls, element: Element, path: Path) -> Table:
        """Without rows."""
        columns = {
            p.name: np.empty(0, p.dtype) if p.count is None else (np.empty(0, p.dtype), np.empty(0, np.int64))
            for p in element.properties
        }
        return cls(columns, lambda message, row: MeshError(message, path=path, element=f"{element.name} {row}"))


def from_binary(binary: Binary, element: Element) -> Table:
    """The next rows of a binary file."""
    if not element.properties or not element.count:
        return Table.empty(element, binary.path)
    if all(p.count is None for p in element.properties):
        kind = np.dtype([(f"p{i}", p.dtype) for i, p in enumerate(element.properties)])
        begin = binary.at
        table = binary.take(kind, element.count, f"{element.name} rows")
        columns: Columns = {p.name: table[f"p{i}"] for i, p in enumerate(element.properties)}
        return Table(columns, _placed(binary, element, lambda row: begin + row * kind.itemsize))
    return _uniform(binary, element) or _walked(binary, element)


def _placed(binary: Binary, element: Element, byte: Callable[[int], int]) -> Callable[[str, int], MeshError]:
    """The error about a row that begins at a byte."""
    return lambda message, row: Binary(binary.path, binary.data, byte(row)).error(message, f"{element.name} {row}")


def _uniform(binary: Binary, element: Element) -> Table | None:
    """All rows at once, if their lists have the lengths of those in the first row."""
    sizes = iter(_lengths(binary, element, 1)[0].tolist())
    begin, width = binary.at, 0
    fields: list[tuple[Any, ...]] = []
    lengths: dict[str, int] = {}
    for i, p in enumerate(element.properties):
        if p.count is None:
            fields.append((f"p{i}", p.dtype))
            width += p.dtype.itemsize
        else:
            size = lengths[p.name] = next(sizes)
            fields += [(f"n{i}", p.count), (f"p{i}", p.dtype, (size,))]
            width += p.count.itemsize + size * p.dtype.itemsize
    if width * element.count > binary.left or width > LARGEST_ROW:
        return None
    table = np.frombuffer(binary.data, np.dtype(fields), element.count, begin)
    for i, p in enumerate(element.properties):
        if p.count is not None and (table[f"n{i}"] != lengths[p.name]).any():
            return None
    binary.at += width * element.count
    columns: Columns = {
        p.name: table[f"p{i}"] if p.count is None else (table[f"p{i}"].ravel(), np.full(element.count, lengths[p.name], np.int64))
        for i, p in enumerate(element.properties)
    }
    return Table(columns, _placed(binary, element, lambda row: begin + row * width))


def _walked(binary: Binary, element: Element) -> Table:
    """Rows whose lists have different lengths: a walk from list to list finds these, then each column is gathered at once."""
    lengths = _lengths(binary, element, element.count)
    width = np.zeros(element.count, np.int64)
    offsets: list[Int] = []  # of each property's first number within the row
    sizes = iter(lengths.T)
    counted: list[Int | None] = []
    for p in element.properties:
        size = None if p.count is None else next(sizes)
        offsets.append(width + (0 if p.count is None else p.count.itemsize))
        width = offsets[-1] + p.dtype.itemsize * (1 if size is None else size)
        counted.append(size)
    starts = binary.at + np.cumsum(width) - width
    columns: Columns = {}
    for p, offset, size in zip(element.properties, offsets, counted, strict=True):
        # every byte may begin a number: a view with a stride of one byte reads them where they are
        count = len(binary.data) - p.dtype.itemsize + 1
        anywhere: NDArray[Any] = np.ndarray(max(count, 0), p.dtype, binary.data, strides=(1,))
        if size is None:
            columns[p.name] = anywhere[starts + offset]
        else:
            columns[p.name] = (anywhere[ranges(starts + offset, size, p.dtype.itemsize)], size)
    binary.at = int(starts[-1] + width[-1])
    return Table(columns, _placed(binary, element, lambda row: int(starts[row])))


def _lengths(binary: Binary, element: Element, rows: int) -> Int:
    """The length of each list in each of the first rows, shape (rows, lists)."""
    lists: list[tuple[int, Callable[..., tuple[int]], int, int, str]] = []
    skip = 0
    for p in element.properties:
        if p.count is None:
            skip += p.dtype.itemsize
            continue
        code = p.count.str[0].replace("|", "<") + p.count.char
        lists.append((skip, struct.Struct(code).unpack_from, p.count.itemsize, p.dtype.itemsize, p.name))
        skip = 0
    data, at, end = binary.data, binary.at, len(binary.data)
    found = array("q")
    for row in range(rows):
        for before, unpack, head, each, name in lists:
            at += before + head
            if at > end:
                raise _short(binary, element, row)
            (size,) = unpack(data, at - head)
            if size < 0 or at + size * each > end:
                Binary(binary.path, data, at).take(f"V{each}", size, f"entries of {name} in {element.name} {row}")
            at += size * each
            found.append(size)
        at += skip
        if at > end:
            raise _short(binary, element, row)
    return np.frombuffer(found, np.int64).reshape(rows, len(lists))


def _short(binary: Binary, element: Element, row: int) -> MeshError:
    """The error about a file that ends within a row."""
    message = f"the file ends after {row} of {element.count} {element.name} rows"
    return Binary(binary.path, binary.data, len(binary.data)).error(message, f"{element.name} {row}")
