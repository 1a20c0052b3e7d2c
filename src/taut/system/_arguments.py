"""The arguments of a System, checked: positions, masses, lists of laws and constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, describe, to_floats
from taut.binding.law import BoundLaw, Damping, Energy, Load
from taut.binding.placed_law import place
from taut.constraints.constraint import Constraint, particle_indices
from taut.errors import ModelError
from taut.laws.rayleigh import Rayleigh
from taut.linalg.blocks import find_nonfinite_rows

if TYPE_CHECKING:
    from taut.system.system import System

# What each list may contain.
_ENTRIES: dict[str, Any] = {
    "energies": Energy,
    "damping": (Damping, Rayleigh),
    "loads": Load,
    "constraints": Constraint,
}


def to_positions(value: ArrayLike, what: str, n: int | None = None) -> Float:
    """Return a finite copy of shape (n, 3), from (n, 3) or (n, 2) (then z = 0).

    what : the name in messages; n : how many there must be (default: any number)
    """
    if hasattr(value, "cells"):
        raise ModelError(f"{what} must be positions; pass the points of the mesh, mesh.points")
    try:
        array = to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} must be numbers: {error}") from error
    if array.ndim != 2 or array.shape[1] not in (2, 3) or (n is not None and len(array) != n):
        count = "n" if n is None else n
        raise ModelError(
            f"{what} must have the shape ({count}, 3) or ({count}, 2), got {array.shape}"
        )
    bad = find_nonfinite_rows(array)
    if len(bad):
        raise ModelError(
            f"{what} must be finite, got {array[bad[0]].tolist()} for particle {bad[0]}"
        )
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array))])
    return np.ascontiguousarray(array)


def to_masses(value: ArrayLike, n: int) -> Float:
    """Return one positive mass [kg] per particle, (n,), from one number for each or an array."""
    try:
        array = to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"mass must be a number or an array of numbers, got {value!r}") from error
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise ModelError(
            f"mass must be one number or one per particle, shape ({n},), got {array.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if len(bad):
        hint = " (is it in no cell that has mass?)" if array[bad[0]] == 0 else ""
        raise ModelError(
            f"masses must be positive and finite, got {array[bad[0]]} for particle {bad[0]}{hint}"
        )
    return array


def to_entries(what: str, entries: Iterable[Any]) -> tuple[Any, ...]:
    """Return a list of energies, damping, loads or constraints as a tuple, checked.

    >>> to_entries("energies", 3)
    Traceback (most recent call last):
    taut.errors.ModelError: energies must be a list of energies, got 3
    """
    kind = {"energies": "energies", "damping": "damping laws"}.get(what, what)
    if isinstance(entries, (str, bytes, Mapping)) or not isinstance(entries, Iterable):
        hint = f"; write {what}=[…]" if isinstance(entries, _ENTRIES[what]) else ""
        raise ModelError(f"{what} must be a list of {kind}, got {describe(entries)}{hint}")
    found = tuple(entries)
    for entry in found:
        if isinstance(entry, _ENTRIES[what]):
            continue
        raise ModelError(
            f"{what} must be a list of {kind}, got {describe(entry)} in it{_hint(what, entry)}"
        )
    return found


def _hint(what: str, entry: Any) -> str:
    """Return what to do about a wrong entry of a list, to append to an error."""
    for other, kinds in _ENTRIES.items():
        if isinstance(entry, kinds):
            return f"; it belongs in {other}=[…]"
    if isinstance(entry, (list, tuple)):
        return "; join lists by [*a, *b]"
    if what == "constraints":
        return "; create them by the functions of taut.constraints"
    return "; bind the law to elements first" if callable(entry) else ""


def place_laws(system: System, known: System | None) -> dict[str, dict[str, Any]]:
    """Place the energies, damping laws and loads of a system, by name.

    known : a system whose placed laws are used again where law and particles are the same
    """
    shared: dict[int, Any] = {}
    if known is not None and _have_same_particles(system, known):
        for group in (known._placed_energies, known._placed_damping, known._placed_loads):
            shared.update({id(placed.bound): placed for placed in group.values()})
    taken = ["rayleigh"] if system._rayleigh is not None else []
    damping = [d for d in system.damping if isinstance(d, Damping)]
    lists: dict[str, Sequence[BoundLaw]] = {
        "energies": system.energies,
        "damping": damping,
        "loads": system.loads,
    }
    placed: dict[str, dict[str, Any]] = {}
    for kind, entries in lists.items():
        # Energies may have the name of a Rayleigh damping: they are in other tables.
        others = [] if kind == "energies" else taken
        placed[kind] = _place_list(system, entries, others, shared)
        taken += placed[kind]
    return placed


def check_in_system(system: System) -> None:
    """Raise if an energy cannot act among the constraints of a system, such as on a loose rim."""
    held = [system.fixed]
    for constraint in system.constraints:
        if constraint.kind == "fixed" and constraint.until is None:
            held.append(particle_indices(constraint.particles, system.n, "fixed"))
    never_moves = np.zeros(system.n, dtype=bool)
    never_moves[np.concatenate(held)] = True
    for name, placed in system._placed_energies.items():
        check = placed.law.check_in_system
        if check is None:
            continue
        parameters = placed.parameters.pack(0.0)
        problem = check(placed.elements, parameters, system.pose, never_moves)
        if problem is not None:
            raise ModelError(f"law '{name}': {problem}")


def _have_same_particles(a: System, b: System) -> bool:
    return np.array_equal(a.rest, b.rest) and np.array_equal(a.mass, b.mass) and a.flat == b.flat


def _place_list(
    system: System, entries: Sequence[BoundLaw], taken: Sequence[str], shared: Mapping[int, Any]
) -> dict[str, Any]:
    """Place bound laws; the second of a name becomes `name 2`."""
    placed: dict[str, Any] = {}
    for entry in entries:
        name, count = entry.name, 1
        while name in placed or name in taken:
            count += 1
            name = f"{entry.name} {count}"
        law = shared.get(id(entry))
        if law is None:
            law = place(entry, system.rest, system.mass, flat=system.flat)
        if entry.law.domain:
            law.reject_outside_domain(system.pose)
        placed[name] = law
    return placed
