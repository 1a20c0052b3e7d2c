"""Videos in simulated time, and PNG, GIF and MP4 files.

The k-th picture of a video shows the frame nearest in time to t₀ + speed·k/fps, for all k up to the
end: the video lasts as long as the run, divided by `speed`.

Each file is written whole or not at all (see `taut.atomic_write`). All pictures of a GIF share one
palette without dithering, so that pixels which do not change compress to nothing. Its 255 colours
are taken from the colour bar and from pictures spread over the whole length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Bytes, Float
from taut.atomic_write import atomic_paths
from taut.errors import ModelError, RunError, did_you_mean
from taut.extras import import_extra
from taut.run.run_folder import open_output, report_write_errors

SUFFIXES = (".png", ".gif", ".mp4")
DEFAULT_SIZE = {".png": (1280, 720), ".gif": (640, 360), ".mp4": (1280, 720)}  # pixels
DEFAULT_FPS = {".png": 1.0, ".gif": 20.0, ".mp4": 30.0}
MAX_FPS = {".png": 240.0, ".gif": 50.0, ".mp4": 240.0}  # browsers slow faster GIFs down
_MIN_SIDE, _MAX_SIDE = 64, 8192  # pixels
_MAX_TILES = 32  # of a contact sheet, along each side
_MAX_PICTURES = 100_000  # of a video, nearly an hour at 30 fps; more is probably a mistake


def check_suffix(path: Path) -> str:
    """Return the suffix of a picture or video file in lower case; ModelError if it is unknown.

    >>> check_suffix(Path("Cloth.MP4"))
    '.mp4'
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ModelError(
            f"{path}: the suffix must be one of {', '.join(SUFFIXES)}, got '{suffix}'"
            f"{did_you_mean(suffix, SUFFIXES)}"
        )
    return suffix


def check_size(size: Any, suffix: str) -> tuple[int, int]:
    """Return the width and height of a picture [pixels]; ModelError if a file cannot have it."""
    if len(size) != 2 or not all(
        isinstance(side, int) and _MIN_SIDE <= side <= _MAX_SIDE for side in size
    ):
        raise ModelError(
            f"size must be a width and a height from {_MIN_SIDE} to {_MAX_SIDE} pixels, "
            f"got {'x'.join(map(str, size))}"
        )
    if suffix == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise ModelError(f"width and height of an MP4 must be even, got {size[0]}x{size[1]}")
    return size[0], size[1]


def check_options(
    suffix: str,
    fps: float,
    *,
    frame: int | None,
    every: int | None,
    speed: float | None,
    turntable: float,
    sheet: tuple[int, int] | None = None,
) -> None:
    """Raise ModelError for options that are out of range or do not go together."""
    if suffix == ".png" and (every is not None or speed is not None or turntable):
        raise ModelError("every, speed and turntable need a video (.gif or .mp4), got a .png")
    if sheet is not None:
        if suffix != ".png" or frame is not None:
            raise ModelError("a sheet needs a picture (.png), and no frame")
        if len(sheet) != 2 or not all(isinstance(n, int) and 1 <= n <= _MAX_TILES for n in sheet):
            raise ModelError(f"a sheet must have 1 to {_MAX_TILES} columns and rows, got {sheet!r}")
    if suffix != ".png" and frame is not None:
        raise ModelError(f"frame needs a picture (.png), got a {suffix}")
    if speed is not None and not 0.0 < speed < np.inf:
        raise ModelError(f"speed must be positive and finite, got {speed:g}")
    if every is not None and speed is not None:
        raise ModelError("every and speed exclude each other, got both")
    if every is not None and every < 1:
        raise ModelError(f"every must be 1 or more, got {every}")
    if not np.isfinite(turntable):
        raise ModelError(f"turntable must be a finite angle in degrees, got {turntable}")
    if not 0 < fps <= MAX_FPS[suffix]:
        raise ModelError(f"fps must be positive and at most {MAX_FPS[suffix]:g}, got {fps:g}")


