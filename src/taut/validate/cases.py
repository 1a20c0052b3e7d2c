"""A validation case: an analytic result, what taut computes, and how much they may differ.

The error is |got - expected|/scale; of several numbers the largest error counts. The scale is
|expected| of each number, or a scale that the case states, such as the amplitude of an
oscillation. If an expected number is zero and no scale is stated, the error is absolute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float
from taut.errors import ModelError, TautError, did_you_mean

GROUPS = (
    "oscillators", "integrators", "chains", "waves", "pendulums", "cables", "rods", "beams",
    "buckling", "paths", "trusses", "lattices", "moduli", "continua", "shells", "fabrics",
    "pressure", "forms", "films", "conservation", "energy", "contact", "friction", "capstan",
)  # fmt: skip
"""The groups of cases, in the order of the report; the cases of a group are in `_GROUP.py`."""

_REGISTERED: dict[str, Case] = {}


class Curve(NamedTuple):
    """The plot of a case: computed points over the theoretical line.

    x, got : of the points, shape (n,)
    theory : the line, shape (m,)
    x_label, y_label : of the axes, with units
    theory_x : abscissae of the line, shape (m,) (default: x)
    equal_axes : whether both axes have the same scale, so that a circle is round
    """

    x: ArrayLike
    got: ArrayLike
    theory: ArrayLike
    x_label: str
    y_label: str
    theory_x: ArrayLike | None = None
    equal_axes: bool = False

    @staticmethod
    def from_shapes(
        got: Float, theory: Float, x_label: str = "x [m]", y_label: str = "y [m]"
    ) -> Curve:
        """Plot shapes in the plane, given as points (n, 2) and (m, 2)."""
        return Curve(
            got[:, 0], got[:, 1], theory[:, 1], x_label, y_label, theory[:, 0], equal_axes=True
        )


class Measurement(NamedTuple):
    """The numbers that taut gives, in the order and unit of the expected ones, and a plot."""

    got: ArrayLike
    curve: Curve


@dataclass(frozen=True, eq=False)
class Case:
    """A formula, its source, the numbers that follow from it, and how taut computes them.

    name : for `--filter` and the tables
    group : its subject, one of GROUPS
    description : what is computed, in a sentence
    formula, source : as published, and where
    unit : of the numbers
    expected : numbers, shape (k,)
    scale : that the error is divided by [unit]; None for `expected` itself
    tolerance : largest error that passes
    reason : why the tolerance has this size
    measure : computes the numbers with taut
    """

    name: str
    group: str
    description: str
    formula: str
    source: str
    unit: str
    expected: Float
    scale: float | None
    tolerance: float
    reason: str
    measure: Callable[[], Measurement]

    @property
    def is_relative(self) -> bool:
        """Whether the error is relative, and so has no unit."""
        return self.scale is not None or bool((self.expected != 0.0).all())

    def check(self) -> Result:
        """Compute the numbers and compare them; an error raised on the way is a miss."""
        try:
            got, curve = self.measure()
        # ValueError and ArithmeticError: scipy and numpy raise them when given wrong results
        except (TautError, ValueError, ArithmeticError) as error:
            return Result(self, np.full_like(self.expected, np.nan), None, str(error))
        got = np.asarray(got, dtype=np.float64).ravel()
        if got.shape != self.expected.shape:
            raise ModelError(
                f"case '{self.name}' must give {self.expected.size} numbers, got {got.size}"
            )
        return Result(self, got, curve)


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of a case.

    got : numbers, shape (k,), nan if there are none
    curve : the plot, None if there is none
    message : of the error that ended the case

    >>> import numpy as np
    >>> spring = Case("weight", "statics", "", "x = mg/k", "Hooke", "m", np.array([0.5]), None,
    ...               1e-3, "", lambda: Measurement(0.0, None))
    >>> good, bad = (Result(spring, np.array([x]), None) for x in (0.5001, 0.49))
    >>> good.verdict, bad.verdict, round(bad.error, 12)
    ('pass', 'miss', 0.02)
    """

    case: Case
    got: Float
    curve: Curve | None
    message: str = ""

    @property
    def errors(self) -> Float:
        """The error of each number, shape (k,)."""
        difference = np.abs(self.got - self.case.expected)
        if self.case.scale is not None:
            return difference / self.case.scale
        if self.case.is_relative:
            return difference / np.abs(self.case.expected)
        return difference

    @property
    def worst(self) -> int:
        """Index of the number with the largest error."""
        return int(np.argmax(self.errors))  # argmax takes nan for the largest

    @property
    def error(self) -> float:
        """The largest error; nan if there are no numbers."""
        return float(self.errors[self.worst])

    @property
    def verdict(self) -> Literal["pass", "miss"]:
        """Whether the error is within the tolerance."""
        if self.error <= self.case.tolerance:
            return "pass"
        return "miss"  # also for nan

    def to_json(self) -> dict[str, Any]:
        """Convert to a dictionary for `json.dumps`; of several numbers, the worst one."""
        case = self.case
        got, error = None, None
        if np.isfinite(self.error):  # JSON has no nan
            got, error = float(self.got[self.worst]), self.error
        return {
            "name": case.name,
            "group": case.group,
            "what": case.description,
            "formula": case.formula,
            "source": case.source,
            "unit": case.unit,
            "numbers": case.expected.size,
            "expected": float(case.expected[self.worst]),
            "got": got,
            "error": error,
            "relative": case.is_relative,
            "tolerance": case.tolerance,
            "why": case.reason,
            "verdict": self.verdict,
            "said": self.message,
        }


