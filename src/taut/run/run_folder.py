"""The folder of a run: the names of its files, its lock, and the scene and inputs in it.

scene.toml, and the files it names     what was run
run.sqlite                             frames, reports, ledger and checkpoints (`taut.run._tables`)
summary.json, ledger.csv, energy.png   written at the end
run.lock                               locked by the process that writes
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any

from taut.atomic_write import atomic_open, sync_folder
from taut.errors import RunError

FILE = "run.sqlite"
LOG, INDEX, JOURNAL = f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal"
JOURNALS = (LOG, INDEX, JOURNAL)
SCENE = "scene.toml"
SUMMARY, LEDGER, PICTURE = "summary.json", "ledger.csv", "energy.png"
LOCK = "run.lock"
# In the order in which an old run is deleted: its results first, and the scene, from which it could
# be run again, last.
RUN_FILES = (SUMMARY, LEDGER, PICTURE, FILE, *JOURNALS, SCENE)


def describe_error(error: Exception) -> str:
    """Return the message of an error; for an OSError, only its reason."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)


@contextmanager
def report_write_errors(folder: Path, what: str, safe: str = "") -> Iterator[None]:
    """Turn an OSError into a RunError that names what could not be written.

    safe : a sentence about what is on the disk already
    """
    try:
        yield
    except OSError as error:
        addition = f"; {safe}" if safe else ""
        raise RunError(
            f"{folder}: cannot write {what}: {describe_error(error)}{addition}"
        ) from error


@contextmanager
def open_output(path: Path, safe: str = "", *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file that takes the place of `path` when the block ends (see `taut.atomic_write`).

    RunError if it cannot be written.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with open_output(path) as stream:
    ...     _ = stream.write("all of it")
    >>> path.read_text()
    'all of it'
    """
    with (
        report_write_errors(path.parent, path.name, safe),
        atomic_open(path, binary=binary, overwrite=True) as stream,
    ):
        yield stream


@contextmanager
def lock_run(folder: Path, file: str = LOCK) -> Iterator[None]:
    """Lock a run for this process; RunError if another process is writing it.

    file : name of the lock
    """
    from filelock import FileLock, Timeout

    # FileLock opens and truncates the file: through a link it would empty the link's target
    if os.path.lexists(folder / file) and not stat.S_ISREG(os.lstat(folder / file).st_mode):
        raise RunError(f"{folder}: {file} must be a regular file")
    lock = FileLock(folder / file)
    with report_write_errors(folder, file):
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise RunError(
                f"{folder}: another process is writing this {Path(file).stem}"
            ) from error
        except NotImplementedError as error:
            raise RunError(
                f"{folder}: cannot write {file}: the file system has no locks"
            ) from error
    try:
        yield
    finally:
        lock.release()


def absolute_folder(folder: Any) -> Path:
    """Return the absolute path of a run folder, which does not change with the working directory.

    >>> absolute_folder(3)
    Traceback (most recent call last):
    taut.errors.RunError: the folder of a run must be a path, got 3
    """
    try:
        return Path(folder).absolute()
    except TypeError as error:
        raise RunError(f"the folder of a run must be a path, got {folder!r}") from error


def make_folder(folder: Path) -> None:
    """Create the folder of a run if it does not exist."""
    with report_write_errors(folder, "the folder"):
        folder.mkdir(parents=True, exist_ok=True)
        sync_folder(folder.parent)


def clear_folder(folder: Path, files: Mapping[str, bytes], *, overwrite: bool) -> None:
    """Delete an old run; without `overwrite` raise if there is one, or if files are in the way.

    files : the scene and inputs to be written; other files stay
    """
    with report_write_errors(folder, "a new run"):
        existing = [name for name in RUN_FILES if os.path.lexists(folder / name)]
        if not overwrite:
            _reject_existing(folder, existing, files)
        for name in existing:
            if (folder / name).is_dir() and not (folder / name).is_symlink():
                raise RunError(f"{folder}: {name} must be a file of a run, but it is a folder")
        for name in existing:
            (folder / name).unlink(missing_ok=True)


def _reject_existing(folder: Path, existing: list[str], files: Mapping[str, bytes]) -> None:
    if FILE in existing:
        raise RunError(f"{folder}: a run exists here; pass overwrite=True to replace it")
    # A run that was killed at its start leaves a scene, which is no obstacle if it is the same.
    in_the_way = [name for name in existing if name != SCENE]
    new = {**files, SCENE: files.get(SCENE)}
    in_the_way += [name for name, data in new.items() if _differs(folder / name, data)]
    if in_the_way:
        raise RunError(
            f"{folder}: another {in_the_way[0]} exists here; pass overwrite=True to replace it"
        )


def _differs(path: Path, data: bytes | None) -> bool:
    return os.path.lexists(path) and not (path.is_file() and path.read_bytes() == data)


def write_inputs(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the scene and the files it names."""
    for name, data in files.items():
        path = folder / name
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise RunError(f"{folder}: {name} must lie in the run folder, but a link leads outside")
        with report_write_errors(folder, f"the folder of {name}"):
            path.parent.mkdir(parents=True, exist_ok=True)
        with open_output(path, binary=True) as stream:
            stream.write(data)


def check_input_names(folder: Path, inputs: Mapping[str, bytes]) -> None:
    """Raise RunError for inputs outside the folder, or with names of the run's own files."""
    for name, data in inputs.items():
        path = _relative_path(folder, name)
        if path.parts[0].lower() in (*RUN_FILES, LOCK):
            raise RunError(f"{folder}: the name {name!r} of an input is one of the run's own files")
        if not isinstance(data, bytes):
            raise RunError(f"{folder}: the input {name!r} must be bytes, got {type(data).__name__}")


def _relative_path(folder: Path, name: str) -> PurePosixPath:
    """Return a name as a path below the folder; RunError if it leads outside."""
    path = PurePosixPath(name)
    is_inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    # Windows would read a backslash or a colon as a separator or a drive.
    if not is_inside or any(character in name for character in "\\:\0"):
        raise RunError(f"{folder}: the input {name[:100]!r} must lie in the folder of the run")
    return path


def check_inputs_unchanged(folder: Path, digests: Mapping[str, str]) -> None:
    """Raise RunError if an input differs from its SHA-256, name → digest.

    Only regular files are opened: reading a pipe or a device might never end.
    """
    for name, digest in digests.items():
        path = folder / _relative_path(folder, name)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise RunError(f"{folder}: {name} must be a regular file")
            data = path.read_bytes()
        except OSError as error:
            raise RunError(f"{folder}: cannot read {name}: {describe_error(error)}") from error
        if sha256(data).hexdigest() != digest:
            raise RunError(
                f"{folder}: {name} has changed since the run began; a changed scene is a new run"
            )
