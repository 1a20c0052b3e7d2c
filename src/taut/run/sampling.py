"""Frames of a run at any time: exact where one was recorded, cubic in between.

Between the frames at t_a and t_b = t_a + T, with s = (t - t_a)/T, the positions are the cubic
Hermite polynomial of the recorded positions and velocities,

    q(t) = (1 + 2s)(1 - s)² q_a + s(1 - s)² T v_a + s²(3 - 2s) q_b - s²(1 - s) T v_b,

and v(t) its derivative. An element that is torn at t_b and was not at t_a is whole until t_b.

The polynomial is exact for accelerations that change linearly. Where a velocity jumps between two
frames, as in an impact, it misses the motion by up to 4/27 T |Δv|, and may overshoot; a run that
records the frames of the shot needs no interpolation. Straight lines would never overshoot, but
every path would have corners at recorded frames.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from taut.arrays import Float, Int
from taut.run.open_run import Frame, Run

TIME_TOLERANCE = 1e-6  # relative to the time between frames: smaller differences are rounding


def read_frame_times(run: Run) -> Float:
    """Return the times of all recorded frames [s], (f,).

    Only the first and the last frame are read; the others follow from the length of the steps.
    """
    frames = run.frames[:]
    times = frames[0].t + run.h * np.minimum(np.arange(len(frames)) * run.every, run.steps)
    times[-1] = frames[-1].t
    return times


class SampledFrames:
    """The frames of a run at given times, in order.

    recorded : times of the recorded frames [s], (f,); times : wanted, within these, (m,)
    before : the recorded frame at each time or before it, (m,)
    is_recorded : whether a frame was recorded at this time, within rounding, (m,)

    >>> import tempfile, taut
    >>> from taut.run.record import record
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> _ = record(folder, ball, taut.ImplicitMidpoint(), h=0.1, until=1.0)
    >>> samples = SampledFrames(taut.open_run(folder), [0.0, 0.33, 1.0])
    >>> samples.is_recorded.tolist(), samples.before.tolist()
    ([True, False, True], [0, 3, 10])
    >>> abs(samples[1].q[0, 1] - (10 - 9.81 / 2 * 0.33**2)) < 1e-12
    np.True_
    """

    def __init__(self, run: Run, times: Float, recorded: Float | None = None) -> None:
        self._run = run
        self.times = np.asarray(times, dtype=np.float64)
        self.recorded = read_frame_times(run) if recorded is None else recorded
        slack = TIME_TOLERANCE * run.h * run.every
        last = len(self.recorded) - 1
        found = np.searchsorted(self.recorded, self.times + slack, side="right") - 1
        self.before: Int = np.clip(found, 0, last)
        self.is_recorded = np.abs(self.recorded[self.before] - self.times) <= slack
        self._cached: dict[int, Frame] = {}

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Frame]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, i: int) -> Frame:
        number = int(self.before[i])
        if self.is_recorded[i]:
            return self._read(number)
        return interpolate(self._read(number), self._read(number + 1), float(self.times[i]))

    def _read(self, number: int) -> Frame:
        """Read a frame; of those read before, the last two are kept."""
        if number not in self._cached:
            self._cached = {k: f for k, f in self._cached.items() if k == number - 1}
            self._cached[number] = self._run.frames[number]
        return self._cached[number]


def interpolate(a: Frame, b: Frame, t: float) -> Frame:
    """Return the frame at a time t [s] between those of two frames a and b.

    >>> one = Frame(0, 0.0, np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0]]))
    >>> two = Frame(4, 2.0, np.array([[2.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]]))
    >>> interpolate(one, two, 0.5).q[0, 0], interpolate(one, two, 0.5).v[0, 0]
    (np.float64(0.5), np.float64(1.0))
    """
    length = b.t - a.t
    s = (t - a.t) / length
    r = 1.0 - s
    q = (
        (1.0 + 2.0 * s) * r * r * a.q
        + s * r * r * length * a.v
        + s * s * (3.0 - 2.0 * s) * b.q
        - s * s * r * length * b.v
    )
    v = 6.0 * s * r / length * (b.q - a.q) + r * (1.0 - 3.0 * s) * a.v + s * (3.0 * s - 2.0) * b.v
    return Frame(a.step, t, q, v, a.active)