def case(
    name: str,
    *,
    formula: str,
    source: str,
    expected: ArrayLike,
    tolerance: float,
    reason: str,
    unit: str = "",
    scale: float | None = None,
    description: str | None = None,
) -> Callable[[Callable[[], Measurement]], Callable[[], Measurement]]:
    """Register the decorated function as the `measure` of a case; parameters as of `Case`.

    description : default: the docstring of the function
    """

    def register(measure: Callable[[], Measurement]) -> Callable[[], Measurement]:
        # The same function may come twice, when its module is reloaded.
        known = _REGISTERED[name].measure if name in _REGISTERED else measure
        if (known.__module__, known.__qualname__) != (measure.__module__, measure.__qualname__):
            raise ModelError(f"the name of a case must be unique, got two cases '{name}'")
        words = " ".join((description or measure.__doc__ or "").split())
        group = measure.__module__.rpartition(".")[2].lstrip("_")
        numbers = np.asarray(expected, dtype=np.float64).ravel()
        _REGISTERED[name] = Case(
            name, group, words, formula, source, unit, numbers, scale, tolerance, reason, measure
        )
        return measure

    return register


def load_cases() -> dict[str, Case]:
    """Import all groups and return their cases by name, in the order of `GROUPS`.

    >>> len(load_cases()) >= 40, load_cases()["oscillator-free"].unit
    (True, 'm')
    """
    for group in GROUPS:
        import_module(f"taut.validate._{group}")
    ordered = sorted(_REGISTERED.values(), key=lambda case: GROUPS.index(case.group))
    return {case.name: case for case in ordered}


def select_cases(words: Sequence[str]) -> list[Case]:
    """Return the cases whose name or group contains one of the words; all cases for no words.

    >>> [case.name for case in select_cases(["oscillator-f", "critical"])]
    ['oscillator-free', 'oscillator-critical']
    """
    found = load_cases()
    if not words:
        return list(found.values())
    for word in words:
        if not word or not any(word in case.name or word in case.group for case in found.values()):
            hint = did_you_mean(word, [*found, *GROUPS])
            raise ModelError(f"no case is called '{word}'{hint}; the cases are {', '.join(found)}")
    return [
        case
        for case in found.values()
        if any(word in case.name or word in case.group for word in words)
    ]
