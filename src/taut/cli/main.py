"""All commands, and what an error means for the caller.

Exit codes: 0 done, 1 a validation case missed, 2 bad input, 3 not converged, 4 the run folder cannot be written, read or trusted,
130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys

import typer

from taut.cli.bench import bench
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
    help="Mass-spring systems, from one formula per force to a certified step.",
)  # fmt: skip
for command in (run, resume, scenes, new, check, schema, view, render, plot, export, validate, bench, info):
    app.command()(command)


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
        sys.exit(4 if isinstance(error, RunError) else 3 if isinstance(error, NotConverged) else 2)
    except OSError as error:  # of standard output: everything else is ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would try once more, and complain
        if not isinstance(error, BrokenPipeError):
            print(f"taut: standard output: {error.strerror}", file=sys.stderr)
        sys.exit(4)
