"""A System with other values of parameters, at the cost of a small part of a step.

Laws are not placed, traced or compiled again, and arguments are not checked again: everything that
does not depend on the values is shared with the system before.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from taut.binding.law import BoundLaw
from taut.system._arguments import to_entries

if TYPE_CHECKING:
    from taut.system.system import System

_GROUPS = {"energies": "_placed_energies", "damping": "_placed_damping", "loads": "_placed_loads"}


def change_parameters(system: System, changes: Mapping[str, Any]) -> System | None:
    """Return a copy of a system whose laws have other values of parameters.

    changes : new lists of energies, damping and loads, by name of the argument

    Returns None if they change more: a law, its elements, its name, a shape, another argument.
    """
    if not changes.keys() <= _GROUPS.keys():
        return None
    attributes: dict[str, Any] = {}
    for argument, entries in changes.items():
        if not isinstance(entries, (list, tuple)):
            return None  # an iterator could not be read twice
        found = to_entries(argument, entries)
        placed = _place_again(getattr(system, argument), found, getattr(system, _GROUPS[argument]))
        if placed is None:
            return None
        attributes[argument] = found
        attributes[_GROUPS[argument]] = MappingProxyType(placed)
    changed = object.__new__(type(system))
    changed.__dict__.update({**system.__dict__, **attributes})
    return changed


def _place_again(
    before: tuple[Any, ...], entries: tuple[Any, ...], placed: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the placed laws of a changed list by name, or None if more than values differ."""
    if len(before) != len(entries):
        return None
    names = iter(placed)  # in the order of the list, without Rayleigh dampings
    result: dict[str, Any] = {}
    for old, new in zip(before, entries, strict=True):
        if not isinstance(old, BoundLaw):
            if old is not new:
                return None
            continue
        name = next(names)
        law = placed[name]
        if new is not old:
            law = law.with_values(new) if _differ_in_values_only(old, new) else None
            if law is None:
                return None
        result[name] = law
    return result


def _differ_in_values_only(old: BoundLaw, new: Any) -> bool:
    if not isinstance(new, BoundLaw) or (new.law, new.name) != (old.law, old.name):
        return False
    same_strain = new.breaking_strain is old.breaking_strain or np.array_equal(
        new.breaking_strain, old.breaking_strain
    )
    return new.elements is old.elements and same_strain
