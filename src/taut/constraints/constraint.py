"""A constraint: which particles, the directions in which they may move, along which path, and until when."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.constraints.indices import particle_indices
from taut.constraints.paths import Path
from taut.errors import ModelError

Float = NDArray[np.float64]
SAME_TIME = 1e-6  # of a step: times that are the same but for rounding


@dataclass(frozen=True, eq=False)
class Constraint:
    """Some particles and the directions in which they may move. Made by `fixed`, `scripted`, `handle`, `on_line`, `on_plane`.

    With `until` [s] it ends: it acts in every step that begins before then.
    """

    kind: str
    particles: Any
    free: Float  # projector onto the allowed directions, (3, 3)
    through: ArrayLike | None = None  # a point [m] of the line or plane; None: where the particle starts
    path: Path | None = None
    carry: Callable[[Float], Path] | None = None  # gives the path of particles that start at (k, 3) [m]
    until: float | None = None

    def __post_init__(self) -> None:
        end = self.until
        if end is not None and (not isinstance(end, Real) or isinstance(end, bool) or not 0.0 < end < math.inf):
            raise ModelError(f"{self.kind}: `until` is {end!r}; it must be a positive, finite number of seconds, or None")

    def acts(self, t: float, h: float) -> bool:
        """Whether it acts in the step of length h [s] that begins at t [s]. One that begins at `until` but for rounding is free."""
        return self.until is None or t < self.until - SAME_TIME * h

    def shifted(self, start: int, n: int) -> Constraint:
        """The same, for particles that come `start` later; n is the number of particles it was made for."""
        return replace(self, particles=self.indices(n) + start)

    def indices(self, n: int) -> NDArray[np.int64]:
        """The particles, in the order given where a path goes with them."""
        return particle_indices(self.particles, n, self.kind, ordered=self.path is not None)

    def placed(self, pose: Float) -> Constraint:
        """The same among particles that start at `pose` (n, 3) [m]."""
        particles = self.indices(len(pose))
        path = self.path if self.carry is None else self.carry(pose[particles])
        return replace(self, particles=particles, path=path)


def kept(particles: Any) -> Any:
    """An own copy of what the caller may change."""
    return np.array(particles)
