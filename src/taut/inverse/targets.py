"""What a gradient is taken by: names such as "spring.k", and the arrays that belong to them.

law.parameter      a parameter of a law, by the name of the law in the system, in the shape in
                   which it was given: one number, or one for each element. Rest values that are
                   measured are per element
rayleigh.alpha, rayleigh.beta
contact.k, contact.range, contact.friction, contact.slip_speed
                   of contact; chosen ones count as given
contact.friction_pairs
                   the coefficients of pairs with friction of their own, (pairs,), in the order of
                   the contact, those of obstacles last
mass               masses of the particles, (n,); laws that take them, such as gravity, included
pose, velocity     initial positions and velocities, (n, 3); fixed points included
points             rest positions, (n, 3), through the rest values that are measured on them
paths              positions of scripted particles, at every time at which they were read
h                  lengths of the steps, (steps,)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from taut.arrays import Float, Mask
from taut.errors import ModelError, did_you_mean
from taut.formula.expression import Expr
from taut.formula.trace import trace_measure
from taut.system.contact import Contact
from taut.system.system import System

OF_THE_SYSTEM = ("mass", "pose", "velocity", "points", "paths", "h")
# In the order of `Sums.contact`; the last one has a number for each pair.
OF_CONTACT = (
    "contact.k",
    "contact.range",
    "contact.friction",
    "contact.slip_speed",
    "contact.friction_pairs",
)
RAYLEIGH = ("rayleigh.alpha", "rayleigh.beta")


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
    names = [f"{law}.{parameter}" for law, placed in laws_by_name(system).items()
             for parameter in placed.parameters.constant]  # fmt: skip
    names += _list_contact_targets(system)
    return [*names, *(RAYLEIGH if system._rayleigh is not None else ()), *OF_THE_SYSTEM]


def _list_contact_targets(system: System) -> list[str]:
    if system.contact is None:
        return []
    names = list(OF_CONTACT[:2])
    if system.contact.has_friction:
        names += OF_CONTACT[2:4]
        names += OF_CONTACT[4:] if system.contact.friction_pairs else ()
    return names


def find_contact_columns(name: str) -> int | slice:
    """Return which columns of `Sums.contact` are the gradient by a name."""
    index = OF_CONTACT.index(name)
    return slice(index, None) if name == OF_CONTACT[-1] else index


def laws_by_name(system: System) -> dict[str, Any]:
    """Return the placed laws of all kinds by name."""
    return {name: placed for group in system._groups() for name, placed in group.items()}


def split_name(system: System, name: Any) -> tuple[str, str]:
    """Return law and parameter of a name such as "spring.k"."""
    law, dot, parameter = str(name).rpartition(".")
    laws = laws_by_name(system)
    if not isinstance(name, str) or not dot:
        hint = did_you_mean(str(name), list_targets(system))
        raise ModelError(f"there is no '{name}' to differentiate by{hint}")
    if law not in laws:
        raise ModelError(f"'{name}': there is no law '{law}'{did_you_mean(law, laws)}")
    return law, parameter


def _check_parameter(system: System, name: Any) -> None:
    if name in RAYLEIGH:
        if system._rayleigh is None:
            raise ModelError(f"'{name}': the system has no Rayleigh damping")
        return
    if str(name).startswith("contact.") and system.contact is not None:
        if name not in OF_CONTACT:
            raise ModelError(
                f"'{name}' is not differentiated by; of contact, {', '.join(OF_CONTACT)} are"
            )
        if name not in _list_contact_targets(system):
            what = "pairs with friction of their own" if name == OF_CONTACT[-1] else "friction"
            raise ModelError(f"'{name}': the contact has no {what}")
        return
    law, parameter = split_name(system, name)
    parameters = laws_by_name(system)[law].parameters
    if parameter in parameters.time_dependent:
        of = "place and time" if parameter in parameters.depends_on_places else "time"
        raise ModelError(f"'{name}' is a function of {of}; give it as a number to differentiate")
    if parameter not in parameters.constant:
        hint = did_you_mean(parameter, parameters.constant)
        raise ModelError(f"'{name}': the law has no parameter '{parameter}'{hint}")


def read_value(system: System, name: str) -> Float:
    """Return the value of a parameter, in the shape of its gradient."""
    if name in ("mass", "pose", "velocity"):
        return np.array(getattr(system, name))
    if name == "points":
        return np.array(system.rest)
    if name in RAYLEIGH:
        assert system._rayleigh is not None
        return np.asarray(getattr(system._rayleigh, name.rpartition(".")[2]))
    if name == OF_CONTACT[-1] and system.contact is not None:
        return np.array([pair.coefficient for pair in system.contact.friction_pairs])
    if name in OF_CONTACT and system.contact is not None:
        return np.asarray(getattr(system.contact, name.rpartition(".")[2]), dtype=np.float64)
    if name in OF_THE_SYSTEM:
        raise ModelError(f"'{name}' has no single value")
    law, parameter = split_name(system, name)
    return np.array(laws_by_name(system)[law].parameters.constant[parameter])


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
        elif name in RAYLEIGH:
            of_laws.setdefault("rayleigh", {})[name.rpartition(".")[2]] = float(value)
        elif name in OF_CONTACT and system.contact is not None:
            contact = changes.get("contact", system.contact)
            changes["contact"] = _change_contact(contact, name.rpartition(".")[2], value)
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


def _change_contact(contact: Contact, name: str, value: Any) -> Contact:
    if name != "friction_pairs":
        changes: dict[str, Any] = {name: float(value)}
        return replace(contact, **changes)
    coefficients = np.broadcast_to(np.asarray(value, dtype=np.float64), len(contact.friction_pairs))
    pairs = zip(contact.friction_pairs, coefficients.tolist(), strict=True)
    return replace(contact, friction_pairs=tuple(replace(p, coefficient=c) for p, c in pairs))


def _change_rayleigh(system: System, entry: Any, values: Mapping[str, float] | None) -> Any:
    if values is None:
        return entry
    if sum(not hasattr(d, "law") for d in system.damping) > 1:
        raise ModelError("Rayleigh damping is given more than once; add its coefficients up")
    return type(entry)(values.get("alpha", entry.alpha), values.get("beta", entry.beta))


def list_measures(system: System) -> Iterator[tuple[str, str, list[Expr], list[Expr]]]:
    """Yield law, parameter, expressions and symbols of the positions of every measured rest value.

    Those that were given as numbers do not depend on the rest shape.
    """
    for name, placed in laws_by_name(system).items():
        for parameter, measure in placed.law.rest.items():
            if placed.bound.parameters.get(parameter) is not None:
                continue
            what = f"'{placed.law.name}', '{parameter}'"
            roots, _ = trace_measure(what, measure, placed.particles)
            graph = roots[0].graph
            if any(node.op == "total" for node in graph.nodes):
                raise ModelError(
                    f"'points': the rest value '{name}.{parameter}' is a total over all elements, "
                    "which is not differentiated; leave out 'points', or give the value"
                )
            x = [graph.symbol("x", p, k) for p in range(placed.particles) for k in range(3)]
            yield name, parameter, list(roots), x


def find_held_at_start(system: System) -> Mask:
    """Return which particles are held where they start, and so move with the pose, (n,)."""
    held_at_start = np.zeros(system.n, dtype=bool)
    held_at_start[system.fixed] = True
    elsewhere = np.zeros(system.n, dtype=bool)
    for constraint in system.constraints:
        own = constraint.indices(system.n)
        placed = constraint.through is not None or constraint.path is not None
        placed = placed or constraint.path_from is not None
        (elsewhere if placed else held_at_start)[own] = True
    return held_at_start & ~elsewhere
