"""The curves of the plots: the energy book and the residual over time, with a bounded number of points.

    kinetic T,   stored ΣV,   dissipated Σ∫,   numerical Σ∫,   work of loads, hands and scripts Σ∫      [J]
    torn Σ,   between Σ: what goes or comes at once                                                     [J]
    residual and its limit, of the particle that decides                                                [N]

    kinetic + stored + dissipated + numerical + torn - work - between = the energy T + ΣV at the beginning of the first step

at every moment, to rounding and to the work of the residual, which the tolerance of the solver bounds. `torn` is what was stored in
elements that broke; `between` is by how much the energy changed between steps, when a slider was turned or a point was pinned.

What flows is summed from the beginning. When the points get too many, every second one is left out: the whole time stays in view.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from taut.run.entry import Entry
from taut.run.opening import Columns
from taut.show.view.snapshot import Snapshot
from taut.step.report import Report

Float = NDArray[np.float64]
ENERGIES = ("kinetic", "stored", "dissipated", "numerical", "work")
JUMPS = ("torn", "between")
RESIDUALS = ("residual", "limit")
WIDTH = 1 + len(ENERGIES) + len(JUMPS) + len(RESIDUALS)
MOST = 512
LEAST = 1e-20  # N: a residual of zero has no place on a logarithmic axis


class Curves:
    """Points of the curves, one row a moment: t [s], energies and jumps [J], residual and limit [N].

    >>> curves = Curves(most=4)
    >>> for step in range(9):
    ...     curves.add([float(step), *[0.0] * 9])
    >>> curves.table()[:, 0].tolist()
    [0.0, 4.0, 8.0]
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._of: tuple[int, int] | None = None  # the epoch and step that were looked at last
        self._begin()

    def _begin(self) -> None:
        self._every, self._seen = 1, 0
        self._rows: list[list[float]] = []

    def add(self, row: list[float]) -> None:
        """One more moment."""
        if self._seen % self._every == 0:
            if len(self._rows) >= self.most:
                self._rows, self._every = self._rows[::2], 2 * self._every
            if self._seen % self._every == 0:
                self._rows.append(row)
        self._seen += 1

    def look(self, now: Snapshot) -> None:
        """Add what a snapshot shows, if it is new; begin anew if time did."""
        if self._of is not None and self._of[0] != now.epoch:
            self._begin()
        if now.total is not None and self._of != (now.epoch, now.step):
            self.add([now.t, *energies(now.total), *jumps(now.total), *residuals(now.report)])
        self._of = (now.epoch, now.step)

    def table(self) -> Float:
        """All rows, (k, 10)."""
        return np.array(self._rows, dtype=np.float64) if self._rows else np.empty((0, WIDTH))


def energies(total: Entry) -> list[float]:
    """The energies of a book [J], in the order of `ENERGIES`."""
    work = sum(total.work.values()) + total.scripted
    return [total.kinetic, sum(total.stored.values()), sum(total.dissipated.values()), total.numerical, work]


def jumps(total: Entry) -> list[float]:
    """What left with torn elements, and what came between steps [J], in the order of `JUMPS`.

    >>> book = Entry(0.1, 0.1, 5.0, kinetic=1.0, stored={"spring": 2.0}, torn={"spring": 3.0}, work={"wind": 1.5}, between=-0.5)
    >>> (kinetic, stored, dissipated, numerical, work), (torn, between) = energies(book), jumps(book)
    >>> kinetic + stored + dissipated + numerical + torn - work - between
    5.0
    """
    return [sum(total.torn.values()), total.between]


def residuals(report: Report | None) -> list[float]:
    """Residual and limit of a step [N]; not a number where nothing was solved."""
    if report is None or report.outcome == "explicit" or not math.isfinite(report.residual):
        return [math.nan, math.nan]
    return [max(report.residual, LEAST), max(report.limit, LEAST)]


def curves_of_run(ledger: Columns, reports: Columns) -> Float:
    """The rows of a whole run, (k, 10) with k ≤ MOST, from `Run.ledger` and `Run.reports`."""
    count = min(len(ledger["step"]), len(reports["step"]))

    def summed(group: str) -> Float:
        found = [column[:count] for name, column in ledger.items() if name.startswith(f"{group} ")]
        return np.sum(found, axis=0) if found else np.zeros(count)

    kinetic, stored = ledger["kinetic"][:count], summed("stored")
    between = ledger["between"][:count].copy()
    between[1:] += ledger["opening"][1:count] - (kinetic + stored)[:-1]  # as `Entry.and_then` adds it up
    limit = np.maximum(reports["tolerance"], reports["floor"])[:count]
    solved = reports["outcome"][:count] != "explicit"
    table = np.column_stack([
        ledger["t"][:count], kinetic, stored, np.cumsum(summed("dissipated")), np.cumsum(ledger["numerical"][:count]),
        np.cumsum(summed("work") + ledger["scripted"][:count]), np.cumsum(summed("torn")), np.cumsum(between),
        np.where(solved, np.maximum(reports["residual"][:count], LEAST), np.nan),
        np.where(solved, np.maximum(limit, LEAST), np.nan),
    ])  # fmt: skip
    return table[:: max(1, -(-count // MOST))]
