"""`taut validate`: analytic cases, checked on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from taut.cli import _options as options
from taut.cli._help import CHECK_FAILED


def validate(
    words: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="WORD",
            help="Only cases whose name or group contains this word; repeatable.",
        ),
    ] = None,
    as_json: options.AsJson = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write validation.md and validation/GROUP.svg (curves and theory) there.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Let --plot replace existing files.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Check the physics against analytic solutions, on this machine."""
    import json

    from taut.progress import Progress
    from taut.validate.cases import select_cases
    from taut.validate.report import Page, check_cases, format_table, to_json

    cases = select_cases(words or [])
    page = None
    if plot is not None:
        page = Page(plot, cases, overwrite=overwrite)  # raises now, before the cases run
    progress = None
    if not quiet:
        progress = Progress("taut validate", every=options.PROGRESS_SECONDS)
    results = check_cases(cases, progress)
    if page is not None:
        for path in page.write(results):
            if not quiet:
                print(f"taut validate: wrote {path}", file=sys.stderr)
    missed = any(result.verdict == "miss" for result in results)
    if as_json:
        print(json.dumps(to_json(results), indent=1, ensure_ascii=False))
    elif not quiet or missed:
        print(format_table(results))
    if missed:
        raise typer.Exit(CHECK_FAILED)
