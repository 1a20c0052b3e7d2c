"""`taut plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taut.cli import options

WORDS = ("energy", "convergence")


def plot(
    folder: options.RunFolder,
    what: Annotated[str, typer.Option(metavar="WHAT", help="energy or convergence.")] = "energy",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file: .png, .svg or .pdf (default: WHAT.svg).")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
) -> None:
    """Plot the energy ledger of a run, or what its solver reached."""
    from taut.errors import ModelError, did_you_mean
    from taut.run.opening import open_run
    from taut.show.free import check_free
    from taut.show.plot.files import save

    if what not in WORDS:
        raise ModelError(f"there is no plot '{what}'; there are {', '.join(WORDS)}{did_you_mean(what, WORDS)}")
    path = Path(f"{what}.svg") if output is None else output
    check_free(path, overwrite=overwrite)
    with open_run(folder) as run:
        from taut.show import plot as plots

        save(getattr(plots, what)(run), path)
    print(f"{path}: {what}")
