"""Read run.sqlite as an untrusted file: every error is a RunError with the folder and the task.

Nothing in the file is executed: its tables must be exactly those of `taut.run._tables`,
without triggers, and SQLite may call no function in them. Every row that is read must have the
right checksum.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from taut.errors import RunError
from taut.run._connection import connect
from taut.run._tables import (
    APPLICATION_ID,
    FORMAT,
    LEDGER_COLUMNS,
    REPORT_COLUMNS,
    STATUSES,
    TABLES,
    entry_from_rows,
    quote_names,
    report_from_row,
)
from taut.run.encoding import checksum, state_from_bytes
from taut.run.ledger_entry import LedgerEntry
from taut.run.metadata import Metadata
from taut.run.run_folder import describe_error
from taut.step.report import Report
from taut.system.state import State

_PAGE = 512  # rows read at a time, so that memory does not grow with the run
log = logging.getLogger("taut")


class Database:
    """A connection to run.sqlite in a folder, to read ("ro") or to write ("rw").

    While another process writes, it sees what the last transaction left. Threads may share it.
    """

    def __init__(self, folder: Path, mode: Literal["ro", "rw"]) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        with self.report_errors("open"):
            self._connection = connect(folder, mode)
        try:
            with self.report_errors("open"):
                self._check_schema()
        except RunError:
            self.close()
            raise

    @contextmanager
    def report_errors(self, task: str) -> Iterator[None]:
        """Turn errors into a RunError "FOLDER: cannot TASK: …"."""
        try:
            yield
        except RunError as error:
            raise RunError(f"{self.folder}: cannot {task}: {error}") from error
        except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
            raise RunError(f"{self.folder}: cannot {task}: {describe_error(error)}") from error

    def execute(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """Execute a statement and return all its rows."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def execute_many(self, sql: str, rows: Any) -> None:
        """Execute a statement once for each row of values."""
        with self._lock:
            self._connection.executemany(sql, rows)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _check_schema(self) -> None:
        if not self.execute("SELECT 1 FROM sqlite_master LIMIT 1"):
            raise RunError("run.sqlite is empty: nothing was recorded")
        if self.execute("PRAGMA application_id") != [(APPLICATION_ID,)]:
            raise RunError("it is not a run of taut")
        ((found,),) = self.execute("PRAGMA user_version")
        if found != FORMAT:
            raise RunError(
                f"it was recorded in format {found} by another version of taut, this version reads "
                f"format {FORMAT}; record the run again"
            )
        tables = dict(self.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        for name, sql in TABLES.items():
            if tables.get(name) != sql:
                raise RunError(f"its table '{name}' is missing or has other columns")
        if self.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger' LIMIT 1"):
            raise RunError("it has triggers, which a run of taut never has")

    def read_metadata(self) -> Metadata:
        """Return the metadata of the run."""
        with self.report_errors("read the metadata"):
            rows: dict[str, Any] = {}
            for key, value, check in self.execute("SELECT key, value, checksum FROM meta"):
                if check != checksum("meta", key, value):
                    raise RunError(f"the checksum of '{key}' is wrong")
                rows[key] = value
            return Metadata.from_rows(rows)

    def read_progress(self) -> tuple[int, str]:
        """Return the last step on disk and the status."""
        with self.report_errors("read the progress"):
            rows = self.execute("SELECT run, step, status, checksum FROM progress")
            if len(rows) != 1 or checksum("progress", *rows[0][:-1]) != rows[0][-1]:
                raise RunError("it is missing or damaged")
            _, step, status, _ = rows[0]
            if not isinstance(step, int) or step < 0 or status not in STATUSES:
                raise RunError("its step or status is impossible")
            return step, status

    def read_frame(self, step: int) -> tuple[float, bytes, bytes, bytes | None, bytes]:
        """Return t [s], q [m], v [m/s], the active masks and the checksum of a frame, verified."""
        rows = self.execute(
            "SELECT step, t, q, v, active, checksum FROM frames WHERE step = ?", (step,)
        )
        if len(rows) != 1:
            raise RunError("it is missing")
        if checksum("frames", *rows[0][:-1]) != rows[0][-1]:
            raise RunError("it is damaged: its checksum is wrong")
        return rows[0][1:]

    def list_checkpoints(self) -> list[int]:
        """Return the steps of all checkpoints, the last one first."""
        with self.report_errors("list the checkpoints"):
            rows = self.execute("SELECT step FROM checkpoints ORDER BY step DESC")
            return [step for (step,) in rows]

    def read_checkpoint(self, step: int, n: int) -> State:
        """Return the State of n particles in a checkpoint, verified."""
        with self.report_errors(f"read the checkpoint of step {step}"):
            rows = self.execute(
                "SELECT step, t, state, checksum FROM checkpoints WHERE step = ?", (step,)
            )
            if len(rows) != 1 or checksum("checkpoints", *rows[0][:-1]) != rows[0][-1]:
                raise RunError("it is damaged: its checksum is wrong")
            state = state_from_bytes(rows[0][2])
            if len(state.q) != n:
                raise RunError(f"it must have {n} particles, got {len(state.q)}")
            return state

    def read_last_checkpoint(self, n: int) -> tuple[int, State]:
        """Return step and State of the last undamaged checkpoint; damaged ones are logged."""
        for step in self.list_checkpoints():
            try:
                return step, self.read_checkpoint(step, n)
            except RunError as error:
                log.warning("%s; using the checkpoint before it", error)
        raise RunError(f"{self.folder}: no checkpoint is undamaged")

    def read_reports(self, last: int) -> Iterator[tuple[int, Report]]:
        """Yield step and Report of the steps from 1 to `last`."""
        sql = (
            f"SELECT step, {quote_names(REPORT_COLUMNS)}, checksum FROM reports "
            "WHERE step BETWEEN ? AND ? ORDER BY step"
        )
        for first in range(1, last + 1, _PAGE):
            with self.report_errors(f"read the reports from step {first}"):
                rows = self.execute(sql, (first, min(first + _PAGE - 1, last)))
                _reject_gaps(rows, first, last)
            for row in rows:
                with self.report_errors(f"read the report of step {row[0]}"):
                    report = report_from_row(row)
                yield row[0], report

    def read_entries(self, last: int) -> Iterator[tuple[int, LedgerEntry]]:
        """Yield step and ledger entry of the steps from 1 to `last`."""
        sql = (
            f"SELECT step, {quote_names(LEDGER_COLUMNS)}, checksum FROM ledger "
            "WHERE step BETWEEN ? AND ? ORDER BY step"
        )
        by_law_sql = (
            "SELECT step, place, kind, law, joules FROM energies "
            "WHERE step BETWEEN ? AND ? ORDER BY step, place"
        )
        for first in range(1, last + 1, _PAGE):
            page = (first, min(first + _PAGE - 1, last))
            with self.report_errors(f"read the ledger from step {first}"):
                rows = self.execute(sql, page)
                _reject_gaps(rows, first, last)
                by_law: dict[int, list[tuple[Any, ...]]] = {row[0]: [] for row in rows}
                for item in self.execute(by_law_sql, page):
                    by_law.setdefault(item[0], []).append(item)
            for row in rows:
                with self.report_errors(f"read the ledger of step {row[0]}"):
                    entry = entry_from_rows(row, by_law[row[0]])
                yield row[0], entry


def _reject_gaps(rows: list[tuple[Any, ...]], first: int, last: int) -> None:
    """Raise RunError unless there is one row for each step of the page that begins at `first`."""
    expected = list(range(first, min(first + _PAGE - 1, last) + 1))
    found = [row[0] for row in rows]
    if found == expected:
        return
    missing = sorted(set(expected) - set(found))
    if missing:
        raise RunError(f"the row of step {missing[0]} is missing")
    raise RunError("there are too many rows")
