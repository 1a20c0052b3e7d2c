"""`taut info`: versions, threads, extras and the kernel cache."""

from __future__ import annotations

from importlib import metadata
from typing import Annotated

import typer

from taut.extras import EXTRAS


def info(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Delete all compiled kernels.")
    ] = False,
) -> None:
    """Print versions, threads, solvers, extras, and the kernel cache."""
    import platform

    import numba
    import numpy
    import scipy

    from taut import __version__
    from taut.jit.compile import clear_cache as clear
    from taut.jit.kernel_cache import cache_directory
    from taut.threads import prepare_threads

    if clear_cache:
        print(f"deleted {clear()} files")
        return
    layer = prepare_threads()
    if layer != "tbb":
        layer += " (tbb is never slower, and faster on a busy machine: pip install tbb)"
    folder = cache_directory()
    kernels = len(list(folder.glob("taut_*.ready")))
    system = f"{platform.system()} {platform.machine()}"
    rows = {
        "taut": __version__,
        "python": f"{platform.python_version()} on {system}",
        "libraries": f"numpy {numpy.__version__}, scipy {scipy.__version__}, "
        f"numba {numba.__version__}",
        "threads": f"{numba.get_num_threads()} (NUMBA_NUM_THREADS sets the number)",
        "layer": layer,
        "solvers": "direct (LDLᵀ), cg (multigrid)",
        "extras": ", ".join(_format_extra(name, package) for name, package in EXTRAS.items()),
        "kernel cache": f"{folder} ({kernels} modules)",
    }
    for name, value in rows.items():
        print(f"{name:13} {value}")


def _format_extra(name: str, package: str) -> str:
    try:
        return f"{name} ({package} {metadata.version(package)})"
    except metadata.PackageNotFoundError:
        return f"{name} missing (pip install 'taut[{name}]')"
