"""Measures of a run: expressions over its quantities, such as "max(y0 - y)" or "frequency(y)".

The grammar is that of mesh selections; text is parsed into a tree, and never executed. Quantities
are those of `quantities`, at the end of the run; names in quotes are parameters of the study.

    + - * / ^                        arithmetic, element by element
    abs sqrt sin cos tan exp log tanh hypot
    min max mean sum                 over all particles or members
    where(selection, values)         the values of some particles: of a body by its name, of
                                     points(3, 5:8), or where a comparison holds; and, or, not
    time_min time_max time_mean      of a number, over the run; the mean is the integral by the
                                     trapezoidal rule, divided by the time
    frequency(number)                [Hz], from the first to the last time at which it rises
                                     through its mean, interpolated linearly

In a comparison, numbers are equal that differ by at most 1e-9 of the largest on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from taut.arrays import Float, Mask
from taut.errors import MeshError, ModelError, SceneError, did_you_mean
from taut.mesh.selection.language import (
    COMPARISONS,
    Call,
    Name,
    Node,
    Number,
    Operation,
    iterate_nodes,
    make_error,
    parse,
    quote,
)
from taut.study.quantities import NAMES, Quantities
from taut.study.time_series import OVER_TIME, summarise

_EQUAL = 1e-9  # of the largest value: positions of meshes are not exact to the last bit
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
_ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
}
_OVERALL: dict[str, Callable[[Any], Any]] = {
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "sum": np.sum,
}
_WORDS = (*_ELEMENTWISE, "hypot", *_OVERALL, *OVER_TIME, "where", "stored", "points")


class Measure:
    """An expression, and what it needs from each moment of a run.

    >>> import taut
    >>> built = taut.scene.load("spring").build()
    >>> measure = Measure("T", "1/frequency(where(points(1), y))")
    >>> run = taut.simulate(built.system, built.integrator, built.h, built.until)
    >>> for state, report in run:
    ...     now = Quantities(built.system, state, built.state.q, {}, {})
    ...     measure.observe(now)
    >>> round(measure.evaluate(now), 4)
    0.6281
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        try:
            self._tree = parse(text)
        except MeshError as error:
            raise SceneError([f"measure {name}: {_reword(error)}"]) from None
        self._series: dict[int, list[float]] = {}  # by the start of a node that is over time
        self._timed_calls: list[Call] = []
        for node in iterate_nodes(self._tree):
            self._check(node)
        self.times: list[float] = []

    def _check(self, node: Node) -> None:
        """Raise SceneError for an unknown function or name; list what goes over time."""
        if isinstance(node, Call):
            if node.word not in _WORDS:
                hint = did_you_mean(node.word, _WORDS)
                raise self._scene_error(node, f"unknown function '{node.word}'{hint}")
            counts = {"hypot": (2, 3), "where": (2,), "points": range(1, 1000)}
            if len(node.arguments) not in counts.get(node.word, (1,)):
                raise self._scene_error(node, f"{node.word} has {len(node.arguments)} arguments")
            if node.word in OVER_TIME:
                inner = [n for a in node.arguments for n in iterate_nodes(a)]
                if any(isinstance(n, Call) and n.word in OVER_TIME for n in inner):
                    raise self._scene_error(node, f"{node.word} of a value over time is one number")
                self._timed_calls.append(node)
                self._series[node.start] = []

    def _scene_error(self, node: Node, message: str) -> SceneError:
        error = make_error(self.text, node.start, message)
        return SceneError([f"measure {self.name}: {_reword(error)}"])

    def observe(self, now: Quantities) -> None:
        """Take in one moment of the run; the moments must come in order."""
        if not self._timed_calls:
            return
        self.times.append(now.state.t)
        for node in self._timed_calls:
            self._series[node.start].append(self._to_number(self._value(node.arguments[0], now)))

    def check(self, start: Quantities) -> None:
        """Raise SceneError if the measure does not fit a run, given its beginning."""
        measure = Measure(self.name, self.text)
        try:
            with np.errstate(all="ignore"):
                measure.observe(start)
                measure._to_number(measure._value(measure._tree, start))
        except MeshError as error:
            raise SceneError([f"measure {self.name}: {_reword(error)}"]) from None
        except ModelError:  # such as a frequency, which has no value yet
            return

    def evaluate(self, end: Quantities) -> float:
        """Return the measure at the end of the run; ModelError if it has no finite value."""
        try:
            with np.errstate(all="ignore"):  # what is not finite is reported below
                value = self._to_number(self._value(self._tree, end))
        except MeshError as error:
            raise ModelError(_reword(error)) from None
        if not np.isfinite(value):
            raise ModelError(f"{quote(self.text)} is not finite")
        return value

    def _to_number(self, value: Float) -> float:
        if np.size(value) != 1:
            message = f"must be one number, got {np.size(value)} values: take max, min, mean or sum"
            raise make_error(self.text, 0, message)
        return float(np.reshape(value, ()))

    def _value(self, node: Node, now: Quantities) -> Float:
        """Return the value of a node, shape () or (k,)."""
        if isinstance(node, Number):
            return np.array(node.value)
        if isinstance(node, Name):
            if node.text in now.parameters:
                return np.array(now.parameters[node.text])
            if node.text in NAMES and not node.quoted:
                return now.look_up(node.text)
            known = [*NAMES, *now.parameters]
            hint = did_you_mean(node.text, known)
            raise make_error(self.text, node.start, f"unknown quantity '{node.text}'{hint}")
        if isinstance(node, Call):
            return self._call(node, now)
        assert isinstance(node, Operation)
        if node.operators[0] == "^":
            found = self._value(node.operands[-1], now)
            for operand in node.operands[-2::-1]:  # from the right: 2^3^2 is 2^9
                found = np.power(self._value(operand, now), found)
            return np.asarray(found)
        if node.operators[0] not in _ARITHMETIC:
            raise make_error(self.text, node.start, "a selection is not a number; use it in where")
        if len(node.operands) == 1:
            return np.asarray(-self._value(node.operands[0], now))
        found = self._value(node.operands[0], now)
        for sign, operand in zip(node.operators, node.operands[1:], strict=True):
            found = self._combine(_ARITHMETIC[sign], found, self._value(operand, now), node)
        return np.asarray(found)

    def _combine(self, function: Callable[..., Any], a: Float, b: Float, node: Node) -> Float:
        if np.ndim(a) and np.ndim(b) and len(a) != len(b):
            message = f"values of {len(a)} and of {len(b)} particles or members do not combine"
            raise make_error(self.text, node.start, message)
        return np.asarray(function(a, b))

    def _call(self, node: Call, now: Quantities) -> Float:
        word, arguments = node.word, node.arguments
        if word in OVER_TIME:
            return np.array(
                summarise(word, np.array(self.times), np.array(self._series[node.start]))
            )
        if word == "where":
            values, mask = self._value(arguments[1], now), self._mask(arguments[0], now)
            if np.shape(values) != mask.shape:
                message = "where needs a value for each particle"
                raise make_error(self.text, node.start, message)
            if not mask.any():
                raise make_error(self.text, node.start, "where selects no particle")
            return np.asarray(values[mask])
        if word == "stored":
            if not isinstance(arguments[0], Name):
                raise make_error(self.text, node.start, "stored needs the name of a law")
            law = arguments[0].text
            if law not in now.stored:
                hint = did_you_mean(law, now.stored)
                known = ", ".join(now.stored)
                message = f"there is no energy '{law}'{hint}; the system has {known}"
                raise make_error(self.text, arguments[0].start, message)
            return np.array(now.stored[law])
        if word == "points":
            raise make_error(self.text, node.start, "points is a selection; use it in where")
        operands = [self._value(argument, now) for argument in arguments]
        if word == "hypot":
            return np.asarray(np.sqrt(sum(np.square(operand) for operand in operands)))
        if word in _OVERALL:
            if not np.size(operands[0]):
                raise make_error(self.text, node.start, f"{word} of no values: there are none")
            return np.asarray(_OVERALL[word](operands[0]))
        return np.asarray(_ELEMENTWISE[word](operands[0]))

    def _mask(self, node: Node, now: Quantities) -> Mask:
        """Return which particles a selection takes, (n,)."""
        n = now.system.n
        if isinstance(node, Name):
            body = now.mask_of_body(node.text)
            if body is None:
                hint = did_you_mean(node.text, now.bodies)
                raise make_error(self.text, node.start, f"there is no body '{node.text}'{hint}")
            return body
        if isinstance(node, Call) and node.word == "points":
            return self._mask_points(node, n)
        if isinstance(node, Operation) and node.operators[0] in ("and", "or"):
            masks = [self._mask(operand, now) for operand in node.operands]
            combine = np.logical_and if node.operators[0] == "and" else np.logical_or
            return np.asarray(combine.reduce(masks))
        if isinstance(node, Operation) and node.operators[0] == "not":
            return ~self._mask(node.operands[0], now)
        if isinstance(node, Operation) and node.operators[0] in COMPARISONS:
            sides = [self._value(operand, now) for operand in node.operands]
            found = np.ones(n, dtype=bool)
            for i, sign in enumerate(node.operators):
                found &= self._combine(_COMPARE[sign], sides[i], sides[i + 1], node)
            return found
        raise make_error(self.text, node.start, "is not a selection of particles")

    def _mask_points(self, node: Call, n: int) -> Mask:
        mask = np.zeros(n, dtype=bool)
        for argument in node.arguments:
            ends = argument.operands if isinstance(argument, Operation) else (argument,)
            numbers = [end.value for end in ends if isinstance(end, Number)]
            whole = all(number == int(number) and 0 <= number < n for number in numbers)
            if len(numbers) != len(ends) or not whole:
                message = f"points must be whole numbers from 0 to {n - 1}, or ranges such as 2:5"
                raise make_error(self.text, argument.start, message)
            mask[int(numbers[0]) : int(numbers[-1]) + 1] = True
        return mask


def _is_equal(a: Float, b: Float) -> Mask:
    scale = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
    return np.asarray(np.abs(a - b) <= _EQUAL * scale)


_COMPARE: Mapping[str, Callable[[Float, Float], Mask]] = {
    "==": _is_equal,
    "!=": lambda a, b: ~_is_equal(a, b),
    "<": lambda a, b: (a < b) & ~_is_equal(a, b),
    "<=": lambda a, b: (a < b) | _is_equal(a, b),
    ">": lambda a, b: (a > b) & ~_is_equal(a, b),
    ">=": lambda a, b: (a > b) | _is_equal(a, b),
}


def _reword(error: MeshError) -> str:
    return error.message.replace("selection ", "", 1)
