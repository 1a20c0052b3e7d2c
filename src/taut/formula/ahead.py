"""Have another process compile what will be needed soon, while this one goes on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from taut.formula.compile import Unit, is_compiled, put_source

_SEEN: set[str] = set()  # in this process: what came to nothing once is not tried again
_ONE_AT_A_TIME = threading.Lock()


def compile_ahead(units: Sequence[Unit]) -> None:
    """Begin to compile what is not in the cache yet; `load` waits for what is being compiled.

    Should the other process come to nothing, this one compiles when it needs to.
    """
    with _ONE_AT_A_TIME:
        missing = [unit for unit in units if unit.name not in _SEEN and not is_compiled(unit)]
        _SEEN.update(unit.name for unit in units)
    if not missing or not _is_python(sys.executable) or os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return
    try:
        names = [unit.name for unit in missing if put_source(unit)]
        if not names:  # others are at all of them
            return
        code = f"from taut.formula.compile import compile_source\nfor name in {names!r}:\n    compile_source(name)"
        quiet, hidden = subprocess.DEVNULL, getattr(subprocess, "CREATE_NO_WINDOW", 0)
        command = [sys.executable, *_flags(), "-c", code]
        process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, creationflags=hidden)
        threading.Thread(target=process.wait, daemon=True).start()  # so that none is left behind as a zombie
    except (OSError, RuntimeError):  # no more processes or threads, a full disk: nothing is lost but the head start
        return


def _flags() -> list[str]:
    """As this process was started, and so that nothing is imported from the current folder."""
    flags = {"-P": True, "-I": sys.flags.isolated, "-E": sys.flags.ignore_environment, "-s": sys.flags.no_user_site}
    return [flag for flag, given in flags.items() if given]


def _is_python(executable: str | None) -> bool:
    """Whether that is Python's own program, and not another one that has Python inside, which must not be started again.

    >>> _is_python("/usr/bin/python3.11"), _is_python("/opt/animator/bin/animator"), _is_python(None)
    (True, False, False)
    """
    name = re.fullmatch(r"python[\d.]*w?(\.exe)?", Path(executable or "").name.lower())
    return name is not None and not getattr(sys, "frozen", False)
