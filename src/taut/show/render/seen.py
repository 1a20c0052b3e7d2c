"""What is to be seen of all frames: their times, how far they reach, the range of the colours; and the cameras that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.run.opening import Run
from taut.show.render.cameras import Camera, extremes, framing
from taut.show.render.fields import Field, drawn, spread
from taut.show.subject import Subject

Float = NDArray[np.float64]
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Seen:
    """What was found in all frames: times [s], outermost points [m] and middles [m] of each, the range of the colours."""

    times: Float
    outer: list[Float]
    middle: list[Float]
    low: float
    high: float

    @property
    def signed(self) -> bool:
        """Whether zero is in the middle of the colours."""
        return self.low == -self.high

    @property
    def flat(self) -> bool:
        """Whether everything stays in a plane z = const."""
        z = np.concatenate(self.outer)[:, 2]
        return bool(np.ptp(z) == 0.0 and len(z) > 1 and np.ptp(np.concatenate(self.outer)) > 0.0)


def measured(run: Run, subject: Subject, shown: Field | None, say: Tell) -> Seen:
    """All frames of a run, read once; `say` is told how many of them are done."""
    times: list[float] = []
    outer: list[Float] = []
    middle: list[Float] = []
    total = len(run.frames)

    def values() -> Iterator[list[Float]]:
        for frame in run.frames[:total]:
            x = np.concatenate([piece.positions(frame.q) for piece in subject.pieces])
            times.append(frame.t)
            outer.append(extremes(x))
            middle.append(x.mean(axis=0))
            say("measuring", len(times), total)
            yield [np.empty(0)] if shown is None else drawn(shown, subject.pieces, frame)

    low, high = spread(values(), signed=shown is not None and shown.signed)
    return Seen(np.array(times), outer, middle, low, high)


def cameras(
    seen: Seen, chosen: Sequence[int], azimuth: float, elevation: float, *, turntable: float, follow: bool, **frame: float
) -> list[Camera]:
    """The camera of each picture: all of them as far from what they look at as the one that needs most room."""
    origin = seen.middle[chosen[0]]
    points = np.concatenate([x - m + origin for x, m in zip(seen.outer, seen.middle, strict=True)] if follow else seen.outer)
    turns = [turntable * k / len(chosen) for k in range(len(chosen))]
    framed = {turn: framing(points, azimuth + turn, elevation, **frame) for turn in turns}
    far = max(float(np.linalg.norm(camera.eye - camera.target)) for camera in framed.values())
    made = []
    for turn, i in zip(turns, chosen, strict=True):
        target = framed[turn].target + (seen.middle[i] - origin if follow else 0.0)
        made.append(Camera(target + far * framed[turn].axes()[2], target))
    return made
