"""Plots of energies and of the accuracy of steps over time, with a bounded number of points.

    kinetic T, stored ΣV, dissipated Σ∫, numerical Σ∫, work Σ∫ of loads, pointer and scripts   [J]
    torn Σ, between Σ: energy that leaves or enters at once                                    [J]
    unbalanced acceleration, and the limit it must be below, of the worst particle          [m/s²]

    kinetic + stored + dissipated + numerical + torn - work - between = T + ΣV at the start

at every time, up to rounding and to the work of the residual, which the tolerance of the solver
bounds. `torn` is the energy that was stored in elements that broke; `between` is the change of
energy between two steps, when a slider was moved or a particle was pinned.

Flows are summed from the start. When there are too many points, every second one is dropped, so
that the plot always covers the whole time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.run.ledger_entry import LedgerEntry
from taut.run.open_run import Columns
from taut.show.view._snapshot import Snapshot
from taut.step.report import Report

ENERGIES = ("kinetic", "stored", "dissipated", "numerical", "work")
JUMPS = ("torn", "between")
RESIDUALS = ("unbalanced", "limit")
ENERGY_CURVES = (*ENERGIES, *JUMPS)
WIDTH = 1 + len(ENERGY_CURVES) + len(RESIDUALS)
"""Columns of a table: t [s], `ENERGY_CURVES` [J], `RESIDUALS` [m/s²]."""
ENERGY_COLOURS = ("#d1495b", "#30638e", "#edae49", "#8d5a97", "#3a7d44", "#4f4f4f", "#2ab7ca")
_RESIDUAL_COLOURS = ("#30638e", "#d1495b")
_MAX_ROWS = 512
_MIN_ACCELERATION = 1e-20  # [m/s²]; the logarithm of zero could not be drawn


class History:
    """Rows of a table for the plots, one for each moment.

    max_rows : when it is reached, every second row is dropped

    >>> history = History(max_rows=4)
    >>> for step in range(9):
    ...     history.add([float(step), *[0.0] * 9])
    >>> history.table()[:, 0].tolist()
    [0.0, 4.0, 8.0]
    """

    def __init__(self, max_rows: int = _MAX_ROWS) -> None:
        self.max_rows = max_rows
        self._last: tuple[int, int] | None = None  # epoch and step of the last snapshot
        self._clear()

    def _clear(self) -> None:
        self._stride, self._count = 1, 0
        self._rows: list[list[float]] = []

    def add(self, row: list[float]) -> None:
        """Add one moment."""
        if self._count % self._stride == 0:
            if len(self._rows) >= self.max_rows:
                self._rows, self._stride = self._rows[::2], 2 * self._stride
            if self._count % self._stride == 0:
                self._rows.append(row)
        self._count += 1

    def add_snapshot(self, now: Snapshot) -> None:
        """Add a snapshot, if its step is new; start again after a reset."""
        if self._last is not None and self._last[0] != now.epoch:
            self._clear()
        if now.total is not None and self._last != (now.epoch, now.step):
            energies, jumps = sum_energies(now.total), sum_jumps(now.total)
            self.add([now.t, *energies, *jumps, *_get_residuals(now.report)])
        self._last = (now.epoch, now.step)

    def table(self) -> Float:
        """Return all rows, (k, 10)."""
        if not self._rows:
            return np.empty((0, WIDTH))
        return np.array(self._rows, dtype=np.float64)


def sum_energies(total: LedgerEntry) -> list[float]:
    """Return the energies of a ledger entry [J], in the order of `ENERGIES`."""
    stored, dissipated = sum(total.stored.values()), sum(total.dissipated.values())
    work = sum(total.work.values()) + total.scripted
    return [total.kinetic, stored, dissipated, total.numerical, work]


def sum_jumps(total: LedgerEntry) -> list[float]:
    """Return the energy of torn elements and the change between steps [J], as `JUMPS`.

    >>> stored, torn, work = {"spring": 2.0}, {"spring": 3.0}, {"wind": 1.5}
    >>> entry = LedgerEntry(0.1, 0.1, 5.0, 1.0, stored, torn=torn, work=work, between=-0.5)
    >>> kinetic, stored, dissipated, numerical, work = sum_energies(entry)
    >>> torn, between = sum_jumps(entry)
    >>> kinetic + stored + dissipated + numerical + torn - work - between
    5.0
    """
    return [sum(total.torn.values()), total.between]


def _get_residuals(report: Report | None) -> list[float]:
    """Return unbalanced acceleration and limit of a step; nan for one that solved nothing."""
    if report is None or report.outcome == "explicit" or not math.isfinite(report.residual):
        return [math.nan, math.nan]
    forces = (report.residual, report.limit)
    return [max(report.in_accelerations(force), _MIN_ACCELERATION) for force in forces]


def tabulate_run(ledger: Columns, reports: Columns) -> Float:
    """Return the rows of a whole run, (k, 10), k ≤ 512, from `Run.ledger` and `Run.reports`."""
    # A run that is being written may have one step more in one of them.
    count = min(len(ledger["step"]), len(reports["step"]))

    def sum_laws(group: str) -> Float:
        columns = [
            column[:count] for name, column in ledger.items() if name.startswith(f"{group} ")
        ]
        return np.sum(columns, axis=0) if columns else np.zeros(count)

    kinetic, stored = ledger["kinetic"][:count], sum_laws("stored")
    between = ledger["between"][:count].copy()
    # Energy at the start of a step less that at the end of the one before (`LedgerEntry.and_then`).
    between[1:] += ledger["opening"][1:count] - (kinetic + stored)[:-1]
    limit = np.maximum(reports["tolerance"], reports["floor"])[:count]
    is_solved = reports["outcome"][:count] != "explicit"
    mass = np.where(is_solved, reports["mass"][:count], np.nan)
    table = np.column_stack(
        [
            ledger["t"][:count],
            kinetic,
            stored,
            np.cumsum(sum_laws("dissipated")),
            np.cumsum(ledger["numerical"][:count]),
            np.cumsum(sum_laws("work") + ledger["scripted"][:count]),
            np.cumsum(sum_laws("torn")),
            np.cumsum(between),
            np.maximum(reports["residual"][:count] / mass, _MIN_ACCELERATION),
            np.maximum(limit / mass, _MIN_ACCELERATION),
        ]
    )
    return table[:: max(1, -(-count // _MAX_ROWS))]


class Plots:
    """The two plots of the panel."""

    def __init__(self, gui: Any) -> None:
        self.energy = _add_plot(gui, "Energy [J]", ENERGY_CURVES, ENERGY_COLOURS, height=210)
        self.residual = _add_plot(
            gui,
            "log₁₀ of the unbalanced acceleration [m/s²]",
            RESIDUALS,
            _RESIDUAL_COLOURS,
            height=190,
        )
        self._shown: Float | None = None

    def show(self, table: Float) -> None:
        """Draw the rows of a table, (k, 10)."""
        if not len(table):
            return
        if self._shown is not None and np.array_equal(table, self._shown, equal_nan=True):
            return
        self._shown = table
        columns = [np.ascontiguousarray(column) for column in table.T]
        split = 1 + len(ENERGY_CURVES)
        self.energy.data = tuple(columns[:split])
        is_solved = np.isfinite(table[:, split:]).all(axis=1)
        if is_solved.any():
            # Logarithms, because uPlot labels small numbers on a logarithmic axis with 0.
            logs = [np.log10(column[is_solved]) for column in columns[split:]]
            self.residual.data = (columns[0][is_solved], *logs)


def _add_plot(
    gui: Any, title: str, labels: tuple[str, ...], colours: tuple[str, ...], *, height: int
) -> Any:
    series: list[dict[str, Any]] = [{"label": "t [s]"}]
    for label, colour in zip(labels, colours, strict=True):
        series.append({"label": label, "stroke": colour, "width": 1.5})
    return gui.add_uplot(
        tuple([np.array([0.0])] * len(series)),
        tuple(series),
        title=title,
        scales={"x": {"time": False}},  # uPlot would take seconds for dates
        axes=({"size": 34}, {"size": 62}),
        height=height,
        padding=(10, 20, 0, 0),
    )
