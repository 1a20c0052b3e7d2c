"""Words of a text as numbers of a type.

Text is cut at white space into words once, by their first bytes; numbers are then read in runs, so that memory stays a small
multiple of the text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.text import shown

Int = NDArray[np.int64]
RUN = 1 << 16  # words read at once
_SPACE = np.isin(np.arange(256), list(b" \t\n\r\v\f"))


class BadWord(Exception):
    """A word that is no number of the type asked for: which one, and what is wrong. It never leaves the readers."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def word_starts(text: bytes) -> Int:
    """The first byte of each word.

    >>> word_starts(b" 10 2\\n30").tolist()
    [1, 4, 6]
    """
    space = _SPACE[np.frombuffer(text, np.uint8)]
    found = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    return found if not len(space) or space[0] else np.concatenate([[0], found])


def parse(text: bytes, edges: Int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The words between `edges` (their first bytes, and where the last one ends) as numbers, shape (len(edges) - 1,).

    >>> parse(b"1 2\\n30", np.array([0, 2, 4, 6]), np.dtype("u1")).tolist()
    [1, 2, 30]
    """
    count = len(edges) - 1
    values = np.empty(count, dtype)
    read = float if dtype.kind == "f" else int
    for a in range(0, count, RUN):
        b = min(a + RUN, count)
        run = text[edges[a] : edges[b]]
        try:
            numbers = np.array(list(map(read, run.split())), dtype="f8" if dtype.kind == "f" else object if dtype == "u8" else "i8")
        except (ValueError, OverflowError):
            raise _first_bad(run, a, dtype) from None
        if b"_" in run or not _fits(numbers, dtype).all():  # Python would read 1_000
            raise _first_bad(run, a, dtype)
        values[a:b] = numbers
    return values


def _fits(numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.bool_]:
    """Which numbers the type holds; a float that is infinite in the text may stay so."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.isfinite(numbers.astype(dtype)) | ~np.isfinite(numbers)
    limits = np.iinfo(dtype)
    return np.asarray((numbers >= limits.min) & (numbers <= limits.max), dtype=bool)


def _first_bad(run: bytes, start: int, dtype: np.dtype[Any]) -> BadWord:
    """The error about the first word of a run that is no number of the type."""
    noun, read = ("number", float) if dtype.kind == "f" else ("whole number", int)
    for i, word in enumerate(run.split()):
        try:
            value = read(word.replace(b"_", b"?"))
        except ValueError:
            return BadWord(start + i, f"{shown(word)} is not a {noun}")
        if not _fits(np.array([value], "f8" if dtype.kind == "f" else object), dtype)[0]:
            return BadWord(start + i, f"{shown(word)} does not fit into {dtype.name}")
    raise AssertionError("only called when a word does not read")
