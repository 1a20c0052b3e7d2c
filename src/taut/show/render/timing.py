"""Which frames of a run make a video, and how long each of them stands.

At real speed the k-th picture shows the frame that is nearest in time to t₀ + speed·k/fps, for all k up to the end: the video takes
as long as what it shows, divided by `speed`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError

Float = NDArray[np.float64]
MOST = 100_000  # pictures of a video: beyond that something is mistaken


def real_time(times: Float, *, fps: float, speed: float) -> list[int]:
    """The numbers of the frames, taken at `times` [s], (n,), of a video with `fps` pictures a second; both positive.

    >>> real_time(np.array([0.0, 0.1, 0.2, 0.3]), fps=5, speed=1.0)
    [0, 2]
    >>> real_time(np.array([0.0, 0.1, 0.2]), fps=10, speed=0.5)
    [0, 0, 1, 1, 2]
    """
    count = int(np.floor((times[-1] - times[0]) * fps / speed * (1 + 1e-12) + 1e-9)) + 1
    if count > MOST:
        raise ModelError(f"the video would have {count:,} pictures, more than {MOST:,}: raise speed or lower fps")
    wanted = times[0] + np.arange(count) * (speed / fps)
    after = np.clip(np.searchsorted(times, wanted), 1, max(len(times) - 1, 1))
    nearer = np.minimum(after, len(times) - 1)
    before = after - 1
    tie = 1e-9 * speed / fps  # of two equally near ones the earlier: rounding shall not decide
    return np.where(wanted - times[before] <= times[nearer] - wanted + tie, before, nearer).tolist()


def delays(count: int, fps: float) -> list[int]:
    """How long each picture of a GIF stands [ms]: whole hundredths of a second, which add up to the time.

    >>> delays(4, 30), sum(delays(300, 30))
    ([30, 40, 30, 30], 10000)
    """
    ends = np.rint(np.arange(count + 1) * (100 / fps)).astype(np.int64)
    return (10 * np.diff(ends)).tolist()
