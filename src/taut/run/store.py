"""Write a run: one transaction for each frame, with the reports and the ledger since the last one, and the checkpoint if due.

SQLite keeps a write-ahead log and waits for the disk at the end of each transaction (synchronous = FULL): what `save` has returned
from is there after a loss of power, and what it has not returned from is not there in part. A process that is killed loses the
transaction that it was in. The file is made under another name and renamed when the first frame is in it, so that a run.sqlite is
always a run.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from taut.errors import RunError
from taut.run.codec import checksum, state_to_bytes, stored, vectors_to_bytes
from taut.run.connection import FILE, WAIT
from taut.run.database import Database, reason
from taut.run.entry import Entry
from taut.run.folder import JOURNALS, sync_folder, writing
from taut.run.header import Header
from taut.run.rows import entry_rows, report_row
from taut.run.schema import APPLICATION, FORMAT, KEPT, LEDGER, REPORT, TABLES
from taut.step.report import Report
from taut.system.state import State

Row = tuple[int, Report, Entry]
PART = ".taut-run.part"
LONGEST = 16 * 2**20  # bytes of the write-ahead log after which it is moved into the file
log = logging.getLogger("taut")


class Store:
    """run.sqlite, to be written. `durable` is the last step on the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database(folder, "rw")
        try:
            self.header = self.database.header()
            self.durable, self.status = self.database.progress()
            self._held = self.durable  # frames up to here may be there already
            with self._told("run.sqlite"):
                _prepare(self.database.execute, _page(self.header.n))
        except RunError:
            self.database.close()
            raise

    @staticmethod
    def begun(folder: Path, header: Header, state: State) -> Store:
        """A new run, with its first frame and checkpoint."""
        part = folder / PART
        with writing(folder, FILE):
            for name in (PART, f"{PART}-wal", f"{PART}-journal"):  # of one that was killed here
                (folder / name).unlink(missing_ok=True)
            try:
                _write_first(part, header, state)
                for name in JOURNALS:
                    (folder / name).unlink(missing_ok=True)  # a log would be taken for that of the new file
                os.replace(part, folder / FILE)
                sync_folder(folder)
            except sqlite3.Error as error:
                raise RunError(f"{folder}: cannot write {FILE}: {error}") from error
            finally:
                part.unlink(missing_ok=True)
        return Store(folder)

    def save(self, step: int, state: State, rows: Sequence[Row], *, checkpoint: bool, status: str) -> None:
        """Have the steps up to this one on the disk: their rows, the frame and the checkpoint where there is one."""
        frame = self.header.is_frame(step)
        what = f"frame {self.header.frames(step) - 1} (step {step})" if frame else f"the checkpoint of step {step}"
        with self._told(what), self._transaction():
            execute, many = self.database.execute, self.database.many
            if frame:
                self._save_frame(step, state)
            many(
                f"INSERT OR REPLACE INTO reports VALUES (?, {', '.join('?' * len(REPORT))}, ?)",
                (report_row(i, r) for i, r, _ in rows),
            )
            booked = [entry_rows(i, entry) for i, _, entry in rows]
            many(f"INSERT OR REPLACE INTO ledger VALUES (?, {', '.join('?' * len(LEDGER))}, ?)", (row for row, _ in booked))
            many("DELETE FROM energies WHERE step = ?", ((i,) for i, _, _ in rows))
            many("INSERT INTO energies VALUES (?, ?, ?, ?, ?)", (row for _, by_law in booked for row in by_law))
            if checkpoint:
                execute("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?)", _checkpoint_row(step, state))
                oldest = "SELECT step FROM checkpoints WHERE step <= ? ORDER BY step DESC LIMIT ?"
                execute(f"DELETE FROM checkpoints WHERE step > 0 AND step NOT IN ({oldest})", (step, KEPT))
            reached = max(self.durable, step)
            execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?)", _progress_row(reached, status))
        self.durable, self.status = reached, status

    def finish(self) -> None:
        """Say that all is done."""
        with self._told("that the run is finished"), self._transaction():
            self.database.execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?)", _progress_row(self.durable, "finished"))
        self.status = "finished"

    def close(self) -> None:
        """Let go of the file, and leave it without a log beside it, so that it can be read where nothing can be written."""
        with suppress(sqlite3.Error):  # somebody is reading, or the disk is full: the log stays, and is as good
            self.database.execute("PRAGMA busy_timeout = 0")
            self.database.execute("PRAGMA journal_mode = DELETE")
        with self._told("run.sqlite"):
            self.database.close()

    @property
    def safe(self) -> str:
        """What nothing that goes wrong now can take away."""
        return f"everything up to step {self.durable} is safe"

    def _save_frame(self, step: int, state: State) -> None:
        row = _frame_row(step, state)
        if step <= self._held:  # computed again after a resume: the same, or not to be mixed with what is there
            try:
                known = self.database.frame(step)[-1]
            except RunError as error:
                log.info("%s: frame of step %d is written again: %s", self.folder, step, error)
            else:
                if known != row[2]:
                    raise RunError("computed again it differs from the one on disk; is this another machine, or version of numba?")
                return
        self.database.execute("INSERT OR REPLACE INTO frames VALUES (?, ?, ?, ?, ?)", row)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.database.execute("COMMIT")
        except (sqlite3.Error, OSError, RunError):
            with suppress(sqlite3.Error):  # where writing fails SQLite has often gone back already
                self.database.execute("ROLLBACK")
            raise

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise RunError(f"{self.folder}: cannot write {what}: {reason(error)}; {self.safe}") from error
        except RunError as error:
            raise RunError(f"{self.folder}: cannot write {what}: {error}; {self.safe}") from error


