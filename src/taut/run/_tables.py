"""The tables of run.sqlite, format 4, and reports and ledger entries as their rows.

    meta(key, value, checksum)
        what the run is, written once (see `taut.run.metadata`)
    progress(run, step, status, checksum)
        one row: the last step on disk; running, interrupted, not converged or finished
    frames(step, t, checksum, q, v, active)
        positions [m] and velocities [m/s], float64, little-endian, n × 3, row by row; the masks of
        active elements by law, one bit per element, or NULL if all elements are active
    reports(step, …, checksum)
        one row per step: the fields of `taut.Report`
    ledger(step, …, checksum)
        one row per step: the numbers [J] of `taut.run.ledger_entry.LedgerEntry`
    energies(step, place, kind, law, joules)
        its tables by law: kind is stored, work, dissipated, plastic or torn. They are in the
        checksum of the row of the same step in `ledger`
    checkpoints(step, t, checksum, state)
        whole states to continue from (layout: `taut.run.encoding`): the first and the last three

Step 0 is the beginning: it has a frame and a checkpoint, but no report. A frame and what belongs to
it are written in one transaction.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from taut.errors import RunError
from taut.run.encoding import checksum, to_sql_real
from taut.run.ledger_entry import GROUPS, LedgerEntry
from taut.step.report import Report

FORMAT = 4  # formats 2 and 3 had other columns in reports, format 1 no masks of active elements
APPLICATION_ID = int.from_bytes(b"taut", "big")  # SQLite's application_id
KEPT_CHECKPOINTS = 3  # besides the first
STATUSES = ("running", "interrupted", "not converged", "finished")

_SQL_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "REAL", "StepOutcome": "TEXT"}
_TO_SQL: dict[str, Any] = {"TEXT": str, "INTEGER": int, "REAL": to_sql_real}
_PYTHON_TYPES = {"TEXT": str, "INTEGER": int, "REAL": float}
REPORT_COLUMNS = {f.name: _SQL_TYPES[str(f.type)] for f in fields(Report)}  # name → SQL type
LEDGER_COLUMNS = {f.name: "REAL" for f in fields(LedgerEntry) if f.name not in GROUPS}


def quote_names(columns: dict[str, str]) -> str:
    """Return names of columns for a statement, quoted: `between` is an SQL keyword."""
    return ", ".join(f'"{name}"' for name in columns)


def _declare(columns: dict[str, str]) -> str:
    return ", ".join(f'"{name}" {kind}' for name, kind in columns.items())


TABLES = {
    "meta": "CREATE TABLE meta(key TEXT PRIMARY KEY NOT NULL, value, checksum BLOB) WITHOUT ROWID",
    "progress": "CREATE TABLE progress("
    "run INTEGER PRIMARY KEY, step INTEGER, status TEXT, checksum BLOB)",
    "frames": "CREATE TABLE frames("
    "step INTEGER PRIMARY KEY, t REAL, checksum BLOB, q BLOB, v BLOB, active BLOB)",
    "reports": "CREATE TABLE reports("
    f"step INTEGER PRIMARY KEY, {_declare(REPORT_COLUMNS)}, checksum BLOB)",
    "ledger": "CREATE TABLE ledger("
    f"step INTEGER PRIMARY KEY, {_declare(LEDGER_COLUMNS)}, checksum BLOB)",
    "energies": "CREATE TABLE energies(step INTEGER, place INTEGER, kind TEXT, law TEXT, "
    "joules REAL, PRIMARY KEY(step, place)) WITHOUT ROWID",
    "checkpoints": "CREATE TABLE checkpoints("
    "step INTEGER PRIMARY KEY, t REAL, checksum BLOB, state BLOB)",
}


def _from_sql(kind: str, value: Any) -> Any:
    """Return the value of a column if it has the right type; NULL among numbers is nan."""
    if kind == "REAL" and value is None:
        return math.nan
    if not isinstance(value, _PYTHON_TYPES[kind]):
        raise RunError(f"a value must be {kind}, got {type(value).__name__}")
    return value


def report_to_row(step: int, report: Report) -> tuple[Any, ...]:
    """Return a row of `reports`.

    >>> row = report_to_row(1, Report("ImplicitEuler", 0.1, 0.1, "converged", iterations=3))
    >>> report_from_row(row).iterations
    3
    """
    columns = REPORT_COLUMNS.items()
    values = (step, *(_TO_SQL[kind](getattr(report, name)) for name, kind in columns))
    return (*values, checksum("reports", *values))


def report_from_row(row: tuple[Any, ...]) -> Report:
    """Return the Report in a row of `reports`; RunError if the checksum is wrong."""
    if checksum("reports", *row[:-1]) != row[-1]:
        raise RunError("its checksum is wrong")
    columns = zip(REPORT_COLUMNS.values(), row[1:-1], strict=True)
    return Report(*(_from_sql(kind, value) for kind, value in columns))


def entry_to_rows(step: int, entry: LedgerEntry) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Return a row of `ledger` and the rows of `energies` that go with it.

    >>> row, by_law = entry_to_rows(1, LedgerEntry(0.1, 0.1, 2.0, 0.5, {"spring": 1.5}))
    >>> by_law
    [(1, 0, 'stored', 'spring', 1.5)]
    >>> entry_from_rows(row, by_law).stored
    {'spring': 1.5}
    """
    values = (step, *(to_sql_real(getattr(entry, name)) for name in LEDGER_COLUMNS))
    by_law: list[tuple[Any, ...]] = []
    for group in GROUPS:
        for name, joules in getattr(entry, group).items():
            by_law.append((step, len(by_law), group, name, to_sql_real(joules)))
    return (*values, _ledger_checksum(values, by_law)), by_law


def entry_from_rows(row: tuple[Any, ...], by_law: list[tuple[Any, ...]]) -> LedgerEntry:
    """Return the entry in a row of `ledger` and the rows of `energies` of its step.

    RunError if the checksum is wrong.
    """
    if _ledger_checksum(row[:-1], by_law) != row[-1]:
        raise RunError("its checksum is wrong")
    groups: dict[str, Any] = {group: {} for group in GROUPS}
    for _, _, group, name, joules in by_law:
        if group not in groups:
            raise RunError(f"the kind of an energy must be one of {', '.join(GROUPS)}")
        groups[group][_from_sql("TEXT", name)] = _from_sql("REAL", joules)
    columns = zip(LEDGER_COLUMNS, row[1:-1], strict=True)
    numbers = {name: _from_sql("REAL", value) for name, value in columns}
    return LedgerEntry(**numbers, **groups)


def _ledger_checksum(values: tuple[Any, ...], by_law: list[tuple[Any, ...]]) -> bytes:
    return checksum("ledger", *values, *(item for row in by_law for item in row))
