"""Studies: each measure against each parameter, and Sobol indices where there are any."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import describe
from taut.errors import ModelError
from taut.extras import import_extra
from taut.study import Indices, Study

_MAX_PANELS = 12  # rows or columns of the figure: more cannot be read
_MAX_LABEL = 26  # characters of a name below an axis
_LOG_RATIO = 30.0  # values that span more than this have a logarithmic axis


def study(found: Study) -> Any:
    """Plot each measure of a study against each parameter, as a matplotlib Figure.

    found : from `taut.sweep` or `taut.study.open_study`; with the samples saltelli:N, the last
        column shows the Sobol indices with their standard errors

    Runs without a value of the measure are left out.
    """
    if not isinstance(found, Study):
        raise ModelError(f"study needs the result of taut.sweep, got {describe(found)}")
    measures, parameters = found.measures[:_MAX_PANELS], found.parameters[:_MAX_PANELS]
    if not measures or not len(found):
        raise ModelError("a plot of a study needs at least one run and one measure")
    indices = None
    if found.samples.startswith("saltelli") and found.finished:
        indices = found.indices()
    figure_class = import_extra("plot", "matplotlib.figure", "plots").Figure
    width = len(parameters) + (indices is not None)
    size = (0.6 + 2.9 * width, 0.4 + 2.4 * len(measures))
    figure = figure_class(figsize=size, layout="constrained")
    axes = figure.subplots(len(measures), width, squeeze=False, sharex=False)
    columns = found.columns()
    for i, measure in enumerate(measures):
        for j, parameter in enumerate(parameters):
            _scatter(axes[i, j], columns[parameter], np.asarray(columns[measure]))
            if i == len(measures) - 1:
                axes[i, j].set_xlabel(_shorten(parameter), fontsize="small")
        axes[i, 0].set_ylabel(measure)
        if indices is not None:
            _draw_indices(axes[i, -1], indices, measure, last=i == len(measures) - 1)
    return figure


def _scatter(axes: Any, x: NDArray[Any], y: NDArray[Any]) -> None:
    if x.dtype.kind == "U":  # names, such as those of files
        names, x = np.unique(x, return_inverse=True)
        axes.set_xticks(range(len(names)), [_shorten(name) for name in names], fontsize="x-small")
    elif x.min() > 0.0 and x.max() > _LOG_RATIO * x.min():
        axes.set_xscale("log")
    axes.plot(x, y, ".", color="tab:blue", markersize=4, alpha=0.7)
    axes.grid(alpha=0.25)
    axes.tick_params(labelsize="small")


def _draw_indices(axes: Any, indices: Indices, measure: str, *, last: bool) -> None:
    rows = np.flatnonzero(indices.measure == measure)
    y = np.arange(len(rows))[::-1]
    for name, offset, colour in (("first", 0.18, "tab:blue"), ("total", -0.18, "tab:orange")):
        values, errors = getattr(indices, name)[rows], getattr(indices, f"{name}_error")[rows]
        axes.barh(y + offset, values, 0.34, xerr=errors, color=colour, label=name, capsize=2)
    labels = [_shorten(name) for name in indices.parameter[rows]]
    axes.set_yticks(y, labels, fontsize="x-small")
    axes.axvline(0.0, color="0.4", linewidth=0.8)
    axes.tick_params(axis="x", labelsize="small")
    axes.legend(fontsize="x-small", frameon=False)
    if last:
        axes.set_xlabel("Sobol index", fontsize="small")


def _shorten(name: str) -> str:
    """Return the end of a long name, which tells more than its beginning."""
    name = name.replace("$", r"\$")  # matplotlib reads $…$ as a formula
    return name if len(name) <= _MAX_LABEL else f"…{name[-_MAX_LABEL:]}"
