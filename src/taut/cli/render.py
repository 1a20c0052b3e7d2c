"""`taut render`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from taut.cli import options


def render(
    folder: options.RunFolder,
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture or video: .png, .gif or .mp4.")],
    colour: Annotated[
        str, typer.Option(metavar="WHAT", help="plain, strain, speed, stress, or the name of an energy law.")
    ] = "plain",
    camera: Annotated[str | None, typer.Option(metavar="VIEW", help="three-quarter, front, side or top.")] = None,
    turntable: Annotated[float, typer.Option(metavar="DEGREES", help="Of a video: the camera goes round by this angle.")] = 0.0,
    follow: Annotated[bool, typer.Option("--follow", help="The camera goes along.")] = False,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Pixels (default: 1280x720, of a GIF 640x360).")] = None,
    fps: Annotated[float | None, typer.Option(help="Pictures a second (default: 30, of a GIF 20).")] = None,
    speed: Annotated[float | None, typer.Option(help="Of a video: simulated seconds a second (default: 1).")] = None,
    frame: Annotated[int | None, typer.Option(help="Of a PNG: the frame, from 0; -1 is the last (default).")] = None,
    every: Annotated[int | None, typer.Option(help="Of a video: every so many frames of the run, in place of --speed.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    allow_code: options.Code = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a run as a picture or a video. A PNG shows one frame, a GIF or MP4 plays in simulated time; no screen is needed."""
    from taut.progress import Progress
    from taut.show.render import render as drawn

    bar = Progress("taut render", every=options.LINES)
    doing = ""

    def tell(what: str, done: int, total: int) -> None:
        nonlocal doing
        if what != doing:
            bar.begin(f"{what} {output}", total)
            doing = what
        bar.at(done, "")
        if done == total:
            bar.done()

    made = drawn(
        folder, output, colour=colour, camera=camera, turntable=turntable, follow=follow,
        size=None if size is None else _size(size), fps=fps, speed=speed, frame=frame, every=every, overwrite=overwrite,
        allow_code=allow_code, tell=None if quiet else tell,
    )  # fmt: skip
    if not quiet:
        what = (
            f"frame {made.frames[0]}" if output.suffix.lower() == ".png" else f"{len(made.frames)} pictures, {made.fps:g} a second"
        )
        shown = f", {made.quantity} from {made.low:.4g} to {made.high:.4g} {made.unit}".rstrip() if made.quantity else ""
        print(f"{made.path}: {what}{shown}")


def _size(text: str) -> tuple[int, int]:
    """Width and height from a text such as 1280x720."""
    from taut.errors import ModelError

    found = re.fullmatch(r"([1-9]\d{0,5})[x×]([1-9]\d{0,5})", text.strip().lower())
    if found is None:
        raise ModelError(f"the size is a width and a height in pixels, such as 1280x720, not '{text}'")
    return int(found[1]), int(found[2])
