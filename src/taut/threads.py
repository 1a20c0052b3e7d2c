"""The threading layer of the compiled loops.

taut prefers Intel's tbb, whose threads yield at barriers: on a machine that is busy with other
things the OpenMP layer can be ten to forty times slower. Results do not depend on the layer or on
the number of threads.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from functools import cache
from importlib import metadata
from typing import Any


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
