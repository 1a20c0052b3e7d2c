"""What goes into a file: bodies, and which of a run's frames.

Of the frames with start ≤ t ≤ stop every N-th is taken. Where that leaves more than `most`, so many of these, evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.run.frames import Frame
from taut.run.opening import Run
from taut.show.evenly import evenly
from taut.show.export.names import distinct
from taut.show.subject import Piece

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Tell = Callable[[int, int, float], None]
SAME = 1e-6  # of the time between frames: what rounding makes of equal times


@dataclass(frozen=True, eq=False)
class Clip:
    """Frames of a run to be written, and the bodies in them.

    run, pieces : where from; numbers : of the frames, (m,); times : of these frames [s], (m,)
    rate : time codes in a second; thinned : whether there were more than `most`
    tell : called with the number of frames done, of all, and the time [s]
    """

    run: Run
    pieces: tuple[Piece, ...]
    numbers: Int
    times: Float
    rate: float
    thinned: bool = False
    tell: Tell | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Frame]:
        """The frames, read one at a time."""
        for i, number in enumerate(self.numbers.tolist()):
            frame = self.run.frames[number]
            yield frame
            if self.tell is not None:
                self.tell(i + 1, len(self), frame.t)

    @cached_property
    def names(self) -> list[str]:
        """A plain name for each piece."""
        return distinct(piece.name for piece in self.pieces)

    @property
    def codes(self) -> Float:
        """Time codes t · rate, (m,): whole numbers where they are that but for rounding."""
        codes = self.times * self.rate
        whole = np.round(codes)
        return np.where(np.abs(codes - whole) < SAME, whole, codes)

    @property
    def even(self) -> bool:
        """Whether the frames follow each other in equal times."""
        gaps = np.diff(self.times)
        return len(gaps) == 0 or bool(np.ptp(gaps) < SAME * gaps.max())


def clip_of(
    run: Run,
    pieces: tuple[Piece, ...],
    *,
    every: int = 1,
    start: float | None = None,
    stop: float | None = None,
    most: int | None = None,
    rate: float | None = None,
    tell: Tell | None = None,
) -> Clip:
    """The frames that are asked for; ModelError where that makes no sense, or leaves none.

    every : N-th frame; start, stop : first and last time [s]; most : frames; rate : time codes in a second, by default one a frame
    """
    for name, value, least in (("every", every, 1), ("frames", most, 1)):
        if value is not None and (not isinstance(value, int | np.integer) or value < least):
            raise ModelError(f"{name} is {value}; it is a whole number, at least {least}")
    if rate is not None and not 0.0 < rate < np.inf:
        raise ModelError(f"fps is {rate}; it is more than 0")
    times = _times(run)
    slack = SAME * run.h
    low, high = (times[0] if start is None else start), (times[-1] if stop is None else stop)
    numbers = np.flatnonzero((times >= low - slack) & (times <= high + slack))[::every]
    if not len(numbers):
        raise ModelError(f"{run.folder}: no frame from {low:g} s to {high:g} s; there are {times[0]:g} s to {times[-1]:g} s")
    thinned = most is not None and len(numbers) > most
    if most is not None and thinned:
        numbers = numbers[evenly(len(numbers), most)]
    return Clip(run, pieces, numbers, times[numbers], rate or _rate(times[numbers]), thinned, tell)


def _times(run: Run) -> Float:
    """Times of all frames [s]; the first and the last as they stand there, the others from the length of the steps."""
    frames = run.frames[:]
    times = frames[0].t + run.h * np.minimum(np.arange(len(frames)) * run.every, run.steps)
    times[-1] = frames[-1].t
    return times


def _rate(times: Float) -> float:
    """Frames in a second; 24 if there is one frame only."""
    return float(f"{1.0 / np.median(np.diff(times)):.9g}") if len(times) > 1 else 24.0
