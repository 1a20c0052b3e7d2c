"""The energy book as a picture: where the energy is, and where it went. energy.png of a run folder where matplotlib is installed.

Above T and V of each law as they stand at the end of each step; below what has come in and gone out so far, added up over the
steps. With E = T + ΣV,

    E - E₀ = work + scripted - dissipated - numerical - torn + residual     to rounding (`taut.Ledger`)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from taut.errors import MissingExtra
from taut.extras import extra
from taut.run.database import Database
from taut.run.entry import Entry

MOST = 2000  # points of a line
WORDS = {"work": "work of", "dissipated": "dissipated by", "torn": "torn with"}
Lines = dict[str, list[float]]


def energy_picture(database: Database, last: int) -> tuple[bytes, str]:
    """The picture of the ledger up to a step as a PNG, or nothing, and why."""
    if not last:
        return b"", "energy.png was not drawn: no step was taken"
    try:
        figure = drawn(*lines((entry for _, entry in database.entries(last)), last))
    except MissingExtra as error:
        return b"", f"energy.png was not drawn: {error}"
    stream = BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue(), ""


def lines(entries: Iterable[Entry], count: int) -> tuple[list[float], Lines, Lines]:
    """Times [s] of at most MOST of so many entries, and there the energies and the flows summed up so far [J], by label.

    >>> lines([Entry(0.1, 0.1, 2.0, 0.5, {"spring": 1.5}, dissipated={"drag": 0.25})], 1)
    ([0.1], {'kinetic': [0.5], 'in spring': [1.5], 'all': [2.0]}, {'dissipated by drag': [0.25]})
    """
    stride = -(-count // MOST)
    times: list[float] = []
    stored: Lines = {}
    flows: Lines = {}
    so_far: dict[str, float] = {}
    for step, entry in enumerate(entries, start=1):
        for group, word in WORDS.items():
            for name, value in getattr(entry, group).items():
                so_far[f"{word} {name}"] = so_far.get(f"{word} {name}", 0.0) + value
        for label, value in (("work of scripted points", entry.scripted), ("numerically dissipated", entry.numerical)):
            so_far[label] = so_far.get(label, 0.0) + value
        if step % stride == 0 or step == count:
            held = {"kinetic": entry.kinetic, **{f"in {name}": value for name, value in entry.stored.items()}}
            _append(stored, {**held, "all": sum(held.values())}, len(times))
            _append(flows, so_far, len(times))
            times.append(entry.t)
    return times, stored, {label: values for label, values in flows.items() if np.any(np.nan_to_num(values))}


def _append(to: Lines, values: Mapping[str, float], before: int) -> None:
    for label, value in values.items():
        to.setdefault(label, [np.nan] * before).append(value)


def drawn(times: Sequence[float], stored: Mapping[str, Any], flows: Mapping[str, Any]) -> Any:
    """Both as a matplotlib Figure; MissingExtra where there is no matplotlib."""
    figure = extra("plot", "matplotlib.figure", "plots").Figure(figsize=(8, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for axes, group in ((above, stored), (below, flows)):
        for label, values in group.items():
            thick, colour = (2.0, "0.3") if label == "all" else (1.2, None)
            plain = label.replace("$", r"\$")  # names are no formulas
            axes.plot(times, values, label=plain, linewidth=thick, color=colour)
        axes.grid(alpha=0.25)
        if group:
            axes.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    above.set(ylabel="energy [J]")
    below.set(xlabel="t [s]", ylabel="so far [J]")
    return figure
