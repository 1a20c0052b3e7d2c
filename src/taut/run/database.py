"""run.sqlite as a file that is not trusted: every error is a RunError that names the folder and what was asked of it.

Nothing in the file is run: its tables must be those of `taut.run.schema`, word for word, with no triggers, and SQLite is told to
trust no function in them. Every row that is read must fit its checksum.
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
from taut.run.codec import checksum, state_from_bytes
from taut.run.connection import connected
from taut.run.entry import Entry
from taut.run.header import Header
from taut.run.rows import entry_from_rows, report_from_row
from taut.run.schema import APPLICATION, FORMAT, LEDGER, REPORT, STATUSES, TABLES, listed
from taut.step.report import Report
from taut.system.state import State

PAGE = 512  # rows read at a time
log = logging.getLogger("taut")


class Database:
    """A connection to run.sqlite in a folder: to read, or to write.

    While another process writes, what its last transaction left is read.
    """

    def __init__(self, folder: Path, mode: Literal["ro", "rw"]) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        with self.told("open"):
            self._connection = connected(folder, mode)
        try:
            with self.told("open"):
                self._check_schema()
        except RunError:
            self.close()
            raise

    @contextmanager
    def told(self, what: str) -> Iterator[None]:
        """Turn what goes wrong into a RunError that says what was being done."""
        try:
            yield
        except RunError as error:
            raise RunError(f"{self.folder}: cannot {what}: {error}") from error
        except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
            raise RunError(f"{self.folder}: cannot {what}: {reason(error)}") from error

    def execute(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Any) -> None:
        """A statement for each of several rows."""
        with self._lock:
            self._connection.executemany(sql, rows)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def _check_schema(self) -> None:
        if not self.execute("SELECT 1 FROM sqlite_master LIMIT 1"):
            raise RunError("no run was begun here: the file is empty")
        if self.execute("PRAGMA application_id") != [(APPLICATION,)]:
            raise RunError("it is not a run of taut")
        ((found,),) = self.execute("PRAGMA user_version")
        if found != FORMAT:
            raise RunError(f"it has format {found}, this version of taut reads {FORMAT}")
        tables = dict(self.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        for name, sql in TABLES.items():
            if tables.get(name) != sql:
                raise RunError(f"its table '{name}' is missing or another one")
        if self.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger' LIMIT 1"):
            raise RunError("it has triggers, which a run of taut has not")

    def header(self) -> Header:
        """What the run is."""
        with self.told("read what the run is"):
            rows: dict[str, Any] = {}
            for key, value, check in self.execute("SELECT key, value, checksum FROM meta"):
                if check != checksum("meta", key, value):
                    raise RunError(f"the checksum of '{key}' does not fit")
                rows[key] = value
            return Header.of(rows)

    def progress(self) -> tuple[int, str]:
        """The last step on disk, and the status."""
        with self.told("read how far the run has come"):
            rows = self.execute("SELECT run, step, status, checksum FROM progress")
            if len(rows) != 1 or checksum("progress", *rows[0][:-1]) != rows[0][-1]:
                raise RunError("it is missing or damaged")
            _, step, status, _ = rows[0]
            if not isinstance(step, int) or step < 0 or status not in STATUSES:
                raise RunError("it makes no sense")
            return step, status

    def frame(self, step: int) -> tuple[float, bytes, bytes, bytes]:
        """t [s], q [m], v [m/s] and the checksum of a frame, verified."""
        rows = self.execute("SELECT step, t, q, v, checksum FROM frames WHERE step = ?", (step,))
        if len(rows) != 1:
            raise RunError("it is missing")
        if checksum("frames", *rows[0][:-1]) != rows[0][-1]:
            raise RunError("it is damaged: its checksum does not fit")
        return rows[0][1:]

    def checkpoints(self) -> list[int]:
        """The steps of all checkpoints, the last one first."""
        with self.told("list the checkpoints"):
            return [step for (step,) in self.execute("SELECT step FROM checkpoints ORDER BY step DESC")]

    def checkpoint(self, step: int, n: int) -> State:
        """The State of n particles in a checkpoint, verified."""
        with self.told(f"read the checkpoint of step {step}"):
            rows = self.execute("SELECT step, t, state, checksum FROM checkpoints WHERE step = ?", (step,))
            if len(rows) != 1 or checksum("checkpoints", *rows[0][:-1]) != rows[0][-1]:
                raise RunError("it is damaged: its checksum does not fit")
            state = state_from_bytes(rows[0][2])
            if len(state.q) != n:
                raise RunError(f"it has {len(state.q)} particles, the run {n}")
            return state

    def last_checkpoint(self, n: int) -> tuple[int, State]:
        """Step and State, of n particles, of the last checkpoint that is undamaged; those that are damaged are told on the log."""
        for step in self.checkpoints():
            try:
                return step, self.checkpoint(step, n)
            except RunError as error:
                log.warning("%s; going back to the one before", error)
        raise RunError(f"{self.folder}: no checkpoint is undamaged")

    def reports(self, last: int) -> Iterator[tuple[int, Report]]:
        """Step and Report of the steps from 1 to `last`."""
        sql = f"SELECT step, {listed(REPORT)}, checksum FROM reports WHERE step BETWEEN ? AND ? ORDER BY step"
        for first in range(1, last + 1, PAGE):
            with self.told(f"read the reports from step {first}"):
                rows = self.execute(sql, (first, min(first + PAGE - 1, last)))
                _refuse_gaps(rows, first, last)
            for row in rows:
                with self.told(f"read the report of step {row[0]}"):
                    report = report_from_row(row)
                yield row[0], report

    def entries(self, last: int) -> Iterator[tuple[int, Entry]]:
        """Step and ledger Entry of the steps from 1 to `last`."""
        sql = f"SELECT step, {listed(LEDGER)}, checksum FROM ledger WHERE step BETWEEN ? AND ? ORDER BY step"
        by_law = "SELECT step, place, kind, law, joules FROM energies WHERE step BETWEEN ? AND ? ORDER BY step, place"
        for first in range(1, last + 1, PAGE):
            page = (first, min(first + PAGE - 1, last))
            with self.told(f"read the ledger from step {first}"):
                rows = self.execute(sql, page)
                _refuse_gaps(rows, first, last)
                groups: dict[int, list[tuple[Any, ...]]] = {row[0]: [] for row in rows}
                for item in self.execute(by_law, page):
                    groups.setdefault(item[0], []).append(item)
            for row in rows:
                with self.told(f"read the ledger of step {row[0]}"):
                    entry = entry_from_rows(row, groups[row[0]])
                yield row[0], entry


def _refuse_gaps(rows: list[tuple[Any, ...]], first: int, last: int) -> None:
    wanted = list(range(first, min(first + PAGE - 1, last) + 1))
    if [row[0] for row in rows] != wanted:
        missing = sorted(set(wanted) - {row[0] for row in rows})
        raise RunError(f"the row of step {missing[0]} is missing" if missing else "there are rows too many")


def reason(error: Exception) -> str:
    """What an error says, in words."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)
