"""Frames of a shot: numbers that other programs show, at a rate, from the start of a run.

Frame number k is at t₀ + (k - first)/fps, where t₀ is the start of the run. `first` and `fps` are
those of the scene (`[time]`), if it has them; otherwise a run starts at frame 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int
from taut.errors import ModelError
from taut.run.open_run import Run
from taut.scene.toml import parse

FIRST_FRAME = 1  # of a run whose scene does not say; timelines of most programs begin there
_ROUNDING = 1e-6  # in frames


@dataclass(frozen=True)
class Shot:
    """The frames of a run in a shot.

    start : time of the first one [s]; first : its number; fps : frames per second
    """

    start: float
    first: int
    fps: float

    def times(self, numbers: Int) -> Float:
        """Return the times of frames [s], (m,).

        >>> Shot(0.0, 1, 24.0).times(np.array([1, 25])).tolist()
        [0.0, 1.0]
        """
        return self.start + (numbers - self.first) / self.fps

    def codes(self, times: Float) -> Float:
        """Return the frame numbers of times [s], (m,); whole ones within rounding.

        >>> Shot(0.0, 1, 24.0).codes(np.array([0.0, 0.5, 0.51])).round(9).tolist()
        [1.0, 13.0, 13.24]
        """
        codes = self.first + (times - self.start) * self.fps
        whole = np.round(codes)
        return np.where(np.abs(codes - whole) < _ROUNDING, whole, codes)

    def list_frames(self, end: float, wanted: tuple[int, int] | None, name: object) -> Int:
        """Return the numbers of the wanted frames, or of all up to a time [s]; ModelError if the
        run does not have them.

        >>> Shot(0.0, 1, 24.0).list_frames(0.2, None, "run").tolist()
        [1, 2, 3, 4, 5]
        """
        last = self.first + math.floor((end - self.start) * self.fps + _ROUNDING)
        if wanted is None:
            return np.arange(self.first, last + 1)
        if wanted[1] < wanted[0]:
            raise ModelError(f"frames must end after they begin, got {wanted[0]}-{wanted[1]}")
        if wanted[0] < self.first or wanted[1] > last:
            raise ModelError(
                f"{name}: frames {wanted[0]}-{wanted[1]} are not all there; "
                f"at {self.fps:g} fps the run has frames {self.first}-{last}"
            )
        return np.arange(wanted[0], wanted[1] + 1)


def find_shot(run: Run, fps: float | None = None) -> Shot | None:
    """Return the shot of a run: at `fps`, or at the rate of its scene; None if neither is given.

    ModelError if fps is not positive.
    """
    if fps is not None and not 0.0 < fps < np.inf:
        raise ModelError(f"fps must be positive, got {fps}")
    time = parse(run.scene).get("time", {}) if run.scene else {}
    rate = time.get("fps") if fps is None else fps
    if rate is None:
        return None
    frames = time.get("frames")
    first = FIRST_FRAME if frames is None else int(frames[0])
    return Shot(run.frames[0].t, first, float(rate))
