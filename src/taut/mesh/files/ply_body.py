"""The rows of one element of a PLY file, as columns: a number per row, or a list per row as (flat values, counts)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.binary import Binary
from taut.mesh.files.ply_header import Element
from taut.mesh.files.text import Rows

Int = NDArray[np.int64]
Columns = dict[str, Any]


def from_text(rows: Rows, element: Element) -> tuple[Columns, list[int]]:
    """The next rows of a text file, and where they stand."""
    body = rows.take(element.count, f"{element.name} rows")
    flat, counts = rows.ragged(body, element.name, float)
    start = np.cumsum(counts) - counts
    at, end = start.copy(), start + counts
    columns: Columns = {}
    for p in element.properties:
        _room(rows, element, body, at + 1 > end)
        if p.count is None:
            columns[p.name] = flat[at]
            at = at + 1
            continue
        size = flat[at]
        _room(rows, element, body, (size < 0) | (size != np.round(size)) | (at + 1 + size > end))
        length = size.astype(np.int64)
        columns[p.name] = (flat[_ranges(at + 1, length)], length)
        at = at + 1 + length
    _room(rows, element, body, at != end)
    return columns, body


def _room(rows: Rows, element: Element, body: Sequence[int], wrong: NDArray[np.bool_]) -> None:
    bad = np.flatnonzero(wrong)
    if len(bad):
        raise rows.error("it has too few or too many numbers", body[bad[0]], f"{element.name} {bad[0]}")


def _ranges(start: Int, length: Int) -> Int:
    """start[i], start[i] + 1 … for each i, length[i] of them, one after the other."""
    ends = np.cumsum(length)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(start - (ends - length), length)


def from_binary(binary: Binary, element: Element) -> Columns:
    """The next rows of a binary file."""
    lists = [p for p in element.properties if p.count is not None]
    if not element.properties:
        return {}
    if element.count and lists:
        return _uniform(binary, element) or _one_by_one(binary, element)
    table = binary.take(
        np.dtype([(f"p{i}", p.dtype) for i, p in enumerate(element.properties)]), element.count, f"{element.name} rows"
    )
    return {p.name: table[f"p{i}"] for i, p in enumerate(element.properties) if p.count is None} | {
        p.name: (np.empty(0, p.dtype), np.empty(0, np.int64)) for p in lists
    }


def _uniform(binary: Binary, element: Element) -> Columns | None:
    """All rows at once, if their lists have the lengths of those in the first row."""
    first = Binary(binary.path, binary.data, binary.at)
    fields: list[tuple[Any, ...]] = []
    lengths: dict[str, int] = {}
    for i, p in enumerate(element.properties):
        if p.count is None:
            fields.append((f"p{i}", p.dtype))
            first.take(p.dtype, 1, "numbers")
            continue
        size = first.one(p.count, f"length of {p.name}")
        first.take(p.dtype, size, f"entries of {p.name}")
        lengths[p.name] = size
        fields += [(f"n{i}", p.count), (f"p{i}", p.dtype, (size,))]
    kind = np.dtype(fields)
    if kind.itemsize * element.count > binary.left:
        return None
    table = np.frombuffer(binary.data, kind, element.count, binary.at)
    for i, p in enumerate(element.properties):
        if p.count is not None and (table[f"n{i}"] != lengths[p.name]).any():
            return None
    binary.at += kind.itemsize * element.count
    return {
        p.name: table[f"p{i}"] if p.count is None else (table[f"p{i}"].ravel(), np.full(element.count, lengths[p.name], np.int64))
        for i, p in enumerate(element.properties)
    }


def _one_by_one(binary: Binary, element: Element) -> Columns:
    """Row by row, where lists have different lengths."""
    found: dict[str, list[NDArray[Any]]] = {p.name: [] for p in element.properties}
    for row in range(element.count):
        for p in element.properties:
            size = 1 if p.count is None else binary.one(p.count, f"length of {p.name} in {element.name} {row}")
            found[p.name].append(binary.take(p.dtype, size, f"entries of {p.name} in {element.name} {row}"))
    return {
        p.name: np.concatenate(found[p.name])
        if p.count is None
        else (np.concatenate(found[p.name]), np.array([len(part) for part in found[p.name]], np.int64))
        for p in element.properties
    }
