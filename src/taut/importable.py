"""Functions that other processes can import: a pickle holds a function as its module and name.

pickle itself sends functions by name only. Programs that build on cloudpickle (joblib, Dask) also
send the code of a function that has no such name; then nothing needs to be rejected here.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.context import get_spawning_popen
from types import FunctionType

from taut.errors import TautError

# Packages that pickle functions by value, alone or within another package; numba's is for itself.
_BY_VALUE = ("cloudpickle", "dill")
_PRIVATE = "numba."


def find_by_name(module: str, name: str) -> object:
    """Return what a loaded module has under a dotted name, or None.

    >>> find_by_name("taut.errors", "TautError.__doc__") == TautError.__doc__
    True
    """
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def require_importable(value: object, what: str, error: type[TautError]) -> None:
    """Raise unless other processes can import a function; values of other kinds are not checked.

    what : the function, for the message

    >>> require_importable(require_importable, "this", TautError)
    """
    if not isinstance(value, FunctionType) or _has_pickler_by_value():
        return
    module, name = value.__module__, value.__qualname__
    if find_by_name(module, name) is not value:
        fault = f"'{name}' is not found by that name in the module '{module}'"
    elif module == "__main__" and not _can_run_main():
        fault = "it was typed into a notebook or a prompt, which other processes do not see"
    else:
        return
    raise error(
        f"{what} cannot be pickled: {fault}; define it by `def` at the top level of a file, and "
        "import it, or use joblib or Dask, which send functions by value (pip install cloudpickle)"
    )


def _has_pickler_by_value() -> bool:
    loaded = [name for name in sys.modules if not name.startswith(_PRIVATE)]
    return any(name.rpartition(".")[2] in _BY_VALUE for name in loaded)


def _can_run_main() -> bool:
    """Whether child processes have what `__main__` defines: they run its file, or are forked."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    if file is not None and os.path.exists(file):  # what is piped in has the file <stdin>
        return True
    if get_spawning_popen() is not None:
        return False
    # `get_context()` would choose for the rest of the program. The first method is the default.
    chosen = multiprocessing.get_start_method(allow_none=True)
    return (chosen or multiprocessing.get_all_start_methods()[0]) == "fork"
