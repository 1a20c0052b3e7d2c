"""What a parameter of a study may be: a list of values, or a range.

100, 200, 400        a list; also of words and file names, and of TOML values such as [0, 1, 0]
1..20                the whole numbers from 1 to 20
100:1000:5           five values from 100 to 1000, equally spaced
100:1000:5:log       … with equal ratios
100:1000             any number from 100 to 1000, for samples that are not a grid
100:1000:log         … with equal probability in each decade
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from taut.errors import SceneError
from taut.scene.toml import parse

MAX_VALUES = 1_000_000  # of one list: as many as a study has runs at most
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*:\s*({_NUMBER})\s*(?::\s*(\d+)\s*)?(?::\s*(log)\s*)?")
_WHOLE = re.compile(r"\s*([-+]?\d+)\s*\.\.\s*([-+]?\d+)\s*")


@dataclass(frozen=True)
class Choice:
    """One of a list of values; a sample takes each with the same probability.

    >>> Choice((1, 2, 4)).at(0.5)
    2
    """

    values: tuple[Any, ...]

    def at(self, u: float) -> Any:
        """Return the value for a number u from 0 (included) to 1 (excluded)."""
        return self.values[min(int(u * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class Interval:
    """Any number between two; log: uniform in its logarithm.

    >>> round(Interval(1.0, 100.0, log=True).at(0.5), 9)
    10.0
    """

    low: float
    high: float
    log: bool = False

    def at(self, u: float) -> float:
        """Return the value for a number u from 0 (included) to 1 (excluded)."""
        if self.log:
            return math.exp((1.0 - u) * math.log(self.low) + u * math.log(self.high))
        return (1.0 - u) * self.low + u * self.high


Values = Choice | Interval


def read_values(key: str, given: Any) -> Values:
    """Return the values of a parameter from a list, or from text as above.

    key : the parameter, for errors

    >>> read_values("k", "100:1000:log")
    Interval(low=100.0, high=1000.0, log=True)
    >>> read_values("k", "1:100:3:log"), read_values("file", "a.obj, b.obj").values
    (Choice(values=(1.0, 10.0, 100.0)), ('a.obj', 'b.obj'))
    """
    if isinstance(given, (Choice, Interval)):
        return given
    if isinstance(given, str):
        return _read_text(key, given)
    if not isinstance(given, Sequence) or not given:
        raise SceneError(
            [f"{key}: must be a list of values or text such as '100:1000:log', got {given!r}"]
        )
    return Choice(tuple(_to_plain(key, value) for value in given))


def _read_text(key: str, text: str) -> Values:
    whole = _WHOLE.fullmatch(text)
    if whole is not None:
        first, last = int(whole[1]), int(whole[2])
        if not 0 <= last - first < MAX_VALUES:
            raise SceneError(
                [f"{key}: {text} must go up, by less than {MAX_VALUES:,}, to its second number"]
            )
        return Choice(tuple(range(first, last + 1)))
    found = _RANGE.fullmatch(text)
    if found is not None:
        return _make_range(key, text, float(found[1]), float(found[2]), found[3], bool(found[4]))
    try:
        tables = parse(f"values = [{text}]")
    except SceneError:  # words, such as the names of files
        tables = {"values": [_read_word(word.strip()) for word in text.split(",")]}
    values = tables["values"]
    if set(tables) != {"values"} or not values or "" in values:
        raise SceneError([f"{key}: must be values such as 1,2,4 or 1:4:log, got '{text[:60]}'"])
    return Choice(tuple(values))


def _read_word(word: str) -> Any:
    """Return a value of TOML, or the text as it is."""
    try:
        tables = parse(f"value = {word}")
    except SceneError:
        return word
    return tables["value"] if set(tables) == {"value"} else word


def _make_range(
    key: str, text: str, low: float, high: float, count: str | None, log: bool
) -> Values:
    if not low < high < math.inf:
        raise SceneError([f"{key}: the range {text} must go up"])
    if log and not low > 0.0:
        raise SceneError([f"{key}: a logarithmic range must begin above 0, got {text}"])
    interval = Interval(low, high, log)
    if count is None:
        return interval
    number = int(count)
    if not 2 <= number <= MAX_VALUES:
        raise SceneError([f"{key}: {text} must have 2 to {MAX_VALUES:,} values"])
    inner = [interval.at(k / (number - 1)) for k in range(1, number - 1)]
    return Choice((low, *map(_drop_rounding, inner), high))


def _drop_rounding(value: float) -> float:
    """Return a number without the noise of its last digits, such as 10.000000000000002."""
    return float(f"{value:.15g}")


def _to_plain(key: str, value: Any) -> Any:
    """Return a value as JSON and TOML have it; a number of numpy becomes one of Python."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_to_plain(key, entry) for entry in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: _to_plain(key, entry) for name, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise SceneError([f"{key}: values must be finite, got {value}"])
    if isinstance(value, (bool, int, float, str)):
        return value
    raise SceneError([f"{key}: a value must be a number, text, list or table, got {value!r}"])
