"""`export`: write a run to files, in the format of the suffix of the file name."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from taut.atomic_write import atomic_folder
from taut.errors import ModelError, did_you_mean
from taut.run.open_run import Run, open_run
from taut.run.run_folder import report_write_errors
from taut.show.export import _glb, _point_cache, _sequence, _usd, _vtkhdf
from taut.show.export._animation import Animation, Tell, select_frames
from taut.show.visual_model import model_from_run

_log = logging.getLogger("taut")
_MAX_LISTED = 3  # names of files in a message


def _single_file(animation: Animation, name: str) -> list[str]:
    return [name]


def _require_nothing() -> None:
    pass


@dataclass(frozen=True)
class Format:
    """One way to write an animation.

    write : writes the files for a name into a folder
    files : names of the files for a name
    pattern : a regular expression for files that would be read together with these, or None
    limit : default of the largest number of frames
    require : raises MissingExtra if a package is missing
    """

    write: Callable[[Animation, Path, str], None]
    files: Callable[[Animation, str], list[str]] = _single_file
    pattern: Callable[[str], str] | None = None
    limit: int | None = None
    require: Callable[[], object] = _require_nothing


_USD = Format(_usd.write, require=_usd.require)
_SEQUENCE = Format(_sequence.write, _sequence.list_files, _sequence.file_pattern)
FORMATS = {  # by suffix
    ".usdc": _USD,
    ".usda": _USD,
    ".usd": _USD,
    ".glb": Format(_glb.write, limit=_glb.MAX_FRAMES),
    ".vtkhdf": Format(_vtkhdf.write, require=_vtkhdf.require),
    ".obj": _SEQUENCE,
    ".ply": _SEQUENCE,
    ".pc2": Format(_point_cache.write, _point_cache.list_files),
}


@dataclass(frozen=True)
class Exported:
    """What was written.

    files : in order
    frames : number of frames in them
    recorded : number of frames of the run
    times : of the first and the last frame [s]
    numbers : of the first and the last frame of the shot; None for recorded frames without a shot
    fps : frames per second
    thinned : whether frames were left out because the format has a limit by default
    """

    files: tuple[Path, ...]
    frames: int
    recorded: int
    times: tuple[float, float]
    numbers: tuple[int, int] | None
    fps: float
    thinned: bool


def export(
    run: Run | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    every: int = 1,
    start: float | None = None,
    stop: float | None = None,
    frames: tuple[int, int] | None = None,
    at_most: int | None = None,
    fps: float | None = None,
    overwrite: bool = False,
    allow_code: bool = False,
    tell: Tell | None = None,
) -> Exported:
    """Write a run, which may still be in progress, for other programs.

    Bodies are written as they are drawn (`render` in a scene), without faces and lines at torn
    elements.

    run : a run or its folder
    path : ends in .usdc, .usda, .usd, .glb, .vtkhdf, .obj, .ply or .pc2
    every : write every N-th frame
    start, stop : first and last time [s]
    frames : first and last frame of the shot (default: all that the run has)
    at_most : the most frames to write, evenly spaced (default: 100 for .glb, all for others)
    fps : frames of the shot per second (default: those of the scene; without any, the recorded
        frames are written); between recorded frames see `taut.run.sampling`
    allow_code : run laws that are Python files in the run folder, to know what tore
    overwrite : replace existing files, when the new ones are complete
    tell : called with the number of frames done, their total, and the time [s]

    RunError if something cannot be read or written; MissingExtra if a package is missing.

    >>> import tempfile, taut
    >>> from taut.run.record import record
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = record(folder / "run", ball, taut.ImplicitEuler(), h=0.1, until=1.0)
    >>> done = export(folder / "run", folder / "ball.ply", every=5)
    >>> [file.name for file in done.files], done.frames, done.recorded, done.fps
    (['ball_0000.ply', 'ball_0001.ply', 'ball_0002.ply'], 3, 11, 2.0)
    """
    if frames is not None and len(frames) != 2:
        raise ModelError(f"frames must be the first and the last one, got {frames!r}")
    with _open_if_closed(run) as opened:
        file, file_format = _find_format(path)
        file_format.require()
        recorded = len(opened.frames)
        animation = select_frames(
            opened,
            model_from_run(opened, allow_code=allow_code),
            every=every,
            start=start,
            stop=stop,
            frames=frames,
            at_most=file_format.limit if at_most is None else at_most,
            fps=fps,
            tell=tell,
        )
        _warn_of_unknown_laws(animation)
        files = _write_files(animation, file, file_format, overwrite=overwrite)
    numbers = None
    if animation.numbers is not None:
        numbers = int(animation.numbers[0]), int(animation.numbers[-1])
    return Exported(
        files=files,
        frames=len(animation),
        recorded=recorded,
        times=(float(animation.times[0]), float(animation.times[-1])),
        numbers=numbers,
        fps=animation.rate,
        thinned=at_most is None and animation.thinned,
    )


@contextmanager
def _open_if_closed(run: Run | str | os.PathLike[str]) -> Iterator[Run]:
    """Yield the run; one that is given by its folder is opened, and closed at the end."""
    if isinstance(run, Run):
        yield run
    else:
        with open_run(run) as opened:
            yield opened


def _warn_of_unknown_laws(animation: Animation) -> None:
    """Log that torn elements are not known, because the laws are code that was not run."""
    last = animation.samples[len(animation) - 1]
    if last.active and not animation.model.active_masks(last):
        _log.warning(
            "%s: elements tear, but it is not known where, because the laws are code; "
            "--allow-code (allow_code=True) runs it",
            animation.run.folder,
        )


def _write_files(
    animation: Animation, file: Path, file_format: Format, *, overwrite: bool
) -> tuple[Path, ...]:
    """Write the animation; return the paths of its files."""
    names = file_format.files(animation, file.name)
    if file_format.pattern is not None:
        _reject_longer_sequence(file.parent, file_format.pattern(file.name), names)
    with _write_all_or_nothing(file.parent, names, overwrite=overwrite) as folder:
        file_format.write(animation, folder, file.name)
    return tuple(file.parent / name for name in names)


def _find_format(path: str | os.PathLike[str]) -> tuple[Path, Format]:
    """Return the path of the file and the format of its suffix."""
    try:
        file = Path(path)
    except TypeError as error:
        raise ModelError(f"the file to write must be a path, got {path!r}") from error
    suffix = file.suffix.lower()
    if suffix not in FORMATS or not file.stem:
        hint = did_you_mean(suffix, FORMATS)
        raise ModelError(f"{file}: the suffix must be one of {', '.join(FORMATS)}{hint}")
    return file, FORMATS[suffix]


@contextmanager
def _write_all_or_nothing(folder: Path, names: Sequence[str], *, overwrite: bool) -> Iterator[Path]:
    """Yield a temporary folder; its files `names` move to `folder` if there was no error."""
    with report_write_errors(folder, names[0]):
        folder.mkdir(parents=True, exist_ok=True)
        _check_targets(folder, names, overwrite=overwrite)
        with atomic_folder(folder, names, overwrite=overwrite) as temporary:
            yield temporary
            # again: files may have been created while these were written
            _check_targets(folder, names, overwrite=overwrite)


def _reject_longer_sequence(folder: Path, pattern: str, names: Sequence[str]) -> None:
    """Raise if files of an older, longer sequence would be read with the new ones."""
    if not folder.is_dir():
        return
    old = {path.name for path in folder.iterdir() if re.fullmatch(pattern, path.name)}
    extra = sorted(old - set(names))
    if extra:
        raise ModelError(
            f"{folder}: {_list_some(extra)} would be read with the new files; "
            "move them away, or choose another name"
        )


def _check_targets(folder: Path, names: Sequence[str], *, overwrite: bool) -> None:
    """Raise if an output is a folder, or exists, unless overwrite is set."""
    existing = [name for name in names if os.path.lexists(folder / name)]
    for name in existing:
        if (folder / name).is_dir():
            raise ModelError(f"the output must be a file, but {folder / name} is a folder")
    if existing and not overwrite:
        raise ModelError(
            f"{folder}: output exists: {_list_some(existing)}; --overwrite (overwrite=True) "
            "replaces it"
        )


def _list_some(names: Sequence[str]) -> str:
    text = ", ".join(names[:_MAX_LISTED])
    more = len(names) - _MAX_LISTED
    return f"{text} and {more} more" if more > 0 else text
