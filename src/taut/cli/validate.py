"""`taut validate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from taut.cli import options
from taut.cli.codes import MISSED


def validate(
    words: Annotated[
        list[str] | None, typer.Option("--filter", metavar="WORD", help="Only cases whose name or group contains it; repeatable.")
    ] = None,
    as_json: options.AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write validation.md there, and validation/GROUP.svg: curves and theory.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Let --plot replace the files of an earlier run.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Check the physics on this machine, case by case. Analytic cases: what they should give and what they give."""
    import json

    from taut.progress import Progress
    from taut.validate.page import Page
    from taut.validate.registry import chosen
    from taut.validate.run import as_json as report
    from taut.validate.run import as_text, run

    several = chosen(words or [])
    page = None if plot is None else Page(plot, several, overwrite=overwrite)  # refuses what it cannot do before the work
    results = run(several, None if quiet else Progress("taut validate", every=options.LINES))
    if page is not None:
        for path in page.write(results):
            if not quiet:
                print(f"taut validate: wrote {path}", file=sys.stderr)
    missed = any(result.verdict == "miss" for result in results)
    if as_json:
        print(json.dumps(report(results), indent=1, ensure_ascii=False))
    elif not quiet or missed:
        print(as_text(results))
    if missed:
        raise typer.Exit(MISSED)
