"""The plots of the panel: energies, and the residual with the limit that it was held against, over time.

All curves of the energy plot together close: their equation stands in `taut.show.view.curves`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.show.view.curves import ENERGIES, JUMPS, RESIDUALS

Float = NDArray[np.float64]
DRAWN = (*ENERGIES, *JUMPS)
INKS = ("#d1495b", "#30638e", "#edae49", "#8d5a97", "#3a7d44", "#4f4f4f", "#2ab7ca")  # of each that is drawn
SOLVED = ("#30638e", "#d1495b")
PADDING = (10, 20, 0, 0)  # pixels
PLAIN = {"time": False}  # an axis of seconds, which uPlot would take for dates


class Plots:
    """Two plots in a viser panel."""

    def __init__(self, gui: Any) -> None:
        nothing = np.array([0.0])
        self.energy = gui.add_uplot(
            tuple([nothing] * (1 + len(DRAWN))), (_series("t [s]"), *map(_series, DRAWN, INKS)), title="energy [J]",
            scales={"x": PLAIN}, axes=_axes(), height=210, padding=PADDING,
        )  # fmt: skip
        self.residual = gui.add_uplot(
            tuple([nothing] * (1 + len(RESIDUALS))), (_series("t [s]"), *map(_series, RESIDUALS, SOLVED)),
            title="log₁₀ of the unbalanced force [N]", scales={"x": PLAIN}, axes=_axes(), height=190, padding=PADDING,
        )  # fmt: skip
        self._drawn: Float | None = None

    def show(self, table: Float) -> None:
        """Draw rows (k, 10) of `taut.show.view.curves`."""
        if not len(table) or (self._drawn is not None and np.array_equal(table, self._drawn, equal_nan=True)):
            return
        self._drawn = table
        columns = [np.ascontiguousarray(column) for column in table.T]
        split = 1 + len(DRAWN)
        self.energy.data = tuple(columns[:split])
        solved = np.isfinite(table[:, split:]).all(axis=1)
        if solved.any():
            logs = [np.log10(column[solved]) for column in columns[split:]]  # uPlot writes small numbers on a logarithmic axis as 0
            self.residual.data = (columns[0][solved], *logs)


def _series(label: str, ink: str | None = None) -> dict[str, Any]:
    return {"label": label} if ink is None else {"label": label, "stroke": ink, "width": 1.5}


def _axes() -> tuple[dict[str, Any], ...]:
    return ({"size": 34}, {"size": 62})
