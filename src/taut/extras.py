"""Optional dependencies: the extras, their packages, and the error for a missing one."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from taut.errors import MissingExtra

EXTRAS = {
    "jax": "jax",
    "meshlane": "meshlane",
    "plot": "matplotlib",
    "render": "pyvista",
    "sweep": "distributed",
    "tetwild": "pytetwild",
    "torch": "torch",
    "usd": "usd-core",
    "view": "viser",
    "vtkhdf": "h5py",
    "xarray": "xarray",
}
"""Extras of `pip install 'taut[…]'`, each with the package whose version `taut info` shows."""


def import_extra(extra: str, module: str, subject: str) -> Any:
    """Import a module of an extra; raise MissingExtra with the pip command if it is not installed.

    extra : name of the extra
    module : name of the module
    subject : what needs it, a plural that begins the message

    >>> import_extra("plot", "no_such_module", "plots")
    Traceback (most recent call last):
    taut.errors.MissingExtra: plots need the package no_such_module: pip install 'taut[plot]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise _missing_extra(extra, error.name or module, subject) from error


def require_extra(extra: str, module: str, subject: str) -> None:
    """Raise like `import_extra`, but import nothing: for packages that only a child process loads.

    >>> require_extra("plot", "no_such_module", "plots")
    Traceback (most recent call last):
    taut.errors.MissingExtra: plots need the package no_such_module: pip install 'taut[plot]'
    """
    if find_spec(module) is None:
        raise _missing_extra(extra, module, subject)


def _missing_extra(extra: str, module: str, subject: str) -> MissingExtra:
    package = module.partition(".")[0]
    return MissingExtra(f"{subject} need the package {package}: pip install 'taut[{extra}]'")
