"""Reports and ledger entries as rows of run.sqlite, and back, each under its checksum."""

from __future__ import annotations

from typing import Any

from taut.errors import RunError
from taut.run.codec import checksum, stored
from taut.run.entry import Entry
from taut.run.ledger import GROUPS
from taut.run.schema import LEDGER, REPORT
from taut.step.report import Report

_MADE: dict[str, Any] = {"TEXT": str, "INTEGER": int, "REAL": stored}


def _loaded(kind: str, value: Any) -> Any:
    """What a column holds, if it is of its kind; NULL among numbers is not a number."""
    if kind == "REAL" and value is None:
        return float("nan")
    if not isinstance(value, {"TEXT": str, "INTEGER": int, "REAL": float}[kind]):
        raise RunError(f"a value of the wrong kind, {type(value).__name__}")
    return value


def report_row(step: int, report: Report) -> tuple[Any, ...]:
    """A row of `reports`.

    >>> row = report_row(1, Report("ImplicitEuler", 0.1, 0.1, "converged", iterations=3))
    >>> report_from_row(row).iterations
    3
    """
    values = (step, *(_MADE[kind](getattr(report, name)) for name, kind in REPORT.items()))
    return (*values, checksum("reports", *values))


def report_from_row(row: tuple[Any, ...]) -> Report:
    """The Report in a row of `reports`; RunError where the checksum does not fit."""
    if checksum("reports", *row[:-1]) != row[-1]:
        raise RunError("its checksum does not fit")
    return Report(*(_loaded(kind, value) for kind, value in zip(REPORT.values(), row[1:-1], strict=True)))


def entry_rows(step: int, entry: Entry) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """A row of `ledger`, and the rows of `energies` that go with it.

    >>> row, by_law = entry_rows(1, Entry(0.1, 0.1, 2.0, 0.5, {"spring": 1.5}))
    >>> by_law
    [(1, 0, 'stored', 'spring', 1.5)]
    >>> entry_from_rows(row, by_law).stored
    {'spring': 1.5}
    """
    values = (step, *(stored(getattr(entry, name)) for name in LEDGER))
    every = [(group, name, stored(value)) for group in GROUPS for name, value in getattr(entry, group).items()]
    by_law = [(step, place, *item) for place, item in enumerate(every)]
    return (*values, _ledger_checksum(values, by_law)), by_law


def entry_from_rows(row: tuple[Any, ...], by_law: list[tuple[Any, ...]]) -> Entry:
    """The Entry in a row of `ledger` and the rows of `energies` of its step; RunError where the checksum does not fit."""
    if _ledger_checksum(row[:-1], by_law) != row[-1]:
        raise RunError("its checksum does not fit")
    groups: dict[str, Any] = {group: {} for group in GROUPS}
    for _, _, group, name, value in by_law:
        if group not in groups:
            raise RunError("an energy of no kind that there is")
        groups[group][_loaded("TEXT", name)] = _loaded("REAL", value)
    numbers = {name: _loaded("REAL", value) for name, value in zip(LEDGER, row[1:-1], strict=True)}
    return Entry(**numbers, **groups)


def _ledger_checksum(values: tuple[Any, ...], by_law: list[tuple[Any, ...]]) -> bytes:
    return checksum("ledger", *values, *(item for each in by_law for item in each))
