"""A process of its own for work that may be killed, or may crash.

What it writes into a pipe is heard here.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from taut.bench.checkout import ROOT


def python_command(code: str) -> list[str]:
    """A command that runs Python code which may import `benchmarks`.

    -P keeps the current folder off the path; the checkout is put at its end instead.
    """
    return [sys.executable, "-P", "-c", f"import sys; sys.path.append({str(ROOT)!r}); {code}"]


def child(work: Callable[[int], object]) -> tuple[int, int]:
    """Begin work in a process of its own.

    The id of the process, and the end of a pipe that is read from here.

    work : is called there with the end of the pipe that is written to; an error in it is printed,
        and ends the process with 1
    """
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(heard)
            work(said)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(said)
    return pid, heard
