"""Sobol indices: which part of the variance of a measure comes from which parameter.

With the values f of a measure on the blocks A, B and ABᵢ of a Saltelli design,

    first order   Sᵢ  = mean(f_B (f_ABᵢ - f_A)) / Var f        parameter i alone
    total         STᵢ = mean((f_A - f_ABᵢ)²) / (2 Var f)       with all its interactions

(Saltelli et al. 2010, table 2, b and f). Var f is that of A and B together, and the mean of A and B
is subtracted from f first, which leaves the formulas as they are and makes their errors smaller.

The error is the standard deviation over bootstrap samples of the base points, all drawn with the
same seed. The points are more evenly spread than independent ones, so it is rather too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float
from taut.errors import ModelError
from taut.tables import Table, format_table

_RESAMPLES = 1000  # bootstrap samples: the error of the error is about 2%
_ROUNDING = 1e-12  # deviations, relative to the values, that are no influence
_MIN_POINTS = 8  # fewer base points say nothing


@dataclass(frozen=True, eq=False)
class Indices(Table):
    """Sobol indices of the measures of a study, one row for each measure and parameter.

    measure, parameter : names
    first, total : indices of first order and total ones
    first_error, total_error : their standard errors
    points : base points that were used; those with a failed run are left out
    """

    measure: NDArray[np.str_]
    parameter: NDArray[np.str_]
    first: Float
    first_error: Float
    total: Float
    total_error: Float
    points: NDArray[np.int64]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return dict(vars(self))

    def __str__(self) -> str:
        rows = []
        for row in self:
            first = f"{row['first']:.3f} ± {row['first_error']:.3f}"
            total = f"{row['total']:.3f} ± {row['total_error']:.3f}"
            rows.append([row["measure"], row["parameter"], first, total])
        return format_table(["measure", "parameter", "first order", "total"], rows)


def find_indices(f: Float, d: int, seed: int) -> tuple[Float, Float, Float, Float, int]:
    """Return first-order indices, their errors, total indices, their errors, and points used.

    f : values of one measure on a Saltelli design of d parameters, nan where there is none,
        shape (N (d + 2),)

    >>> from taut.study.samples import Samples, make_design
    >>> from taut.study.values import Interval
    >>> x = {"a": Interval(0.0, 1.0), "b": Interval(0.0, 1.0)}
    >>> f = np.array([3 * a + b for a, b in make_design(Samples("saltelli", 256), x, 0)])
    >>> first, *_ = find_indices(f, 2, 0)
    >>> first.round(2)  # 9/10 and 1/10
    array([0.9, 0.1])
    """
    blocks = np.asarray(f, dtype=np.float64).reshape(d + 2, -1)
    blocks = blocks[:, np.isfinite(blocks).all(axis=0)]
    n = blocks.shape[1]
    if n < _MIN_POINTS:
        raise ModelError(f"indices need at least {_MIN_POINTS} base points without failed runs")
    first, total = _estimate(blocks)
    random = np.random.default_rng(seed)
    resampled = [_estimate(blocks[:, random.integers(0, n, n)]) for _ in range(_RESAMPLES)]
    first_error = np.std([pair[0] for pair in resampled], axis=0)
    total_error = np.std([pair[1] for pair in resampled], axis=0)
    return first, first_error, total, total_error, n


def _estimate(blocks: Float) -> tuple[Float, Float]:
    """Return S and ST, both (d,), from the values on A, B, AB₁, AB₂ …, (d + 2, n)."""
    centred = blocks - blocks[:2].mean()
    a, b, mixed = centred[0], centred[1], centred[2:]
    variance = np.mean(centred[:2] ** 2)
    if variance <= (_ROUNDING * np.max(np.abs(blocks))) ** 2:  # nothing has an influence
        return np.zeros(len(mixed)), np.zeros(len(mixed))
    first = np.mean(b * (mixed - a), axis=1) / variance
    total = np.mean((a - mixed) ** 2, axis=1) / (2.0 * variance)
    return first, total
