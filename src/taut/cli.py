"""The command line. Heavy imports happen inside the commands, so that `taut --help` answers at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

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
        "threads": f"{numba.get_num_threads()} (NUMBA_NUM_THREADS changes it)",
        "layer": layer if layer == "tbb" else f"{layer} (tbb is slower on no machine and faster on a busy one: pip install tbb)",
        "solvers": "direct (LDLᵀ), cg (multigrid)",
        "kernel cache": f"{folder} ({kernels} modules)",
    }
    for name, value in rows.items():
        print(f"{name:13} {value}")


@app.command()
def bench(
    rows: Annotated[list[str] | None, typer.Argument(help="Only rows whose name contains one of these words.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Folder for pictures: bench-scaling.svg, bench-ratios.svg.")] = None,
    n: Annotated[int, typer.Option(min=8, help="Particles a side of the cloth; larger rows take 2 n and 4 n.")] = 100,
    steps: Annotated[int, typer.Option(min=5, help="Steps of the rows that follow a trajectory.")] = 100,
    solid: Annotated[Path | None, typer.Option(help="A file of tetrahedra for the solid row, in place of the bunny.")] = None,
) -> None:
    """Speed on this machine, as ratios to a plain C++/Eigen step, beside the targets; takes minutes."""
    import json

    from taut.bench.bench import Bench
    from taut.bench.plots import draw, require_matplotlib
    from taut.bench.run import as_json as report
    from taut.bench.run import as_text, chosen, run

    if plot is not None:
        require_matplotlib()
    chosen(rows or [])
    made = Bench(n=n, steps=steps, solid=solid)
    found = run(made, rows or [])
    print(json.dumps(report(made, found), indent=1) if as_json else as_text(made, found))
    for path in draw(found, plot) if plot is not None else []:
        print(f"taut bench: wrote {path}", file=sys.stderr)


def main() -> None:
    """Run a command; an error of ours is one line and exit code 2."""
    try:
        app()
    except TautError as error:
        print(f"taut: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
