"""Connect to run.sqlite, which may have been left by a process that was killed, and may come from somebody else.

A killed writer leaves a write-ahead log (`-wal`), which is read along, or, if it was just changing to or from that log, a rollback
journal (`-journal`), which must be played back before anything can be read. Neither needs asking where the folder can be written.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import Literal

from taut.errors import RunError

FILE = "run.sqlite"
LOG, INDEX, JOURNAL = f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal"
WAIT = 10.0  # seconds for a moment in which the other process locks the file
MAGIC = bytes.fromhex("d9d505f920a163d7")  # at the end of a journal: it goes with others, whose names come before


def connected(folder: Path, mode: Literal["ro", "rw"]) -> sqlite3.Connection:
    """A connection to the run in a folder, to read or to write; RunError, OSError or an error of SQLite where there is none.

    >>> import tempfile
    >>> connected(Path(tempfile.mkdtemp()), "ro")
    Traceback (most recent call last):
    taut.errors.RunError: there is no run.sqlite in it
    """
    _refuse_oddities(folder)
    left = any(_size(folder / name) for name in (LOG, JOURNAL))
    if mode == "ro" and not os.access(folder, os.W_OK):
        try:
            return _opened(folder, "ro" if left else "ro&immutable=1")  # where nothing is left, nothing need be written to read
        except sqlite3.OperationalError as error:
            hint = "; its writer was killed: copy it to where it can be written, and open it there" if left else ""
            raise RunError(f"{error}{hint}") from error
    try:
        return _opened(folder, mode)
    except sqlite3.OperationalError as error:
        if mode == "rw" or not str(error.sqlite_errorname).startswith("SQLITE_READONLY"):
            raise
    _opened(folder, "rw").close()  # plays the journal back
    return _opened(folder, mode)


def _opened(folder: Path, how: str) -> sqlite3.Connection:
    uri = f"{(folder / FILE).absolute().as_uri()}?mode={how}"
    connection = sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        for sql in ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "SELECT 1 FROM sqlite_master LIMIT 1"):
            connection.execute(sql).fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _refuse_oddities(folder: Path) -> None:
    """Refuse what is no file: a folder or a pipe of that name could keep us waiting for ever.

    A link too: SQLite follows it, and takes the journals beside its target for those of the run, which were not looked at here.
    """
    if not stat.S_ISDIR(os.stat(folder).st_mode):
        raise RunError("it is not a folder")
    for name in (FILE, LOG, INDEX, JOURNAL):
        try:
            mode = os.lstat(folder / name).st_mode
        except FileNotFoundError:
            if name == FILE:
                raise RunError(f"there is no {FILE} in it") from None
            continue
        if not stat.S_ISREG(mode):
            raise RunError(f"{name} is a link; a run lies in its folder" if stat.S_ISLNK(mode) else f"{name} is not a file")
    if _size(folder / JOURNAL) and (folder / JOURNAL).read_bytes().endswith(MAGIC):
        raise RunError(f"{JOURNAL} names other files, which that of a run does not")  # SQLite might delete them
