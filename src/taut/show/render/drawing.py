"""A run as a picture or a video, without a screen: PNG, GIF, MP4."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, RunError
from taut.extras import extra
from taut.run.frames import Frame
from taut.run.opening import Run, open_run
from taut.show.colours import coloured, table
from taut.show.evenly import evenly
from taut.show.free import check_free
from taut.show.render.cameras import Camera, view
from taut.show.render.fields import PLAIN, Field, field
from taut.show.render.files import kind_of, write_gif, write_mp4, write_png
from taut.show.render.legend import legend, stamped
from taut.show.render.seen import Seen, Tell, cameras, measured
from taut.show.render.stage import Stage
from taut.show.render.timing import real_time
from taut.show.subject import of_run
from taut.show.torn import Torn, torn_in

Float = NDArray[np.float64]
Bytes = NDArray[np.uint8]
SIZES = {".png": (1280, 720), ".gif": (640, 360), ".mp4": (1280, 720)}  # width and height where none are given [pixels]
RATES = {".png": 1.0, ".gif": 20.0, ".mp4": 30.0}  # pictures a second where none are given
SAMPLES = 12  # pictures from which the palette of a GIF is taken
BAR_COLOURS = 48  # of the bar in a GIF
BAR = 0.14  # share of the width that is kept for the colour bar
LEAST, MOST = 64, 8192  # pixels of a side
FASTEST = {".png": 240.0, ".gif": 50.0, ".mp4": 240.0}  # pictures a second: browsers slow down faster GIFs


@dataclass(frozen=True)
class Rendered:
    """What was drawn.

    path : the file; frames : the numbers of the frames in it, one for each picture; fps : pictures a second
    quantity, unit, low, high : of the colour bar; no quantity where there is none
    """

    path: Path
    frames: tuple[int, ...]
    fps: float
    quantity: str = ""
    unit: str = ""
    low: float = 0.0
    high: float = 0.0


def render(
    run: Run | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    colour: str = PLAIN,
    camera: str | None = None,
    turntable: float = 0.0,
    follow: bool = False,
    size: tuple[int, int] | None = None,
    fps: float | None = None,
    speed: float | None = None,
    frame: int | None = None,
    every: int | None = None,
    overwrite: bool = False,
    allow_code: bool = False,
    tell: Tell | None = None,
) -> Rendered:
    """Draw a run, or the folder of one, into a PNG, GIF or MP4 file. Needs the extra `render`; no screen is needed.

    colour : "plain", "strain", "speed" [m/s], "stress" [N, N/m or Pa], or the name of an energy law [J] (see
        `taut.show.render.fields`); its range is that of all frames of the run
    camera : "three-quarter", "front", "side" or "top" (default: the first, or the second for what stays in a plane z = const.);
        all frames are in the picture
    turntable : degrees by which the camera goes round over the video; follow : it goes along with the middle of the points
    size : width and height [pixels]; fps : pictures a second
    speed : of a video: simulated seconds a second, 1 by default; every : in its place, one picture for each so many frames
    frame : of a PNG: its number, the last by default
    overwrite : replace a file that is there; allow_code : see `taut.show.subject.of_run`
    tell : is called with what is being done, how many pictures are done, and of how many

    >>> import tempfile, taut
    >>> from taut.run.record import record
    >>> ball = taut.System([[0, 1, 0], [0, 2, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> _ = record(folder, ball, taut.ImplicitEuler(), h=0.1, until=0.5)
    >>> made = render(folder, folder + "/ball.png", colour="speed", size=(320, 180))
    >>> made.frames, made.quantity, made.unit, made.low, round(made.high, 9)
    ((5,), 'speed', 'm/s', 0.0, 4.905)
    """
    target = Path(path)
    kind = kind_of(target)
    wide, high = _size(SIZES[kind] if size is None else size, even=kind == ".mp4")
    rate = RATES[kind] if fps is None else fps
    direction = None if camera is None else view(camera)
    _refuse(kind, rate, frame=frame, every=every, speed=speed, turntable=turntable)
    check_free(target, overwrite=overwrite)
    for module in ("pyvista", "PIL.Image", *(["imageio_ffmpeg"] if kind == ".mp4" else [])):  # said before a long run is read
        extra("render", module, "pictures")
    if not isinstance(run, Run):
        with open_run(run) as opened:
            return render(
                opened, path, colour=colour, camera=camera, turntable=turntable, follow=follow, size=size, fps=fps, speed=speed,
                frame=frame, every=every, overwrite=overwrite, allow_code=allow_code, tell=tell,
            )  # fmt: skip
    say: Tell = tell or (lambda what, done, total: None)
    if not len(run.frames):
        raise RunError(f"{run.folder}: there are no frames to draw")
    subject = of_run(run, allow_code=allow_code)
    torn = torn_in(run, subject)
    shown = field(colour, subject, torn)
    seen = measured(run, subject, shown, say)
    chosen = _chosen(kind, seen.times, frame=frame, every=every, fps=rate, speed=1.0 if speed is None else speed)
    azimuth, elevation = direction or view("front" if seen.flat else "three-quarter")
    stage = Stage(subject, (wide, high), np.concatenate(seen.outer))
    try:
        paths = cameras(
            seen, chosen, azimuth, elevation, turntable=turntable, follow=follow, aspect=wide / high,
            free=0.0 if shown is None else BAR,
        )  # fmt: skip
        draw = partial(_pictures, run, stage, shown, torn, seen, stamp=kind != ".png")
        pictures = draw(chosen, paths, say)
        if kind == ".png":
            write_png(target, next(pictures))
        elif kind == ".gif":
            some = evenly(len(chosen), SAMPLES)
            samples = list(draw([chosen[i] for i in some], [paths[i] for i in some], lambda what, done, total: None))
            write_gif(target, pictures, samples, rate, table(signed=seen.signed, n=0 if shown is None else BAR_COLOURS))
        else:
            write_mp4(target, pictures, (wide, high), rate)
    finally:
        stage.close()
    bar = () if shown is None else (shown.title, shown.unit, seen.low, seen.high)
    return Rendered(target, tuple(chosen), rate, *bar)


def _pictures(
    run: Run,
    stage: Stage,
    shown: Field | None,
    torn: Torn,
    seen: Seen,
    chosen: Sequence[int],
    cameras: Sequence[Camera],
    say: Tell,
    *,
    stamp: bool,
) -> Iterator[Bytes]:
    """The pictures of some frames, each (height, width, 3), drawn as they are asked for. stamp : with their times"""
    at: int | None = None
    moment: Frame
    for k, (i, camera) in enumerate(zip(chosen, cameras, strict=True)):
        if i != at:
            moment, at = run.frames[i], i
            colours, lines = _colours(shown, seen, moment)
            stage.show(moment.q, torn=torn.pairs(moment.step), colours=colours, lines=lines, held=stage.subject.held_at(moment.t))
        picture = stage.image(camera)
        if shown is not None:
            picture = legend(picture, shown.title, shown.unit, seen.low, seen.high, signed=seen.signed)
        say("drawing", k + 1, len(chosen))
        yield stamped(picture, moment.t) if stamp else picture


def _colours(shown: Field | None, seen: Seen, frame: Frame) -> tuple[list[Bytes] | None, list[Bytes] | None]:
    """The colours of the points of each piece, and of its lines where they have their own."""
    if shown is None:
        return None, None
    of = partial(coloured, low=seen.low, high=seen.high, signed=seen.signed)
    return list(map(of, shown.at(frame))), None if shown.along is None else list(map(of, shown.along(frame)))


def _chosen(kind: str, times: Float, *, frame: int | None, every: int | None, fps: float, speed: float) -> list[int]:
    count = len(times)
    if kind == ".png":
        wanted = -1 if frame is None else frame
        if not -count <= wanted < count:
            raise ModelError(f"there is no frame {wanted}: the run has {count}, from 0 to {count - 1}")
        return [wanted % count]
    return list(range(0, count, every)) if every is not None else real_time(times, fps=fps, speed=speed)


def _size(size: Any, *, even: bool) -> tuple[int, int]:
    if len(size) != 2 or not all(isinstance(side, int) and LEAST <= side <= MOST for side in size):
        raise ModelError(f"the size is a width and a height from {LEAST} to {MOST} pixels, not {'x'.join(map(str, size))}")
    if even and (size[0] % 2 or size[1] % 2):
        raise ModelError(f"the width and height of an MP4 are even, not {size[0]}x{size[1]}")
    return size[0], size[1]


def _refuse(kind: str, fps: float, *, frame: int | None, every: int | None, speed: float | None, turntable: float) -> None:
    """Refuse what does not go together."""
    if kind == ".png" and (every is not None or speed is not None or turntable):
        raise ModelError("every, speed and turntable are for videos (.gif, .mp4); a PNG shows one frame")
    if kind != ".png" and frame is not None:
        raise ModelError("frame is for a PNG; a video shows the run")
    if speed is not None and not 0.0 < speed < np.inf:
        raise ModelError(f"speed is a positive number, not {speed:g}")
    if every is not None and speed is not None:
        raise ModelError("every takes frames as they are, speed takes them by their times: give one of them")
    if every is not None and every < 1:
        raise ModelError(f"every is a number of frames, 1 or more, not {every}")
    if not np.isfinite(turntable):
        raise ModelError(f"turntable is an angle in degrees, not {turntable}")
    if not 0 < fps <= FASTEST[kind]:
        raise ModelError(f"fps is a positive number up to {FASTEST[kind]:g}, not {fps:g}")
