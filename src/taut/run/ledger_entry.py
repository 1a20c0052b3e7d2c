"""One entry of the energy ledger, and the columns of a table of entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from taut.tables import format_table

# Fields of an entry that are tables by law
GROUPS = ("stored", "work", "dissipated", "plastic", "torn")
FLOWS = ("scripted", "numerical", "residual", "gap")


@dataclass
class LedgerEntry:
    """The energy balance of one step [J].

    `kinetic` and `stored` are energies at the end of the step; everything else is what the step
    added.

    t, h : end and length of the step [s]
    opening : T + ΣV at the beginning
    kinetic : T'
    stored : law → V'
    work : law → work of a load, or of parameters that change with time
    scripted : work of scripted points
    dissipated : damping law → dissipation
    numerical : dissipation of the integrator; negative if it adds energy
    plastic : law → heat of its rest values that flowed at the end of the step
    torn : law → energy of the elements that broke at the end of the step; negative if theirs was
    residual : work of the forces that the solver left unbalanced
    gap : what does not add up
    scale : sum of the magnitudes that went into the gap
    between : energy that edits of the state or the system added between the steps of a total; 0 for
        one step
    """

    t: float
    h: float
    opening: float
    kinetic: float
    stored: dict[str, float]
    work: dict[str, float] = field(default_factory=dict)
    scripted: float = 0.0
    dissipated: dict[str, float] = field(default_factory=dict)
    numerical: float = 0.0
    plastic: dict[str, float] = field(default_factory=dict)
    torn: dict[str, float] = field(default_factory=dict)
    residual: float = 0.0
    gap: float = 0.0
    scale: float = 0.0
    between: float = 0.0

    def and_then(self, later: LedgerEntry) -> LedgerEntry:
        """Return the balance of this step and a later one together, as of one longer step."""
        closing = self.kinetic + sum(self.stored.values())
        return LedgerEntry(
            t=later.t,
            h=self.h + later.h,
            opening=self.opening,
            kinetic=later.kinetic,
            stored=later.stored,
            work=add_by_name(self.work, later.work),
            scripted=self.scripted + later.scripted,
            dissipated=add_by_name(self.dissipated, later.dissipated),
            numerical=self.numerical + later.numerical,
            plastic=add_by_name(self.plastic, later.plastic),
            torn=add_by_name(self.torn, later.torn),
            residual=self.residual + later.residual,
            gap=self.gap + later.gap,
            scale=max(self.scale, later.scale),
            between=self.between + later.between + later.opening - closing,
        )

    def __str__(self) -> str:
        rows = [("energy at the beginning", self.opening), ("kinetic, at the end", self.kinetic)]
        rows += [(f"stored in {name}, at the end", value) for name, value in self.stored.items()]
        rows += [(f"work of {name}", value) for name, value in self.work.items()]
        rows.append(("work of scripted points", self.scripted))
        rows += [(f"dissipated by {name}", value) for name, value in self.dissipated.items()]
        rows += [(f"plastic work of {name}", value) for name, value in self.plastic.items()]
        rows += [(f"lost with torn {name}", value) for name, value in self.torn.items()]
        rows.append(("numerical dissipation", self.numerical))
        rows.append(("work of the residual", self.residual))
        rows.append(("gap", self.gap))
        if self.between:
            rows.append(("changed between steps", self.between))
        return format_table([f"{self.h:g} s to t = {self.t:g} s", "J"], rows)


def add_by_name(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    """Add two tables by name, with 0 for a missing name.

    >>> add_by_name({"wind": 1.0}, {"wind": 2.0, "force": 0.5})
    {'wind': 3.0, 'force': 0.5}
    """
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in dict.fromkeys([*a, *b])}


def columns_by_law(entries: Iterable[LedgerEntry]) -> list[tuple[str, str]]:
    """Return the (group, law) pairs that occur in entries, in the order of their groups."""
    groups: dict[str, dict[str, None]] = {group: {} for group in GROUPS}
    for entry in entries:
        for group, names in groups.items():
            names.update(dict.fromkeys(getattr(entry, group)))
    return [(group, name) for group, names in groups.items() for name in names]


def entry_columns(entries: Sequence[LedgerEntry]) -> dict[str, NDArray[np.float64]]:
    """Return entries as columns: name → array with one value per entry.

    Fields have their own names; tables by law have a column for each law, such as `stored spring`.

    >>> entry_columns([LedgerEntry(0.1, 0.1, 2.0, 0.5, {"spring": 1.5})])["stored spring"]
    array([1.5])
    """
    columns = {}
    for name in (f.name for f in fields(LedgerEntry) if f.name not in GROUPS):
        columns[name] = np.array([getattr(entry, name) for entry in entries], dtype=np.float64)
    for group, law in columns_by_law(entries):
        values = [getattr(entry, group).get(law, 0.0) for entry in entries]
        columns[f"{group} {law}"] = np.array(values, dtype=np.float64)
    return columns


def table_header(columns: Sequence[tuple[str, str]]) -> list[str]:
    """Return the header of a table of entries with these columns by law."""
    by_law = [f"{group} {name}_J" for group, name in columns]
    return ["t_s", "kinetic_J", *by_law, *(f"{name}_J" for name in FLOWS)]


def table_row(entry: LedgerEntry, columns: Sequence[tuple[str, str]]) -> list[float]:
    """Return an entry as a row of that table."""
    by_law = [getattr(entry, group).get(name, 0.0) for group, name in columns]
    return [entry.t, entry.kinetic, *by_law, *(getattr(entry, name) for name in FLOWS)]
