"""The folder of compiled kernels on disk, and the checks before code in it is run.

The cache holds code that later processes execute, so it must belong to one user: a folder of mode
0700 whose owner is checked before anything in it is trusted. `TAUT_CACHE_DIR` moves it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from taut.atomic_write import atomic_write
from taut.errors import CacheError


def cache_directory() -> Path:
    """Return the folder of compiled kernels, created if necessary, and checked."""
    setting = os.environ.get("TAUT_CACHE_DIR")
    if setting:
        directory = Path(setting).expanduser().absolute()
    else:
        from platformdirs import user_cache_path

        directory = user_cache_path("taut", appauthor=False) / "kernels"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CacheError(
            f"cannot create the kernel cache {directory} ({error}); "
            "set TAUT_CACHE_DIR to a writable folder"
        ) from error
    check_ours(directory)
    if not os.access(directory, os.W_OK):
        raise CacheError(
            f"the kernel cache {directory} is read-only; set TAUT_CACHE_DIR to a writable folder"
        )
    return directory


def check_ours(path: Path) -> None:
    """Raise if another user owns the cache folder or could write to it."""
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        raise CacheError(
            f"the kernel cache {path} is a symbolic link; "
            "set TAUT_CACHE_DIR to a real folder of your own"
        )
    if not stat.S_ISDIR(info.st_mode):
        raise CacheError(f"the kernel cache {path} is not a folder")
    if os.name != "posix":
        return  # profile folders on Windows are private to their user
    if info.st_uid != os.geteuid():
        raise CacheError(
            f"the kernel cache {path} belongs to another user (uid {info.st_uid}); "
            "set TAUT_CACHE_DIR"
        )
    if info.st_mode & 0o077:
        raise CacheError(
            f"the kernel cache {path} is open to others (mode {info.st_mode & 0o777:o}), "
            "who may have put code there; delete it, or set TAUT_CACHE_DIR"
        )


def check_files(paths: Iterable[Path]) -> None:
    """Raise if a file is a link or belongs to another user.

    Such files can be from a time when the folder was open to others.
    """
    for path in paths:
        info = path.lstat()
        if stat.S_ISLNK(info.st_mode) or (os.name == "posix" and info.st_uid != os.geteuid()):
            raise CacheError(
                f"{path} in the kernel cache is a link or belongs to another user; delete the cache"
            )


def write_private(path: Path, text: str) -> None:
    """Write a file of the cache, whole or not at all, that only its owner may read and write."""
    # not durable: whatever a crash leaves is compiled again, and fsync would delay each start
    atomic_write(path, text, overwrite=True, private=True, durable=False)
