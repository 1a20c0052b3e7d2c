"""All commands, and what an error means for the caller (`taut.cli.codes`)."""

from __future__ import annotations

import io
import os
import sys

import typer

from taut.cli.bench import bench
from taut.cli.codes import NOT_CONVERGED, REFUSED, STORAGE
from taut.cli.epilogs import epilog, overview
from taut.cli.export import export
from taut.cli.info import info
from taut.cli.plot import plot
from taut.cli.render import render
from taut.cli.run import resume, run
from taut.cli.scenes import check, new, scenes, schema
from taut.cli.validate import validate
from taut.cli.view import view
from taut.errors import NotConverged, RunError, TautError, plain

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Mass-spring systems, from one formula per force to a certified step.", epilog=overview(),
)  # fmt: skip
for command in (run, resume, scenes, new, check, schema, view, render, plot, export, validate, bench, info):
    app.command(epilog=epilog(command.__name__))(command)


@app.callback()
def taut() -> None:
    """Commands follow."""


def main() -> None:
    """Run a command; an error of ours is told without a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a letter gets a question mark
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SystemExit as stop:
        cause: BaseException | None = stop
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__context__
        if cause is not None:
            print(f"\ntaut: {str(cause) or 'interrupted'}", file=sys.stderr)
        raise
    except TautError as error:
        print("taut: " + "\n".join(plain(line) for line in str(error).split("\n")), file=sys.stderr)
        sys.exit(STORAGE if isinstance(error, RunError) else NOT_CONVERGED if isinstance(error, NotConverged) else REFUSED)
    except OSError as error:
        what = error.filename or "standard output"  # which has no name
        if error.filename is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would try once more, and complain
        if not isinstance(error, BrokenPipeError):
            print(f"taut: {plain(str(what))}: {error.strerror}", file=sys.stderr)
        sys.exit(STORAGE)
