"""Let another process compile what will be needed soon, while this one continues."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from taut.jit.compile import SourceModule, is_compiled, write_source
from taut.threads import hold_during_fork

_REQUESTED: set[str] = set()  # names of modules; one whose compilation failed is not tried again
_LOCK = threading.Lock()  # of _REQUESTED
hold_during_fork(_LOCK)


def compile_in_background(sources: Sequence[SourceModule]) -> None:
    """Start to compile modules that are not in the cache yet; `load` waits for those under way.

    If the other process fails, `load` compiles the module in this one.
    """
    with _LOCK:
        missing = [s for s in sources if s.name not in _REQUESTED and not is_compiled(s)]
        _REQUESTED.update(s.name for s in sources)
    is_disabled = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
    if not missing or is_disabled or not _is_python(sys.executable):
        return
    try:
        names = [s.name for s in missing if write_source(s)]
        if names:  # else other processes are compiling all of them
            _start_process(names)
    except (OSError, RuntimeError):
        # No more processes or threads, a full disk: only the head start is lost.
        return


def _start_process(names: list[str]) -> None:
    code = (
        "from taut.jit.compile import compile_written_source\n"
        f"for name in {names!r}:\n    compile_written_source(name)"
    )
    process = subprocess.Popen(
        [sys.executable, *_flags(), "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # on Windows
    )
    # Waiting for it keeps a finished process from staying behind as a zombie.
    threading.Thread(target=process.wait, daemon=True).start()


def _flags() -> list[str]:
    """Return flags as this process was started; -P: import nothing from the current folder."""
    flags = {
        "-P": True,
        "-I": sys.flags.isolated,
        "-E": sys.flags.ignore_environment,
        "-s": sys.flags.no_user_site,
    }
    return [flag for flag, is_set in flags.items() if is_set]


def _is_python(executable: str | None) -> bool:
    """Whether this is Python's own program.

    A program with Python inside, such as an animation package, must not be started a second time.

    >>> _is_python("/usr/bin/python3.11"), _is_python("/opt/animator/bin/animator")
    (True, False)
    >>> _is_python(None)
    False
    """
    name = re.fullmatch(r"python[\d.]*w?(\.exe)?", Path(executable or "").name.lower())
    return name is not None and not getattr(sys, "frozen", False)
