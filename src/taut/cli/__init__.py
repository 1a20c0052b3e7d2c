"""The command line. Heavy imports happen inside the commands, so that `taut --help` answers at once."""

from taut.cli.main import main

__all__ = ["main"]
