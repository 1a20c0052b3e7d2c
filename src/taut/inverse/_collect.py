"""From the sums of a backward sweep to the gradients by name, in the shapes of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.formula.products import make_pull
from taut.inverse._moment import PathSums
from taut.inverse._part import Sums
from taut.inverse.targets import (
    OF_CONTACT,
    find_contact_columns,
    find_held_at_start,
    laws_by_name,
    list_measures,
    split_name,
)
from taut.system.system import SCRIPT_START, System


@dataclass(frozen=True, eq=False)
class PathGradient:
    """A gradient by the positions that paths prescribe.

    times : at which the paths were read [s], ascending, (k,)
    particles : those on paths, (p,)
    values : gradient by their positions at these times, (k, p, 3)

    Of a path x(t; a) with a parameter a, the gradient by a is Σ values·∂x/∂a over times and
    particles.
    """

    times: Float
    particles: Int
    values: Float


@dataclass(frozen=True, eq=False)
class SweepResult:
    """What a backward sweep has found.

    q, v : gradients by the initial positions and velocities, (n, 3)
    steps : by the length of each step, (steps,)
    from_initial : whether the run begins with the initial state of the system
    """

    value: float
    sums: Sums
    paths: PathSums
    q: Float
    v: Float
    steps: Float
    from_initial: bool


def collect(system: System, names: list[str], found: SweepResult) -> dict[str, Any]:
    """Return the gradients by name."""
    return {name: _collect_one(system, name, found) for name in names}


def _collect_one(system: System, name: str, found: SweepResult) -> Any:
    sums = found.sums
    if name == "mass":
        return _by_mass(system, sums)
    if name in OF_CONTACT:
        return np.asarray(sums.contact[find_contact_columns(name)])
    if name == "rayleigh.alpha":
        return np.asarray(sums.alpha)
    if name == "rayleigh.beta":
        return np.asarray(sums.beta)
    if name == "pose":
        return _by_pose(system, found)
    if name == "velocity":
        return system._projector.project(found.v)
    if name == "points":
        by_rest = _by_points(system, sums)
        return by_rest if system._has_own_pose else by_rest + _by_pose(system, found)
    if name == "paths":
        return _by_paths(system, found)
    if name == "h":
        return found.steps
    law, parameter = split_name(system, name)
    return by_parameter(system, sums, law, parameter)


def by_parameter(system: System, sums: Sums, law: str, parameter: str) -> Float:
    """Return the gradient by a parameter in the shape of its value."""
    parameters = laws_by_name(system)[law].parameters
    value, shape = parameters.constant[parameter], parameters.shapes[parameter]
    packed = sums.packed[law]
    columns = packed[:, parameters.columns(parameter)].reshape(len(packed), *shape)
    if value.ndim == len(shape):
        return np.asarray(columns.sum(axis=0))
    return np.asarray(columns)


def _by_mass(system: System, sums: Sums) -> Float:
    total = sums.mass.copy()
    for name, placed in laws_by_name(system).items():
        if "mass" in placed.parameters.shapes and placed.bound.parameters.get("mass") is None:
            columns = np.atleast_2d(by_parameter(system, sums, name, "mass").T).T
            total += np.bincount(
                placed.elements.ravel(), columns.ravel(), minlength=system.n
            )  # fmt: skip
    return total


def _by_points(system: System, sums: Sums) -> Float:
    """Return the gradient through rest values that are measured on the rest shape, (n, 3)."""
    total = np.zeros((system.n, 3))
    for name, parameter, roots, x in list_measures(system):
        elements = laws_by_name(system)[name].elements
        bar = by_parameter(system, sums, name, parameter).reshape(len(elements), -1)
        corners = system.rest[elements]
        slopes = make_pull(roots, {"x": x}).run({"x": corners, "z": bar}, len(bar))["x"]
        for k in range(3):
            part = np.ascontiguousarray(slopes[:, k::3]).ravel()
            total[:, k] += np.bincount(elements.ravel(), part, minlength=system.n)
    return total


def _by_pose(system: System, found: SweepResult) -> Float:
    """Return the gradient by the initial positions, with that of points held where they start."""
    free = system._projector.project(found.q)
    total = found.q - free
    total = total + (found.paths.total - system._projector.project(found.paths.total))
    if system.flat:
        total[:, 2] = 0.0
    return free + np.where(find_held_at_start(system)[:, None], total, 0.0)


def _by_paths(system: System, found: SweepResult) -> PathGradient:
    paths, projector = PathSums(system), system._projector
    paths.by_time |= found.paths.by_time
    if found.from_initial:
        paths.add(0.0, found.q - projector.project(found.q))
        parts, weights = projector.velocity_weights(0.0)
        held = found.v - projector.project(found.v)
        for part, weight in zip(parts, weights, strict=True):
            paths.add(part * SCRIPT_START, weight / SCRIPT_START * held)
    particles = paths.scripted
    times = sorted(t for t, bar in paths.by_time.items() if bar.any())
    values = np.array([paths.by_time[t] for t in times]).reshape(len(times), len(particles), 3)
    return PathGradient(np.array(times), particles, values)
