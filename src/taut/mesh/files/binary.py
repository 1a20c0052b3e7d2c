"""Reading binary files piece by piece; a piece that is not there is an error, whatever the header promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from taut.errors import MeshError

Float = NDArray[np.float64]


class Binary:
    """Bytes of a file from `at` on."""

    def __init__(self, path: Path, data: bytes, at: int = 0) -> None:
        self.path, self.data, self.at = path, data, at
        self.began = at  # of what was taken last

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self.data) - self.at

    def error(self, message: str, element: str | None = None) -> MeshError:
        """An error at this place."""
        return MeshError(f"{message} (byte {self.at})", path=self.path, element=element)

    def _within(self, message: str, element: str) -> MeshError:
        """An error in what was taken last."""
        return MeshError(f"{message} (in what begins at byte {self.began})", path=self.path, element=element)

    def take(self, dtype: DTypeLike, count: int, what: str) -> NDArray[Any]:
        """The next `count` entries, shape (count,)."""
        kind = np.dtype(dtype)
        if count < 0:
            raise self.error(f"{count} is no number of {what}")
        if count * kind.itemsize > self.left:
            raise self.error(f"the file ends after {self.left // kind.itemsize} of {count} {what}")
        values = np.frombuffer(self.data, kind, count, self.at)
        self.began = self.at
        self.at += count * kind.itemsize
        return values

    def one(self, dtype: DTypeLike, what: str) -> int:
        """The next entry as an int."""
        return int(self.take(dtype, 1, what)[0])

    def finite(self, values: NDArray[Any], what: str) -> Float:
        """As float64, shape unchanged; one that is not finite is an error."""
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise self._within("a number is not finite", f"{what} {np.unravel_index(bad[0], values.shape)[0]}")
        return values.astype(np.float64)
