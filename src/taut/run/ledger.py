"""The energy ledger of a run; `taut.run.energy_balance` has the formulas of its entries."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from taut.errors import ModelError
from taut.run.energy_balance import balance_energy
from taut.run.ledger_entry import (
    LedgerEntry,
    columns_by_law,
    entry_columns,
    table_header,
    table_row,
)
from taut.step.step_result import StepResult
from taut.system.system import System
from taut.tables import Table, write_csv


class Ledger(Table):
    """The energy ledger of a run: pass one to `taut.simulate` and read `entries` afterwards.

    entries : one `LedgerEntry` for each step, its energy balance [J]

    `pandas.DataFrame(ledger)` has a row for each step; `columns` says which columns.

    >>> import taut
    >>> from taut import laws
    >>> ball = taut.System(
    ...     [[0, 10, 0]], mass=1.0, energies=[laws.gravity()], damping=[laws.drag(alpha=0.5)]
    ... )
    >>> ledger = taut.Ledger()
    >>> for step in taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0, ledger=ledger):
    ...     pass
    >>> total = ledger.total()
    >>> round(total.dissipated["drag"], 3), round(total.numerical, 3)
    (12.235, 2.925)
    >>> abs(total.gap) < 1e-12 * total.scale
    True
    """

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []

    def __len__(self) -> int:
        return len(self.entries)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, one value per step: `t` [s], `kinetic` [J], …

        The tables by law have one for each law: `stored spring`, `work wind`, `dissipated drag`,
        `torn spring` [J].
        """
        return dict(entry_columns(self.entries))

    def book(self, system: System, step: StepResult) -> LedgerEntry:
        """Compute the entry of a step, append it and return it."""
        entry = balance_energy(system, step)
        self.entries.append(entry)
        return entry

    def total(self) -> LedgerEntry:
        """Return all entries as one step: flows summed, energies at the end."""
        if not self.entries:
            raise ModelError(
                "the ledger is empty: pass it to taut.simulate(…, ledger=ledger) and take a step"
            )
        entry = self.entries[0]
        for later in self.entries[1:]:
            entry = entry.and_then(later)
        return entry

    def __str__(self) -> str:
        return str(self.total()) if self.entries else "an empty ledger"

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one row per step, atomically: energies at its end, and what the step added.

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
        columns = columns_by_law(self.entries)
        rows = (table_row(entry, columns) for entry in self.entries)
        write_csv(path, table_header(columns), rows)