def choose_frames(times: Float, *, fps: float, speed: float) -> list[int]:
    """Return the frame that each picture of a video shows.

    times : of the frames [s], (n,); fps : pictures per second; speed : simulated seconds per second

    >>> choose_frames(np.array([0.0, 0.1, 0.2, 0.3]), fps=5, speed=1.0)
    [0, 2]
    >>> choose_frames(np.array([0.0, 0.1, 0.2]), fps=10, speed=0.5)
    [0, 0, 1, 1, 2]
    """
    # The factor and the offset keep rounding from dropping the last picture.
    count = int(np.floor((times[-1] - times[0]) * fps / speed * (1 + 1e-12) + 1e-9)) + 1
    if count > _MAX_PICTURES:
        raise ModelError(
            f"a video must have at most {_MAX_PICTURES:,} pictures, got {count:,}: "
            "raise speed or lower fps"
        )
    wanted = times[0] + np.arange(count) * (speed / fps)
    after = np.clip(np.searchsorted(times, wanted), 1, max(len(times) - 1, 1))
    before = after - 1
    after_or_last = np.minimum(after, len(times) - 1)  # for a run of a single frame
    # Of two equally near frames the earlier one, so that rounding does not decide.
    tie = 1e-9 * speed / fps
    is_before = wanted - times[before] <= times[after_or_last] - wanted + tie
    return np.where(is_before, before, after_or_last).tolist()


def gif_durations(count: int, fps: float) -> list[int]:
    """Return how long each picture of a GIF is shown [ms].

    The format counts in hundredths of a second; these are rounded so that their sum is right.

    >>> gif_durations(4, 30), sum(gif_durations(300, 30))
    ([30, 40, 30, 30], 10000)
    """
    ends = np.rint(np.arange(count + 1) * (100 / fps)).astype(np.int64)
    return (10 * np.diff(ends)).tolist()


def write_png(path: Path, picture: Bytes) -> None:
    """Write one picture, (height, width, 3)."""
    image = import_extra("render", "PIL.Image", "pictures").fromarray(picture)
    with open_output(path, binary=True) as stream:
        image.save(stream, format="PNG", optimize=True)


def write_gif(
    path: Path, pictures: Iterable[Bytes], samples: Sequence[Bytes], fps: float, bar: Bytes
) -> None:
    """Write an animation that repeats for ever.

    pictures : (height, width, 3) each; fps : pictures per second
    samples : pictures from which the palette is taken; bar : further colours of it, (k, 3)
    """
    pillow = import_extra("render", "PIL.Image", "pictures")
    palette = _make_palette(pillow, samples, bar)
    images = [
        pillow.fromarray(picture).quantize(palette=palette, dither=pillow.Dither.NONE)
        for picture in pictures
    ]
    with open_output(path, binary=True) as stream:
        images[0].save(
            stream,
            format="GIF",
            save_all=True,
            append_images=images[1:],
            duration=gif_durations(len(images), fps),
            loop=0,
            disposal=1,
            optimize=False,
        )


def _make_palette(pillow: Any, samples: Sequence[Bytes], bar: Bytes) -> Any:
    """Make an image whose palette has the colours of the bar and suits the samples."""
    free = 255 - len(bar)
    sheet = np.concatenate([picture[::2, ::2] for picture in samples])
    reduced = pillow.fromarray(sheet).quantize(free, method=pillow.Quantize.MEDIANCUT, kmeans=1)
    palette = pillow.new("P", (1, 1))
    palette.putpalette(reduced.getpalette()[: 3 * free] + bar.ravel().tolist())
    return palette


def write_mp4(path: Path, pictures: Iterable[Bytes], size: tuple[int, int], fps: float) -> None:
    """Write a video in H.264, which every browser and player shows.

    pictures : (height, width, 3) each; size : width and height, both even; fps : pictures per
        second
    """
    ffmpeg = import_extra("render", "imageio_ffmpeg", "videos")
    options = ["-crf", "20", "-preset", "medium", "-movflags", "+faststart", "-f", "mp4"]
    with _temporary_path(path) as part:
        writer = ffmpeg.write_frames(
            str(part),
            size,
            fps=fps,
            codec="libx264",
            pix_fmt_out="yuv420p",
            quality=None,
            macro_block_size=2,
            output_params=options,
            ffmpeg_log_level="error",
        )
        count = 0
        try:
            writer.send(None)
            for picture in pictures:
                writer.send(np.ascontiguousarray(picture))
                count += 1
        finally:
            writer.close()
        # ffmpeg reports no error if it cannot write, so the pictures are counted.
        if _count_pictures(ffmpeg, part) != count:
            raise RunError(
                f"{path.parent}: cannot write {path.name}: the video is incomplete; "
                "the disk may be full"
            )


def _count_pictures(ffmpeg: Any, path: Path) -> int:
    try:
        return int(ffmpeg.count_frames_and_secs(str(path))[0])
    except RuntimeError:  # the file is not a video
        return 0


@contextmanager
def _temporary_path(path: Path) -> Iterator[Path]:
    """Yield a path for another program to write; the file then takes the place of `path`."""
    with (
        report_write_errors(path.parent, path.name),
        atomic_paths([path], overwrite=True, durable=False) as [part],
    ):
        yield part
