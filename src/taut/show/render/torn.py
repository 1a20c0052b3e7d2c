"""Which elements are torn at a frame.

A frame has positions and velocities; which elements are torn in the end stands in the last checkpoint. An element that is torn
there counts as torn from the first frame on in which its strain l/l₀ - 1 is beyond its breaking strain, or else in the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.formula.placed import Placed
from taut.run.opening import Run
from taut.show.subject import Subject

Float = NDArray[np.float64]
Int = NDArray[np.int64]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Torn:
    """The step from which each element is torn, (m,), by law; laws none of whose elements tear are left out.

    >>> Torn({"spring": np.array([NEVER, 40])}, {"spring": np.array([[0, 1], [1, 2]])}).active(50)
    {'spring': array([ True, False])}
    """

    since: dict[str, Int]
    elements: dict[str, Int]

    def active(self, step: int) -> dict[str, NDArray[np.bool_]]:
        """The masks of the elements that hold at a step, for a State."""
        return {name: since > step for name, since in self.since.items()}

    def pairs(self, step: int) -> Int:
        """The pairs of particles, the lesser first, between which something is torn at a step, (k, 2)."""
        found = [self.elements[name][since <= step] for name, since in self.since.items()]
        return np.sort(np.concatenate([np.empty((0, 2), np.int64), *found]), axis=1)


def torn_in(run: Run, subject: Subject) -> Torn:
    """What tears in a run; nothing is read but the last checkpoint where nothing does."""
    ended = {name: ~mask for name, mask in run.state().active.items() if not mask.all()}
    since: dict[str, Int] = {}
    elements: dict[str, Int] = {}
    for name, torn in ended.items():
        placed = subject.system.placed.get(name)
        if placed is not None and placed.particles == 2:  # of damping: it goes with its spring
            since[name], elements[name] = np.full(len(torn), NEVER), placed.elements
    if since:
        last = 0
        for frame in run.frames:
            last = frame.step
            for name, steps in since.items():
                beyond = ended[name] & (steps == NEVER) & _beyond(subject.system.placed[name], frame.q, frame.t)
                steps[beyond] = frame.step
        for name, steps in since.items():
            steps[ended[name] & (steps == NEVER)] = last
    return Torn(since, elements)


def _beyond(placed: Placed, q: Float, t: float) -> NDArray[np.bool_]:
    """Which elements of a law that can tear are stretched beyond their breaking strain, (m,)."""
    if placed.breaking_strain is None:
        return np.zeros(len(placed.elements), dtype=bool)
    length = np.linalg.norm(q[placed.elements[:, 1]] - q[placed.elements[:, 0]], axis=1)
    rest = placed.packed(t)[:, placed.columns("l0")]
    return np.asarray(length / rest - 1 > placed.breaking_strain)
