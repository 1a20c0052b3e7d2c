"""Write a run: one transaction per frame, with the reports and ledger entries since the last one.

SQLite keeps a write-ahead log and waits for the disk at the end of each transaction (synchronous =
FULL): once `save` has returned, its data survive a loss of power, and a process that is killed
loses only its current transaction. A new file is written under another name and renamed when the
first frame is in it, so that a run.sqlite always holds a run.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from taut.atomic_write import sync_folder
from taut.errors import RunError
from taut.run._connection import LOCK_TIMEOUT
from taut.run._database import Database
from taut.run._tables import (
    APPLICATION_ID,
    FORMAT,
    KEPT_CHECKPOINTS,
    LEDGER_COLUMNS,
    REPORT_COLUMNS,
    TABLES,
    entry_to_rows,
    report_to_row,
)
from taut.run.encoding import (
    checksum,
    masks_to_bytes,
    state_to_bytes,
    to_sql_real,
    vectors_to_bytes,
)
from taut.run.ledger_entry import LedgerEntry
from taut.run.metadata import Metadata
from taut.run.run_folder import FILE, JOURNALS, describe_error, report_write_errors
from taut.step.report import Report
from taut.system.state import State

StepRow = tuple[int, Report, LedgerEntry]  # step and what is known of it
_NEW_FILE = ".taut-run.part"  # a fixed name, so that the next run removes what a kill has left
_MAX_LOG = 16 * 2**20  # bytes of the write-ahead log before SQLite moves it into the file
_SET_PROGRESS = "INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?)"
log = logging.getLogger("taut")


def _insert(table: str, columns: int) -> str:
    return f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * columns)})"


class RunWriter:
    """run.sqlite, opened to be written.

    durable : the last step on the disk
    status : as in `taut.run._tables.STATUSES`
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database(folder, "rw")
        try:
            self.metadata = self.database.read_metadata()
            self.durable, self.status = self.database.read_progress()
            self._durable_at_start = self.durable  # frames up to here may exist already
            with self._report_errors("run.sqlite"):
                _set_durability(self.database.execute, _page_size(self.metadata.n))
        except RunError:
            self.database.close()
            raise

    @staticmethod
    def create(folder: Path, metadata: Metadata, state: State) -> RunWriter:
        """Create a run with its first frame and checkpoint."""
        new = folder / _NEW_FILE
        with report_write_errors(folder, FILE):
            for name in (_NEW_FILE, f"{_NEW_FILE}-wal", f"{_NEW_FILE}-journal"):
                (folder / name).unlink(missing_ok=True)
            try:
                _create_file(new, metadata, state)
                for name in JOURNALS:  # otherwise SQLite would apply an old log to the new file
                    (folder / name).unlink(missing_ok=True)
                # Not through atomic_paths, whose temporary names are random: if this run is killed,
                # the next one must find the file and the journals that SQLite made beside it.
                os.replace(new, folder / FILE)
                sync_folder(folder)
            except sqlite3.Error as error:
                raise RunError(f"{folder}: cannot write {FILE}: {error}") from error
            finally:
                new.unlink(missing_ok=True)
        return RunWriter(folder)

    def save(
        self, step: int, state: State, rows: Sequence[StepRow], *, checkpoint: bool, status: str
    ) -> None:
        """Write the steps up to this one: their rows, the frame if it has one, the checkpoint."""
        has_frame = self.metadata.is_frame(step)
        if has_frame:
            what = f"frame {self.metadata.count_frames(step) - 1} (step {step})"
        else:
            what = f"the checkpoint of step {step}"
        with self._report_errors(what), self._transaction():
            if has_frame:
                self._save_frame(step, state)
            self._save_rows(rows)
            if checkpoint:
                self._save_checkpoint(step, state)
            durable = max(self.durable, step)
            self.database.execute(_SET_PROGRESS, _make_progress_row(durable, status))
        self.durable, self.status = durable, status

    def finish(self) -> None:
        """Set the status to finished."""
        with self._report_errors("that the run is finished"), self._transaction():
            self.database.execute(_SET_PROGRESS, _make_progress_row(self.durable, "finished"))
        self.status = "finished"

    def close(self) -> None:
        """Close the file and remove its log, so that it can be read without write access."""
        # Fails while the file is read, or on a full disk; the log then stays, and nothing is lost.
        with suppress(sqlite3.Error):
            self.database.execute("PRAGMA busy_timeout = 0")
            self.database.execute("PRAGMA journal_mode = DELETE")
        with self._report_errors("run.sqlite"):
            self.database.close()

    @property
    def safe(self) -> str:
        """A clause for errors about what is already on the disk."""
        return f"everything up to step {self.durable} is safe"

    def _save_frame(self, step: int, state: State) -> None:
        row = _make_frame_row(step, state)
        if step <= self._durable_at_start and self._has_same_frame(step, row[2]):
            return
        self.database.execute(_insert("frames", 6), row)

    def _has_same_frame(self, step: int, check: bytes) -> bool:
        """Return whether a frame that is computed again after a resume is on the disk undamaged.

        RunError if it differs: frames of two different runs must not be mixed.
        """
        try:
            known = self.database.read_frame(step)[-1]
        except RunError as error:
            log.info("%s: writing the frame of step %d again: %s", self.folder, step, error)
            return False
        if known != check:
            raise RunError(
                "computed again it differs from the one on disk; "
                "is this another machine, or version of numba?"
            )
        return True

    def _save_rows(self, rows: Sequence[StepRow]) -> None:
        save_all = self.database.execute_many
        reports = [report_to_row(step, report) for step, report, _ in rows]
        save_all(_insert("reports", len(REPORT_COLUMNS) + 2), reports)
        entries = [entry_to_rows(step, entry) for step, _, entry in rows]
        save_all(_insert("ledger", len(LEDGER_COLUMNS) + 2), [row for row, _ in entries])
        save_all("DELETE FROM energies WHERE step = ?", [(step,) for step, _, _ in rows])
        by_law = [row for _, rows_by_law in entries for row in rows_by_law]
        save_all("INSERT INTO energies VALUES (?, ?, ?, ?, ?)", by_law)

    def _save_checkpoint(self, step: int, state: State) -> None:
        execute = self.database.execute
        execute(_insert("checkpoints", 4), _make_checkpoint_row(step, state))
        kept = "SELECT step FROM checkpoints WHERE step <= ? ORDER BY step DESC LIMIT ?"
        execute(
            f"DELETE FROM checkpoints WHERE step > 0 AND step NOT IN ({kept})",
            (step, KEPT_CHECKPOINTS),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.database.execute("COMMIT")
        except (sqlite3.Error, OSError, RunError):
            with suppress(sqlite3.Error):  # after a failed write SQLite has often rolled back
                self.database.execute("ROLLBACK")
            raise

    @contextmanager
    def _report_errors(self, what: str) -> Iterator[None]:
        """Turn errors into a RunError that names what could not be written, and what is safe."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise RunError(
                f"{self.folder}: cannot write {what}: {describe_error(error)}; {self.safe}"
            ) from error
        except RunError as error:
            raise RunError(f"{self.folder}: cannot write {what}: {error}; {self.safe}") from error


def _page_size(n: int) -> int:
    """Return the page size of the file [bytes].

    Large pages suit large frames; small ones, transactions that touch a few rows.
    """
    return 4096 if n < 2000 else 16384


def _set_durability(execute: Any, page_size: int) -> None:
    """Make SQLite write every transaction to the disk before it ends."""
    execute("PRAGMA synchronous = FULL")
    execute("PRAGMA fullfsync = ON")  # on macOS fsync alone does not reach the disk
    execute("PRAGMA checkpoint_fullfsync = ON")
    if execute("PRAGMA journal_mode = WAL") != [("wal",)]:
        raise sqlite3.OperationalError(
            "the file system cannot keep a write-ahead log (is it a network drive?)"
        )
    execute(f"PRAGMA wal_autocheckpoint = {_MAX_LOG // page_size}")


def _create_file(path: Path, metadata: Metadata, state: State) -> None:
    """Write a file with the tables, the metadata, and step 0."""
    connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None)
    execute = connection.execute
    try:
        execute(f"PRAGMA page_size = {_page_size(metadata.n)}")
        execute("PRAGMA synchronous = FULL")
        execute("PRAGMA fullfsync = ON")
        execute("BEGIN IMMEDIATE")
        execute(f"PRAGMA application_id = {APPLICATION_ID}")
        execute(f"PRAGMA user_version = {FORMAT}")
        for sql in TABLES.values():
            execute(sql)
        for key, value in {"format": FORMAT, **metadata.to_rows()}.items():
            execute(_insert("meta", 3), (key, value, checksum("meta", key, value)))
        execute(_insert("frames", 6), _make_frame_row(0, state))
        execute(_insert("checkpoints", 4), _make_checkpoint_row(0, state))
        execute(_SET_PROGRESS, _make_progress_row(0, "running"))
        execute("COMMIT")
    finally:
        connection.close()


def _make_frame_row(step: int, state: State) -> tuple[Any, ...]:
    t, q, v = to_sql_real(state.t), vectors_to_bytes(state.q), vectors_to_bytes(state.v)
    active = masks_to_bytes(state.active)
    return step, t, checksum("frames", step, t, q, v, active), q, v, active


def _make_checkpoint_row(step: int, state: State) -> tuple[Any, ...]:
    t, data = to_sql_real(state.t), state_to_bytes(state)
    return step, t, checksum("checkpoints", step, t, data), data


def _make_progress_row(step: int, status: str) -> tuple[Any, ...]:
    return 1, step, status, checksum("progress", 1, step, status)
