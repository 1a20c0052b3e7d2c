"""The threading layer of the compiled loops.

taut prefers Intel's tbb, whose threads yield at barriers: on a machine that is busy with other
things the OpenMP layer can be ten to forty times slower. Results do not depend on the layer or on
the number of threads.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from functools import cache
from importlib import metadata
from typing import Any

from taut.errors import ModelError


@cache
def prepare_threads() -> str:
    """Choose numba's threading layer, once; return its name.

    That is tbb where it can be loaded, otherwise omp, otherwise numba's own workqueue, which one
    thread at a time may use. A layer that the user chose (NUMBA_THREADING_LAYER) is kept.
    """
    from numba.core import config as numba_config

    config: Any = numba_config

    if "NUMBA_THREADING_LAYER" in os.environ:
        return str(config.THREADING_LAYER)
    if _load_tbb() and _importable("tbbpool"):
        layer = "tbb"
    elif _importable("omppool"):
        layer = "omp"
    else:
        layer = "workqueue"
    config.THREADING_LAYER = layer
    return layer


def hold_during_fork(lock: Any) -> None:
    """Let a fork of this process wait until no other thread holds a lock.

    The child would wait for ever for a thread that it has not inherited.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )


def raise_if_forked_from_openmp() -> None:
    """Raise in a process that was forked from one with threads of GNU OpenMP.

    Numba ends such a process at its first loop, and a pool that replaces it never ends.
    """
    if _FORKED_FROM_OPENMP:
        raise ModelError(
            "this process was forked from one that has used OpenMP threads, which do not survive "
            "a fork: start processes by multiprocessing.get_context('spawn'), or install tbb"
        )


_FORKED_FROM_OPENMP: list[int] = []  # ids of this process and of forked ancestors


def _note_fork() -> None:
    numba = sys.modules.get("numba")
    if numba is None or sys.platform != "linux":
        return
    try:
        layer = numba.threading_layer()
    except (AttributeError, ValueError):  # numba is only half imported, or has no threads yet
        return
    if layer == "omp":
        _FORKED_FROM_OPENMP.append(os.getpid())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def _importable(pool: str) -> bool:
    """Whether one of numba's layers can be loaded here."""
    try:
        importlib.import_module(f"numba.np.ufunc.{pool}")
    except ImportError:
        return False
    return True


def _load_tbb() -> bool:
    """Load the library of the tbb wheel for numba: it is not on the loader's search path."""
    try:
        files = metadata.files("tbb") or []
    except metadata.PackageNotFoundError:
        return False
    for file in files:
        if file.name.startswith(("libtbb.so.12", "libtbb.12.dylib", "tbb12.dll")):
            try:
                ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
            except OSError:
                continue
            return True
    return False
