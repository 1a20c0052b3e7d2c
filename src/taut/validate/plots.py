"""Pictures of a run: for each group one with all its cases, what taut gives as dots over the line of the theory."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from taut.extras import extra
from taut.validate.case import Curve, Result

FONT = "DejaVu Sans"  # comes with matplotlib: text has the same size everywhere
STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "validate", "font.size": 7, "font.family": FONT, "axes.linewidth": 0.6}
COLUMNS, WIDTH, HEIGHT = 3, 2.5, 1.75  # inches of a panel
DOTS, LINE = 20, 70  # as many are drawn at most


def require_matplotlib() -> Any:
    """Matplotlib, or a refusal before the work rather than after it."""
    return extra("plot", "matplotlib", "plots")


def draw(results: Sequence[Result]) -> bytes:
    """An SVG with a panel for each case."""
    mpl = require_matplotlib()
    from matplotlib.figure import Figure

    rows, columns = ceil(len(results) / COLUMNS), min(COLUMNS, len(results))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * columns, HEIGHT * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, result in zip(panels, results, strict=False):
            _panel(axes, result)
        for axes in panels[len(results) :]:
            axes.set_axis_off()
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return _small(file.getvalue().decode()).encode()


def _small(svg: str) -> str:
    """The same with two decimals, in any font without serifs, without turns by nothing and names of parts: half as large."""
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", svg.replace(f"'{FONT}'", "sans-serif"))
    return re.sub(r"\n\s+", "\n", re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", svg))


def _panel(axes: Any, result: Result) -> None:
    colour = "tab:blue" if result.verdict == "pass" else "tab:red"
    axes.set_title(result.case.name, fontsize=7, color="black" if result.verdict == "pass" else "tab:red")
    axes.tick_params(length=2, width=0.5, pad=1.5)
    axes.locator_params(nbins=4)
    if result.curve is None:
        axes.text(0.5, 0.5, "no result", ha="center", va="center", transform=axes.transAxes)
        return
    curve = result.curve
    line = _thinned(curve.x if curve.at is None else curve.at, curve.theory, LINE)
    axes.plot(*line, color="0.55", lw=1.0)
    axes.plot(*_thinned(curve.x, curve.got, DOTS), "o", color=colour, ms=2.2, mew=0)
    axes.set_xlabel(curve.across, labelpad=1)
    axes.set_ylabel(curve.up, labelpad=1)
    if curve.shape:
        axes.set_aspect("equal", "datalim")
    else:
        _widen(axes, curve)


def _thinned(x: Any, y: Any, most: int) -> tuple[Any, Any]:
    """Some of the points, evenly, the first and the last among them."""
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    keep = np.unique(np.linspace(0, len(x) - 1, min(most, len(x))).round().astype(int))
    return x[keep], y[keep]


def _widen(axes: Any, curve: Curve) -> None:
    """What is constant is shown as a line in the middle, not as its rounding."""
    values = np.concatenate([np.ravel(curve.got), np.ravel(curve.theory)])
    centre, size = values.mean(), np.abs(values).max()
    if np.ptp(values) < 0.05 * size:
        axes.set_ylim(centre - 0.1 * size, centre + 0.1 * size)
