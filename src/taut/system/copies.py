"""Many copies of a system side by side in one, each with its own values of parameters.

Particle i of copy c has the number c·n + i, element e of a law the number c·m + e. Sums at a
particle have the order that they have in a single copy, and so their bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from taut.arrays import Int
from taut.binding.law import BoundLaw
from taut.errors import ModelError, TautError, did_you_mean
from taut.system.system import System


def reject_uncopyable(system: System) -> None:
    """Raise ModelError for what copies of a system cannot have."""
    reason = ""
    if system.contact is not None:
        reason = "contact"
    elif system._rayleigh is not None:
        reason = "Rayleigh damping"
    for c in system.constraints:
        if c.path is not None or c.path_from is not None:
            reason = f"a constraint that moves ('{c.kind}')"
        elif c.until is not None:
            reason = f"a constraint that ends ('{c.kind}')"
    for group in system._groups():
        for name, placed in group.items():
            if placed.parameters.time_dependent:
                parameter = next(iter(placed.parameters.time_dependent))
                reason = f"a parameter that is a function ('{name}.{parameter}')"
            elif getattr(placed, "couples_all_elements", False):
                reason = f"an energy of a total ('{name}')"
            elif getattr(placed, "breaking_strain", None) is not None:
                reason = f"elements that break ('{name}')"
            elif placed.law.flow:
                reason = f"rest values that flow ('{name}')"
    if reason:
        raise ModelError(
            f"batch: the system must not have {reason}; step such copies one by one, with "
            "taut.simulate"
        )


def vary_parameters(system: System, parameters: Mapping[str, Any], count: int) -> list[System]:
    """Return a system for each copy.

    parameters : values by name, such as "spring.k", each with one entry for each copy
    """
    if not parameters:
        return [system] * count
    split = {name: _find_law(system, name) for name in parameters}
    systems = []
    for i in range(count):
        changes: dict[str, list[Any]] = {}
        for name, values in parameters.items():
            group, k, parameter = split[name]
            laws = changes.setdefault(group, list(getattr(system, group)))
            laws[k] = laws[k].with_(**{parameter: values[i]})
        try:
            systems.append(system.with_(**changes))
        except TautError as error:
            raise ModelError(f"batch: copy {i}: {error}") from error
    return systems


def _find_law(system: System, name: str) -> tuple[str, int, str]:
    """Return where a parameter belongs: the argument of System, the place there, its name."""
    known = []
    for group in ("energies", "damping", "loads"):
        # The names in the system: a second law of the same kind has a number after its name.
        placed = iter(getattr(system, f"_placed_{group}"))
        for k, law in enumerate(getattr(system, group)):
            if not isinstance(law, BoundLaw):
                continue
            own = next(placed)
            for parameter in law.law.parameters:
                known.append(f"{own}.{parameter}")
                if known[-1] == name:
                    return group, k, parameter
    raise ModelError(f"batch: there is no parameter '{name}'{did_you_mean(name, known)}")


def join_copies(systems: Sequence[System]) -> System:
    """Return one system of all copies, which differ in values of parameters only."""
    system, count = systems[0], len(systems)
    n = system.n
    first = n * np.arange(count)
    points = system.rest[:, :2] if system.flat else system.rest
    joined = System(
        np.tile(points, (count, 1)),
        mass=np.tile(system.mass, count),
        energies=_copy_laws(system.energies, system._placed_energies, first),
        damping=_copy_laws(system.damping, system._placed_damping, first),
        loads=_copy_laws(system.loads, system._placed_loads, first),
        fixed=(first[:, None] + system.fixed).ravel(),
        constraints=[
            replace(c, particles=(first[:, None] + c.indices(n)).ravel())
            for c in system.constraints
        ],
        pose=np.tile(system.pose, (count, 1)),
        velocity=np.tile(system.velocity, (count, 1)),
    )
    for k, group in enumerate(joined._groups()):
        for name, placed in group.items():
            packed = [own._groups()[k][name].parameters.pack(0.0) for own in systems]
            placed.parameters.use_packed(np.concatenate(packed))
    return joined


def _copy_laws(laws: Sequence[Any], placed: Mapping[str, Any], first: Int) -> list[Any]:
    """Return laws on the elements of all copies; first : the first particle of each, (copies,).

    Values are those of the first copy: the packed ones of all copies replace them.
    """
    copied = []
    for law, own in zip(laws, placed.values(), strict=True):
        elements = law.elements
        if elements is not None:
            each = elements.reshape(len(elements), -1)
            elements = (first[:, None, None] + each).reshape(-1, each.shape[1])
        values = {}
        for name in law.parameters:
            value, shape = own.parameters.constant[name], own.parameters.shapes[name]
            if value.ndim > len(shape):  # one for each element
                value = np.tile(value, (len(first),) + (1,) * (value.ndim - 1))
            values[name] = value
        copied.append(law.law(elements, name=law.name, **values))
    return copied
