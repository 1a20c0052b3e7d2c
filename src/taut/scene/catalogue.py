"""What scenes may name, found where it is defined: laws in `taut.laws`, generators in `taut.mesh`, integrators in `taut`.

A law that is added to the catalogue is known here with its parameters, defaults and the units of its docstring; nothing is listed
a second time.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from taut import laws, mesh
from taut.formula.law import Law

_PARAMETER = re.compile(r"^ *(\w+(?:, \w+)*) : (.*)$")
REQUIRED = object()


@dataclass(frozen=True)
class Argument:
    """A parameter of a law or of a generator: its name, its default (`REQUIRED` or None if it is found out), what it is."""

    name: str
    default: Any
    says: str
    annotation: str = ""


def documented(text: str | None) -> dict[str, str]:
    """The lines "name : what it is" of a docstring, by name.

    >>> documented("A spring.\\n\\n    k : stiffness [N/m]\\n    l0 : rest length [m]")
    {'k': 'stiffness [N/m]', 'l0': 'rest length [m]'}
    """
    found: dict[str, str] = {}
    current: list[str] = []
    for line in (text or "").splitlines():
        match = _PARAMETER.match(line)
        if match:
            current = match[1].split(", ")
            found |= dict.fromkeys(current, match[2].strip())
        elif not line.strip():
            current = []
        else:
            found |= {name: f"{found[name]} {line.strip()}" for name in current}
    return found


def says(thing: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n")[0]


@cache
def law_names() -> dict[str, Any]:
    """All laws: `taut.formula.law.Law`s, and functions such as rayleigh that make a damping of the whole system."""
    return {name: getattr(laws, name) for name in laws.__all__}


def law_arguments(law: Any) -> list[Argument]:
    """The parameters of a law.

    >>> [a.name for a in law_arguments(laws.spring)], law_arguments(laws.wind)[1].default
    (['k', 'l0'], 1.204)
    """
    text = documented(law.__doc__)
    if not isinstance(law, Law):
        return [Argument(p.name, p.default, text.get(p.name, "")) for p in inspect.signature(law).parameters.values()]
    found = []
    for name in law.parameters:
        known = name in law.rest or name == "mass"
        default = law.defaults.get(name, None if known else REQUIRED)
        found.append(Argument(name, list(default) if isinstance(default, tuple) else default, text.get(name, "")))
    return found


@cache
def shape_names() -> dict[str, Callable[..., Any]]:
    """The generators of meshes.

    >>> "sheet" in shape_names(), "clean" in shape_names()
    (True, False)
    """
    every = {name: getattr(mesh, name) for name in mesh.__all__}
    return {name: f for name, f in every.items() if getattr(f, "__module__", "").startswith("taut.mesh.shapes.")}


def shape_arguments(shape: Callable[..., Any]) -> list[Argument]:
    """The arguments of a generator."""
    text = documented(shape.__doc__)
    return [
        Argument(p.name, REQUIRED if p.default is p.empty else p.default, text.get(p.name, ""), str(p.annotation))
        for p in inspect.signature(shape).parameters.values()
    ]


@cache
def integrator_names() -> dict[str, Any]:
    """The integrators that take steps of their own.

    >>> sorted(integrator_names())[:2]
    ['BDF2', 'ImplicitEuler']
    """
    from taut.step.adaptive import Adaptive
    from taut.step.integrator import Integrator

    public = import_module("taut")  # what it exports is what can be named
    every = {name: getattr(public, name) for name, home in public._HOME.items() if home.startswith("step.") and name[0].isupper()}
    return {n: c for n, c in every.items() if isinstance(c, type) and issubclass(c, Integrator) and c is not Adaptive}


def integrator_options(method: Any) -> dict[str, Any]:
    """What the constructor of an integrator takes, with the defaults.

    >>> integrator_options(integrator_names()["ImplicitEuler"])
    {'tolerance': None, 'solver': 'auto', 'minimiser': 'newton'}
    """
    return {p.name: p.default for p in inspect.signature(method).parameters.values()}
