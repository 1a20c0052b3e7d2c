"""The command line. Heavy imports happen inside the commands, so that `taut --help` answers at once."""

from __future__ import annotations

import sys

import typer

from taut.errors import TautError

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Mass-spring systems, from one formula per force to a certified step.",
)  # fmt: skip


@app.callback()
def taut() -> None:
    """Commands follow."""


@app.command()
def info(clear_cache: bool = typer.Option(False, "--clear-cache", help="Delete all compiled kernels.")) -> None:
    """Versions, threads, solvers and where compiled kernels are kept."""
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
        "threads": f"{numba.get_num_threads()}, layer {layer} (NUMBA_NUM_THREADS and NUMBA_THREADING_LAYER change them)",
        "solvers": "direct (LDLᵀ), cg (block Jacobi)",
        "kernel cache": f"{folder} ({kernels} modules)",
    }
    for name, value in rows.items():
        print(f"{name:13} {value}")


def main() -> None:
    """Run a command; an error of ours is one line and exit code 2."""
    try:
        app()
    except TautError as error:
        print(f"taut: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
