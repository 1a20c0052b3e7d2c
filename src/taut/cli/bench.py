"""`taut bench`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from taut.cli import options
from taut.cli.codes import MISSED


def bench(
    rows: Annotated[list[str] | None, typer.Argument(help="Only rows or campaigns whose name contains one of these words.")] = None,
    as_json: options.AsJson = False,
    plot: Annotated[Path | None, typer.Option(help="Folder for pictures: bench-scaling.svg, bench-ratios.svg.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Let --plot replace pictures that are there.")] = False,
    n: Annotated[int, typer.Option(min=8, help="Particles a side of the cloth; larger rows take 2 n and 4 n.")] = 100,
    steps: Annotated[int, typer.Option(min=5, help="Steps of the rows that follow a trajectory.")] = 100,
    solid: Annotated[Path | None, typer.Option(help="A file of tetrahedra for the solid row, in place of the bunny.")] = None,
    reliability: Annotated[bool, typer.Option("--reliability", help="Count failures, not seconds.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Of --reliability: a hundredth of it.")] = False,
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Of --reliability: put the table into this page.")] = None,
) -> None:
    """Speed on this machine, beside a plain C++/Eigen step. Ratios and their targets; takes minutes."""
    import json

    if reliability:
        _reliability(rows or [], as_json=as_json, quick=quick, write=write)
        return

    from taut.bench.bench import Bench
    from taut.bench.plots import draw, prepare
    from taut.bench.row import Row
    from taut.bench.run import as_json as report
    from taut.bench.run import as_text, chosen, run
    from taut.errors import ModelError

    if quick or write is not None:
        raise ModelError("--quick and --write are options of --reliability")
    chosen(rows or [])
    if plot is not None:
        prepare(plot, overwrite=overwrite)
    made = Bench(n=n, steps=steps, solid=solid)
    found: list[Row] = []
    try:
        for row in run(made, rows or []):
            found.append(row)
    finally:  # what has been measured when it is interrupted is not lost
        print(json.dumps(report(made, found), indent=1) if as_json else as_text(made, found))
    for path in draw(found, plot) if plot is not None else []:
        print(f"taut bench: wrote {path}", file=sys.stderr)


def _reliability(words: list[str], *, as_json: bool, quick: bool, write: Path | None) -> None:
    """The campaigns of these words."""
    import json

    from taut.bench.reliability.page import Page
    from taut.bench.reliability.run import as_json as report
    from taut.bench.reliability.run import chosen, run
    from taut.bench.reliability.table import as_text

    chosen(words)
    page = None if write is None else Page(write)  # refuses what it cannot do before the work
    records = list(run(words, quick=quick))
    print(json.dumps(report(records), indent=1, ensure_ascii=False) if as_json else as_text(records))
    if page is not None:
        page.write(records)
        print(f"taut bench: wrote {write}", file=sys.stderr)
    if any(record.verdict == "fail" for record in records):
        raise typer.Exit(MISSED)
