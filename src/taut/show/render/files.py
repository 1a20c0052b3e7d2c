"""PNG, GIF and MP4, each whole or not at all: written beside its place, then moved there.

All pictures of a GIF share one palette, of 255 colours taken from pictures spread over its whole length and from its colour bar,
without dithering: what does not move stays the same and takes no space.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, RunError, did_you_mean
from taut.extras import extra
from taut.run.folder import whole, writing
from taut.show.render.timing import delays

Bytes = NDArray[np.uint8]
KINDS = (".png", ".gif", ".mp4")


def kind_of(path: Path) -> str:
    """The suffix of a picture or video, in small letters.

    >>> kind_of(Path("Cloth.MP4"))
    '.mp4'
    """
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise ModelError(f"{path}: pictures are {', '.join(KINDS)}, not '{kind}'{did_you_mean(kind, KINDS)}")
    return kind


def write_png(path: Path, picture: Bytes) -> None:
    """One picture (height, width, 3)."""
    made = extra("render", "PIL.Image", "pictures").fromarray(picture)
    with whole(path, binary=True) as stream:
        made.save(stream, format="PNG", optimize=True)


def write_gif(path: Path, pictures: Iterable[Bytes], samples: Sequence[Bytes], fps: float, bar: Bytes) -> None:
    """An animation that goes round: pictures (height, width, 3), `fps` a second.

    samples : pictures from which its palette is taken; bar : colours that it shall have too, (k, 3)
    """
    image = extra("render", "PIL.Image", "pictures")
    palette = _palette(image, samples, bar)
    reduced = [image.fromarray(picture).quantize(palette=palette, dither=image.Dither.NONE) for picture in pictures]
    with whole(path, binary=True) as stream:
        reduced[0].save(
            stream, format="GIF", save_all=True, append_images=reduced[1:], duration=delays(len(reduced), fps), loop=0, disposal=1,
            optimize=False,
        )  # fmt: skip


def _palette(image: Any, samples: Sequence[Bytes], bar: Bytes) -> Any:
    """A picture whose palette suits all of these, and has the colours of the bar."""
    sheet = np.concatenate([picture[::2, ::2] for picture in samples])
    found = image.fromarray(sheet).quantize(255 - len(bar), method=image.Quantize.MEDIANCUT, kmeans=1)
    made = image.new("P", (1, 1))
    made.putpalette(found.getpalette()[: 3 * (255 - len(bar))] + bar.ravel().tolist())
    return made


def write_mp4(path: Path, pictures: Iterable[Bytes], size: tuple[int, int], fps: float) -> None:
    """A video (H.264, which every browser and player shows) of pictures (height, width, 3), both even, `fps` a second."""
    ffmpeg = extra("render", "imageio_ffmpeg", "videos")
    with _part(path) as part:
        options = ["-crf", "20", "-preset", "medium", "-movflags", "+faststart", "-f", "mp4"]
        writer = ffmpeg.write_frames(
            str(part), size, fps=fps, codec="libx264", pix_fmt_out="yuv420p", quality=None, macro_block_size=2,
            output_params=options, ffmpeg_log_level="error",
        )  # fmt: skip
        count = 0
        try:
            writer.send(None)
            for picture in pictures:
                writer.send(np.ascontiguousarray(picture))
                count += 1
        finally:
            writer.close()
        if _frames(ffmpeg, part) != count:  # ffmpeg does not say so when it cannot write
            raise RunError(f"{path.parent}: cannot write {path.name}: the video came out incomplete; the disk may be full")


def _frames(ffmpeg: Any, path: Path) -> int:
    """How many pictures a video really has."""
    try:
        return int(ffmpeg.count_frames_and_secs(str(path))[0])
    except RuntimeError:  # it is no video at all
        return 0


@contextmanager
def _part(path: Path) -> Iterator[Path]:
    """A file for a program to write, which takes its place when that is done."""
    part = path.with_name(f".taut-{token_hex(8)}.part")
    with writing(path.parent, path.name):
        try:
            yield part
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
