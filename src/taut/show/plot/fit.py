"""Fit against data: what the model predicts over what was observed, and what is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import describe
from taut.errors import ModelError
from taut.extras import import_extra
from taut.inverse.fit import Fit


def fit(found: Fit) -> Any:
    """Plot the predictions of a fit over the data as a matplotlib Figure.

    found : from `taut.fit`; each experiment has a row: predictions over data, and a histogram of
        the residuals

    >>> import taut
    >>> spring = taut.laws.spring([[0, 1]], k=50.0, l0=1.0)
    >>> weight = taut.System([[0, 0, 0], [0, -1, 0]], mass=1.0, fixed=[0],
    ...                      energies=[spring, taut.laws.gravity()])
    >>> seen = taut.inverse.Shape(weight, [[0.0, -1.0981, 0.0]], particles=[1])
    >>> [axes.get_xlabel() for axes in fit(taut.fit(seen, ["spring.k"])).axes]
    ['observed', 'predicted - observed']
    """
    if not isinstance(found, Fit):
        raise ModelError(f"fit needs the result of taut.fit, got {describe(found)}")
    drawing = import_extra("plot", "matplotlib.figure", "plots").Figure
    rows = len(found.residuals)
    figure = drawing(figsize=(8.0, 3.2 * rows), layout="constrained")
    for k, (left, data) in enumerate(zip(found.residuals, found.data, strict=True)):
        axes = figure.add_subplot(rows, 2, 2 * k + 1)
        ends = np.array([data.min(initial=0.0), data.max(initial=0.0)])
        axes.plot(ends, ends, color="0.7", linewidth=1.0)
        axes.plot(data, data + left, ".", color="tab:blue", markersize=3)
        axes.set_xlabel("observed")
        axes.set_ylabel("predicted")
        axes.set_title(f"experiment {k}", fontsize="medium")
        axes = figure.add_subplot(rows, 2, 2 * k + 2)
        axes.hist(left, bins=min(40, max(5, len(left) // 10)), color="tab:blue")
        axes.set_xlabel("predicted - observed")
        axes.set_ylabel("count")
    return figure
