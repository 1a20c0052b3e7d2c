"""Loaded by the workers that a study starts: Ctrl-C is for the process that started them.

A terminal sends Ctrl-C to all processes of a command. The driver ends the study in order, and its
workers with it; a worker that ended by itself would only print a traceback, and be replaced.
"""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Ignore Ctrl-C; Dask calls this when a worker starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
