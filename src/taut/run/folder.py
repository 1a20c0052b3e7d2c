"""The folder of a run: who may write in it, and files that are written whole or not at all.

scene.toml, and the files it names     what was run
run.sqlite                             frames, reports, ledger and checkpoints (`taut.run.schema`)
summary.json, ledger.csv, energy.png   at the end
run.lock                               held by the process that writes
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import IO, Any

from taut.errors import RunError
from taut.run.connection import FILE, INDEX, JOURNAL, LOG
from taut.run.database import reason

SCENE, SUMMARY, LEDGER, PICTURE, LOCK = "scene.toml", "summary.json", "ledger.csv", "energy.png", "run.lock"
JOURNALS = (LOG, INDEX, JOURNAL)
OWN = (SUMMARY, LEDGER, PICTURE, FILE, *JOURNALS, SCENE)  # in the order in which an old run is cleared away


@contextmanager
def writing(folder: Path, what: str, safe: str = "") -> Iterator[None]:
    """Turn an error of the system into a RunError that says what could not be written, and what is safe."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{folder}: cannot write {what}: {reason(error)}{'; ' * bool(safe)}{safe}") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only process that writes this run; RunError if another one does."""
    from filelock import FileLock, Timeout

    if os.path.lexists(folder / LOCK) and not stat.S_ISREG(os.lstat(folder / LOCK).st_mode):
        raise RunError(f"{folder}: {LOCK} is not a file, as that of a run is")  # a link might have its target emptied
    lock = FileLock(folder / LOCK)
    with writing(folder, LOCK):
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise RunError(f"{folder}: another process is writing this run") from error
        except NotImplementedError as error:
            raise RunError(f"{folder}: cannot write {LOCK}: the file system has no locks") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def whole(path: Path, safe: str = "", *, binary: bool = False) -> Iterator[IO[Any]]:
    """A file to write: it takes its place when it is complete and on the disk, and not before.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with whole(path) as stream:
    ...     _ = stream.write("all of it")
    >>> path.read_text()
    'all of it'
    """
    part = path.with_name(f".taut-{token_hex(8)}.part")
    with writing(path.parent, path.name, safe):
        try:
            options: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": ""}
            with open(part, "xb" if binary else "x", **options) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(part, path)
            sync_folder(path.parent)
        finally:
            part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system has a way to ask for it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def absolute(folder: Any) -> Path:
    """The folder of a run as a path that does not change with the working directory; RunError for what is no path.

    >>> absolute(3)
    Traceback (most recent call last):
    taut.errors.RunError: the folder of a run is a path, not 3
    """
    try:
        return Path(folder).absolute()
    except TypeError as error:
        raise RunError(f"the folder of a run is a path, not {folder!r}") from error


def made(folder: Path) -> None:
    """Make the folder of a run, if it is not there."""
    with writing(folder, "the folder"):
        folder.mkdir(parents=True, exist_ok=True)
        sync_folder(folder.parent)


def cleared(folder: Path, files: Mapping[str, bytes], *, overwrite: bool) -> None:
    """Refuse a folder that holds a run or files in the way of these, or with `overwrite` take the run out; all else stays."""
    with writing(folder, "a new run"):
        there = [name for name in OWN if os.path.lexists(folder / name)]
        if not overwrite:
            if FILE in there:
                raise RunError(f"{folder}: there is a run already; it is overwritten only if you say so")
            others = [name for name in there if name != SCENE]  # the scene may be left of a run that was killed as it began
            others += [name for name in {**files, SCENE: files.get(SCENE, b"")} if _differs(folder / name, files.get(name))]
            if others:
                raise RunError(f"{folder}: there is another {others[0]} already; it is overwritten only if you say so")
        for name in there:
            if (folder / name).is_dir() and not (folder / name).is_symlink():
                raise RunError(f"{folder}: {name} is a folder, and not of a run; it is left alone")
        for name in there:
            (folder / name).unlink(missing_ok=True)


def _differs(path: Path, data: bytes | None) -> bool:
    return os.path.lexists(path) and not (path.is_file() and path.read_bytes() == data)


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the scene and the files beside it."""
    for name, data in files.items():
        path = folder / name
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise RunError(f"{folder}: a link leads {name} out of the folder of the run")
        with writing(folder, f"the folder of {name}"):
            path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path, binary=True) as stream:
            stream.write(data)


def check_names(folder: Path, inputs: Mapping[str, bytes]) -> None:
    """Refuse files that would lie outside the folder, or in place of the run's own."""
    for name, data in inputs.items():
        path = _inside(folder, name)
        if path.parts[0].lower() in (*OWN, LOCK):
            raise RunError(f"{folder}: the input {name!r} has a name that the run needs itself")
        if not isinstance(data, bytes):
            raise RunError(f"{folder}: the input {name!r} is {type(data).__name__}, not bytes")


def _inside(folder: Path, name: str) -> PurePosixPath:
    """The name as a path below the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in name or ":" in name or "\0" in name:
        raise RunError(f"{folder}: the input {name[:100]!r} would not lie in the folder of the run")
    return path


def check_unchanged(folder: Path, digests: Mapping[str, str]) -> None:
    """Refuse a run whose scene or inputs have changed since it began; what never ends (a pipe, a device) is not opened."""
    for name, digest in digests.items():
        path = folder / _inside(folder, name)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise RunError(f"{folder}: {name} is not a file")
            data = path.read_bytes()
        except OSError as error:
            raise RunError(f"{folder}: cannot read {name}: {reason(error)}") from error
        if sha256(data).hexdigest() != digest:
            raise RunError(f"{folder}: {name} has changed since the run began; a changed scene is a new run")
