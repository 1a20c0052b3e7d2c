"""Where files go: all of them are written in a folder of their own, and take their places when they are complete."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from taut.errors import ModelError
from taut.run.folder import sync_folder, writing

MOST_SHOWN = 3


@contextmanager
def placed(folder: Path, names: Sequence[str], *, overwrite: bool) -> Iterator[Path]:
    """A folder to write these files in, from which they move to `folder`; after an error nothing has changed there.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with placed(folder, ["a.txt"], overwrite=False) as part:
    ...     _ = (part / "a.txt").write_text("all of it")
    >>> [(path.name, path.read_text()) for path in folder.iterdir()]
    [('a.txt', 'all of it')]
    """
    with writing(folder, names[0]):
        folder.mkdir(parents=True, exist_ok=True)
        _refuse(folder, names, overwrite=overwrite)
        part = folder / f".taut-{token_hex(8)}.part"
        part.mkdir()
        try:
            yield part
            for name in names:
                with open(part / name, "rb+") as stream:
                    os.fsync(stream.fileno())
            _refuse(folder, names, overwrite=overwrite)  # they may have come since
            for name in names:
                target = (folder / name).resolve()
                if target.exists():
                    os.chmod(part / name, stat.S_IMODE(target.stat().st_mode))
                os.replace(part / name, target)
            sync_folder(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def refuse_longer(folder: Path, pattern: str, names: Sequence[str]) -> None:
    """Refuse files of an older, longer sequence, which would be read with the new ones."""
    kept = set(names)
    old = [path.name for path in folder.iterdir() if re.fullmatch(pattern, path.name)] if folder.is_dir() else []
    left = sorted(set(old) - kept)
    if left:
        raise ModelError(f"{folder}: {_some(left)} would be read with the new files; move them away, or take another name")


def _refuse(folder: Path, names: Sequence[str], *, overwrite: bool) -> None:
    there = [name for name in names if os.path.lexists(folder / name)]
    for name in there:
        if (folder / name).is_dir():
            raise ModelError(f"{folder / name} is a folder; name a file")
    if there and not overwrite:
        raise ModelError(f"{folder}: there is {_some(there)} already; it is overwritten only if you say so (--overwrite)")


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_SHOWN
    return ", ".join(names[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")
