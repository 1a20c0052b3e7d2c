"""Connect to run.sqlite, which may come from a killed process or from an untrusted source.

A killed writer leaves a write-ahead log (`-wal`), which SQLite reads as well, or, if it was killed
while switching to or from that log, a rollback journal (`-journal`), which must be played back
before anything can be read. Both need write access to the folder.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import Literal

from taut.errors import RunError
from taut.run.run_folder import FILE, INDEX, JOURNAL, LOG

LOCK_TIMEOUT = 10.0  # seconds to wait while another process locks the file for a transaction
# The last bytes of a rollback journal that belongs to a transaction over several databases; the
# names of the other files come before them.
_SUPER_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def connect(folder: Path, mode: Literal["ro", "rw"]) -> sqlite3.Connection:
    """Open run.sqlite in a folder to read or to write.

    RunError, OSError or sqlite3.Error if that fails.

    >>> import tempfile
    >>> connect(Path(tempfile.mkdtemp()), "ro")
    Traceback (most recent call last):
    taut.errors.RunError: there is no run.sqlite in it
    """
    _reject_irregular_files(folder)
    if mode == "ro" and not os.access(folder, os.W_OK):
        return _connect_without_writing(folder)
    try:
        return _open(folder, mode)
    except sqlite3.OperationalError as error:
        if mode == "rw" or not str(error.sqlite_errorname).startswith("SQLITE_READONLY"):
            raise
    _open(folder, "rw").close()  # SQLite plays the journal back
    return _open(folder, mode)


def _connect_without_writing(folder: Path) -> sqlite3.Connection:
    """Open a run in a folder that cannot be written."""
    has_journal = any(_size(folder / name) for name in (LOG, JOURNAL))
    try:
        # `immutable` lets SQLite read without creating its index file, but ignores a log
        return _open(folder, "ro" if has_journal else "ro&immutable=1")
    except sqlite3.OperationalError as error:
        hint = ""
        if has_journal:
            hint = "; its writer was killed: copy it to where it can be written, and open it there"
        raise RunError(f"{error}{hint}") from error


def _open(folder: Path, mode: str) -> sqlite3.Connection:
    uri = f"{(folder / FILE).absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        uri, uri=True, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
    )
    statements = (
        "PRAGMA trusted_schema = OFF",  # no functions in a hostile schema
        "PRAGMA cell_size_check = ON",  # notices damaged pages early
        "SELECT 1 FROM sqlite_master LIMIT 1",  # the file is read only now
    )
    try:
        for sql in statements:
            connection.execute(sql).fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reject_irregular_files(folder: Path) -> None:
    """Raise RunError unless the database and its journals are regular files.

    Opening a pipe could wait for ever. A link is rejected too: SQLite follows it, and would use the
    journals next to its target, which were not checked here.
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
        if stat.S_ISLNK(mode):
            raise RunError(f"{name} must be a regular file, but it is a link")
        if not stat.S_ISREG(mode):
            raise RunError(f"{name} must be a regular file")
    journal = folder / JOURNAL
    # SQLite might delete the files that such a journal names.
    if _size(journal) and journal.read_bytes().endswith(_SUPER_JOURNAL_MAGIC):
        raise RunError(f"{JOURNAL} names other files, which the journal of a run never does")
