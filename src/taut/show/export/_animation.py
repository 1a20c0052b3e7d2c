"""The frames of a run that an export writes, and the bodies in them.

These are the frames of a shot, or without one the frames that were recorded. Of those with
start ≤ t ≤ stop every N-th is selected; if more than `at_most` remain, this many of them, evenly
spaced.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taut.arrays import Float, Int
from taut.errors import ModelError
from taut.run.open_run import Frame, Run
from taut.run.sampling import TIME_TOLERANCE, SampledFrames, read_frame_times
from taut.show.output import select_evenly
from taut.show.shot import FIRST_FRAME, Shot, find_shot
from taut.show.visual_model import VisualBody, VisualModel

Tell = Callable[[int, int, float], None]
DEFAULT_FPS = 24.0  # of film, and of a new scene in most programs
_MAX_NAME = 64  # characters; file systems take 255 bytes, and the rest of a file's name needs some
_RESERVED_NAMES = ("default", "materials")  # no group in OBJ, where materials are in USD
_log = logging.getLogger("taut")


@dataclass(frozen=True, eq=False)
class Animation:
    """Selected frames of a run, and the bodies in them.

    run, model : the run and its bodies
    samples : the frames, (m,)
    shot : gives frame numbers to times
    rate : frames per second
    numbers : of the frames in the shot, (m,), or None for recorded frames without a shot
    thinned : whether frames were left out to keep a limit
    tell : called with the number of frames done, their total, and the time [s]
    """

    run: Run
    model: VisualModel
    samples: SampledFrames
    shot: Shot
    rate: float
    numbers: Int | None = None
    thinned: bool = False
    tell: Tell | None = None

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[Frame]:
        """Yield the frames, reading one at a time."""
        for i, frame in enumerate(self.samples):
            yield frame
            if self.tell is not None:
                self.tell(i + 1, len(self), frame.t)

    @property
    def times(self) -> Float:
        """Of the frames [s], (m,)."""
        return self.samples.times

    @property
    def pieces(self) -> tuple[VisualBody, ...]:
        """The bodies."""
        return self.model.pieces

    @cached_property
    def names(self) -> list[str]:
        """An identifier for each body."""
        return make_identifiers(piece.name for piece in self.pieces)

    @property
    def codes(self) -> Float:
        """Frame numbers of the shot, (m,), whole ones within rounding."""
        return self.shot.codes(self.times)

    @property
    def is_even(self) -> bool:
        """Whether the time from frame to frame is constant."""
        gaps = np.diff(self.times)
        return len(gaps) == 0 or bool(np.ptp(gaps) < TIME_TOLERANCE * gaps.max())

    @cached_property
    def torn_at_the_end(self) -> Int:
        """Pairs of particles with an element between them that is torn in the last frame, (k, 2).

        What is torn once stays torn, so these are all.
        """
        return self.model.torn_pairs(self.samples[len(self) - 1])

    def warn_of_splits(self, name: str, count: int) -> None:
        """Log that cells have points of their own, because the format has one topology."""
        if count:
            _log.warning(
                "%s: %d faces or lines tear; they have points of their own and shrink to nothing, "
                "because the format keeps its points and faces: USD, VTKHDF, OBJ and PLY do not",
                name,
                count,
            )


def select_frames(
    run: Run,
    model: VisualModel,
    *,
    every: int = 1,
    start: float | None = None,
    stop: float | None = None,
    frames: tuple[int, int] | None = None,
    at_most: int | None = None,
    fps: float | None = None,
    tell: Tell | None = None,
) -> Animation:
    """Select frames of a run; ModelError if an option is impossible, or no frame is left.

    every : select every N-th frame
    start, stop : first and last time [s]
    frames : first and last frame of the shot
    at_most : largest number of frames
    fps : frames of the shot per second; default: those of the scene, or else recorded frames
    """
    for name, value in (("every", every), ("at_most", at_most)):
        if value is not None and (not isinstance(value, int | np.integer) or value < 1):
            raise ModelError(f"{name} must be a whole number, at least 1, got {value}")
    shot = find_shot(run, fps)
    recorded = read_frame_times(run)
    times, numbers = recorded, None
    if shot is not None:
        numbers = shot.list_frames(recorded[-1], frames, run.folder)
        times = shot.times(numbers)
    elif frames is not None:
        raise ModelError("frames count those of a shot: give its fps as well, such as 24")
    first = recorded[0] if start is None else start
    last = recorded[-1] if stop is None else stop
    slack = TIME_TOLERANCE * run.h
    selected = np.flatnonzero((times >= first - slack) & (times <= last + slack))[::every]
    if not len(selected):
        raise ModelError(
            f"{run.folder}: no frame from {first:g} s to {last:g} s; "
            f"the run has {recorded[0]:g} s to {recorded[-1]:g} s"
        )
    thinned = at_most is not None and len(selected) > at_most
    if at_most is not None and thinned:
        selected = selected[select_evenly(len(selected), at_most)]
    rate = _frame_rate(times[selected]) if shot is None else shot.fps
    return Animation(
        run,
        model,
        SampledFrames(run, times[selected], recorded),
        Shot(recorded[0], FIRST_FRAME, DEFAULT_FPS) if shot is None else shot,
        rate,
        None if numbers is None else numbers[selected],
        thinned,
        tell,
    )


def _frame_rate(times: Float) -> float:
    """Return the frames per second; 24 for a single frame."""
    if len(times) == 1:
        return DEFAULT_FPS
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