def _page(n: int) -> int:
    """Bytes of a page of the file: large ones for large frames, small ones where each transaction touches a few rows."""
    return 4096 if n < 2000 else 16384


def _prepare(execute: Any, page: int) -> None:
    """Have every transaction on the disk when it ends."""
    execute("PRAGMA synchronous = FULL")
    execute("PRAGMA fullfsync = ON")  # where fsync alone does not reach the disk (macOS)
    execute("PRAGMA checkpoint_fullfsync = ON")
    if execute("PRAGMA journal_mode = WAL") != [("wal",)]:
        raise sqlite3.OperationalError("the file system cannot keep a write-ahead log (is it a network drive?)")
    execute(f"PRAGMA wal_autocheckpoint = {LONGEST // page}")


def _write_first(path: Path, header: Header, state: State) -> None:
    """A file with the tables, what the run is, and step 0."""
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    try:
        for pragma in (f"page_size = {_page(header.n)}", "synchronous = FULL", "fullfsync = ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        for sql in TABLES.values():
            connection.execute(sql)
        meta = [(key, value, checksum("meta", key, value)) for key, value in {"format": FORMAT, **header.rows()}.items()]
        connection.executemany("INSERT INTO meta VALUES (?, ?, ?)", meta)
        connection.execute("INSERT INTO frames VALUES (?, ?, ?, ?, ?)", _frame_row(0, state))
        connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?)", _checkpoint_row(0, state))
        connection.execute("INSERT INTO progress VALUES (?, ?, ?, ?)", _progress_row(0, "running"))
        connection.execute("COMMIT")
    finally:
        connection.close()


def _frame_row(step: int, state: State) -> tuple[Any, ...]:
    t, q, v = stored(state.t), vectors_to_bytes(state.q), vectors_to_bytes(state.v)
    return step, t, checksum("frames", step, t, q, v), q, v


def _checkpoint_row(step: int, state: State) -> tuple[Any, ...]:
    t, data = stored(state.t), state_to_bytes(state)
    return step, t, checksum("checkpoints", step, t, data), data


def _progress_row(step: int, status: str) -> tuple[Any, ...]:
    return 1, step, status, checksum("progress", 1, step, status)
