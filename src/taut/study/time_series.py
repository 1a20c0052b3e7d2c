"""Numbers over the time of a run: extremes, the mean and the frequency.

The mean is the integral by the trapezoidal rule, divided by the time. The frequency is the number
of periods between the first and the last rise through the mean, over the time between them; a
rise is found by linear interpolation between two steps.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError

OVER_TIME = ("time_min", "time_max", "time_mean", "frequency")


def summarise(word: str, times: Float, values: Float) -> float:
    """Return what a function of `OVER_TIME` gives for values at some times.

    >>> summarise("time_mean", np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 2.0]))
    1.6666666666666667
    """
    if word == "time_min":
        return float(values.min())
    if word == "time_max":
        return float(values.max())
    if len(values) < 2:
        raise ModelError(f"{word} needs at least one step")
    areas = 0.5 * (values[1:] + values[:-1]) * np.diff(times)
    mean = float(np.sum(areas) / (times[-1] - times[0]))
    if word == "time_mean":
        return mean
    return find_frequency(times, values - mean)


def find_frequency(times: Float, values: Float) -> float:
    """Return the mean frequency [Hz] of a signal, from the times at which it rises through zero.

    >>> t = np.linspace(0.0, 2.0, 400)
    >>> round(find_frequency(t, np.sin(2 * np.pi * 3.0 * t)), 3)
    3.0
    """
    rises = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    if len(rises) < 2:
        raise ModelError(
            f"a frequency needs at least two rises through the mean, got {len(rises)}: run longer"
        )
    before, after = values[rises], values[rises + 1]
    crossings = times[rises] + (times[rises + 1] - times[rises]) * before / (before - after)
    return float((len(crossings) - 1) / (crossings[-1] - crossings[0]))
