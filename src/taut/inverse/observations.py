"""Experiments to fit: what was observed, and what a model with other parameters would show.

Each has a system and data. `predict(values)` changes the system's parameters and returns the
residuals (prediction - data)/sigma, and their exact derivatives by the parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.constraints.constraint import particle_indices
from taut.errors import ModelError
from taut.inverse._frequencies import gradient_of_modes
from taut.inverse._statics import StaticPoint
from taut.inverse.result import ACCURACY
from taut.inverse.sensitivity import make_direction, sensitivity
from taut.inverse.targets import change_system, read_value
from taut.optimise.tolerance import Tolerance
from taut.run.simulate import simulate
from taut.statics.equilibrium import equilibrium
from taut.statics.modes import modes
from taut.step.integrator import Integrator
from taut.system.system import System

# Relative: times of observations that differ by less from that of a step are its time
_SAME_TIME = 1e-6
_STATIC = Tolerance(relative=1e-12)  # of equilibria, whose errors would look like noise


class Experiment(Protocol):
    """One experiment; `sigma`: the standard deviation of its data, None if it is not known."""

    system: System
    sigma: float | None

    @property
    def data(self) -> Float:
        """The data, (m,), without what was not observed."""

    def predict(self, values: Mapping[str, float]) -> tuple[Float, Float]:
        """Return prediction - data, (m,), and its derivatives by the parameters, (m, k)."""


def _read_data(what: str, data: ArrayLike, shape: tuple[int, ...]) -> Float:
    array = np.array(data, dtype=np.float64)
    if array.shape != shape:
        raise ModelError(f"{what} must have the shape {shape}, got {array.shape}")
    return array


def _particles(system: System, given: Any) -> Int:
    if given is None:
        return np.arange(system.n)
    return particle_indices(given, system.n, "particles", ordered=True)


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
        self._observed = _particles(self.system, self.particles)
        shape = (len(self._times), len(self._observed), 3)
        self._data = _read_data("positions", self.positions, shape)
        steps = self._times / self.h
        off = np.flatnonzero(np.abs(steps - np.round(steps)) > _SAME_TIME * np.maximum(steps, 1.0))
        if len(off):
            raise ModelError(
                f"times must be multiples of the step h = {self.h:g} s, got {self._times[off[0]]:g}"
            )
        self._steps = np.round(steps).astype(int)

    @property
    def data(self) -> Float:
        """The data, (m,), without what was not observed."""
        return self._data[np.isfinite(self._data)]

    def predict(self, values: Mapping[str, float]) -> tuple[Float, Float]:
        """Return prediction - data [m] and its derivatives."""
        system = change_system(self.system, values)
        until = float(self._steps.max()) * self.h
        found = sensitivity(simulate(system, self.integrator, self.h, until), list(values))
        at = np.ix_(self._steps, self._observed)
        seen = np.isfinite(self._data)
        residual = (found.q[at] - self._data)[seen]
        slopes = [found.dq[name][at][seen] for name in values]
        return residual, np.stack(slopes, axis=-1)


@dataclass(eq=False)
class Shape:
    """Points observed at rest: a static shape, or deflections under known loads.

    system : the model under its loads
    positions : observed [m], (p, 3); nan where nothing was observed
    particles, sigma : as in `Motion`
    """

    system: System
    positions: ArrayLike
    particles: Any = None
    sigma: float | None = None

    def __post_init__(self) -> None:
        self._observed = _particles(self.system, self.particles)
        self._data = _read_data("positions", self.positions, (len(self._observed), 3))
        self._start = self.system.initial_state()

    @property
    def data(self) -> Float:
        """The data, (m,), without what was not observed."""
        return self._data[np.isfinite(self._data)]

    def predict(self, values: Mapping[str, float]) -> tuple[Float, Float]:
        """Return prediction - data [m] and its derivatives."""
        system = change_system(self.system, values)
        rest = equilibrium(system, self._start, tolerance=_STATIC)
        self._start = rest.state  # the next parameters are close to these
        point = StaticPoint(system, rest.state, 1.0, ACCURACY)
        q, t, seen = np.array(rest.state.q), rest.state.t, np.isfinite(self._data)
        slopes = []
        for name in values:
            direction, _ = make_direction(system, name, np.ones_like(read_value(system, name)))
            zero = np.zeros_like(q)
            push = point.forces.push_energies(q, t, zero, 0.0, direction.packed)
            slopes.append(-point.solve(push)[self._observed][seen])
        return (q[self._observed] - self._data)[seen], np.stack(slopes, axis=-1)


@dataclass(eq=False)
class Frequencies:
    """Natural frequencies observed about the equilibrium of a model.

    system : the model
    omega : observed angular frequencies [rad/s], (k,), of the lowest modes that vibrate; nan where
        one was not observed
    sigma : standard deviation of the data [rad/s] (default: estimated)
    """

    system: System
    omega: ArrayLike
    sigma: float | None = None

    def __post_init__(self) -> None:
        self._data = np.array(self.omega, dtype=np.float64)
        if self._data.ndim != 1 or not len(self._data):
            raise ModelError(f"omega must be a list of frequencies, got {self.omega!r}")
        self._start = self.system.initial_state()

    @property
    def data(self) -> Float:
        """The data, (m,), without what was not observed."""
        return self._data[np.isfinite(self._data)]

    def predict(self, values: Mapping[str, float]) -> tuple[Float, Float]:
        """Return prediction - data [rad/s] and its derivatives."""
        system = change_system(self.system, values)
        rest = equilibrium(system, self._start, tolerance=_STATIC)
        self._start = rest.state
        count = len(self._data) + 6  # rigid motions of a free body do not vibrate
        found = modes(system, rest.state, n=count)
        vibrating = np.flatnonzero(found.omega > 0.0)[: len(self._data)]
        if len(vibrating) < len(self._data):
            raise ModelError(
                f"{len(self._data)} frequencies were observed, but the model has "
                f"{len(vibrating)} that vibrate"
            )
        seen = np.flatnonzero(np.isfinite(self._data))
        rows = []
        for k in vibrating[seen]:
            weights = np.zeros_like(found.omega)
            weights[k] = 1.0

            def loss(omega: Float, weights: Float = weights) -> tuple[float, Float]:
                return float(np.einsum("k,k->", weights, omega)), weights

            by = gradient_of_modes(found, loss, list(values), rest, certify=False)
            rows.append([float(np.sum(by[name])) for name in values])
        return found.omega[vibrating[seen]] - self._data[seen], np.array(rows)


Experiments = Sequence[Experiment]
