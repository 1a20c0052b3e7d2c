"""`taut bench`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


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
