"""The points that a selection means: its tree becomes a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError, did_you_mean
from taut.mesh.selection.corners import SIDES, corners
from taut.mesh.selection.language import COMPARISONS, Call, Name, Node, Number, Operation, short, walk
from taut.mesh.selection.numbers import AXES, FUNCTIONS, OVERALL, Numbers, largest

if TYPE_CHECKING:
    from taut.mesh.mesh import Mesh

Int = NDArray[np.int64]
Mask = NDArray[np.bool_]

WORDS = ("all", "none", "boundary", "corners")
SHAPES = ("corners", "box", "nearest", "points")


class Points:
    """A mesh, and the text of a selection for its errors."""

    def __init__(self, mesh: Mesh, text: str) -> None:
        self.mesh, self.text = mesh, text
        self.numbers = Numbers(mesh, text)
        self.error, self.shown = self.numbers.error, self.numbers.shown

    def mask(self, node: Node) -> Mask:
        """Which points a tree means, shape (n,)."""
        if isinstance(node, Name):
            return self._named(node)
        if isinstance(node, Call) and node.word in SHAPES:
            return self._shape(node)
        if isinstance(node, Call) and node.word not in FUNCTIONS:
            known = [*SHAPES, *FUNCTIONS]
            raise self.error(node, f"there is no {short(node.word)} with arguments{did_you_mean(node.word, known)}")
        if isinstance(node, Operation) and node.operators[0] in COMPARISONS:
            return self.numbers.comparison(node)
        if isinstance(node, Operation) and node.operators[0] == "not":
            return ~self.mask(node.operands[0])
        if isinstance(node, Operation) and node.operators[0] in ("and", "or"):
            found = self.mask(node.operands[0])
            for operand in node.operands[1:]:
                found = found & self.mask(operand) if node.operators[0] == "and" else found | self.mask(operand)
            return found
        raise self.error(
            node, f"{self.shown(node)} is a number, not a set of points: compare it with something, or quote the name of a group"
        )

    def hint(self, tree: Node) -> str:
        """Where points are: the ranges of what a selection compares, and of the mesh if a box is in it."""
        hints: list[str] = []
        for node in walk(tree):
            if isinstance(node, Operation) and node.operators[0] in COMPARISONS:
                hints += self.numbers.ranges(node)
            elif isinstance(node, Call) and node.word == "box" and self.mesh.n:
                low, high = (", ".join(f"{v:g}" for v in end(axis=0)) for end in (self.mesh.points.min, self.mesh.points.max))
                hints.append(f"the mesh reaches from ({low}) to ({high})")
        return "; ".join(list(dict.fromkeys(hints))[:3])

    def _named(self, node: Name) -> Mask:
        """The points of a word or of a group."""
        name, mesh = node.text, self.mesh
        if not node.quoted and name in WORDS:
            if name in ("all", "none"):
                return np.full(mesh.n, name == "all")
            return self._of(mesh.boundary if name == "boundary" else corners(mesh))
        if name in mesh.groups:
            members = mesh.groups[name].items()
            return self._of(*(m if kind == "point" else mesh.cells[kind][m].ravel() for kind, m in members if len(m)))
        if not node.quoted and (name in (*AXES, *OVERALL) or name in mesh.point_data):
            raise self.error(node, f"'{name}' is a number at each point, not a set of points: compare it, as in {name} > 0.5")
        known = [*mesh.groups, *(() if node.quoted else (*WORDS, *SHAPES))]
        groups = f"; the groups: {short(', '.join(mesh.groups))[1:-1]}" if mesh.groups else "; the mesh has no groups"
        raise self.error(node, f"there is no group {short(name)}{did_you_mean(name, known) or groups}")

    def _shape(self, node: Call) -> Mask:
        """corners(side), box(…), nearest(…) or points(…)."""
        if node.word == "points":
            return self._of(*(self._range(argument) for argument in node.arguments))
        if node.word == "corners":
            return self._corners(node)
        x, width = self.mesh.points, self.mesh.points.shape[1]
        count = width if node.word == "nearest" else 2 * width
        if len(node.arguments) != count:
            where = " in the plane" if self.mesh.flat else ""
            raise self.error(node, f"{node.word} takes {count} numbers for a mesh{where}, not {len(node.arguments)}")
        given = np.array([self.numbers.constant(argument, node.word) for argument in node.arguments]).reshape(-1, width)
        if node.word == "nearest":
            away = x - given
            away /= largest(away) or 1.0  # so that no square overflows
            return self._of(np.linalg.norm(away, axis=1).argmin(keepdims=True)) if len(x) else self._of()
        slack = self.numbers.slack
        return ((x >= given.min(axis=0) - slack) & (x <= given.max(axis=0) + slack)).all(axis=1)

    def _corners(self, node: Call) -> Mask:
        side = node.arguments[0] if len(node.arguments) == 1 else None
        if not isinstance(side, Name):
            raise self.error(node, f"corners takes one side: {', '.join(SIDES)}")
        try:
            return self._of(corners(self.mesh, side.text))
        except MeshError as error:
            raise self.error(side, str(error)) from None

    def _range(self, node: Node) -> Int:
        """The indices of i or i:j in points(…), j itself excluded."""
        ends = node.operands if isinstance(node, Operation) and node.operators == (":",) else (node,)
        indices = [int(end.value) for end in ends if isinstance(end, Number) and self.shown(end)[1:-1].isdigit()]
        if len(indices) < len(ends):
            raise self.error(node, "points takes indices such as 3 and ranges such as 10:20")
        first, stop = indices[0], indices[1] if len(indices) == 2 else indices[0] + 1
        if first >= stop:
            raise self.error(node, f"the range {self.shown(node)} is empty")
        if stop > self.mesh.n:
            raise self.error(node, f"{self.shown(node)} goes beyond the {self.mesh.n} points there are, counted from 0")
        return np.arange(first, stop)

    def _of(self, *indices: Int) -> Mask:
        """The mask of some indices."""
        found = np.zeros(self.mesh.n, bool)
        for index in indices:
            found[index] = True
        return found
