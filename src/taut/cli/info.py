"""`taut info`."""

from __future__ import annotations

from importlib import metadata
from typing import Annotated

import typer

from taut.extras import EXTRAS


def info(
    clear_cache: Annotated[bool, typer.Option("--clear-cache", help="Delete all compiled kernels.")] = False,
) -> None:
    """Versions, threads, solvers, extras, and the kernel cache."""
    import platform

    import numba
    import numpy
    import scipy

    from taut import __version__
    from taut.formula.cache import cache_directory
    from taut.formula.compile import clear_cache as clear
    from taut.threads import prepare_threads

    if clear_cache:
        print(f"removed {clear()} files")
        return
    layer = prepare_threads()
    folder = cache_directory()
    kernels = len(list(folder.glob("taut_*.ready")))
    rows = {
        "taut": __version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "libraries": f"numpy {numpy.__version__}, scipy {scipy.__version__}, numba {numba.__version__}",
        "threads": f"{numba.get_num_threads()} (NUMBA_NUM_THREADS changes it)",
        "layer": layer if layer == "tbb" else f"{layer} (tbb is slower on no machine and faster on a busy one: pip install tbb)",
        "solvers": "direct (LDLᵀ), cg (multigrid)",
        "extras": ", ".join(_extra(name, package) for name, package in EXTRAS.items()),
        "kernel cache": f"{folder} ({kernels} modules)",
    }
    for name, value in rows.items():
        print(f"{name:13} {value}")


def _extra(name: str, package: str) -> str:
    try:
        return f"{name} ({package} {metadata.version(package)})"
    except metadata.PackageNotFoundError:
        return f"{name} missing (pip install 'taut[{name}]')"
