"""Plots of the results: time of a step against mesh size, and all ratios with their targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from taut.bench.row import Row
from taut.extras import import_extra
from taut.run.run_folder import make_folder, open_output
from taut.show.output import check_output_path

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bench",
    "font.size": 9,
    "font.family": "sans-serif",
}


def prepare_folder(folder: Path, *, overwrite: bool) -> None:
    """Create the folder; raise now, not after minutes, if the plots could not be written.

    That is if matplotlib is missing, or a plot exists and `overwrite` is not set.
    """
    import_extra("plot", "matplotlib", "pictures")
    make_folder(folder)
    for name in _PLOTS:
        check_output_path(folder / name, overwrite=overwrite)


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write bench-scaling.svg and bench-ratios.svg, if the rows for them were measured.

    Returns the paths of the files that were written.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    written = []
    with mpl.rc_context(STYLE):
        for name, plot in _PLOTS.items():
            figure = Figure(figsize=(6.4, 3.6), layout="constrained")
            if plot(figure.subplots(), rows):
                with open_output(folder / name, binary=True) as stream:
                    figure.savefig(stream, format="svg", metadata={"Date": None})
                written.append(folder / name)
    return written


def _plot_scaling(axes: Any, rows: Sequence[Row]) -> bool:
    """Plot the time of a step against the number of particles, with the slope of the target.

    Returns whether there was a row to plot.
    """
    row = next((row for row in rows if row.name == "scaling" and row.value is not None), None)
    if row is None:
        return False
    sizes, times = np.array(row.details["particles"], dtype=float), np.array(row.details["ms"])
    axes.loglog(
        sizes,
        times,
        "o-",
        color="tab:blue",
        label=f"implicit Euler, soft: exponent {row.value:.2f}",
    )
    axes.loglog(sizes, times[0] * sizes / sizes[0], "--", color="0.6", label="proportional")
    axes.loglog(
        sizes,
        times[0] * (sizes / sizes[0]) ** row.target,
        ":",
        color="tab:red",
        label=f"target: {row.target:g}",
    )
    axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes])
    axes.minorticks_off()
    low, high = (
        times.min(),
        max(times.max(), float(times[0] * (sizes[-1] / sizes[0]) ** (row.target or 1.0))),
    )
    ticks = [
        s * 10.0**p
        for p in range(-3, 7)
        for s in (1, 2, 5)
        if 0.7 * low <= s * 10.0**p <= 1.4 * high
    ]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set(xlabel="particles", ylabel="ms per step")
    axes.legend(frameon=False, loc="upper left")
    axes.grid(alpha=0.3)
    return True


def _plot_ratios(axes: Any, rows: Sequence[Row]) -> bool:
    """Plot a bar for each time relative to a reference, with its target.

    Returns whether there was a row to plot.
    """
    units = ("baseline", "splu", "CHOLMOD")
    timed = [row for row in rows if row.unit.endswith(units) and row.value is not None][::-1]
    if not timed:
        return False
    for i, row in enumerate(timed):
        assert row.value is not None
        axes.barh(i, row.value, height=0.6, color="tab:blue" if row.target is not None else "0.7")
        axes.text(
            1.08 * max(row.value, row.target or 0.0), i, f"{row.value:.3g}", va="center", fontsize=8
        )
        if row.target is not None:
            axes.plot([row.target] * 2, [i - 0.4, i + 0.4], color="tab:red", lw=2)
    axes.set_yticks(range(len(timed)), [row.name for row in timed])
    smallest, largest = (
        pick(row.value for row in timed if row.value is not None) for pick in (min, max)
    )
    axes.set_xscale("log")
    axes.set_xlim(0.5 * smallest, 2.0 * max(largest, 1.0))
    axes.axvline(1.0, color="0.5", lw=1)
    axes.set_xlabel("time per step, relative to a reference (red: target)")
    return True


_PLOTS: dict[str, Callable[[Any, Sequence[Row]], bool]] = {
    "bench-scaling.svg": _plot_scaling,
    "bench-ratios.svg": _plot_ratios,
}
