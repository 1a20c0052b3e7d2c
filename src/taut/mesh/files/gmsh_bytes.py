"""The numbers of a binary section of an MSH file, in either byte order."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.gmsh_ascii import Ascii, Fields
from taut.mesh.files.gmsh_sections import Section
from taut.mesh.files.gmsh_types import Int
from taut.mesh.ranges import ranges


class Bytes:
    """The numbers of a section in binary, from byte `start` on; places are bytes. `at` is the next one.

    types : how a number is stored, {"int": dtype, "size": dtype, "double": dtype}
    """

    def __init__(self, section: Section, types: dict[str, str], start: int | None = None) -> None:
        self.section, self.types = section, types
        self.sizes = {kind: np.dtype(dtype).itemsize for kind, dtype in types.items()}
        self.order: Literal["little", "big"] = "little" if types["int"].startswith("<") else "big"
        self.at = section.start if start is None else start

    def error(self, message: str, at: int | None = None, element: str | None = None) -> MeshError:
        """An error at a byte (the next one unless told)."""
        place = f"(in ${self.section.name}, byte {self.at if at is None else at})"
        return MeshError(f"{message} {place}", path=self.section.path, element=element)

    def one(self, kind: str, what: str) -> int:
        """The next number, whole."""
        end = self.at + self.sizes[kind]
        if end > self.section.end:
            raise self.error(f"the section ends where {what} should stand")
        value = int.from_bytes(self.section.data[self.at : end], self.order, signed=kind == "int")
        self.at = end
        return value

    def skip(self, kind: str, count: int, what: str) -> None:
        """Pass over the next numbers."""
        if not 0 <= count * self.sizes[kind] <= self.section.end - self.at:
            raise self.error(f"the section ends within {what}")
        self.at += count * self.sizes[kind]

    def take(self, kind: str, count: int, what: str) -> NDArray[Any]:
        """The next numbers, shape (count,)."""
        return self.records(count, ((kind, 1),), what)[0][:, 0]

    def records(self, count: int, fields: Fields, what: str) -> list[NDArray[Any]]:
        """The next `count` records, an array of shape (count, k) for each field."""
        dtype = self._dtype(fields)
        left = self.section.end - self.at
        if count < 0:
            raise self.error(f"{count} is no number of {what}s")
        if count * dtype.itemsize > left:
            raise self.error(f"the section ends after {left // dtype.itemsize} of {count} {what}s")
        block = np.frombuffer(self.section.data, dtype, count, self.at)
        self.at += count * dtype.itemsize
        native = [np.float64 if kind == "double" else np.int64 for kind, _ in fields]
        return [block[str(i)].astype(native[i]).reshape(count, k) for i, (_, k) in enumerate(fields)]

    def where(self, count: int, fields: Fields) -> Int:
        """The places of the last `count` records, shape (count,)."""
        size = self._dtype(fields).itemsize
        return self.at - size * count + size * np.arange(count)

    def gather(self, kind: str, starts: Int, counts: Int, columns: int) -> tuple[Int, Int]:
        """Blocks of whole numbers as one array, shape (m, columns), and the place of each row, shape (m,)."""
        data, dtype = self.section.data, np.dtype(self.types[kind])
        pieces = [np.frombuffer(data, dtype, n * columns, at) for at, n in zip(starts.tolist(), counts.tolist(), strict=True)]
        where = ranges(starts, counts, columns * dtype.itemsize)
        return np.concatenate(pieces).astype(np.int64).reshape(-1, columns), where

    def finish(self) -> None:
        """An error if the section goes on."""
        if self.section.data[self.at : self.section.end].strip():
            raise self.error("the section holds more than it announces")

    def _dtype(self, fields: Fields) -> np.dtype[np.void]:
        return np.dtype([(str(i), self.types[kind], (k,)) for i, (kind, k) in enumerate(fields)])


Stream = Ascii | Bytes
