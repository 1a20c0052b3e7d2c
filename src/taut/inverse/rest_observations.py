"""Experiments at rest: shapes, forces of members, and frequencies about an equilibrium."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float
from taut.errors import ModelError, did_you_mean
from taut.inverse._directions import make_direction
from taut.inverse._frequencies import gradient_of_modes
from taut.inverse._part import push_gradient
from taut.inverse._static_point import StaticPoint
from taut.inverse._tangents import Direction
from taut.inverse.observations import find_particles, read_data, to_columns
from taut.inverse.result import ACCURACY
from taut.inverse.targets import change_system, read_value
from taut.optimise.tolerance import Tolerance
from taut.statics.equilibrium import Equilibrium, equilibrium
from taut.statics.modes import modes
from taut.system.state import State
from taut.system.system import System

_STATIC = Tolerance(relative=1e-12)  # of equilibria, whose errors would look like noise


def _differentiate_rest(
    point: StaticPoint, values: Mapping[str, Any]
) -> tuple[list[Float], list[Direction]]:
    """Return the changes of the positions at rest, (n, 3), with each number, and the directions."""
    q, t, changes, directions = np.array(point.state.q), point.state.t, [], []
    for name, value in values.items():
        whole = np.ones_like(read_value(point.system, name))
        units = [whole]
        if np.ndim(value):
            units = list(np.eye(whole.size).reshape(whole.size, *whole.shape))
        for unit in units:
            direction, _ = make_direction(point.system, name, unit)
            push = point.forces.push_energies(q, t, np.zeros_like(q), 0.0, direction.packed)
            changes.append(-point.solve(push))
            directions.append(direction)
    return changes, directions


class _AtRest:
    """What experiments at rest share: their data, and where the last equilibrium was."""

    system: System
    start: State | None
    _data: Float

    @property
    def data(self) -> Float:
        """The data, (m,), without what was not observed."""
        return self._data[np.isfinite(self._data)]

    def _find_rest(self, values: Mapping[str, Any]) -> tuple[System, Equilibrium]:
        """Return the model with other parameters, and its equilibrium."""
        system = change_system(self.system, values)
        rest = equilibrium(system, self.start, tolerance=_STATIC)
        self.start = rest.state  # the next parameters are close to these
        return system, rest


@dataclass(eq=False)
class Shape(_AtRest):
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
        self._observed = find_particles(self.system, self.particles)
        self._data = read_data("positions", self.positions, (len(self._observed), 3))
        self.start = self.system.initial_state()

    def predict(self, values: Mapping[str, Any]) -> tuple[Float, Float]:
        """Return prediction - data [m] and its derivatives."""
        system, rest = self._find_rest(values)
        point = StaticPoint(system, rest.state, 1.0, ACCURACY)
        q, seen = np.array(rest.state.q), np.isfinite(self._data)
        changes, _ = _differentiate_rest(point, values)
        slopes = np.stack([change[self._observed][seen] for change in changes], axis=1)
        return (q[self._observed] - self._data)[seen], slopes


@dataclass(eq=False)
class Forces(_AtRest):
    """Forces of members observed at rest [N], tension positive.

    system : the model under its loads
    law : the name of the law whose elements join two particles each
    forces : observed [N], (m,); nan where nothing was observed
    elements : of the law, (m,) (default: all)
    sigma : standard deviation of the data [N] (default: estimated)
    """

    system: System
    law: str
    forces: ArrayLike
    elements: Any = None
    sigma: float | None = None

    def __post_init__(self) -> None:
        laws = self.system._placed_energies
        if self.law not in laws or laws[self.law].elements.shape[1] != 2:
            pairs = [name for name, placed in laws.items() if placed.elements.shape[1] == 2]
            hint = did_you_mean(self.law, pairs) or f"; it has {', '.join(pairs) or 'none'}"
            raise ModelError(
                f"law must name an energy between two particles, got '{self.law}'{hint}"
            )
        every = np.arange(len(laws[self.law].elements))
        self._observed = every if self.elements is None else np.array(self.elements, dtype=np.int64)
        if not np.isin(self._observed, every).all():
            raise ModelError(f"elements of '{self.law}' must be from 0 to {every[-1]}")
        self._data = read_data("forces", self.forces, (len(self._observed),))
        self.start = self.system.initial_state()

    def predict(self, values: Mapping[str, Any]) -> tuple[Float, Float]:
        """Return prediction - data [N] and its derivatives.

        N = u·∂V/∂x₁ with u the direction of a member: its change is u·d(∂V/∂x₁), since u keeps its
        length and ∂V/∂x₁ is along it.
        """
        system, rest = self._find_rest(values)
        point = StaticPoint(system, rest.state, 1.0, ACCURACY)
        q, t = np.array(rest.state.q), rest.state.t
        part = next(part for part in point.forces.parts_of_energy if part.name == self.law)
        if part.rows is not None:
            raise ModelError(f"'{self.law}' has elements that are torn")
        ends = q[part.elements]
        along = ends[:, 1] - ends[:, 0]
        along = along / np.linalg.norm(along, axis=1)[:, None]
        at = part.place(q, q, 0.0, t)
        slopes, _ = part.products.slopes(at)
        force = np.einsum("mi,mi->m", along, slopes[:, 1])[self._observed]
        seen, columns = np.isfinite(self._data), []
        changes, directions = _differentiate_rest(point, values)
        for change, direction in zip(changes, directions, strict=True):
            dp = part.changes(direction.packed, t, 0.0, 1.0)
            pushed = push_gradient(part, at, change[part.elements], dp)[:, 1]
            columns.append(np.einsum("mi,mi->m", along, pushed)[self._observed][seen])
        return (force - self._data)[seen], np.stack(columns, axis=1)


@dataclass(eq=False)
class Frequencies(_AtRest):
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
        if (self._data <= 0.0).any():
            raise ModelError(f"omega must be positive, got {np.nanmin(self._data):g}")
        self._data = read_data("omega", self._data, self._data.shape)
        self.start = self.system.initial_state()

    def predict(self, values: Mapping[str, Any]) -> tuple[Float, Float]:
        """Return prediction - data [rad/s] and its derivatives."""
        system, rest = self._find_rest(values)
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
            rows.append(np.concatenate([to_columns(by[n][None], v)[0] for n, v in values.items()]))
        return found.omega[vibrating[seen]] - self._data[seen], np.array(rows)
