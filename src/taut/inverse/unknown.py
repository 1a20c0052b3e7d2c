"""Unknown parameters of a fit: what is known of them beforehand, and where the search begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.inverse.observations import Experiment
from taut.inverse.targets import laws_by_name, read_value, split_name


@dataclass(frozen=True)
class Unknown:
    """A parameter to be fitted: one number for all elements, or one for each.

    name : such as "spring.k"
    start : where the search begins (default: the value in the first experiment's system)
    low, high : bounds
    log : whether its logarithm is fitted, so that it stays positive (default: if the value is
        positive and low is 0 or more)
    prior : (expected value, standard deviation) that is known beforehand; with `log`, the standard
        deviation is that of the logarithm
    each : whether every element has a number of its own; start, bounds and prior hold for each
    """

    name: str
    start: float | None = None
    low: float = 0.0
    high: float = np.inf
    log: bool | None = None
    prior: tuple[float, float] | None = None
    each: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ModelError(
                f"'{self.name}': low must be less than high, got {self.low:g} and {self.high:g}"
            )
        if self.prior is not None:
            mean, deviation = self.prior
            if not (np.isfinite(mean) and 0.0 < deviation < np.inf):
                raise ModelError(
                    f"'{self.name}': prior must be an expected value and a positive standard "
                    f"deviation, got {self.prior}"
                )


def find_start(experiments: Sequence[Experiment], unknown: Unknown) -> Float:
    """Return where the search for an unknown begins: one number, or one for each element."""
    value = read_value(experiments[0].system, unknown.name)
    if unknown.each:
        if value.ndim == 0:
            law, _ = split_name(experiments[0].system, unknown.name)
            count = len(laws_by_name(experiments[0].system)[law].elements)
            value = np.full(count, float(value))
        for experiment in experiments[1:]:
            other = read_value(experiment.system, unknown.name)
            if other.ndim and other.shape != value.shape:
                raise ModelError(f"'{unknown.name}' must have as many elements in all experiments")
    elif value.size > 1 and not (value == value.reshape(-1)[0]).all():
        raise ModelError(
            f"'{unknown.name}' has several values; a fit needs one number, or each=True"
        )
    else:
        value = np.asarray(value.reshape(-1)[0])
    if unknown.start is not None:
        value = np.full_like(value, unknown.start)
    outside = value[~((value >= unknown.low) & (value <= unknown.high))]
    if outside.size:
        raise ModelError(
            f"'{unknown.name}' must start within {unknown.low:g} and {unknown.high:g}, "
            f"got {outside.reshape(-1)[0]:g}"
        )
    return value


def is_log(unknown: Unknown, start: float) -> bool:
    """Whether a number is fitted by its logarithm."""
    chosen = unknown.log
    if chosen is None:
        chosen = start > 0.0 and unknown.low >= 0.0
    elif chosen and not start > 0.0:
        raise ModelError(f"'{unknown.name}' must be positive to be fitted by its logarithm")
    if chosen and unknown.prior is not None and not unknown.prior[0] > 0.0:
        raise ModelError(
            f"'{unknown.name}' is fitted by its logarithm: the expected value of its prior must be "
            f"positive, got {unknown.prior[0]:g}; log = false fits the number itself"
        )
    return chosen
