"""Run work that may be killed or crash in a child process, which reports through a pipe."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from taut.bench.checkout import ROOT


def python_command(code: str) -> list[str]:
    """Return a command that runs Python code which may import `benchmarks`.

    -P keeps the current folder off the path; the checkout is appended to it instead.
    """
    return [sys.executable, "-P", "-c", f"import sys; sys.path.append({str(ROOT)!r}); {code}"]


def fork_child(work: Callable[[int], object]) -> tuple[int, int]:
    """Start work in a child process; return its process id and the reading end of a pipe.

    work : called in the child with the writing end of the pipe; an error in it is printed, and
        makes the exit code 1
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            work(writing)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    return pid, reading
