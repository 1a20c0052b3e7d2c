"""Write files whole or not at all.

A file is written under a temporary name in the folder where it belongs (renaming works only within
a file system), then renamed to its target, which POSIX and Windows do in one step. A failure
before that (a full disk, a kill, an exception) leaves the old file as it was, and the temporary
file is removed.

Rules that hold for every file:

- an existing file is replaced only with `overwrite`, and keeps its permissions; without it, a file
  that another process creates in the meantime is kept too;
- temporary files have unpredictable names and are created exclusively, so that a link prepared by
  somebody else is never written through;
- a symbolic link at the target is replaced, unless `follow_links` asks to write where it leads.

All functions raise OSError; callers turn it into their own type of error.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import EACCES, EEXIST, EISDIR, ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

_PRIVATE = 0o600
# What os.link raises where hard links do not exist (FAT) or are forbidden (some sandboxes).
_NO_HARD_LINKS = (EPERM, EACCES, ENOSYS, ENOTSUP, EOPNOTSUPP)


def atomic_write(
    path: Path,
    content: str | bytes,
    *,
    overwrite: bool = False,
    private: bool = False,
    durable: bool = True,
) -> None:
    """Write a text (UTF-8, line ends unchanged) or bytes to a file.

    overwrite, private, durable : see `atomic_open`

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> atomic_write(path, "all of it")
    >>> path.read_text()
    'all of it'
    """
    binary = isinstance(content, bytes)
    with atomic_open(
        path, binary=binary, overwrite=overwrite, private=private, durable=durable
    ) as stream:
        stream.write(content)


@contextmanager
def atomic_open(
    path: Path,
    *,
    binary: bool = False,
    overwrite: bool = False,
    private: bool = False,
    durable: bool = True,
) -> Iterator[IO[Any]]:
    """Open a temporary file that takes the place of `path` when the block ends without an error.

    binary : a stream of bytes; otherwise of text, UTF-8, line ends unchanged
    overwrite : replace an existing file
    private : only the owner may read and write it (mode 600), from its creation on
    durable : wait until the content and the name are on the disk

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with atomic_open(path) as stream:
    ...     _ = stream.write("all of it")
    >>> path.read_text()
    'all of it'
    """
    _check_target(path, overwrite=overwrite)
    mode = _PRIVATE if private else _existing_mode(path)
    part = _temporary_path(path)

    def create(name: str, flags: int) -> int:
        # created with its final mode: a chmod afterwards would leave a moment for others to read it
        return os.open(name, flags, 0o666 if mode is None else mode)

    text_options: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": ""}
    try:
        with open(part, "xb" if binary else "x", opener=create, **text_options) as stream:
            yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        _check_target(path, overwrite=overwrite)  # it may have been created in the meantime
        _rename(part, path, mode, overwrite=overwrite)
        if durable:
            sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def atomic_paths(
    paths: Sequence[Path],
    *,
    overwrite: bool = False,
    follow_links: bool = False,
    durable: bool = True,
) -> Iterator[list[Path]]:
    """Yield a temporary path for each file, for several files together or for another program.

    All files must exist at the end of the block; then all of them take their places.

    overwrite, durable : see `atomic_open`
    follow_links : write where symbolic links at `paths` lead, and leave the links

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with atomic_paths([path]) as [part]:
    ...     _ = part.write_text("all of it")
    >>> path.read_text()
    'all of it'
    """
    for path in paths:
        _check_target(path, overwrite=overwrite)
    targets = [path.resolve() if follow_links else path for path in paths]
    parts = [_temporary_path(target) for target in targets]
    try:
        yield parts
        for path in paths:
            _check_target(path, overwrite=overwrite)  # it may have been created in the meantime
        _install(parts, targets, overwrite=overwrite, durable=durable)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: Path, names: Sequence[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder whose files `names` move to `folder` at the end of the block.

    Other files in the temporary folder are deleted. Symbolic links at the targets are followed.
    This is for writers that choose names themselves, or need room for intermediate files.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_folder(folder, ["a.txt"]) as part:
    ...     _ = (part / "a.txt").write_text("all of it")
    >>> [(path.name, path.read_text()) for path in folder.iterdir()]
    [('a.txt', 'all of it')]
    """
    for name in names:
        _check_target(folder / name, overwrite=overwrite)
    part = _temporary_path(folder / "folder")
    part.mkdir()
    try:
        yield part
        for name in names:
            _check_target(folder / name, overwrite=overwrite)
        parts = [part / name for name in names]
        targets = [(folder / name).resolve() for name in names]
        _install(parts, targets, overwrite=overwrite, durable=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name == "posix":  # Windows has no such call
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _temporary_path(path: Path) -> Path:
    """Return an unpredictable name in the folder of `path`."""
    return path.with_name(f".taut-{token_hex(8)}.part")


def _check_target(path: Path, *, overwrite: bool) -> None:
    """Raise if the target is a folder, or exists without `overwrite`."""
    if path.is_dir() and not path.is_symlink():
        raise IsADirectoryError(EISDIR, "it is a directory", str(path))
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(EEXIST, os.strerror(EEXIST), str(path))


def _existing_mode(path: Path) -> int | None:
    """Return the permissions of an existing regular file, or None."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(info.st_mode) & 0o777 if stat.S_ISREG(info.st_mode) else None


def _install(
    parts: Sequence[Path], targets: Sequence[Path], *, overwrite: bool, durable: bool
) -> None:
    """Rename complete files to their targets, none before all of them are on the disk."""
    for target in targets:
        _check_target(target, overwrite=True)
    if durable:
        for part in parts:
            with open(part, "rb+") as stream:
                os.fsync(stream.fileno())
    for part, target in zip(parts, targets, strict=True):
        _rename(part, target, _existing_mode(target), overwrite=overwrite)
    if durable:
        for folder in {target.parent for target in targets}:
            sync_folder(folder)


def _rename(part: Path, target: Path, mode: int | None, *, overwrite: bool) -> None:
    """Rename a complete file to its target, with the given permissions or those of a new file."""
    if mode is not None:
        os.chmod(part, mode)
    if overwrite:
        os.replace(part, target)
    else:
        _rename_to_new(part, target)


def _rename_to_new(part: Path, target: Path) -> None:
    """Rename a complete file; FileExistsError if the target exists at that moment."""
    if os.name != "posix":
        os.rename(part, target)  # on Windows it fails if the target exists
        return
    # On POSIX a rename replaces the target, whereas a hard link is made only if there is none.
    try:
        os.link(part, target)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # Creating the target exclusively first would leave an empty file after a kill. The check
        # leaves a moment in which a file of another process could be replaced.
        _check_target(target, overwrite=False)
        os.replace(part, target)
    else:
        part.unlink()
