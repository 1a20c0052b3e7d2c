"""`taut render`, `plot` and `export`: pictures, videos, and files for other programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taut.cli import _options as options

if TYPE_CHECKING:
    from taut.show.export import Exported
    from taut.show.render import Rendered

_PLOTS = ("energy", "convergence")

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]


def render(
    folder: options.RunFolder,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The picture or video: .png, .gif or .mp4.")
    ],
    colour: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="plain, strain, speed, stress, inversion, contact, or the name of an energy law.",
        ),
    ] = "plain",
    camera: Annotated[
        str | None, typer.Option(metavar="VIEW", help="three-quarter, front, side or top.")
    ] = None,
    turntable: Annotated[
        float, typer.Option(metavar="DEGREES", help="For a video: angle that the camera turns by.")
    ] = 0.0,
    follow: Annotated[
        bool, typer.Option("--follow", help="Let the camera follow the bodies.")
    ] = False,
    size: Annotated[
        str | None,
        typer.Option(metavar="WxH", help="Pixels (default: 1280x720; 640x360 for a GIF)."),
    ] = None,
    fps: Annotated[
        float | None,
        typer.Option(
            help="Pictures per second (default: those of the shot; else 30; 20 for a GIF)."
        ),
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="For a video: simulated seconds per second (default: 1).")
    ] = None,
    frame: Annotated[
        int | None, typer.Option(help="For a PNG: the frame, from 0; -1 is the last (default).")
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(metavar="N", help="For a video: every N-th frame, instead of --speed."),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(metavar="CxR", help="For a PNG: a contact sheet of frames, such as 4x3."),
    ] = None,
    held: Annotated[bool, typer.Option("--held", help="Mark held points in red.")] = False,
    overwrite: Overwrite = False,
    allow_code: options.AllowCode = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a run as a picture or video.

    A PNG shows one frame; a GIF or MP4 plays in simulated time. No screen is needed.
    """
    from taut.show.render import render as draw

    drawn = draw(
        folder,
        output,
        colour=colour,
        camera=camera,
        turntable=turntable,
        follow=follow,
        size=None if size is None else _parse_size(size),
        fps=fps,
        speed=speed,
        frame=frame,
        every=every,
        sheet=None if sheet is None else _parse_size(sheet, "--sheet", "columns x rows", "4x3"),
        held=held,
        overwrite=overwrite,
        allow_code=allow_code,
        tell=None if quiet else _print_progress(output),
    )
    if not quiet:
        print(_format_rendered(drawn))


def _print_progress(output: Path) -> Callable[[str, int, int], None]:
    """Return a function that prints the progress of the tasks of drawing."""
    from taut.progress import Progress

    progress = Progress("taut render", every=options.PROGRESS_SECONDS)
    current_task = ""

    def tell(task: str, done: int, total: int) -> None:
        nonlocal current_task
        if task != current_task:
            progress.start(f"{task} {output}", total)
            current_task = task
        progress.update(done, "")
        if done == total:
            progress.finish()

    return tell


def _format_rendered(drawn: Rendered) -> str:
    text = f"{len(drawn.frames)} pictures, {drawn.fps:g} per second"
    if drawn.path.suffix.lower() == ".png":
        text = f"frame {drawn.frames[0]}"
        if len(drawn.frames) > 1:
            text = f"{len(drawn.frames)} frames from {drawn.frames[0]} to {drawn.frames[-1]}"
    if drawn.quantity:
        scale = f"from {drawn.low:.4g} to {drawn.high:.4g} {drawn.unit}".rstrip()
        text += f", {drawn.quantity} {scale}"
    return f"{drawn.path}: {text}"


def _parse_size(
    text: str,
    option: str = "--size",
    meaning: str = "width x height in pixels",
    example: str = "1280x720",
) -> tuple[int, int]:
    """Return the two numbers of a text such as 1280x720."""
    from taut.errors import ModelError

    match = re.fullmatch(r"([1-9]\d{0,5})[x×]([1-9]\d{0,5})", text.strip().lower())
    if match is None:
        raise ModelError(f"{option} must be {meaning}, such as {example}, got '{text}'")
    return int(match[1]), int(match[2])


def plot(
    folder: options.RunFolder,
    what: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="Of a run: energy (default) or convergence."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file: .png, .svg or .pdf (default: WHAT.svg or study.svg)."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Plot the energies or convergence of a run, or a study."""
    from taut.errors import ModelError, did_you_mean
    from taut.run.open_run import open_run
    from taut.show import plot as plots
    from taut.show.output import check_output_path, save_figure
    from taut.study import open_study
    from taut.study.study_folder import has_study

    if has_study(folder):
        if what is not None:
            raise ModelError(f"{folder} has a study, for which there is no --what")
        path = Path("study.svg") if output is None else output
        check_output_path(path, overwrite=overwrite)
        save_figure(plots.study(open_study(folder)), path)
        print(f"{path}: study")
        return
    what = "energy" if what is None else what
    if what not in _PLOTS:
        raise ModelError(
            f"--what must be {' or '.join(_PLOTS)}, got '{what}'{did_you_mean(what, _PLOTS)}"
        )
    path = Path(f"{what}.svg") if output is None else output
    check_output_path(path, overwrite=overwrite)
    with open_run(folder) as run:
        save_figure(getattr(plots, what)(run), path)
    print(f"{path}: {what}")


def export(
    folder: options.RunFolder,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .usdc, .usda, .usd, .glb, .vtkhdf, .obj, .ply or .pc2.",
        ),
    ],
    fps: Annotated[
        float | None,
        typer.Option(
            help="Frames of the shot per second; default: those of the scene, or recorded frames."
        ),
    ] = None,
    frames: options.ShotFrames = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Take every N-th frame.")] = 1,
    start: Annotated[float | None, typer.Option(help="Time of the first frame [s].")] = None,
    stop: Annotated[float | None, typer.Option(help="Time of the last frame [s].")] = None,
    at_most: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of frames, evenly spaced (.glb: 100 by default)."),
    ] = None,
    overwrite: Overwrite = False,
    allow_code: options.AllowCode = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a run for other programs, such as Blender and ParaView.

    Formats: USD, glTF, VTKHDF, sequences of OBJ or PLY files, PC2 point caches.
    """
    from taut.progress import Progress
    from taut.show.export import export as write

    progress = Progress("taut export", every=options.PROGRESS_SECONDS)

    def tell(done: int, total: int, t: float) -> None:
        progress.update(done, f"t = {t:.4g} s", total=total)

    if not quiet:
        progress.start(str(output))
    exported = write(
        folder,
        output,
        every=every,
        start=start,
        stop=stop,
        frames=options.parse_frames(frames),
        at_most=at_most,
        fps=fps,
        overwrite=overwrite,
        allow_code=allow_code,
        tell=None if quiet else tell,
    )
    if not quiet:
        progress.finish()
        print(_format_exported(exported))


def _format_exported(exported: Exported) -> str:
    files = str(exported.files[0])
    if len(exported.files) == 2:
        files += f" and {exported.files[-1]}"
    elif len(exported.files) > 2:
        files += f" to {exported.files[-1]} ({len(exported.files)} files)"
    frames = f"{exported.frames} frames"
    if exported.numbers is not None:
        first_frame, last_frame = exported.numbers
        frames += f", {first_frame} to {last_frame} at {exported.fps:g} fps"
    elif exported.frames != exported.recorded:
        frames = f"{exported.frames} of {exported.recorded} frames"
    first, last = exported.times
    hint = "; --at-most sets the number" if exported.thinned else ""
    return f"{files}: {frames}, t = {first:.6g} s to {last:.6g} s{hint}"
