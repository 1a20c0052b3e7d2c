"""The energy book of a run; the formulas of its entries stand in `taut.run.booking`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from taut.errors import ModelError, NotConverged, SingularState
from taut.run.booking import booked
from taut.run.entry import Entry
from taut.step.advance import Advance
from taut.system.system import System
from taut.system.tables import write_csv

GROUPS = ("stored", "work", "dissipated", "torn")  # fields of an Entry that are tables by law
FLOWS = ("scripted", "numerical", "residual", "gap")


class Ledger:
    """The energy book of a run: give one to `taut.simulate`, read `entries` afterwards.

    >>> import taut
    >>> from taut import laws
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()], damping=[laws.drag(alpha=0.5)])
    >>> ledger = taut.Ledger()
    >>> for state, report in taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0, ledger=ledger):
    ...     pass
    >>> total = ledger.total()
    >>> round(total.dissipated["drag"], 3), round(total.numerical, 3), abs(total.gap) < 1e-12 * total.scale
    (12.235, 2.925, True)
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def book(self, system: System, step: Advance) -> Entry:
        """Add the entry of a step."""
        entry = entry_of(system, step)
        self.entries.append(entry)
        return entry

    def total(self) -> Entry:
        """All entries as one step: the flows summed, the energies at the end."""
        if not self.entries:
            raise ModelError("the ledger is empty: give it to taut.simulate(…, ledger=ledger) and take a step")
        entry = self.entries[0]
        for later in self.entries[1:]:
            entry = entry.and_then(later)
        return entry

    def __str__(self) -> str:
        return str(self.total()) if self.entries else "an empty ledger"

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one row a step, whole or not at all: energies as they stand at its end, and what it added of all else.

        >>> import pathlib, tempfile, taut
        >>> from taut import laws
        >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()])
        >>> ledger = taut.Ledger()
        >>> for _ in taut.simulate(ball, taut.ImplicitMidpoint(), h=0.5, until=1.0, ledger=ledger):
        ...     pass
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "ledger.csv"
        >>> ledger.write_csv(file)
        >>> file.read_text().splitlines()[0]
        't_s,kinetic_J,stored gravity_J,scripted_J,numerical_J,residual_J,gap_J'
        """
        names = columns(self.entries)
        write_csv(path, header(names), (row(entry, names) for entry in self.entries))


def entry_of(system: System, step: Advance) -> Entry:
    """The entry of a step; of one that is made of others, their sum. NotConverged where energies overflow."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [booked(system, part) for part in step.parts or (step,)]
            entry = parts[0]
            for part in parts[1:]:
                entry = entry.and_then(part)
        if not math.isfinite(entry.gap):
            raise SingularState("the energies of the step overflow")
    except SingularState as error:
        report = step.report
        what = f"{report.integrator} at t = {report.t:g} s: {error}; {report.note or 'take a shorter step'}"
        raise NotConverged(what, report, step.start) from error
    return replace(entry, t=step.state.t, h=step.h)


def columns(entries: Iterable[Entry]) -> list[tuple[str, str]]:
    """The kinds of energy by law that occur in entries, as (group, law)."""
    groups: dict[str, dict[str, None]] = {group: {} for group in GROUPS}
    for entry in entries:
        for group, names in groups.items():
            names.update(dict.fromkeys(getattr(entry, group)))
    return [(group, name) for group, names in groups.items() for name in names]


def header(names: Sequence[tuple[str, str]]) -> list[str]:
    """The head of a table of entries with these columns by law."""
    return ["t_s", "kinetic_J", *(f"{group} {name}_J" for group, name in names), *(f"{name}_J" for name in FLOWS)]


def row(entry: Entry, names: Sequence[tuple[str, str]]) -> list[float]:
    """An entry as a row of that table."""
    by_law = (getattr(entry, group).get(name, 0.0) for group, name in names)
    return [entry.t, entry.kinetic, *by_law, *(getattr(entry, name) for name in FLOWS)]
