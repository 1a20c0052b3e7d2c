"""The numbers in a selection, and where their comparisons hold.

Positions count as exact to 1e-9 of the size of the mesh (the diagonal of its bounding box). The two sides of a comparison are equal
at a point if moving it by that much along the axes changes their difference by as much as it is; without a coordinate in them, if
they differ by less than 1e-9 of their value. All comparisons keep to it: `a <= b` holds where a equals b, `a < b` does not. A
number that is not one, such as 0/0, compares as false with everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError, did_you_mean
from taut.mesh.measure import EXACT
from taut.mesh.selection.language import Call, Name, Node, Number, Operation, problem, short, walk

if TYPE_CHECKING:
    from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_CHAINED = 4  # comparisons, all of whose sides are held at a time
AXES = ("x", "y", "z")
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power,
}  # fmt: skip
OVERALL: dict[str, Callable[[Any], Any]] = {"min": np.min, "max": np.max, "mean": np.mean}
FUNCTIONS = {"abs": (1,), "sqrt": (1,), "hypot": (2, 3)} | dict.fromkeys(OVERALL, (1,))  # how many arguments each takes


class Numbers:
    """A mesh, and the text of a selection for its errors. Divisions by zero and overflows go on as inf and nan."""

    def __init__(self, mesh: Mesh, text: str) -> None:
        self.mesh, self.text = mesh, text
        size = float(np.linalg.norm(np.ptp(mesh.points, axis=0))) if mesh.n else 0.0
        self.slack = EXACT * size  # [m]
        self.shift = np.zeros(3)  # [m], added to all positions

    def error(self, node: Node, message: str) -> MeshError:
        """An error at a piece of the text."""
        return problem(self.text, node.start, message)

    def shown(self, node: Node) -> str:
        """A piece of the text, quoted."""
        return short(self.text[node.start : node.end])

    def values(self, node: Node, of: Float | None = None) -> Float:
        """The values of a tree, shape () or (n,); min, max and mean without an argument are those of the values `of`."""
        if isinstance(node, Number):
            return np.array(node.value)
        if isinstance(node, Name):
            return self._overall(node.text, of, node) if bare(node) else self._map(node)
        if isinstance(node, Call) and node.word in FUNCTIONS:
            return self._function(node, of)
        if isinstance(node, Operation) and node.operators[0] in ARITHMETIC:
            return self._arithmetic(node, of)
        if isinstance(node, Operation) and node.operators[0] == ":":
            raise self.error(node, "a range stands only in points(…)")
        if isinstance(node, Call) and (hint := did_you_mean(node.word, FUNCTIONS)):
            raise self.error(node, f"there is no function {short(node.word)}{hint}")
        raise self.error(node, f"{self.shown(node)} is not a number")

    def constant(self, node: Node, word: str) -> float:
        """An argument of a word: one finite number, the same for all points."""
        value = self.values(node)
        if value.ndim or not np.isfinite(value):
            what = "differs from point to point" if value.ndim else "is not finite"
            raise self.error(node, f"an argument of {word} is one number; {self.shown(node)} {what}")
        return float(value)

    def comparison(self, node: Operation) -> Mask:
        """Where all comparisons of a chain hold, shape (n,)."""
        if len(node.operators) > MOST_CHAINED:
            raise self.error(node, f"{len(node.operators)} comparisons in one chain; the most are {MOST_CHAINED}")
        plain = [None if _relative(operand) else self.values(operand) for operand in node.operands]
        varying = [value for value in plain if value is not None and value.ndim]
        of = varying[0] if len(varying) == 1 else None
        sides = [self.values(o, of) if v is None else v for o, v in zip(node.operands, plain, strict=True)]
        if not any(side.ndim for side in sides):
            raise self.error(node, f"{self.shown(node)} is the same for all points: it compares no x, y, z or per-vertex map")
        moved = self._moved(node, of)
        found = np.ones(self.mesh.n, bool)
        for i, sign in enumerate(node.operators):
            a, b = sides[i], sides[i + 1]
            slack = sum((np.abs((m[i + 1] - m[i]) - (b - a)) for m in moved), np.zeros(()))
            if not moved:
                slack = EXACT * np.maximum(np.abs(a), np.abs(b))
            found &= _holds(a, sign, b, slack)
        return found

    def _moved(self, node: Operation, of: Float | None) -> list[list[Float]]:
        """The sides of a comparison with all points moved a little along each axis; empty if no coordinate is in it."""
        if not any(_coordinate(part) for part in walk(node)):
            return []
        found = []
        for axis in range(self.mesh.points.shape[1]):
            self.shift[axis] = self.slack
            found.append([self.values(operand, of) for operand in node.operands])
            self.shift[axis] = 0.0
        return found

    def ranges(self, node: Operation) -> list[str]:
        """Between which values the sides of a comparison lie, in words."""
        found = []
        for side in (operand for operand in node.operands if not _relative(operand)):
            values = self.values(side)
            finite = values[np.isfinite(values)]
            if values.ndim and finite.size:
                found.append(f"{self.shown(side)[1:-1]} ranges from {finite.min():g} to {finite.max():g}")
        return found

    def _map(self, node: Name) -> Float:
        """The values of a coordinate or of a per-vertex map."""
        name, points = node.text, self.mesh.points
        if _coordinate(node):
            if AXES.index(name) >= points.shape[1]:
                raise self.error(node, "the mesh lies in the plane: it has no z")
            return points[:, AXES.index(name)] + self.shift[AXES.index(name)]
        if name in self.mesh.point_data:
            values = self.mesh.point_data[name]
            if values.ndim == 2 and values.shape[1] != 1:
                raise self.error(node, f"the map {short(name)} has {values.shape[1]} components; a comparison needs one number")
            return values.reshape(self.mesh.n).astype(np.float64)
        if name in self.mesh.groups:
            raise self.error(node, f"{short(name)} is a group of points, not a number")
        known = [*self.mesh.point_data, *(() if node.quoted else (*AXES, *FUNCTIONS))]
        raise self.error(node, f"there is no per-vertex map {short(name)}{did_you_mean(name, known)}")

    def _overall(self, word: str, of: Float | None, node: Node) -> Float:
        """The least, greatest or mean value over all points that have a finite one."""
        if of is None:
            raise self.error(node, f"{word} of what? write it with an argument, as in {word}(y)")
        finite = of[np.isfinite(of)]
        return np.asarray(OVERALL[word](finite) if finite.size else np.nan)

    def _function(self, node: Call, of: Float | None) -> Float:
        counts = " or ".join(str(count) for count in FUNCTIONS[node.word])
        if len(node.arguments) not in FUNCTIONS[node.word]:
            raise self.error(node, f"{node.word} takes {counts} argument{'s' * (counts != '1')}, not {len(node.arguments)}")
        if node.word in OVERALL:
            shift, self.shift = self.shift, np.zeros(3)  # one point moves, the others do not
            overall = self._overall(node.word, self.values(node.arguments[0]), node)
            self.shift = shift
            return overall
        values = [self.values(argument, of) for argument in node.arguments]
        if node.word == "hypot":
            return np.asarray(np.hypot(np.hypot(values[0], values[1]), values[2] if len(values) == 3 else 0.0))
        return np.asarray(np.abs(values[0]) if node.word == "abs" else np.sqrt(values[0]))

    def _arithmetic(self, node: Operation, of: Float | None) -> Float:
        if len(node.operands) == 1:
            return np.asarray(-self.values(node.operands[0], of))
        if node.operators[0] == "^":  # from the right: 2^3^2 is 2^9
            found = self.values(node.operands[-1], of)
            for operand in node.operands[-2::-1]:
                found = np.power(self.values(operand, of), found)
            return np.asarray(found)
        found = self.values(node.operands[0], of)
        for sign, operand in zip(node.operators, node.operands[1:], strict=True):  # one at a time: a sum may be long
            found = ARITHMETIC[sign](found, self.values(operand, of))
        return np.asarray(found)


def bare(node: Node) -> bool:
    """Whether this is min, max or mean without an argument."""
    return isinstance(node, Name) and not node.quoted and node.text in OVERALL


def largest(values: Float) -> float:
    """The largest finite magnitude; 0 if there is none."""
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


def _relative(node: Node) -> bool:
    """Whether a side of a comparison speaks of min, max or mean of the other side."""
    return any(bare(part) for part in walk(node))


def _coordinate(node: Node) -> bool:
    return isinstance(node, Name) and not node.quoted and node.text in AXES


def _holds(a: Float, sign: str, b: Float, slack: Float) -> Mask:
    """Where `a sign b` holds if a difference up to `slack` is none, shape () or (n,)."""
    equal = (a == b) | (np.isfinite(a - b) & (np.abs(a - b) <= slack))
    below, above = (a < b) & ~equal, (a > b) & ~equal
    either = {"<": (below,), "<=": (below, equal), ">": (above,), ">=": (above, equal), "==": (equal,), "!=": (below, above)}
    return np.asarray(np.logical_or.reduce(either[sign]))
