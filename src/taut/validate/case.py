"""A case: what a formula from outside of taut says, what taut gives, and by how much they may differ.

The error is |got - expected|/scale, the largest if there are several numbers. The scale is |expected| of each number, or one that
the case states, such as the amplitude of an oscillation; an expected zero has none, and the error keeps its unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError, TautError

Float = NDArray[np.float64]


class Curve(NamedTuple):
    """What is drawn of a case: dots that taut gives over the line of the theory.

    x, got : of the dots, shape (n,); theory : the line, shape (m,); across, up : what the axes show, with units
    at : where the line is given, shape (m,) (default: at x); shape : both axes have one scale, so that a circle is round
    """

    x: ArrayLike
    got: ArrayLike
    theory: ArrayLike
    across: str
    up: str
    at: ArrayLike | None = None
    shape: bool = False

    @staticmethod
    def of_shapes(got: Float, theory: Float, across: str = "x [m]", up: str = "y [m]") -> Curve:
        """Of shapes in the plane, (n, 2) and (m, 2)."""
        return Curve(got[:, 0], got[:, 1], theory[:, 1], across, up, at=theory[:, 0], shape=True)


class Found(NamedTuple):
    """What taut gives: numbers as many as are expected, in their unit, and a curve to draw."""

    got: ArrayLike
    curve: Curve


@dataclass(frozen=True, eq=False)
class Case:
    """A formula, its source, the numbers it gives, and how taut gives them.

    name : by which the case is asked for; group : its subject, that of the file it stands in; what : in words
    formula, source : as they stand in books, and in which
    unit : of the numbers; expected : numbers, shape (k,); scale : that the error is divided by [unit], None for `expected` itself
    tolerance : of the error; why : it is what it is
    measure : gives what taut gives
    """

    name: str
    group: str
    what: str
    formula: str
    source: str
    unit: str
    expected: Float
    scale: float | None
    tolerance: float
    why: str
    measure: Callable[[], Found]

    @property
    def relative(self) -> bool:
        """Whether the error is a part of something, and has no unit."""
        return self.scale is not None or bool((self.expected != 0.0).all())

    def check(self) -> Result:
        """Ask taut; an error, of its own or of the arithmetic with what it gives, is a miss that says so."""
        try:
            got, curve = self.measure()
        except (TautError, ValueError, ArithmeticError) as error:
            return Result(self, np.full_like(self.expected, np.nan), None, str(error))
        got = np.asarray(got, dtype=np.float64).ravel()
        if got.shape != self.expected.shape:
            raise ModelError(f"case '{self.name}' expects {self.expected.size} numbers and gives {got.size}")
        return Result(self, got, curve)


@dataclass(frozen=True, eq=False)
class Result:
    """What came of a case.

    got : numbers, shape (k,), nan where there are none; curve : to draw, None where there is none; said : the error that ended it

    >>> spring = Case("weight", "statics", "", "x = mg/k", "Hooke", "m", np.array([0.5]), None, 1e-3, "", lambda: Found(0.0, None))
    >>> good, bad = Result(spring, np.array([0.5001]), None), Result(spring, np.array([0.49]), None)
    >>> good.verdict, bad.verdict, round(bad.error, 12)
    ('pass', 'miss', 0.02)
    """

    case: Case
    got: Float
    curve: Curve | None
    said: str = ""

    @property
    def errors(self) -> Float:
        """Of each number, shape (k,)."""
        case = self.case
        whole = np.abs(case.expected) if case.scale is None and case.relative else np.float64(case.scale or 1.0)
        return np.abs(self.got - case.expected) / whole

    @property
    def worst(self) -> int:
        """Which number is furthest off."""
        return int(np.argmax(self.errors))  # nan counts as the largest

    @property
    def error(self) -> float:
        """The largest error; nan if taut gave no number."""
        return float(self.errors[self.worst])

    @property
    def verdict(self) -> Literal["pass", "miss"]:
        """Whether the error is within its tolerance."""
        return "pass" if self.error <= self.case.tolerance else "miss"

    def as_json(self) -> dict[str, Any]:
        """For `json.dumps`; of several numbers the one that is furthest off."""
        case, finite = self.case, bool(np.isfinite(self.error))
        return {
            "name": case.name, "group": case.group, "what": case.what, "formula": case.formula, "source": case.source,
            "unit": case.unit, "numbers": case.expected.size, "expected": float(case.expected[self.worst]),
            "got": float(self.got[self.worst]) if finite else None, "error": self.error if finite else None,
            "relative": case.relative, "tolerance": case.tolerance, "why": case.why, "verdict": self.verdict, "said": self.said,
        }  # fmt: skip
