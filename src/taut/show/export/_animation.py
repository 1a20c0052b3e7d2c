"""The frames of a run that an export writes, and the bodies in them.

Of the frames with start ≤ t ≤ stop every N-th is selected; if more than `limit` remain, `limit` of
them, evenly spaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taut.arrays import Float, Int
from taut.errors import ModelError
from taut.run.open_run import Frame, Run
from taut.show.output import select_evenly
from taut.show.visual_model import VisualBody

Tell = Callable[[int, int, float], None]
_TIME_TOLERANCE = 1e-6  # relative to the time between frames: smaller differences are rounding
_MAX_NAME = 64  # characters; file systems take 255 bytes, and the rest of a file's name needs some
_RESERVED_NAMES = ("default",)  # in OBJ it means: no group


@dataclass(frozen=True, eq=False)
class Animation:
    """Selected frames of a run, and the bodies in them.

    run, pieces : the run and its bodies
    numbers : of the frames, (m,)
    times : of the frames [s], (m,)
    rate : time codes per second
    thinned : whether frames were left out to keep a limit
    tell : called with the number of frames done, their total, and the time [s]
    """

    run: Run
    pieces: tuple[VisualBody, ...]
    numbers: Int
    times: Float
    rate: float
    thinned: bool = False
    tell: Tell | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Frame]:
        """Yield the frames, reading one at a time."""
        for i, number in enumerate(self.numbers.tolist()):
            frame = self.run.frames[number]
            yield frame
            if self.tell is not None:
                self.tell(i + 1, len(self), frame.t)

    @cached_property
    def names(self) -> list[str]:
        """An identifier for each body."""
        return make_identifiers(piece.name for piece in self.pieces)

    @property
    def codes(self) -> Float:
        """Time codes t · rate, (m,), rounded to whole numbers that are within rounding."""
        codes = self.times * self.rate
        whole = np.round(codes)
        return np.where(np.abs(codes - whole) < _TIME_TOLERANCE, whole, codes)

    @property
    def is_even(self) -> bool:
        """Whether the time from frame to frame is constant."""
        gaps = np.diff(self.times)
        return len(gaps) == 0 or bool(np.ptp(gaps) < _TIME_TOLERANCE * gaps.max())


def select_frames(
    run: Run,
    pieces: tuple[VisualBody, ...],
    *,
    every: int = 1,
    start: float | None = None,
    stop: float | None = None,
    limit: int | None = None,
    rate: float | None = None,
    tell: Tell | None = None,
) -> Animation:
    """Select frames of a run; ModelError if an option is impossible, or no frame is left.

    every : select every N-th frame
    start, stop : first and last time [s]
    limit : largest number of frames
    rate : time codes per second (default: one per frame)
    """
    for name, value in (("every", every), ("frames", limit)):
        if value is not None and (not isinstance(value, int | np.integer) or value < 1):
            raise ModelError(f"{name} must be a whole number, at least 1, got {value}")
    if rate is not None and not 0.0 < rate < np.inf:
        raise ModelError(f"fps must be positive, got {rate}")
    times = _frame_times(run)
    first = times[0] if start is None else start
    last = times[-1] if stop is None else stop
    slack = _TIME_TOLERANCE * run.h
    numbers = np.flatnonzero((times >= first - slack) & (times <= last + slack))[::every]
    if not len(numbers):
        raise ModelError(
            f"{run.folder}: no frame from {first:g} s to {last:g} s; "
            f"the run has {times[0]:g} s to {times[-1]:g} s"
        )
    thinned = limit is not None and len(numbers) > limit
    if limit is not None and thinned:
        numbers = numbers[select_evenly(len(numbers), limit)]
    times = times[numbers]
    return Animation(run, pieces, numbers, times, rate or _frame_rate(times), thinned, tell)


def _frame_times(run: Run) -> Float:
    """Return the times of all frames [s].

    Only the first and the last frame are read; the others follow from the length of the steps.
    """
    frames = run.frames[:]
    times = frames[0].t + run.h * np.minimum(np.arange(len(frames)) * run.every, run.steps)
    times[-1] = frames[-1].t
    return times


def _frame_rate(times: Float) -> float:
    """Return the frames per second; 24 for a single frame."""
    if len(times) == 1:
        return 24.0
    return float(f"{1.0 / np.median(np.diff(times)):.9g}")  # without the digits of rounding


def make_identifiers(names: Iterable[str]) -> list[str]:
    """Turn names of bodies into names of prims, groups and files.

    They have letters, digits and underscores, and differ even if case is ignored.

    >>> make_identifiers(["cloth", "../x", "Cloth", "2nd flag", "布", "default"])
    ['cloth', '___x', 'Cloth_2', '_2nd_flag', '_', 'default_2']
    """
    taken = set(_RESERVED_NAMES)
    identifiers = []
    for name in names:
        base = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_MAX_NAME] or "_"
        if base[0].isdigit():
            base = f"_{base}"
        number, candidate = 1, base
        while candidate.lower() in taken:
            number += 1
            candidate = f"{base}_{number}"
        taken.add(candidate.lower())
        identifiers.append(candidate)
    return identifiers
