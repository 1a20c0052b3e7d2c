"""Constraints, one by one: which particles, the directions in which they may move, along which path, and until when."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError
from taut.system.particles import particle_indices
from taut.system.paths import Path, numbers, timed

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


def fixed(particles: Any, *, until: float | None = None) -> Constraint:
    """Hold particles where they start; `until` [s], they are let go then, in the first step that does not begin before.

    >>> import taut
    >>> ball = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.gravity()], constraints=[fixed(0, until=0.5)])
    >>> ends = [state.v[0, 1] for state, _ in taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0)]
    >>> np.round(ends, 3).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, -0.981, -1.962, -2.943, -3.924, -4.905]
    """
    return Constraint("fixed", kept(particles), np.zeros((3, 3)), until=until)


def scripted(
    particles: Any, path: Callable[[float], ArrayLike] | tuple[ArrayLike, ArrayLike], *, until: float | None = None
) -> Constraint:
    """Move particles along a path; `until` [s], they fly on from there with the velocity they have.

    path : a function of time t [s] that gives positions [m], shape (3,) or (k, 3) for k particles, in the order given;
        or samples (times, positions) of shapes (T,) and (T, 3) or (T, k, 3), joined by straight lines and held at the ends.

    >>> import numpy as np
    >>> scripted(0, lambda t: (np.sin(t), 0, 0)).kind
    'scripted'
    """
    return Constraint("scripted", kept(particles), np.zeros((3, 3)), path=timed(path, "scripted: a path", "positions"), until=until)


def on_line(particles: Any, direction: ArrayLike, through: ArrayLike | None = None, *, until: float | None = None) -> Constraint:
    """Let particles slide along a line with this direction, through a point [m] or through where each starts; `until` [s].

    >>> on_line([1], direction=(0, 1, 0)).free.tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    d = _direction(direction, "direction")
    return Constraint("on_line", kept(particles), np.outer(d, d), through, until=until)


def on_plane(particles: Any, normal: ArrayLike, through: ArrayLike | None = None, *, until: float | None = None) -> Constraint:
    """Let particles slide in a plane with this normal, through a point [m] or through where each starts; `until` [s].

    >>> on_plane([1], normal=(0, 2, 0)).free.tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    d = _direction(normal, "normal")
    return Constraint("on_plane", kept(particles), np.eye(3) - np.outer(d, d), through, until=until)


def kept(particles: Any) -> Any:
    """An own copy of what the caller may change."""
    return np.array(particles)


def _direction(value: ArrayLike, what: str) -> Float:
    d = np.zeros(3)
    given = numbers(value, what)
    if given.shape not in ((2,), (3,)) or not np.isfinite(given).all() or not np.any(given):
        raise ModelError(f"{what} is a vector other than zero, not {value!r}")
    d[: len(given)] = given / np.linalg.norm(given)
    return d
