"""The results of a finished run: summary.json, ledger.csv and energy.png, each written atomically.

They are computed from run.sqlite row by row, so that memory does not grow with the run, and a
resumed run has the same files as one that was not interrupted, apart from wall-clock times.

The picture shows, above, T and V of each law at the end of each step, and below, the sums of the
flows of energy so far. With E = T + ΣV,

    E - E₀ = work + scripted - dissipated - numerical - plastic - torn + residual

to rounding (see `taut.Ledger`).
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from taut.errors import MissingExtra, RunError
from taut.extras import import_extra
from taut.run.encoding import hash_state
from taut.run.ledger_entry import LedgerEntry, columns_by_law, table_header, table_row
from taut.run.run_folder import LEDGER, PICTURE, SUMMARY, open_output
from taut.run.summary import Summary
from taut.run.writer import RunWriter
from taut.system.state import State

_MAX_POINTS = 2000  # of a curve: more than there are pixels
_LABELS = {
    "work": "work of",
    "dissipated": "dissipated by",
    "plastic": "plastic in",
    "torn": "torn with",
}
Curves = dict[str, list[float]]  # label → energies [J]


def write_results(writer: RunWriter, state: State) -> tuple[str, ...]:
    """Write the files; return remarks about what is missing in them."""
    try:
        summary, total, columns = _sum_steps(writer)
    except RunError as error:  # rows of earlier steps are damaged, but the run has finished
        notes = [f"ledger.csv, energy.png and the totals in summary.json were not written: {error}"]
        _write_summary(writer, state, None, None, notes)
        return tuple(notes)
    database, last = writer.database, writer.durable
    with open_output(writer.folder / LEDGER, writer.safe) as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(table_header(columns))
        table.writerows(table_row(entry, columns) for _, entry in database.read_entries(last))
    notes = _write_picture(writer)
    _write_summary(writer, state, summary, total, notes)
    return tuple(notes)


def _sum_steps(writer: RunWriter) -> tuple[Summary, LedgerEntry | None, list[tuple[str, str]]]:
    """Return the totals of all reports, of all ledger entries, and the ledger's columns by law."""
    database, last = writer.database, writer.durable
    summary, total = Summary(), None
    for _, report in database.read_reports(last):
        summary.add(report)
    columns = columns_by_law(entry for _, entry in database.read_entries(last))
    for _, entry in database.read_entries(last):
        total = entry if total is None else total.and_then(entry)
    return summary, total, columns


def _write_summary(
    writer: RunWriter,
    state: State,
    steps: Summary | None,
    total: LedgerEntry | None,
    notes: list[str],
) -> None:
    metadata = writer.metadata
    energy = None
    if total is not None:
        energy = asdict(total)
        del energy["t"], energy["h"]
    summary = {
        "outcome": "finished",
        "particles": metadata.n,
        "integrator": metadata.integrator,
        "h_s": metadata.h,
        "t_s": state.t,
        "frames": metadata.count_frames(writer.durable),
        "sha256": hash_state(state),
        "steps": None if steps is None else asdict(steps),
        "energy_J": energy,
        "notes": notes,
        "versions": metadata.versions,
    }
    with open_output(writer.folder / SUMMARY, writer.safe) as stream:
        json.dump(replace_nonfinite(summary), stream, indent=1, allow_nan=False)
        stream.write("\n")


def replace_nonfinite(value: Any) -> Any:
    """Return a value with None for nan and infinities, which JSON lacks, at any depth.

    >>> replace_nonfinite({"a": [1.0, float("inf")]})
    {'a': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: replace_nonfinite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [replace_nonfinite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _write_picture(writer: RunWriter) -> list[str]:
    """Write energy.png; return a remark if it was not drawn."""
    if not writer.durable:
        return ["energy.png was not drawn: no step was taken"]
    entries = (entry for _, entry in writer.database.read_entries(writer.durable))
    try:
        figure = draw_energy(*energy_curves(entries, writer.durable))
    except MissingExtra as error:
        return [f"energy.png was not drawn: {error}"]
    with open_output(writer.folder / PICTURE, writer.safe, binary=True) as stream:
        figure.savefig(stream, format="png", metadata={"Software": None})
    return []


def energy_curves(entries: Iterable[LedgerEntry], count: int) -> tuple[list[float], Curves, Curves]:
    """Return times [s], and by label the energies and the sums of flows [J] at these times.

    At most 2000 of the `count` entries become points.

    >>> entry = LedgerEntry(0.1, 0.1, 2.0, 0.5, {"spring": 1.5}, dissipated={"drag": 0.25})
    >>> times, energies, flows = energy_curves([entry], 1)
    >>> times, energies
    ([0.1], {'kinetic': [0.5], 'in spring': [1.5], 'all': [2.0]})
    >>> flows
    {'dissipated by drag': [0.25]}
    """
    stride = -(-count // _MAX_POINTS)
    times: list[float] = []
    energies: Curves = {}
    flows: Curves = {}
    sums: dict[str, float] = {}
    for step, entry in enumerate(entries, start=1):
        for label, value in _flows(entry):
            sums[label] = sums.get(label, 0.0) + value
        if step % stride == 0 or step == count:
            stored = {f"in {name}": value for name, value in entry.stored.items()}
            now = {"kinetic": entry.kinetic, **stored}
            _append(energies, {**now, "all": sum(now.values())}, len(times))
            _append(flows, sums, len(times))
            times.append(entry.t)
    nonzero = {label: values for label, values in flows.items() if np.any(np.nan_to_num(values))}
    return times, energies, nonzero


def _flows(entry: LedgerEntry) -> list[tuple[str, float]]:
    """Return the flows of a step, (label, J)."""
    flows = []
    for group, words in _LABELS.items():
        for name, value in getattr(entry, group).items():
            flows.append((f"{words} {name}", value))
    flows.append(("work of scripted points", entry.scripted))
    flows.append(("numerically dissipated", entry.numerical))
    return flows


def _append(curves: Curves, values: Mapping[str, float], before: int) -> None:
    """Append a point to each curve; a new curve has nan at the `before` points before it."""
    for label, value in values.items():
        curves.setdefault(label, [np.nan] * before).append(value)


def draw_energy(
    times: Sequence[float], energies: Mapping[str, Any], flows: Mapping[str, Any]
) -> Any:
    """Draw the curves as a matplotlib Figure; MissingExtra if matplotlib is not installed."""
    figure_class = import_extra("plot", "matplotlib.figure", "plots").Figure
    figure = figure_class(figsize=(8, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for axes, curves in ((above, energies), (below, flows)):
        for label, values in curves.items():
            is_total = label == "all"
            axes.plot(
                times,
                values,
                label=label.replace("$", r"\$"),  # matplotlib reads $…$ as a formula
                linewidth=2.0 if is_total else 1.2,
                color="0.3" if is_total else None,
            )
        axes.grid(alpha=0.25)
        if curves:
            axes.legend(
                fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5)
            )
    above.set(ylabel="energy [J]")
    below.set(xlabel="t [s]", ylabel="so far [J]")
    return figure
