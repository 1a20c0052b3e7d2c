"""All commands, and the exit codes of errors."""

from __future__ import annotations

import io
import os
import sys

import typer

from taut.cli._bench import bench
from taut.cli._clean import clean
from taut.cli._help import BAD_INPUT, NOT_CONVERGED, STORAGE_ERROR, format_epilog, format_overview
from taut.cli._info import info
from taut.cli._inverse import fit, sagfree
from taut.cli._output import export, plot, render
from taut.cli._prove import prove
from taut.cli._run import resume, run
from taut.cli._scenes import check, new, scenes, schema
from taut.cli._sweep import sweep
from taut.cli._validate import validate
from taut.cli._view import view
from taut.errors import NotConverged, RunError, TautError, escape_unprintable

_COMMANDS = (
    run,
    resume,
    sweep,
    scenes,
    new,
    clean,
    check,
    schema,
    view,
    render,
    plot,
    export,
    fit,
    sagfree,
    prove,
    validate,
    bench,
    info,
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Mass-spring systems, from one formula per force to a certified step.",
    epilog=format_overview(),
)
for _command in _COMMANDS:
    app.command(epilog=format_epilog(_command.__name__))(_command)


@app.callback()
def taut() -> None:
    """Make typer expect a command, even if there were only one."""


def main() -> None:
    """Run a command; print errors of taut without a traceback, and exit with their codes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the terminal's encoding lacks becomes a question mark.
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, so that a full disk is reported below
    except SystemExit as exit_:
        _report_interrupt(exit_)
        raise
    except TautError as error:
        lines = [escape_unprintable(line) for line in str(error).split("\n")]
        print("taut: " + "\n".join(lines), file=sys.stderr)
        if isinstance(error, RunError):
            sys.exit(STORAGE_ERROR)
        if isinstance(error, NotConverged):
            sys.exit(NOT_CONVERGED)
        sys.exit(BAD_INPUT)
    except OSError as error:
        file = error.filename or "standard output"  # which has no file name
        if error.filename is None:
            # Python flushes standard output once more when it exits, and would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):
            print(f"taut: {escape_unprintable(str(file))}: {error.strerror}", file=sys.stderr)
        sys.exit(STORAGE_ERROR)


def _report_interrupt(exit_: SystemExit) -> None:
    """Print the message of an interrupt: click turns KeyboardInterrupt into SystemExit."""
    cause: BaseException | None = exit_
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    if cause is not None:
        print(f"\ntaut: {str(cause) or 'interrupted'}", file=sys.stderr)
