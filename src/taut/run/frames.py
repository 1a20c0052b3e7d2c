"""The frames of a run, read one at a time as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from taut.errors import RunError
from taut.run.codec import vectors_from_bytes
from taut.run.database import Database
from taut.run.header import Header

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Frame:
    """A moment of a run, to the last bit as it was computed.

    step : its number, from 0; t : time [s]
    q : positions [m], v : velocities [m/s], both (n, 3), read-only
    """

    step: int
    t: float
    q: Float
    v: Float


class Frames(Sequence[Frame]):
    """Frames as a sequence: `frames[-1]`, `frames[::10]`, `for frame in frames`. Only the one that is looked at is in memory.

    A frame that is damaged or missing raises RunError, and leaves the others readable. While the run is being written, the
    sequence grows; a slice is of the frames that were there when it was taken.
    """

    def __init__(self, database: Database, header: Header, among: range | None = None) -> None:
        self._database, self._header, self._among = database, header, among

    def _range(self) -> range:
        return range(self._header.frames(self._database.progress()[0])) if self._among is None else self._among

    def __len__(self) -> int:
        return len(self._range())

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Frames: ...
    def __getitem__(self, index: int | slice) -> Frame | Frames:
        chosen = self._range()[index]
        return Frames(self._database, self._header, chosen) if isinstance(chosen, range) else self._read(chosen)

    def __iter__(self) -> Iterator[Frame]:
        return map(self._read, self._range())

    def __repr__(self) -> str:
        return f"<frames of {self._header.n} particles, one every {self._header.every} steps>"

    def _read(self, index: int) -> Frame:
        step = self._header.step_of(index)
        with self._database.told(f"read frame {index} (step {step})"):
            t, q, v, _ = self._database.frame(step)
            if not isinstance(t, float):
                raise RunError("it has no time")
            return Frame(step, t, vectors_from_bytes(q, self._header.n), vectors_from_bytes(v, self._header.n))
