"""`taut bench`: speed on this machine, and reliability campaigns."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from taut.cli import _options as options
from taut.cli._help import CHECK_FAILED


def bench(
    rows: Annotated[
        list[str] | None,
        typer.Argument(help="Only rows or campaigns whose name contains one of these words."),
    ] = None,
    as_json: options.AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(help="Folder for pictures: bench-scaling.svg, bench-ratios.svg.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Let --plot replace existing files.")
    ] = False,
    n: Annotated[
        int,
        typer.Option(min=8, help="Particles per side of the cloth; larger rows use 2 n and 4 n."),
    ] = 100,
    steps: Annotated[
        int, typer.Option(min=5, help="Steps of the rows that compute a trajectory.")
    ] = 100,
    solid: Annotated[
        Path | None,
        typer.Option(help="A file of tetrahedra for the solid row, instead of the bunny."),
    ] = None,
    reliability: Annotated[
        bool,
        typer.Option(
            "--reliability",
            help="Count failures instead of measuring time; "
            "needs a source checkout installed with pip install -e .",
        ),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="With --reliability: a hundredth of the trials.")
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --reliability: write the table into this page."),
    ] = None,
) -> None:
    """Measure speed relative to C++ programs with Eigen and CHOLMOD.

    Prints ratios and their targets; takes minutes. Rows that take longer are measured only if they
    are named in full: implicit-soft-large, implicit-stiff-large, wrinkling, failures, draping.
    """
    import json

    if reliability:
        _run_reliability(rows or [], as_json=as_json, quick=quick, write=write)
        return

    from taut.bench.plots import draw, prepare_folder
    from taut.bench.row import Bench, Row
    from taut.bench.suite import as_json as report
    from taut.bench.suite import as_text, run, select_rows
    from taut.errors import ModelError

    if quick or write is not None:
        raise ModelError("--quick and --write require --reliability")
    select_rows(rows or [])
    if plot is not None:
        prepare_folder(plot, overwrite=overwrite)
    made = Bench(n=n, steps=steps, solid=solid)
    found: list[Row] = []
    try:
        for row in run(made, rows or []):
            found.append(row)
    finally:  # also after an interrupt, so that the rows measured so far are not lost
        print(json.dumps(report(made, found), indent=1) if as_json else as_text(made, found))
    if plot is not None:
        for path in draw(found, plot):
            print(f"taut bench: wrote {path}", file=sys.stderr)


def _run_reliability(words: list[str], *, as_json: bool, quick: bool, write: Path | None) -> None:
    """Run the campaigns whose names contain one of the words."""
    import json

    from taut.bench.checkout import import_benchmarks

    reliability = import_benchmarks("reliability.run")
    table = import_benchmarks("reliability.table")
    # Bad words and pages raise here, before the campaigns.
    reliability.select_campaigns(words)
    page = None
    if write is not None:
        page = import_benchmarks("reliability.page").Page(write)
    records = list(reliability.run(words, quick=quick))
    if as_json:
        print(json.dumps(reliability.as_json(records), indent=1, ensure_ascii=False))
    else:
        print(table.as_text(records))
    if page is not None:
        page.write(records)
        print(f"taut bench: wrote {write}", file=sys.stderr)
    if any(record.verdict == "fail" for record in records):
        raise typer.Exit(CHECK_FAILED)
