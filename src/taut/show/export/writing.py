"""`export`: a run into files, in the format that the ending of the name says."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from taut.errors import ModelError, did_you_mean
from taut.run.opening import Run, open_run
from taut.show.export import glb, point_cache, sequence, usd, vtkhdf
from taut.show.export.clip import Clip, Tell, clip_of
from taut.show.export.target import placed, refuse_longer
from taut.show.subject import of_run


@dataclass(frozen=True)
class Format:
    """One way to write a clip.

    write : the files into a folder, for the name asked for; files : their names, if they are several
    older : what names of files match that would be read with these; most : frames, unless another number is asked for
    ready : raises MissingExtra where a package is missing
    """

    write: Callable[[Clip, Path, str], None]
    files: Callable[[Clip, str], list[str]] = lambda _, name: [name]
    older: Callable[[str], str] | None = None
    most: int | None = None
    ready: Callable[[], object] = lambda: None


_USD, _SEQUENCE = Format(usd.write, ready=usd.ready), Format(sequence.write, sequence.files, sequence.pattern)
FORMATS = {
    ".usdc": _USD, ".usda": _USD, ".usd": _USD, ".glb": Format(glb.write, most=glb.MOST),
    ".vtkhdf": Format(vtkhdf.write, ready=vtkhdf.ready), ".obj": _SEQUENCE, ".ply": _SEQUENCE,
    ".pc2": Format(point_cache.write, point_cache.files),
}  # fmt: skip
"""By the ending of the file's name."""


@dataclass(frozen=True)
class Exported:
    """What was written.

    files : in order; frames : how many are in them; recorded : how many the run has
    times : of the first and the last [s]; fps : time codes in a second
    thinned : whether the format takes no more unless they are asked for
    """

    files: tuple[Path, ...]
    frames: int
    recorded: int
    times: tuple[float, float]
    fps: float
    thinned: bool


def export(
    run: Run | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    every: int = 1,
    start: float | None = None,
    stop: float | None = None,
    frames: int | None = None,
    fps: float | None = None,
    overwrite: bool = False,
    tell: Tell | None = None,
) -> Exported:
    """Write a run, which may still be going on, for other programs; what is drawn of a body is written (`render` in a scene).

    run : a run or its folder; path : ends in .usdc, .usda, .usd, .glb, .vtkhdf, .obj, .ply or .pc2
    every : take each N-th frame; start, stop : first and last time [s]; frames : at most so many, evenly (.glb: 100 by default)
    fps : time codes (USD) or scene frames (PC2) in a second; by default each frame written is one
    overwrite : replace files that are there, when the new ones are complete; tell : called with frames done, of all, and time [s]

    RunError says what cannot be read or written; MissingExtra, which package the format needs. Elements that tore stay in the mesh.

    >>> import tempfile, taut
    >>> from taut.run.record import record
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = record(folder / "run", ball, taut.ImplicitEuler(), h=0.1, until=1.0)
    >>> done = export(folder / "run", folder / "ball.ply", every=5)
    >>> [file.name for file in done.files], done.frames, done.recorded, done.fps
    (['ball_0000.ply', 'ball_0001.ply', 'ball_0002.ply'], 3, 11, 2.0)
    """
    if not isinstance(run, Run):
        with open_run(run) as opened:
            return export(
                opened, path, every=every, start=start, stop=stop, frames=frames, fps=fps, overwrite=overwrite, tell=tell
            )  # fmt: skip
    file, format_ = _format(path)
    format_.ready()
    recorded = len(run.frames)
    most = format_.most if frames is None else frames
    clip = clip_of(run, of_run(run).pieces, every=every, start=start, stop=stop, most=most, rate=fps, tell=tell)
    names = format_.files(clip, file.name)
    if format_.older is not None:
        refuse_longer(file.parent, format_.older(file.name), names)
    with placed(file.parent, names, overwrite=overwrite) as folder:
        format_.write(clip, folder, file.name)
    times = float(clip.times[0]), float(clip.times[-1])
    thinned = frames is None and clip.thinned
    return Exported(tuple(file.parent / name for name in names), len(clip), recorded, times, clip.rate, thinned)


def _format(path: str | os.PathLike[str]) -> tuple[Path, Format]:
    """The file, and what writes it."""
    try:
        file = Path(path)
    except TypeError as error:
        raise ModelError(f"the file to write is a path, not {path!r}") from error
    suffix = file.suffix.lower()
    if suffix not in FORMATS or not file.stem:
        hint = did_you_mean(suffix, FORMATS)
        raise ModelError(f"{file}: its ending says what to write; there are {', '.join(FORMATS)}{hint}")
    return file, FORMATS[suffix]
