"""What is not in the core: the extras, the package each of them brings, and what to say where one is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from taut.errors import MissingExtra

EXTRAS = {
    "meshlane": "meshlane", "plot": "matplotlib", "render": "pyvista", "tetwild": "pytetwild", "usd": "usd-core", "view": "viser",
    "vtkhdf": "h5py",
}  # fmt: skip
"""What `pip install 'taut[…]'` adds, and the package that shows that it is there."""


def extra(name: str, module: str, what: str) -> Any:
    """A module of an extra; MissingExtra with the command that installs it where it is not there.

    name : of the extra; module : to import; what : needs it, in words

    >>> extra("plot", "no_such_module", "plots")
    Traceback (most recent call last):
    taut.errors.MissingExtra: plots need the package no_such_module: pip install 'taut[plot]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise _missing(name, error.name or module, what) from error


def require(name: str, module: str, what: str) -> None:
    """The same without importing it: for packages that only a child interpreter loads.

    >>> require("plot", "no_such_module", "plots")
    Traceback (most recent call last):
    taut.errors.MissingExtra: plots need the package no_such_module: pip install 'taut[plot]'
    """
    if find_spec(module) is None:
        raise _missing(name, module, what)


def _missing(name: str, module: str, what: str) -> MissingExtra:
    return MissingExtra(f"{what} need the package {module.partition('.')[0]}: pip install 'taut[{name}]'")
