"""energy.png: what is stored and what has been lost, over time, drawn where matplotlib is installed."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from taut.run.database import Database

MOST = 2000  # points of a line


def energy_picture(database: Database, last: int) -> tuple[bytes, str]:
    """The picture of the ledger up to a step as a PNG, or nothing, and why."""
    if not last:
        return b"", "energy.png was not drawn: no step was taken"
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return b"", "energy.png was not drawn: matplotlib is not installed (pip install 'taut[plot]')"
    stride = -(-last // MOST)
    times: list[float] = []
    lines: dict[str, list[float]] = {}
    spent = {"dissipated so far": 0.0, "numerically dissipated so far": 0.0, "torn so far": 0.0}
    for step, entry in database.entries(last):
        spent["dissipated so far"] += sum(entry.dissipated.values())
        spent["numerically dissipated so far"] += entry.numerical
        spent["torn so far"] += sum(entry.torn.values())
        if step % stride == 0 or step == last:
            times.append(entry.t)
            for name, value in {"kinetic": entry.kinetic, **{f"in {n}": v for n, v in entry.stored.items()}, **spent}.items():
                lines.setdefault(name, [np.nan] * (len(times) - 1)).append(value)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, values in lines.items():
        if name in spent and not any(values):
            continue
        axes.plot(times, values, label=name, linewidth=1.2, linestyle="--" if name in spent else "-")
    axes.set(xlabel="t [s]", ylabel="energy [J]")
    axes.legend(fontsize="small", frameon=False)
    stream = BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue(), ""
