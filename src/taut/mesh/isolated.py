"""Call functions in a child interpreter, so that a crash there becomes an error here.

Third-party libraries may abort, exhaust memory or never return. Their calls run in a fresh Python
process. Arrays and options are exchanged through files that cannot hold code (no pickle); what the
child prints or writes stays in its temporary folder.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError

Arrays = dict[str, NDArray[Any]]
_ARRAYS, _FACTS, _CALL, _ERRORS, _DONE = (
    "arrays.npz",
    "facts.json",
    "call.json",
    "stderr.txt",
    "done",
)


def call_isolated(
    function: str,
    arrays: Mapping[str, NDArray[Any]],
    options: Mapping[str, Any],
    *,
    what: str,
    timeout: float,
) -> tuple[Arrays, dict[str, Any]]:
    """Call `function(arrays, **options)` in a child interpreter and return (arrays, facts).

    function : "module:name", of a function at the top of an importable module, which returns
        (arrays, facts)
    arrays : numpy arrays by name, none of objects
    options : what JSON can hold
    what : the action, which begins the error message
    timeout : seconds after which the child is killed

    A crash, an error, a timeout or a missing result is a `MeshError`. The child works in a
    temporary folder, so paths among the options must be absolute. Where the operating
    system allows it, its address space is limited to the memory of the machine.

    >>> arrays = {"x": np.arange(3)}
    >>> call_isolated("taut.mesh.isolated:echo", arrays, {"unit": "m"}, what="an echo", timeout=60)
    ({'x': array([0, 1, 2])}, {'unit': 'm'})
    """
    with TemporaryDirectory(prefix="taut-") as name:
        folder = Path(name)
        (folder / "in").mkdir()
        (folder / "out").mkdir()
        _save(folder / "in", arrays, dict(options))
        (folder / _CALL).write_text(json.dumps(function))
        code = _run_child(folder, what, timeout)
        if code != 0 or not (folder / _DONE).exists():
            raise MeshError(f"{what}: {_describe_exit(code, _last_line(folder / _ERRORS))}")
        return _load(folder / "out")


def _run_child(folder: Path, what: str, timeout: float) -> int:
    """Run a child interpreter on the call in a folder; return its exit code."""
    # the child finds the same modules as this process
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    code = "from taut.mesh.isolated import _child; _child()"
    with (folder / _ERRORS).open("wb") as errors:
        try:
            run = subprocess.run(
                [sys.executable, "-P", "-c", code, str(folder)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": path},
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise MeshError(f"{what}: killed after {timeout:g} s without a result") from None
        except OSError as error:
            raise MeshError(f"{what}: cannot start a child interpreter ({error})") from None
    return run.returncode


def echo(arrays: Arrays, **options: Any) -> tuple[Arrays, dict[str, Any]]:
    """Return the arguments: for tests of `call_isolated`.

    >>> echo({}, a=1)
    ({}, {'a': 1})
    """
    return arrays, options


def _child() -> None:
    """Entry point of the child: run the function that is named in the folder of its argument."""
    _limit_memory()
    folder = Path(sys.argv[1])
    module, _, name = json.loads((folder / _CALL).read_text()).partition(":")
    function = getattr(importlib.import_module(module), name)
    arrays, options = _load(folder / "in")
    _save(folder / "out", *function(arrays, **options))
    (folder / _DONE).touch()


def _limit_memory() -> None:
    try:
        import resource

        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(
            resource.RLIMIT_AS,
            (memory if hard == resource.RLIM_INFINITY else min(memory, hard), hard),
        )
    except (
        ImportError,
        ValueError,
        OSError,
    ):  # Windows has no such limit, and some systems refuse it
        return


def _save(folder: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise MeshError(f"the array '{name}' must not hold Python objects")
    # Prefixed, because savez takes arrays as keyword arguments and has parameters such as `file`.
    prefixed: dict[str, Any] = {f"array {name}": array for name, array in arrays.items()}
    np.savez(folder / _ARRAYS, **prefixed)
    (folder / _FACTS).write_text(json.dumps(dict(facts)))


def _load(folder: Path) -> tuple[Arrays, dict[str, Any]]:
    with np.load(folder / _ARRAYS, allow_pickle=False) as held:
        arrays = {name.removeprefix("array "): held[name] for name in held.files}
    return arrays, json.loads((folder / _FACTS).read_text())


def _last_line(path: Path) -> str:
    with path.open("rb") as file:
        # Only the end is read: a library may have printed megabytes.
        file.seek(max(0, path.stat().st_size - 2000))
        lines = file.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _describe_exit(code: int, last_line: str) -> str:
    detail = f": {last_line}" if last_line else ""
    if code < 0:
        known = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"the child crashed with {known}{detail}"
    if code:
        return f"the child ended with exit code {code}{detail}"
    return "the child ended without a result"
