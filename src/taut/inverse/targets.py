"""What a gradient is taken by: names such as "spring.k", and the arrays that belong to them.

law.parameter      a parameter of a law, by the name of the law in the system, in the shape in
                   which it was given: one number, or one for each element. Rest values that are
                   measured are per element
rayleigh.alpha, rayleigh.beta
mass               masses of the particles, (n,); laws that take them, such as gravity, included
pose, velocity     initial positions and velocities, (n, 3); fixed points included
points             rest positions, (n, 3), through the rest values that are measured on them
paths              positions of scripted particles, at every time at which they were read
h                  lengths of the steps, (steps,)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.errors import ModelError, did_you_mean
from taut.formula.products import make_pull
from taut.formula.trace import trace_measure
from taut.inverse._moment import PathSums
from taut.inverse._part import Sums
from taut.system.system import SCRIPT_START, System

OF_THE_SYSTEM = ("mass", "pose", "velocity", "points", "paths", "h")
_RAYLEIGH = ("rayleigh.alpha", "rayleigh.beta")


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


def check_targets(system: System, by: Any) -> list[str]:
    """Return the names of what a gradient is taken by, or raise ModelError."""
    if isinstance(by, str) or not isinstance(by, Iterable):
        raise ModelError(f'by must be a list of names such as ["spring.k", "mass"], got {by!r}')
    names = list(by)
    if not names:
        raise ModelError("by must name at least one parameter, got none")
    for name in names:
        if name not in OF_THE_SYSTEM:
            _check_parameter(system, name)
    if len(set(names)) < len(names):
        raise ModelError(f"by must name each parameter once, got {names}")
    return names


def list_targets(system: System) -> list[str]:
    """Return the names of all parameters of laws that do not depend on time, and of the system."""
    names = [f"{law}.{parameter}" for law, placed in _laws(system).items()
             for parameter in placed.parameters.constant]  # fmt: skip
    return [*names, *(_RAYLEIGH if system._rayleigh is not None else ()), *OF_THE_SYSTEM]


def _laws(system: System) -> dict[str, Any]:
    return {name: placed for group in system._groups() for name, placed in group.items()}


def split_name(system: System, name: Any) -> tuple[str, str]:
    """Return law and parameter of a name such as "spring.k"."""
    law, dot, parameter = str(name).rpartition(".")
    laws = _laws(system)
    if not isinstance(name, str) or not dot:
        hint = did_you_mean(str(name), list_targets(system))
        raise ModelError(f"there is no '{name}' to differentiate by{hint}")
    if law not in laws:
        raise ModelError(f"'{name}': there is no law '{law}'{did_you_mean(law, laws)}")
    return law, parameter


def _check_parameter(system: System, name: Any) -> None:
    if name in _RAYLEIGH:
        if system._rayleigh is None:
            raise ModelError(f"'{name}': the system has no Rayleigh damping")
        return
    law, parameter = split_name(system, name)
    parameters = _laws(system)[law].parameters
    if parameter in parameters.time_dependent:
        raise ModelError(f"'{name}' is a function of time; give it as a number to differentiate")
    if parameter not in parameters.constant:
        hint = did_you_mean(parameter, parameters.constant)
        raise ModelError(f"'{name}': the law has no parameter '{parameter}'{hint}")


def read_value(system: System, name: str) -> Float:
    """Return the value of a parameter, in the shape of its gradient."""
    if name in ("mass", "pose", "velocity"):
        return np.array(getattr(system, name))
    if name == "points":
        return np.array(system.rest)
    if name in _RAYLEIGH:
        assert system._rayleigh is not None
        return np.asarray(getattr(system._rayleigh, name.rpartition(".")[2]))
    if name in OF_THE_SYSTEM:
        raise ModelError(f"'{name}' has no single value")
    law, parameter = split_name(system, name)
    return np.array(_laws(system)[law].parameters.constant[parameter])


def change_system(system: System, values: Mapping[str, Any]) -> System:
    """Return the system with other values of parameters, masses, pose or velocity, by name.

    >>> import taut
    >>> pair = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0,
    ...                    energies=[taut.laws.spring([[0, 1]], k=10.0)])
    >>> float(read_value(change_system(pair, {"spring.k": 20.0}), "spring.k"))
    20.0
    """
    changes: dict[str, Any] = {}
    of_laws: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if name in ("mass", "pose", "velocity", "points"):
            changes[name] = value[:, :2] if name == "points" and system.flat else value
        elif name in _RAYLEIGH:
            of_laws.setdefault("rayleigh", {})[name.rpartition(".")[2]] = float(value)
        elif name in OF_THE_SYSTEM:
            raise ModelError(f"'{name}' cannot be changed by value")
        else:
            law, parameter = split_name(system, name)
            of_laws.setdefault(law, {})[parameter] = value
    groups = {"energies": system._placed_energies, "damping": system._placed_damping,
              "loads": system._placed_loads}  # fmt: skip
    for argument, placed in groups.items():
        names, entries = iter(placed), []
        for entry in getattr(system, argument):
            if not hasattr(entry, "law"):  # Rayleigh damping
                entries.append(_change_rayleigh(system, entry, of_laws.get("rayleigh")))
                continue
            changed = of_laws.get(next(names))
            entries.append(entry if changed is None else entry.with_(**changed))
        if any(a is not b for a, b in zip(entries, getattr(system, argument), strict=True)):
            changes[argument] = entries
    return system.with_(**changes) if changes else system


def _change_rayleigh(system: System, entry: Any, values: Mapping[str, float] | None) -> Any:
    if values is None:
        return entry
    if sum(not hasattr(d, "law") for d in system.damping) > 1:
        raise ModelError("Rayleigh damping is given more than once; add its coefficients up")
    return type(entry)(values.get("alpha", entry.alpha), values.get("beta", entry.beta))


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
    parameters = _laws(system)[law].parameters
    value, shape = parameters.constant[parameter], parameters.shapes[parameter]
    packed = sums.packed[law]
    columns = packed[:, parameters.columns(parameter)].reshape(len(packed), *shape)
    if value.ndim == len(shape):
        return np.asarray(columns.sum(axis=0))
    return np.asarray(columns)


def _by_mass(system: System, sums: Sums) -> Float:
    total = sums.mass.copy()
    for name, placed in _laws(system).items():
        if "mass" in placed.parameters.shapes and placed.bound.parameters.get("mass") is None:
            columns = np.atleast_2d(by_parameter(system, sums, name, "mass").T).T
            total += np.bincount(
                placed.elements.ravel(), columns.ravel(), minlength=system.n
            )  # fmt: skip
    return total


def _by_points(system: System, sums: Sums) -> Float:
    """Return the gradient through rest values that are measured on the rest shape, (n, 3)."""
    total = np.zeros((system.n, 3))
    for name, placed in _laws(system).items():
        for parameter, measure in placed.law.rest.items():
            if placed.bound.parameters.get(parameter) is not None:
                continue
            bar = by_parameter(system, sums, name, parameter).reshape(len(placed.elements), -1)
            roots, _ = trace_measure(f"'{placed.law.name}', '{parameter}'", measure,
                                     placed.particles)  # fmt: skip
            graph = roots[0].graph
            if any(node.op == "total" for node in graph.nodes):
                raise ModelError(
                    f"'points': the rest value '{name}.{parameter}' is a total over all elements, "
                    "which is not differentiated; leave out 'points', or give the value"
                )
            x = [graph.symbol("x", p, k) for p in range(placed.particles) for k in range(3)]
            corners = system.rest[placed.elements]
            slopes = make_pull(roots, {"x": x}).run({"x": corners, "z": bar}, len(bar))["x"]
            for k in range(3):
                part = np.ascontiguousarray(slopes[:, k::3]).ravel()
                total[:, k] += np.bincount(placed.elements.ravel(), part, minlength=system.n)
    return total


def _by_pose(system: System, found: SweepResult) -> Float:
    """Return the gradient by the initial positions, with that of points held where they start."""
    free = system._projector.project(found.q)
    total = found.q - free
    for vectors in found.paths.by_time.values():
        total = total + (vectors - system._projector.project(vectors))
    held_at_start = np.zeros(system.n, dtype=bool)
    held_at_start[system.fixed] = True
    elsewhere = np.zeros(system.n, dtype=bool)
    for constraint in system.constraints:
        own = constraint.indices(system.n)
        placed = constraint.through is not None or constraint.path is not None
        placed = placed or constraint.path_from is not None
        (elsewhere if placed else held_at_start)[own] = True
    moves = held_at_start & ~elsewhere
    if system.flat:
        total[:, 2] = 0.0
    return free + np.where(moves[:, None], total, 0.0)


def _by_paths(system: System, found: SweepResult) -> PathGradient:
    paths = PathSums(dict(found.paths.by_time))
    projector = system._projector
    if found.from_initial:
        paths.add(0.0, found.q - projector.project(found.q))
        parts, weights = projector.velocity_weights(0.0)
        held = found.v - projector.project(found.v)
        for part, weight in zip(parts, weights, strict=True):
            paths.add(part * SCRIPT_START, weight / SCRIPT_START * held)
    none = np.empty(0, dtype=np.int64)
    particles = np.unique(np.concatenate([none, *(own for own, _ in projector.scripts)]))
    times = sorted(t for t, bar in paths.by_time.items() if bar[particles].any())
    values = np.array([paths.by_time[t][particles] for t in times]).reshape(-1, len(particles), 3)
    return PathGradient(np.array(times), particles, values)
