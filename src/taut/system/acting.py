"""What acts on the particles of a system: bound laws and constraints, checked, named and placed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.constraints.constraint import Constraint
from taut.errors import ModelError
from taut.formula.bound import Bound, Damping, Energy, Load
from taut.formula.placed import Placed, place
from taut.formula.placed_load import PlacedLoad
from taut.laws.rayleigh import Rayleigh

Float = NDArray[np.float64]
KINDS: dict[str, Any] = {"energies": Energy, "damping": (Damping, Rayleigh), "loads": Load, "constraints": Constraint}


def listed(word: str, entries: Iterable[Any]) -> tuple[Any, ...]:
    """What was given as `word`, one of KINDS, if it is a list of such things; the error names what is not.

    >>> listed("energies", 3)
    Traceback (most recent call last):
    taut.errors.ModelError: energies is a list; put 3 into one
    """
    if not isinstance(entries, Iterable):
        raise ModelError(f"{word} is a list; put {entries!r} into one")
    found = tuple(entries)
    for entry in found:
        if isinstance(entry, KINDS[word]):
            continue
        if word == "constraints":
            raise ModelError(f"constraints: {entry!r} is not a constraint; make one with taut.constraints")
        hint = " (bind the law to elements first)" if callable(entry) else ""
        raise ModelError(f"{word}: {entry!r} does not belong here{hint}")
    return found


def placed_laws(
    entries: Sequence[Bound], rest: Float, mass: Float, *, flat: bool, taken: Iterable[str], done: Mapping[int, Any]
) -> dict[str, Any]:
    """Bound laws among particles at rest [m], (n, 3), with masses [kg], (n,), by name; the second of a name is called `name 2`.

    taken : names that others have; done : what has been placed before, by the id of the bound law
    """
    placed: dict[str, Placed | PlacedLoad] = {}
    others = frozenset(taken)
    for entry in entries:
        name, count = entry.name, 1
        while name in placed or name in others:
            count += 1
            name = f"{entry.name} {count}"
        make = PlacedLoad if isinstance(entry, Load) else place
        placed[name] = done.get(id(entry)) or make(entry, rest, mass, flat=flat)
    return placed
