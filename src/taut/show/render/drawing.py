"""`render`: a run as a picture or a video, without a screen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from taut.arrays import Bytes, Float
from taut.errors import ModelError, RunError
from taut.extras import import_extra
from taut.run.open_run import Frame, Run, open_run
from taut.show.colours import TableName, colour_table, map_to_colours
from taut.show.output import check_output_path, select_evenly
from taut.show.render._cameras import (
    Camera,
    ReportProgress,
    RunExtent,
    look_up_view,
    measure_run,
    place_cameras,
)
from taut.show.render._canvas import Canvas
from taut.show.render._fields import PLAIN, Field, make_field
from taut.show.render._files import (
    DEFAULT_FPS,
    DEFAULT_SIZE,
    MAX_FPS,
    check_options,
    check_size,
    check_suffix,
    choose_frames,
    write_gif,
    write_mp4,
    write_png,
)
from taut.show.render._legend import add_colour_bar, add_time_stamp
from taut.show.render._sheet import join_tiles, tile_size
from taut.show.shot import find_shot
from taut.show.visual_model import VisualModel, model_from_run

_BAR_MARGIN = 0.14  # share of the width for the colour bar
_PALETTE_SAMPLES = 12  # pictures from which the palette of a GIF is taken
_PALETTE_BAR_COLOURS = 48  # entries of that palette for the colour bar


@dataclass(frozen=True)
class Rendered:
    """What was drawn.

    path : the file; frames : number of the frame in each picture; fps : pictures per second
    quantity, unit, low, high : of the colour bar; an empty quantity if there is none
    """

    path: Path
    frames: tuple[int, ...]
    fps: float
    quantity: str = ""
    unit: str = ""
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True)
class _Options:
    """The checked options of `render`; suffix : of the file, which decides its format."""

    path: Path
    suffix: str
    colour: str
    view: tuple[float, float] | None
    turntable: float
    follow: bool
    size: tuple[int, int]
    fps: float
    speed: float
    frame: int | None
    every: int | None
    sheet: tuple[int, int] | None
    held: bool
    allow_code: bool
    report: ReportProgress


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
    sheet: tuple[int, int] | None = None,
    held: bool = False,
    overwrite: bool = False,
    allow_code: bool = False,
    tell: ReportProgress | None = None,
) -> Rendered:
    """Draw a run, or the run in a folder, into a PNG, GIF or MP4 file.

    Needs the extra `render`, but no screen. All frames of the run fit into the picture.

    colour : "plain", "strain", "speed" [m/s], "stress" [N, N/m or Pa], "inversion" (v/v₀ of
        solids), "contact" [N], or the name of an energy law [J]; its range is that of
        all frames of the run
    camera : "three-quarter", "front", "side" or "top"; default: "front" for a run that stays in a
        plane z = const., otherwise "three-quarter"
    turntable : angle by which the camera turns during the video [degrees]
    follow : the camera follows the centroid
    size : width and height [pixels]; fps : pictures per second, by default those of the shot of the
        scene, or else 30, and 20 for a GIF
    speed : of a video, simulated seconds per second, 1 by default
    every : of a video, show every n-th frame instead of using their times
    frame : of a PNG, the number of the frame, by default the last
    sheet : of a PNG, columns and rows of a contact sheet: frames evenly spaced in time, from the
        first to the last, each with its time
    held : mark held points in red
    overwrite : replace an existing file; allow_code : see `taut.show.visual_model.model_from_run`
    tell : called with the current task, the number of pictures done, and their total

    >>> import tempfile, taut
    >>> from taut.run.record import record
    >>> ball = taut.System([[0, 1, 0], [0, 2, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> _ = record(folder, ball, taut.ImplicitEuler(), h=0.1, until=0.5)
    >>> made = render(folder, folder + "/ball.png", colour="speed", size=(320, 180))
    >>> made.frames, made.quantity, made.unit, made.low, round(made.high, 9)
    ((5,), 'speed', 'm/s', 0.0, 4.905)
    """
    path = Path(path)
    suffix = check_suffix(path)
    has_fps = fps is not None
    size = check_size(DEFAULT_SIZE[suffix] if size is None else size, suffix)
    fps = DEFAULT_FPS[suffix] if fps is None else fps
    view = None if camera is None else look_up_view(camera)
    check_options(
        suffix, fps, frame=frame, every=every, speed=speed, turntable=turntable, sheet=sheet
    )
    if sheet is not None:
        check_size(tile_size(size, sheet), suffix)
    speed = 1.0 if speed is None else speed
    check_output_path(path, overwrite=overwrite)
    _require_packages(suffix)
    report = _ignore_progress if tell is None else tell
    # All of the above is checked before a long run is read.
    options = _Options(
        path=path,
        suffix=suffix,
        colour=colour,
        view=view,
        turntable=turntable,
        follow=follow,
        size=size,
        fps=fps,
        speed=speed,
        frame=frame,
        every=every,
        sheet=sheet,
        held=held,
        allow_code=allow_code,
        report=report,
    )
    with nullcontext(run) if isinstance(run, Run) else open_run(run) as opened:
        if not len(opened.frames):
            raise RunError(f"{opened.folder}: the run has no frames to draw")
        shot = find_shot(opened)
        if shot is not None and not has_fps and suffix != ".png":
            options = replace(options, fps=min(shot.fps, MAX_FPS[suffix]))
        return _render(opened, options)


def _ignore_progress(task: str, done: int, total: int) -> None:
    pass


def _require_packages(suffix: str) -> None:
    """Raise MissingExtra if a package is missing."""
    import_extra("render", "pyvista", "pictures")
    import_extra("render", "PIL.Image", "pictures")
    if suffix == ".mp4":
        import_extra("render", "imageio_ffmpeg", "pictures")


def _render(run: Run, options: _Options) -> Rendered:
    """Measure all frames, place the cameras, draw the pictures and write the file."""
    model = model_from_run(run, allow_code=options.allow_code)
    field = make_field(options.colour, model)
    extent = measure_run(run, model, field, options.report)
    frames = _select_frames(extent.times, options)
    view = options.view
    if view is None:
        view = look_up_view("front" if extent.flat else "three-quarter")
    size = options.size if options.sheet is None else tile_size(options.size, options.sheet)
    width, height = size
    cameras = place_cameras(
        extent,
        frames,
        *view,
        turntable=options.turntable,
        follow=options.follow,
        aspect=width / height,
        right_margin=0.0 if field is None else _BAR_MARGIN,
    )
    canvas = Canvas(model, size, np.concatenate(extent.extreme_points), has_held_marks=options.held)
    has_stamp = options.suffix != ".png" or options.sheet is not None
    try:
        painter = _Painter(run, model, canvas, field, extent, has_stamp=has_stamp)
        _write(painter, frames, cameras, options)
    finally:
        canvas.close()
    if field is None:
        return Rendered(options.path, tuple(frames), options.fps)
    bar = (field.title, field.unit, extent.low, extent.high)
    return Rendered(options.path, tuple(frames), options.fps, *bar)


@dataclass(frozen=True, eq=False)
class _Painter:
    """Draws frames of a run on a canvas; has_stamp : whether pictures show their time."""

    run: Run
    model: VisualModel
    canvas: Canvas
    field: Field | None
    extent: RunExtent
    has_stamp: bool

    @property
    def table(self) -> TableName:
        """The colours of the field."""
        if self.extent.signed or self.field is None:
            return "diverging"
        return self.field.table

    def draw(
        self, frames: Sequence[int], cameras: Sequence[Camera], report: ReportProgress
    ) -> Iterator[Bytes]:
        """Draw pictures, each (height, width, 3), one at a time as they are consumed."""
        shown: int | None = None
        frame: Frame
        for k, (i, camera) in enumerate(zip(frames, cameras, strict=True)):
            if i != shown:  # slow videos repeat frames
                frame, shown = self.run.frames[i], i
                self._show(frame)
            picture = self._add_text(self.canvas.draw(camera), frame.t)
            report("drawing", k + 1, len(frames))
            yield picture

    def _show(self, frame: Frame) -> None:
        colours, lines = None, None
        if self.field is not None:
            colours = [self._map_colours(values) for values in self.field.at_points(frame)]
            if self.field.at_lines is not None:
                lines = [self._map_colours(values) for values in self.field.at_lines(frame)]
        self.canvas.show(
            frame.q,
            torn=self.model.torn_pairs(frame),
            colours=colours,
            lines=lines,
            held=self.canvas.model.held_at(frame.t),
        )

    def _map_colours(self, values: Float) -> Bytes:
        return map_to_colours(values, self.extent.low, self.extent.high, self.table)

    def _add_text(self, picture: Bytes, t: float) -> Bytes:
        field, extent = self.field, self.extent
        if field is not None:
            picture = add_colour_bar(
                picture, field.title, field.unit, extent.low, extent.high, self.table
            )
        return add_time_stamp(picture, t) if self.has_stamp else picture


def _write(
    painter: _Painter, frames: Sequence[int], cameras: Sequence[Camera], options: _Options
) -> None:
    pictures = painter.draw(frames, cameras, options.report)
    if options.sheet is not None:
        write_png(options.path, join_tiles(pictures, options.size, options.sheet))
    elif options.suffix == ".png":
        write_png(options.path, next(pictures))
    elif options.suffix == ".mp4":
        write_mp4(options.path, pictures, options.size, options.fps)
    else:
        # These are drawn twice: the palette must be known before the first picture is reduced.
        some = select_evenly(len(frames), _PALETTE_SAMPLES)
        samples = list(
            painter.draw([frames[i] for i in some], [cameras[i] for i in some], _ignore_progress)
        )
        count = 0 if painter.field is None else _PALETTE_BAR_COLOURS
        bar = colour_table(painter.table, n=count)
        write_gif(options.path, pictures, samples, options.fps, bar)


def _select_frames(times: Float, options: _Options) -> list[int]:
    """Return the number of the frame in each picture."""
    count = len(times)
    if options.sheet is not None:
        columns, rows = options.sheet
        return select_evenly(count, columns * rows)
    if options.suffix == ".png":
        frame = -1 if options.frame is None else options.frame
        if not -count <= frame < count:
            raise ModelError(
                f"frame must be from 0 to {count - 1}, or negative from -1, got {frame}"
            )
        return [frame % count]
    if options.every is not None:
        return list(range(0, count, options.every))
    return choose_frames(times, fps=options.fps, speed=options.speed)
