"""Experiments to fit: what was observed, and what a model with other parameters would show.

Each has a system and data. `predict(values)` changes the system's parameters and returns the
residuals (prediction - data)/sigma, and their exact derivatives by the parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.constraints.constraint import particle_indices
from taut.errors import ModelError
from taut.inverse.sensitivity import sensitivity
from taut.inverse.targets import change_system
from taut.run.simulate import simulate
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

# Relative: times of observations that differ by less from that of a step are its time
_SAME_TIME = 1e-6


class Experiment(Protocol):
    """One experiment.

    sigma : the standard deviation of its data, None if it is not known
    start : where the next search for an equilibrium begins; None if there is none
    """

    system: System
    sigma: float | None
    start: State | None

    @property
    def data(self) -> Float:
        """The data, (m,), without what was not observed."""

    def predict(self, values: Mapping[str, Any]) -> tuple[Float, Float]:
        """Return prediction - data, (m,), and its derivatives by the parameters, (m, k).

        values : of the parameters by name: a number for all elements, or one for each
        """


def read_data(what: str, data: ArrayLike, shape: tuple[int, ...]) -> Float:
    """Return data as an array of this shape, or raise ModelError."""
    array = np.array(data, dtype=np.float64)
    if array.shape != shape:
        raise ModelError(f"{what} must have the shape {shape}, got {array.shape}")
    if np.isinf(array).any():
        raise ModelError(f"{what} must be finite, or nan where nothing was observed")
    return array


def find_particles(system: System, given: Any) -> Int:
    """Return the observed particles, (p,): all if none are given."""
    if given is None:
        return np.arange(system.n)
    return particle_indices(given, system.n, "particles", ordered=True)


def to_columns(slopes: Float, value: Any) -> Float:
    """Return derivatives (m, *shape) by a parameter as columns: one if it is one number."""
    columns = slopes.reshape(len(slopes), -1)
    return columns.sum(axis=1, keepdims=True) if np.ndim(value) == 0 else columns


@dataclass(eq=False)
class Motion:
    """Points observed over time.

    system, integrator, h : the model and its steps [s]
    times : of the observations [s], (k,), each the end of a step
    positions : observed [m], (k, p, 3); nan where nothing was observed
    particles : the observed ones, (p,) (default: all)
    sigma : standard deviation of the data [m] (default: estimated from what the fit leaves)
    """

    system: System
    integrator: Integrator
    h: float
    times: ArrayLike
    positions: ArrayLike
    particles: Any = None
    sigma: float | None = None

    def __post_init__(self) -> None:
        self._times = np.array(self.times, dtype=np.float64)
        if self._times.ndim != 1 or not (self._times >= 0.0).all():
            raise ModelError(f"times must be a list of numbers from 0 on, got {self.times!r}")
        self._observed = find_particles(self.system, self.particles)
        shape = (len(self._times), len(self._observed), 3)
        self._data = read_data("positions", self.positions, shape)
        steps = self._times / self.h
        off = np.flatnonzero(np.abs(steps - np.round(steps)) > _SAME_TIME * np.maximum(steps, 1.0))
        if len(off):
            raise ModelError(
                f"times must be multiples of the step h = {self.h:g} s, got {self._times[off[0]]:g}"
            )
        self._steps = np.round(steps).astype(int)
        self.start: State | None = None

    @property
    def data(self) -> Float:
        """The data, (m,), without what was not observed."""
        return self._data[np.isfinite(self._data)]

    def predict(self, values: Mapping[str, Any]) -> tuple[Float, Float]:
        """Return prediction - data [m] and its derivatives."""
        system = change_system(self.system, values)
        until = float(self._steps.max()) * self.h
        found = sensitivity(simulate(system, self.integrator, self.h, until), list(values))
        at = np.ix_(self._steps, self._observed)
        seen = np.isfinite(self._data)
        residual = (found.q[at] - self._data)[seen]
        slopes = [to_columns(found.dq[name][at][seen], value) for name, value in values.items()]
        return residual, np.concatenate(slopes, axis=1)
