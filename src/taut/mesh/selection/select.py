"""Points of a mesh by index, by mask, in words, or at the corners of its bounding box."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from taut.arrays import Int, Mask
from taut.errors import MeshError, did_you_mean
from taut.mesh.measure import POSITION_TOLERANCE
from taut.mesh.selection.language import (
    COMPARISONS,
    Call,
    Name,
    Node,
    Number,
    Operation,
    iterate_nodes,
    parse,
    quote,
)
from taut.mesh.selection.numbers import AXES, FUNCTIONS, OVERALL, Numbers, largest

if TYPE_CHECKING:
    from taut.mesh.mesh import Mesh

# Axis and end of each side
SIDES = {
    "left": (0, 0),
    "right": (0, 1),
    "bottom": (1, 0),
    "top": (1, 1),
    "back": (2, 0),
    "front": (2, 1),
}


class EmptySelection(MeshError):
    """A selection by text that selects no point."""


def select(mesh: Mesh, what: Any) -> Int:
    """The indices of the selected points; see `Mesh.select` for what is accepted.

    >>> from taut.mesh import Mesh
    >>> points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    >>> sheet = Mesh(points, {"triangle": [[0, 1, 2]]}, groups={"left sleeve": [0, 2]})
    >>> select(sheet, "y == max or 'left sleeve'").tolist()
    [0, 2, 3]
    >>> select(sheet, "x > 2")
    Traceback (most recent call last):
    taut.mesh.selection.select.EmptySelection: selection 'x > 2' is empty (x ranges from 0 to 1)
    """
    if isinstance(what, str):
        return _select_by_text(mesh, what)
    return _select_by_index(mesh.n, what)


def _select_by_text(mesh: Mesh, text: str) -> Int:
    tree = parse(text)
    with np.errstate(all="ignore"):
        points = Points(mesh, text)
        found = np.flatnonzero(points.mask(tree))
        if not len(found) and not (
            isinstance(tree, Name) and tree.text == "none" and not tree.quoted
        ):
            hint = points.hint(tree)
            raise EmptySelection(f"selection {quote(text)} is empty{hint and f' ({hint})'}")
    return found


def _select_by_index(n: int, what: Any) -> Int:
    try:
        array = np.asarray(what)
    except ValueError:
        raise MeshError(
            "a selection must be a flat sequence of indices, got rows of different lengths"
        ) from None
    if array.dtype == bool and array.ndim:
        if array.shape != (n,):
            raise MeshError(f"a mask of points must have shape ({n},), got {array.shape}")
        return np.flatnonzero(array)
    if array.ndim == 1 and array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim > 1 or not np.issubdtype(array.dtype, np.integer):
        given = repr(what)
        if array.ndim == 1:
            given = f"an array of {array.dtype}"
        elif array.ndim:
            given = f"an array of shape {array.shape}"
        raise MeshError(
            "a selection must be an index, a flat sequence of indices, a mask or a string, "
            f"got {given}"
        )
    outside = array[(array < 0) | (array >= n)]
    if outside.size:
        raise MeshError(f"point index must be from 0 to {n - 1}, got {outside[0]}")
    return np.unique(array).astype(np.int64)


WORDS = ("all", "none", "boundary", "corners")
SHAPES = ("corners", "box", "nearest", "points")


class Points:
    """Evaluates the tree of a selection to a mask of points.

    text : the selection, for error messages
    """

    def __init__(self, mesh: Mesh, text: str) -> None:
        self.mesh, self.text = mesh, text
        self.numbers = Numbers(mesh, text)
        self.error, self.quote_node = self.numbers.error, self.numbers.quote_node

    def mask(self, node: Node) -> Mask:
        """Mask of the selected points, shape (n,)."""
        if isinstance(node, Name):
            return self._select_named(node)
        if isinstance(node, Call) and node.word in SHAPES:
            return self._select_shape(node)
        if isinstance(node, Call) and node.word not in FUNCTIONS:
            known = [*SHAPES, *FUNCTIONS]
            raise self.error(
                node, f"unknown function {quote(node.word)}{did_you_mean(node.word, known)}"
            )
        if isinstance(node, Operation) and node.operators[0] in COMPARISONS:
            return self.numbers.compare(node)
        if isinstance(node, Operation) and node.operators[0] == "not":
            return ~self.mask(node.operands[0])
        if isinstance(node, Operation) and node.operators[0] in ("and", "or"):
            found = self.mask(node.operands[0])
            for operand in node.operands[1:]:
                if node.operators[0] == "and":
                    found = found & self.mask(operand)
                else:
                    found = found | self.mask(operand)
            return found
        raise self.error(
            node,
            f"{self.quote_node(node)} is a number, not a set of points: compare it with something, "
            "or quote the name of a group",
        )

    def hint(self, tree: Node) -> str:
        """A hint for an empty selection: the ranges of what it compares, or of the mesh."""
        hints: list[str] = []
        for node in iterate_nodes(tree):
            if isinstance(node, Operation) and node.operators[0] in COMPARISONS:
                hints += self.numbers.describe_ranges(node)
            elif isinstance(node, Call) and node.word == "box" and self.mesh.n:
                low, high = (
                    ", ".join(f"{v:g}" for v in end(axis=0))
                    for end in (self.mesh.points.min, self.mesh.points.max)
                )
                hints.append(f"the mesh reaches from ({low}) to ({high})")
        return "; ".join(list(dict.fromkeys(hints))[:3])

    def _select_named(self, node: Name) -> Mask:
        """Return the points of a word or of a group."""
        name, mesh = node.text, self.mesh
        if not node.quoted and name in WORDS:
            if name in ("all", "none"):
                return np.full(mesh.n, name == "all")
            return self._make_mask(mesh.boundary if name == "boundary" else corners(mesh))
        if name in mesh.groups:
            members = mesh.groups[name].items()
            return self._make_mask(
                *(
                    m if kind == "point" else mesh.cells[kind][m].ravel()
                    for kind, m in members
                    if len(m)
                )
            )
        if not node.quoted and (name in (*AXES, *OVERALL) or name in mesh.point_data):
            raise self.error(
                node,
                f"'{name}' is a number at each point, not a set of points: "
                f"compare it, as in {name} > 0.5",
            )
        known = [*mesh.groups, *(() if node.quoted else (*WORDS, *SHAPES))]
        groups = "; the mesh has no groups"
        if mesh.groups:
            groups = f"; its groups: {quote(', '.join(mesh.groups))[1:-1]}"
        raise self.error(node, f"unknown group {quote(name)}{did_you_mean(name, known) or groups}")

    def _select_shape(self, node: Call) -> Mask:
        """Return the points of corners(side), box(…), nearest(…) or points(…)."""
        if node.word == "points":
            return self._make_mask(*(self._list_range(argument) for argument in node.arguments))
        if node.word == "corners":
            return self._select_corners(node)
        x, width = self.mesh.points, self.mesh.points.shape[1]
        count = width if node.word == "nearest" else 2 * width
        if len(node.arguments) != count:
            where = " in the plane" if self.mesh.flat else ""
            raise self.error(
                node,
                f"{node.word} takes {count} numbers for a mesh{where}, got {len(node.arguments)}",
            )
        given = np.array(
            [self.numbers.evaluate_constant(argument, node.word) for argument in node.arguments]
        ).reshape(-1, width)
        if node.word == "nearest":
            away = x - given
            # Scaled first, so that no square overflows.
            away /= largest(away) or 1.0
            if not len(x):
                return self._make_mask()
            return self._make_mask(np.linalg.norm(away, axis=1).argmin(keepdims=True))
        slack = self.numbers.slack
        return ((x >= given.min(axis=0) - slack) & (x <= given.max(axis=0) + slack)).all(axis=1)

    def _select_corners(self, node: Call) -> Mask:
        side = node.arguments[0] if len(node.arguments) == 1 else None
        if not isinstance(side, Name):
            raise self.error(node, f"corners takes one side: {', '.join(SIDES)}")
        try:
            return self._make_mask(corners(self.mesh, side.text))
        except MeshError as error:
            raise self.error(side, str(error)) from None

    def _list_range(self, node: Node) -> Int:
        """Return the indices of i or i:j in points(…), j itself excluded."""
        ends = (
            node.operands if isinstance(node, Operation) and node.operators == (":",) else (node,)
        )
        indices = [
            int(end.value)
            for end in ends
            if isinstance(end, Number) and self.quote_node(end)[1:-1].isdigit()
        ]
        if len(indices) < len(ends):
            raise self.error(node, "points takes indices such as 3 and ranges such as 10:20")
        first, stop = indices[0], indices[1] if len(indices) == 2 else indices[0] + 1
        if first >= stop:
            raise self.error(node, f"the range {self.quote_node(node)} is empty")
        if stop > self.mesh.n:
            raise self.error(
                node, f"point index must be below {self.mesh.n}, got {self.quote_node(node)}"
            )
        return np.arange(first, stop)

    def _make_mask(self, *indices: Int) -> Mask:
        """Return the mask of some indices."""
        found = np.zeros(self.mesh.n, bool)
        for index in indices:
            found[index] = True
        return found


def corners(mesh: Mesh, side: str | None = None) -> Int:
    """The points nearest to the corners of the bounding box, distinct and sorted.

    side : keeps the corners at "top" or "bottom" (y), "left" or "right" (x), "back" or "front" (z)
        of the box

    An axis along which the mesh has no extent has no sides: a flat sheet has four corners, a block
    eight, a straight rope two.

    >>> from taut.mesh import Mesh
    >>> points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0]]
    >>> square = Mesh(points, {"line": [[0, 4], [4, 2]]})
    >>> corners(square).tolist(), corners(square, "top").tolist()
    ([0, 1, 2, 3], [2, 3])
    """
    if side is not None and side not in SIDES:
        raise MeshError(
            f"side must be one of {', '.join(SIDES)}, got {side!r}{did_you_mean(str(side), SIDES)}"
        )
    if not mesh.n:
        raise MeshError("a mesh without points has no corners")
    x = mesh.points
    ends = np.stack([x.min(axis=0), x.max(axis=0)])
    extent = ends[1] - ends[0]
    has_sides = extent > POSITION_TOLERANCE * np.linalg.norm(extent)
    choices = [(0, 1) if has else (0,) for has in has_sides]
    if side is not None:
        axis, end = SIDES[side]
        if axis >= len(choices) or not has_sides[axis]:
            raise MeshError(f"the mesh has no {side}: it has no extent along {'xyz'[axis]}")
        choices[axis] = (end,)
    axes = np.arange(len(choices))
    found = [
        np.linalg.norm(x - ends[list(choice), axes], axis=1).argmin()
        for choice in product(*choices)
    ]
    return np.unique(np.array(found, dtype=np.int64))
