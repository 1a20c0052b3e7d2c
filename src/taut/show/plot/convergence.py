"""What the solver reached: for each step, residual by limit (the particle that is closest to its limit) and iterations.

A step is certified where residual/limit ≤ 1; the limit is the tolerance, or the rounding floor above it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.extras import extra
from taut.run.opening import Run
from taut.step.report import Report

Float = NDArray[np.float64]
NAMES = ("t", "residual", "tolerance", "floor", "iterations")


def convergence(source: Run | Iterable[Report]) -> Any:
    """Residual by limit and iterations of each step of a run, or of Reports, as a matplotlib Figure, over t [s].

    >>> import taut
    >>> energies = [taut.laws.spring([[0, 1]], k=9.0), taut.laws.gravity()]
    >>> pair = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=energies)
    >>> reports = [report for _, report in taut.simulate(pair, taut.ImplicitEuler(), h=0.1, until=0.5)]
    >>> figure = convergence(reports)
    >>> all(ratio <= 1 for ratio in figure.axes[0].lines[0].get_ydata())
    True
    """
    figure_class = extra("plot", "matplotlib.figure", "plots").Figure
    t, used, iterations = reached(source)
    figure = figure_class(figsize=(8, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(t, used, ".", markersize=3, color="tab:blue", label="of each step")
    if np.any(used > 0):
        above.axhline(1.0, color="tab:red", linewidth=1, label="limit")
        above.set_yscale("log")
        above.legend(fontsize="small", frameon=False, loc="lower left")
    else:
        above.text(0.5, 0.5, "nothing had to be solved", transform=above.transAxes, ha="center", color="0.5")
    above.set(ylabel="residual / limit")
    below.step(t, iterations, where="pre", color="tab:blue", linewidth=1)
    below.set(xlabel="t [s]", ylabel="iterations", ylim=(0, None))
    for axes in (above, below):
        axes.grid(alpha=0.25)
    return figure


def reached(source: Run | Iterable[Report]) -> tuple[Float, Float, Float]:
    """t [s], residual by limit (nan where nothing was solved) and iterations of each step, (n,)."""
    if isinstance(source, Run):
        columns = source.reports
        found = {name: np.asarray(columns[name], dtype=np.float64) for name in NAMES}
    else:
        try:
            reports: list[Any] = list(source)
        except TypeError:
            reports = [None]
        if not all(isinstance(report, Report) for report in reports):
            raise ModelError(f"a run or Reports are drawn, not {source!r}")
        found = {name: np.array([getattr(report, name) for report in reports], dtype=np.float64) for name in NAMES}
    if not len(found["t"]):
        raise ModelError("there is no convergence to draw: no step was taken")
    limit = np.maximum(found["tolerance"], found["floor"])
    used = np.divide(found["residual"], limit, out=np.full(len(limit), np.nan), where=limit > 0)
    return found["t"], used, found["iterations"]
