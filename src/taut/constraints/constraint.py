"""A constraint: particles, the directions in which they may move, their path, and when it ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, to_floats
from taut.errors import ModelError
from taut.importable import require_importable

# Times that differ by less than this part of a step are the same: sums of steps round.
SAME_TIME = 1e-6

Path = Callable[[float], Any]
"""Positions [m], (3,) or (k, 3), as a function of time [s]."""


@dataclass(frozen=True, eq=False)
class Constraint:
    """Particles and the directions in which they may move.

    Create one by `fixed`, `scripted`, `handle`, `on_line` or `on_plane`. With `until` [s] it ends:
    it acts in every step that begins before then.

    kind : the name of the function that created it, for messages
    particles : an index, indices (k,), or a mask (n,)
    free : projector onto the allowed directions, (3, 3)
    through : a point [m] of the line or plane; None: where the particle starts
    path : prescribed positions
    path_from : gives the path of particles that start at (k, 3) [m]
    """

    kind: str
    particles: Any
    free: Float
    through: ArrayLike | None = None
    path: Path | None = None
    path_from: Callable[[Float], Path] | None = None
    until: float | None = None

    def __post_init__(self) -> None:
        # A copy: the caller may change the array later.
        object.__setattr__(self, "particles", np.array(self.particles))
        end = self.until
        if end is None:
            return
        is_number = isinstance(end, Real) and not isinstance(end, bool)
        if not is_number or not 0.0 < end < math.inf:
            raise ModelError(
                f"{self.kind}: `until` must be a positive, finite number of seconds or None, "
                f"got {end!r}"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes."""
        for function in (self.path, self.path_from):
            require_importable(function, f"{self.kind}: the function of time", ModelError)
        return Constraint, tuple(getattr(self, f.name) for f in fields(self))

    def __copy__(self) -> Constraint:
        return replace(self)

    def __deepcopy__(self, _: object) -> Constraint:
        return replace(self)

    def is_active(self, t: float, h: float) -> bool:
        """Return whether it acts in the step of length h [s] that begins at t [s].

        A step that begins at `until`, but for rounding, is free.
        """
        return self.until is None or t < self.until - SAME_TIME * h

    def shift_particles(self, offset: int, n: int) -> Constraint:
        """Return the same for particles with numbers larger by `offset`; n: how many there were."""
        return replace(self, particles=self.indices(n) + offset)

    def indices(self, n: int) -> Int:
        """Return the particles, in the given order if a path belongs to them."""
        return particle_indices(self.particles, n, self.kind, ordered=self.path is not None)

    def resolve(self, pose: Float) -> Constraint:
        """Return the same with particles as indices and with the path of particles at `pose`.

        pose : initial positions [m], (n, 3)
        """
        particles = self.indices(len(pose))
        path = self.path
        if self.path_from is not None:
            path = self.path_from(pose[particles])
        return replace(self, particles=particles, path=path)


def particle_indices(value: Any, n: int, what: str, *, ordered: bool = False) -> Int:
    """Return distinct indices from an index, indices, or a boolean mask of length n.

    what : the name in messages
    ordered : keep the given order; otherwise sort
    """
    if isinstance(value, str) or (isinstance(value, np.ndarray) and value.dtype.kind == "U"):
        raise ModelError(
            f"{what}: a system has no named particles; select points of the mesh: "
            f"mesh.select({str(value)!r})"
        )
    array = np.atleast_1d(np.asarray(value))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype == bool:
        if array.shape != (n,):
            raise ModelError(
                f"{what}: a mask must have one entry per particle, shape ({n},), got {array.shape}"
            )
        return np.flatnonzero(array)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"{what}: expected particle indices, got {value!r}")
    outside = array[(array < 0) | (array >= n)]
    if len(outside):
        raise ModelError(f"{what}: there is no particle {outside[0]}; there are {n} (0 to {n - 1})")
    distinct = np.unique(array).astype(np.int64)
    if not ordered:
        return distinct
    if len(distinct) < len(array):
        raise ModelError(f"{what}: a particle is named twice")
    return array.astype(np.int64)


def to_numbers(value: Any, what: str) -> Float:
    """Return an array of numbers, or raise an error that names them."""
    try:
        return to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} must consist of numbers, got {value!r}") from error


def to_path(given: Any, what: str, values: str) -> Path:
    """Return a function of time: the given one, or samples (times, values) joined linearly.

    what, values : what the function and its samples are called in messages
    """
    if callable(given):
        return given
    if not (isinstance(given, (tuple, list)) and len(given) == 2):
        raise ModelError(
            f"{what} must be a function of time or a pair (times, {values}), got {given!r}"
        )
    t, p = to_numbers(given[0], f"{what}: times"), to_numbers(given[1], f"{what}: {values}")
    if t.ndim != 1 or len(t) == 0 or p.ndim == 0 or len(p) != len(t) or not (np.diff(t) > 0).all():
        raise ModelError(
            f"{what} by samples needs increasing times (T,) and as many {values}, "
            f"got shapes {t.shape} and {p.shape}"
        )
    if not (np.isfinite(t).all() and np.isfinite(p).all()):
        bad = int(np.argmin(np.isfinite(t) & np.isfinite(p.reshape(len(p), -1)).all(axis=1)))
        raise ModelError(f"{what} must have finite times and {values}, got {t[bad]:g} s: {p[bad]}")
    return Samples(t, p)


@dataclass(frozen=True, eq=False)
class Samples:
    """A path through samples, joined by straight lines and constant beyond the ends.

    A class, not a function within `to_path`, which could not be pickled.

    times : [s], increasing, (T,); values : (T, …)

    >>> Samples(np.array([0.0, 2.0]), np.array([1.0, 5.0]))(0.5)
    np.float64(2.0)
    """

    times: Float
    values: Float

    def __call__(self, now: float) -> Any:
        t, p = self.times, self.values
        i = int(np.clip(np.searchsorted(t, now, side="right") - 1, 0, max(len(t) - 2, 0)))
        if len(t) == 1:
            return p[0]
        s = float(np.clip((now - t[i]) / (t[i + 1] - t[i]), 0.0, 1.0))
        return p[i] + s * (p[i + 1] - p[i])


def evaluate_path(path: Path, t: float, what: str) -> Any:
    """Evaluate a path at time t [s]; an error inside it is reported with its name."""
    try:
        return path(t)
    except ModelError:
        raise
    except Exception as error:  # a user's function may raise anything
        raise ModelError(f"{what} could not be evaluated at t = {t:g} s: {error!r}") from error
