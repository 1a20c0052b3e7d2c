"""The numbers in a selection, and where their comparisons hold.

Positions are exact to 1e-9 of the size of the mesh (the diagonal of its bounding box). The two
sides of a comparison are equal at a point if moving the point by that much along the axes changes
their difference by as much as it is; without coordinates, if they differ by less than 1e-9 of their
value. All comparisons follow: `a <= b` holds where a equals b, `a < b` does not. nan, such as 0/0,
compares as false with everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from taut.arrays import Float, Mask
from taut.errors import MeshError, did_you_mean
from taut.mesh.measure import POSITION_TOLERANCE
from taut.mesh.selection.language import (
    Call,
    Name,
    Node,
    Number,
    Operation,
    iterate_nodes,
    make_error,
    quote,
)

if TYPE_CHECKING:
    from taut.mesh.mesh import Mesh


MAX_CHAINED = 4  # comparisons in one chain: all their sides are in memory together
AXES = ("x", "y", "z")
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
}
OVERALL: dict[str, Callable[[Any], Any]] = {"min": np.min, "max": np.max, "mean": np.mean}
# The numbers of arguments that each function takes.
FUNCTIONS = {"abs": (1,), "sqrt": (1,), "hypot": (2, 3)} | dict.fromkeys(OVERALL, (1,))


class Numbers:
    """Numeric expressions of a selection on a mesh; division by zero and overflow give inf and nan.

    text : the selection, for error messages
    """

    def __init__(self, mesh: Mesh, text: str) -> None:
        self.mesh, self.text = mesh, text
        size = float(np.linalg.norm(np.ptp(mesh.points, axis=0))) if mesh.n else 0.0
        self.slack = POSITION_TOLERANCE * size  # [m]
        self.shift = np.zeros(3)  # [m], added to all positions

    def error(self, node: Node, message: str) -> MeshError:
        """Return an error at a piece of the text."""
        return make_error(self.text, node.start, message)

    def quote_node(self, node: Node) -> str:
        """Return a piece of the text, quoted."""
        return quote(self.text[node.start : node.end])

    def evaluate(self, node: Node, of: Float | None = None) -> Float:
        """Evaluate a tree, shape () or (n,); bare min, max and mean refer to the values `of`."""
        if isinstance(node, Number):
            return np.array(node.value)
        if isinstance(node, Name):
            return (
                self._evaluate_statistic(node.text, of, node)
                if is_bare_statistic(node)
                else self._look_up_map(node)
            )
        if isinstance(node, Call) and node.word in FUNCTIONS:
            return self._evaluate_function(node, of)
        if isinstance(node, Operation) and node.operators[0] in ARITHMETIC:
            return self._evaluate_arithmetic(node, of)
        if isinstance(node, Operation) and node.operators[0] == ":":
            raise self.error(node, "a range is allowed only in points(…)")
        if isinstance(node, Call) and (hint := did_you_mean(node.word, FUNCTIONS)):
            raise self.error(node, f"unknown function {quote(node.word)}{hint}")
        raise self.error(node, f"{self.quote_node(node)} is not a number")

    def evaluate_constant(self, node: Node, word: str) -> float:
        """Return an argument of a word: one finite number, the same for all points."""
        value = self.evaluate(node)
        if value.ndim or not np.isfinite(value):
            what = "differs from point to point" if value.ndim else "is not finite"
            raise self.error(
                node, f"an argument of {word} is one number; {self.quote_node(node)} {what}"
            )
        return float(value)

    def compare(self, node: Operation) -> Mask:
        """Return where all comparisons of a chain hold, shape (n,)."""
        if len(node.operators) > MAX_CHAINED:
            raise self.error(
                node,
                f"a chain must have at most {MAX_CHAINED} comparisons, got {len(node.operators)}",
            )
        plain = [
            None if _is_relative(operand) else self.evaluate(operand) for operand in node.operands
        ]
        varying = [value for value in plain if value is not None and value.ndim]
        of = varying[0] if len(varying) == 1 else None
        sides = [
            self.evaluate(o, of) if v is None else v
            for o, v in zip(node.operands, plain, strict=True)
        ]
        if not any(side.ndim for side in sides):
            raise self.error(
                node,
                f"{self.quote_node(node)} is the same for all points: compare x, y, z or a "
                "per-vertex map",
            )
        moved = self._evaluate_shifted(node, of)
        found = np.ones(self.mesh.n, bool)
        for i, sign in enumerate(node.operators):
            a, b = sides[i], sides[i + 1]
            slack = sum((np.abs((m[i + 1] - m[i]) - (b - a)) for m in moved), np.zeros(()))
            if not moved:
                slack = POSITION_TOLERANCE * np.maximum(np.abs(a), np.abs(b))
            found &= _holds(a, sign, b, slack)
        return found

    def _evaluate_shifted(self, node: Operation, of: Float | None) -> list[list[Float]]:
        """Return the sides of a comparison with points shifted along each axis.

        Empty if the comparison has no coordinates.
        """
        if not any(_is_coordinate(part) for part in iterate_nodes(node)):
            return []
        found = []
        for axis in range(self.mesh.points.shape[1]):
            self.shift[axis] = self.slack
            found.append([self.evaluate(operand, of) for operand in node.operands])
            self.shift[axis] = 0.0
        return found

    def describe_ranges(self, node: Operation) -> list[str]:
        """Describe the ranges of values of the sides of a comparison."""
        found = []
        for side in (operand for operand in node.operands if not _is_relative(operand)):
            values = self.evaluate(side)
            finite = values[np.isfinite(values)]
            if values.ndim and finite.size:
                name = self.quote_node(side)[1:-1]
                found.append(f"{name} ranges from {finite.min():g} to {finite.max():g}")
        return found

    def _look_up_map(self, node: Name) -> Float:
        """Return the values of a coordinate or of a per-vertex map."""
        name, points = node.text, self.mesh.points
        if _is_coordinate(node):
            if AXES.index(name) >= points.shape[1]:
                raise self.error(node, "a mesh in the plane has no z")
            return points[:, AXES.index(name)] + self.shift[AXES.index(name)]
        if name in self.mesh.point_data:
            values = self.mesh.point_data[name]
            if values.ndim == 2 and values.shape[1] != 1:
                raise self.error(
                    node,
                    f"a comparison needs one number per point; the map {quote(name)} has "
                    f"{values.shape[1]} components",
                )
            return values.reshape(self.mesh.n).astype(np.float64)
        if name in self.mesh.groups:
            raise self.error(node, f"{quote(name)} is a group of points, not a number")
        known = [*self.mesh.point_data, *(() if node.quoted else (*AXES, *FUNCTIONS))]
        raise self.error(node, f"unknown per-vertex map {quote(name)}{did_you_mean(name, known)}")

    def _evaluate_statistic(self, word: str, of: Float | None, node: Node) -> Float:
        """Return the least, greatest or mean value over all points that have a finite one."""
        if of is None:
            raise self.error(node, f"{word} needs an argument here, as in {word}(y)")
        finite = of[np.isfinite(of)]
        return np.asarray(OVERALL[word](finite) if finite.size else np.nan)

    def _evaluate_function(self, node: Call, of: Float | None) -> Float:
        counts = " or ".join(str(count) for count in FUNCTIONS[node.word])
        if len(node.arguments) not in FUNCTIONS[node.word]:
            raise self.error(
                node,
                f"{node.word} takes {counts} argument{'s' * (counts != '1')}, "
                f"got {len(node.arguments)}",
            )
        if node.word in OVERALL:
            # Shifts model the uncertainty of one point; extremes over all points stay fixed.
            shift, self.shift = self.shift, np.zeros(3)
            overall = self._evaluate_statistic(node.word, self.evaluate(node.arguments[0]), node)
            self.shift = shift
            return overall
        values = [self.evaluate(argument, of) for argument in node.arguments]
        if node.word == "hypot":
            return np.asarray(
                np.hypot(np.hypot(values[0], values[1]), values[2] if len(values) == 3 else 0.0)
            )
        return np.asarray(np.abs(values[0]) if node.word == "abs" else np.sqrt(values[0]))

    def _evaluate_arithmetic(self, node: Operation, of: Float | None) -> Float:
        if len(node.operands) == 1:
            return np.asarray(-self.evaluate(node.operands[0], of))
        if node.operators[0] == "^":  # from the right: 2^3^2 is 2^9
            found = self.evaluate(node.operands[-1], of)
            for operand in node.operands[-2::-1]:
                found = np.power(self.evaluate(operand, of), found)
            return np.asarray(found)
        found = self.evaluate(node.operands[0], of)
        # One operand at a time: a long sum must not hold all its terms in memory.
        for sign, operand in zip(node.operators, node.operands[1:], strict=True):
            found = ARITHMETIC[sign](found, self.evaluate(operand, of))
        return np.asarray(found)


def is_bare_statistic(node: Node) -> bool:
    """Whether this is min, max or mean without an argument."""
    return isinstance(node, Name) and not node.quoted and node.text in OVERALL


def largest(values: Float) -> float:
    """The largest finite magnitude; 0 if there is none."""
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


def _is_relative(node: Node) -> bool:
    """Whether a side of a comparison refers to min, max or mean of the other side."""
    return any(is_bare_statistic(part) for part in iterate_nodes(node))


def _is_coordinate(node: Node) -> bool:
    return isinstance(node, Name) and not node.quoted and node.text in AXES


def _holds(a: Float, sign: str, b: Float, slack: Float) -> Mask:
    """Where `a sign b` holds, differences up to `slack` counting as equality; shape () or (n,)."""
    equal = (a == b) | (np.isfinite(a - b) & (np.abs(a - b) <= slack))
    below, above = (a < b) & ~equal, (a > b) & ~equal
    either = {
        "<": (below,),
        "<=": (below, equal),
        ">": (above,),
        ">=": (above, equal),
        "==": (equal,),
        "!=": (below, above),
    }
    return np.asarray(np.logical_or.reduce(either[sign]))
