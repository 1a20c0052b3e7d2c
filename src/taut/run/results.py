"""What is made of a whole run at its end: summary.json, ledger.csv and energy.png, each whole or not at all.

They are read back from run.sqlite row by row, so that memory does not grow with the run, and a run that was resumed has the same
files as one that was not, seconds aside.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict
from typing import Any

from taut.errors import RunError
from taut.run.codec import sha256_of
from taut.run.energy_picture import energy_picture
from taut.run.entry import Entry
from taut.run.folder import LEDGER, PICTURE, SUMMARY, whole
from taut.run.ledger import columns, header, row
from taut.run.store import Store
from taut.run.summary import Summary
from taut.system.state import State


def write_results(store: Store, state: State) -> tuple[str, ...]:
    """Write the files; what there is to say about them."""
    try:
        steps, total, names = _totals(store)
    except RunError as error:  # rows of earlier steps are damaged: the frames are there, and the run has come to its end
        notes = [f"ledger.csv, energy.png and the totals in summary.json were not written: {error}"]
        _write_summary(store, state, None, None, notes)
        return tuple(notes)
    with whole(store.folder / LEDGER, store.safe) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header(names))
        writer.writerows(row(entry, names) for _, entry in store.database.entries(store.durable))
    data, note = energy_picture(store.database, store.durable)
    if data:
        with whole(store.folder / PICTURE, store.safe, binary=True) as stream:
            stream.write(data)
    notes = [note] if note else []
    _write_summary(store, state, steps, total, notes)
    return tuple(notes)


def _totals(store: Store) -> tuple[Summary, Entry | None, list[tuple[str, str]]]:
    """The sum of all reports, the energy book of the whole run, and the columns it has by law."""
    summary, total = Summary(), None
    for _, report in store.database.reports(store.durable):
        summary.add(report)
    names = columns(entry for _, entry in store.database.entries(store.durable))
    for _, entry in store.database.entries(store.durable):
        total = entry if total is None else total.and_then(entry)
    return summary, total, names


def _write_summary(store: Store, state: State, steps: Summary | None, total: Entry | None, notes: list[str]) -> None:
    head = store.header
    summary = {
        "outcome": "finished", "particles": head.n, "integrator": head.integrator, "h_s": head.h, "t_s": state.t,
        "frames": head.frames(store.durable), "sha256": sha256_of(state), "steps": None if steps is None else asdict(steps),
        "energy_J": None if total is None else _books(total), "notes": notes, "versions": head.versions,
    }  # fmt: skip
    with whole(store.folder / SUMMARY, store.safe) as stream:
        json.dump(finite(summary), stream, indent=1, allow_nan=False)
        stream.write("\n")


def _books(total: Entry) -> dict[str, Any]:
    """The energy book of the whole run."""
    return {name: value for name, value in asdict(total).items() if name not in ("t", "h")}


def finite(value: Any) -> Any:
    """The same with None for numbers that JSON does not have, in dictionaries and lists too.

    >>> finite({"a": [1.0, float("inf")]})
    {'a': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
