"""Have another process compile what will be needed soon, while this one goes on: a first step then takes two thirds of the time."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from taut.formula.compile import is_compiled


def compile_ahead(*modules: str) -> None:
    """Begin to compile kernel files of the package that are not in the cache yet; `kernels` waits for what is being compiled.

    Should the other process come to nothing, this one compiles them when it needs them.
    """
    missing = [module for module in modules if not is_compiled(module)]
    if not missing or not _is_python(sys.executable):
        return
    code = f"from taut.formula.compile import kernels\nfor module in {missing!r}:\n    kernels(module)"
    quiet = subprocess.DEVNULL
    try:  # -P: what lies in the current folder is not imported
        process = subprocess.Popen([sys.executable, "-P", "-c", code], stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError:  # no more processes, say: nothing is lost but the head start
        return
    threading.Thread(target=process.wait, daemon=True).start()  # so that none is left behind as a zombie


def _is_python(executable: str | None) -> bool:
    """Whether that is Python's own program, and not another one that has Python inside, which must not be started again.

    >>> _is_python("/usr/bin/python3.11"), _is_python("/opt/animator/bin/animator"), _is_python(None)
    (True, False, False)
    """
    return Path(executable or "").stem.lower().startswith("python")
