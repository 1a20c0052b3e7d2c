"""Plots of a run: the energy ledger, and what the solver reached.

A step is certified if residual/limit ≤ 1, where the limit is the tolerance, or the rounding floor
above it; the residual is that of the particle closest to its limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.extras import import_extra
from taut.run.ledger import Ledger
from taut.run.ledger_entry import LedgerEntry
from taut.run.open_run import Run
from taut.run.results import draw_energy, energy_curves
from taut.step.report import Report

_REPORT_FIELDS = ("t", "residual", "tolerance", "floor", "iterations")


def energy(source: Run | Ledger | Iterable[LedgerEntry]) -> Any:
    """Plot the energy ledger of a run, a Ledger or entries of one as a matplotlib Figure.

    Energies [J] above, and the sums of the flows [J] below, over t [s].

    >>> import taut
    >>> ball = taut.System(
    ...     [[0, 10, 0]],
    ...     mass=1.0,
    ...     energies=[taut.laws.gravity()],
    ...     damping=[taut.laws.drag(alpha=0.5)],
    ... )
    >>> ledger = taut.Ledger()
    >>> for _ in taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0, ledger=ledger):
    ...     pass
    >>> figure = energy(ledger)
    >>> [line.get_label() for axes in figure.axes for line in axes.lines]
    ['kinetic', 'in gravity', 'all', 'dissipated by drag', 'numerically dissipated']
    """
    if isinstance(source, Run):
        entries: Any = source.entries()
        count = source.step
    else:
        given = source.entries if isinstance(source, Ledger) else source
        entries = _check_items(LedgerEntry, given, "a run, a Ledger or its entries")
        count = len(entries)
    if not count:
        raise ModelError("there is no energy to plot: no step was taken")
    return draw_energy(*energy_curves(entries, count))


def convergence(source: Run | Iterable[Report]) -> Any:
    """Plot residual/limit and iterations of each step of a run, or of Reports, over t [s].

    Returns a matplotlib Figure.

    >>> import taut
    >>> energies = [taut.laws.spring([[0, 1]], k=9.0), taut.laws.gravity()]
    >>> pair = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=energies)
    >>> steps = taut.simulate(pair, taut.ImplicitEuler(), h=0.1, until=0.5)
    >>> figure = convergence([report for _, report in steps])
    >>> all(ratio <= 1 for ratio in figure.axes[0].lines[0].get_ydata())
    True
    """
    figure_class = import_extra("plot", "matplotlib.figure", "plots").Figure
    t, ratio, iterations = _convergence_curves(source)
    figure = figure_class(figsize=(8, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(t, ratio, ".", markersize=3, color="tab:blue", label="of each step")
    if np.any(ratio > 0):
        above.axhline(1.0, color="tab:red", linewidth=1, label="limit")
        above.set_yscale("log")
        above.legend(fontsize="small", frameon=False, loc="lower left")
    else:
        where = {"transform": above.transAxes, "ha": "center", "color": "0.5"}
        above.text(0.5, 0.5, "nothing had to be solved", **where)
    above.set(ylabel="residual / limit")
    below.step(t, iterations, where="pre", color="tab:blue", linewidth=1)
    below.set(xlabel="t [s]", ylabel="iterations", ylim=(0, None))
    for axes in (above, below):
        axes.grid(alpha=0.25)
    return figure


def _convergence_curves(source: Run | Iterable[Report]) -> tuple[Float, Float, Float]:
    """Return t [s], residual/limit (nan if nothing was solved) and iterations of each step."""
    if isinstance(source, Run):
        reports = source.reports
        columns = {name: np.asarray(reports[name], dtype=np.float64) for name in _REPORT_FIELDS}
    else:
        listed = _check_items(Report, source, "a run or Reports")
        columns = {
            name: np.array([getattr(report, name) for report in listed], dtype=np.float64)
            for name in _REPORT_FIELDS
        }
    if not len(columns["t"]):
        raise ModelError("there is no convergence to plot: no step was taken")
    limit = np.maximum(columns["tolerance"], columns["floor"])
    unknown = np.full(len(limit), np.nan)
    ratio = np.divide(columns["residual"], limit, out=unknown, where=limit > 0)
    return columns["t"], ratio, columns["iterations"]


def _check_items(kind: type, source: Any, expected: str) -> list[Any]:
    """Return the items of an iterable; ModelError if one of them is of another type."""
    try:
        items = list(source)
    except TypeError as error:
        raise ModelError(f"the source of a plot must be {expected}, got {source!r}") from error
    if not all(isinstance(item, kind) for item in items):
        raise ModelError(f"the source of a plot must be {expected}, got {source!r}")
    return items
