"""`taut export`: a run into files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taut.cli import options

if TYPE_CHECKING:
    from taut.show.export import Exported


def export(
    folder: options.RunFolder,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write: .usdc, .usda, .usd, .glb, .vtkhdf, .obj, .ply or .pc2.")
    ],
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Take each N-th frame.")] = 1,
    start: Annotated[float | None, typer.Option(help="Time of the first frame [s].")] = None,
    stop: Annotated[float | None, typer.Option(help="Time of the last frame [s].")] = None,
    frames: Annotated[
        int | None, typer.Option(min=1, help="At most so many frames, evenly from the first to the last (.glb: 100 by default).")
    ] = None,
    fps: Annotated[
        float | None,
        typer.Option(help="Time codes (USD) or scene frames (PC2) in a second; by default one a frame."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a run for other programs, such as Blender and ParaView. USD, glTF, VTKHDF, OBJ or PLY sequences, PC2 point caches."""
    from taut.progress import Progress
    from taut.show.export import export as write

    bar = Progress("taut export", every=options.LINES)

    def tell(done: int, total: int, t: float) -> None:
        bar.at(done, f"t = {t:.4g} s", total=total)

    if not quiet:
        bar.begin(str(output))
    made = write(
        folder, output, every=every, start=start, stop=stop, frames=frames, fps=fps, overwrite=overwrite,
        tell=None if quiet else tell,
    )  # fmt: skip
    if not quiet:
        bar.done()
        print(_words(made))


def _words(made: Exported) -> str:
    files = [str(made.files[0])]
    if len(made.files) == 2:
        files.append(f"and {made.files[-1]}")
    elif len(made.files) > 2:
        files.append(f"to {made.files[-1]} ({len(made.files)} files)")
    of = f"{made.frames} frames" if made.frames == made.recorded else f"{made.frames} of {made.recorded} frames"
    more = "; --frames takes more of them" if made.thinned else ""
    return f"{' '.join(files)}: {of}, t = {made.times[0]:.6g} s to {made.times[1]:.6g} s{more}"
