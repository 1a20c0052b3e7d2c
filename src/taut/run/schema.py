"""The tables of run.sqlite, format 1.

    meta(key, value, checksum)           what the run is; written once (see `taut.run.header`)
    progress(run, step, status, checksum)    one row: the last step on disk; running, interrupted, not converged or finished
    frames(step, t, checksum, q, v)      positions [m] and velocities [m/s], float64, little-endian, n × 3, row after row
    reports(step, …, checksum)           one row a step: the fields of `taut.Report`
    ledger(step, …, checksum)            one row a step: the fields of `taut.run.entry.Entry` that are numbers [J]
    energies(step, place, kind, law, joules)    those that go by law: kind is stored, work, dissipated or torn; the checksum of the
                                         step's row in `ledger` counts them in
    checkpoints(step, t, checksum, state)    all that a run needs to go on (layout: `taut.run.codec`): the first and the last three

Step 0 is the beginning: it has a frame and a checkpoint, but no report. What belongs to a frame is one transaction with it.
"""

from __future__ import annotations

from dataclasses import fields

from taut.run.entry import Entry
from taut.run.ledger import GROUPS
from taut.step.report import Report

FORMAT = 1
APPLICATION = int.from_bytes(b"taut", "big")  # SQLite's application_id
KEPT = 3  # checkpoints, besides the first
STATUSES = ("running", "interrupted", "not converged", "finished")

_SQL = {"str": "TEXT", "int": "INTEGER", "float": "REAL", "StepOutcome": "TEXT"}
REPORT = {f.name: _SQL[str(f.type)] for f in fields(Report)}  # column → its type
LEDGER = {f.name: "REAL" for f in fields(Entry) if f.name not in GROUPS}


def listed(columns: dict[str, str]) -> str:
    """Names of columns in a statement, quoted: `between` is a word of SQL."""
    return ", ".join(f'"{name}"' for name in columns)


def _columns(columns: dict[str, str]) -> str:
    return ", ".join(f'"{name}" {kind}' for name, kind in columns.items())


TABLES = {
    "meta": "CREATE TABLE meta(key TEXT PRIMARY KEY NOT NULL, value, checksum BLOB) WITHOUT ROWID",
    "progress": "CREATE TABLE progress(run INTEGER PRIMARY KEY, step INTEGER, status TEXT, checksum BLOB)",
    "frames": "CREATE TABLE frames(step INTEGER PRIMARY KEY, t REAL, checksum BLOB, q BLOB, v BLOB)",
    "reports": f"CREATE TABLE reports(step INTEGER PRIMARY KEY, {_columns(REPORT)}, checksum BLOB)",
    "ledger": f"CREATE TABLE ledger(step INTEGER PRIMARY KEY, {_columns(LEDGER)}, checksum BLOB)",
    "energies": "CREATE TABLE energies(step INTEGER, place INTEGER, kind TEXT, law TEXT, joules REAL, PRIMARY KEY(step, place)) "
    "WITHOUT ROWID",
    "checkpoints": "CREATE TABLE checkpoints(step INTEGER PRIMARY KEY, t REAL, checksum BLOB, state BLOB)",
}
