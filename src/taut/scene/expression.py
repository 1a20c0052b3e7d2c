"""Expressions of position and time, such as "200 + 800*y/max(y)" or "3*sin(4*t)".

The grammar is that of mesh selections; an expression is parsed and evaluated, never executed as
code. Variables are x, y, z [m] of the rest shape, t [s], pi, the texture coordinates u and v, and
the per-vertex data of the mesh. Functions are those of selections, and sin, cos, tan, exp, log,
tanh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import MeshError
from taut.mesh.mesh import Mesh
from taut.mesh.selection.language import Call, Name, Node, iterate_nodes, parse
from taut.mesh.selection.numbers import Numbers
from taut.scene._limits import MAX_TEXT

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
}


def check_expression(text: str) -> str:
    """Return the text if it can be parsed; raise ValueError if not. No mesh is needed yet."""
    if len(text) > MAX_TEXT:
        raise ValueError(f"an expression has at most {MAX_TEXT} characters, got {len(text)}")
    try:
        parse(text)
    except MeshError as error:
        raise ValueError(str(error)) from None
    return text


class Expression:
    """An expression on the points of a mesh.

    depends_on_time : whether t occurs in it

    >>> import taut
    >>> Expression("2*x + t", taut.mesh.rope(2)).evaluate(1.0).tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(self, text: str, mesh: Mesh) -> None:
        self.text = text
        self._tree = parse(text)
        self._evaluator = _Evaluator(mesh, text)
        has_t = any(
            isinstance(node, Name) and node.text == "t" and not node.quoted
            for node in iterate_nodes(self._tree)
        )
        # Per-vertex data named t hides the time.
        self.depends_on_time = has_t and "t" not in mesh.point_data
        self.evaluate(0.0)  # reports unknown names now

    def evaluate(self, t: float) -> Float:
        """Return the values at time t [s], shape () or (n,)."""
        self._evaluator.t = t
        with np.errstate(all="ignore"):  # what is not finite is reported below
            values = self._evaluator.evaluate(self._tree)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            where = f" at point {bad[0]}" if values.ndim else ""
            raise MeshError(f"expression '{self.text[:60]}': the value is not finite{where}")
        return values


class _Evaluator(Numbers):
    """Evaluates the numbers of a selection, and time, texture coordinates and more functions."""

    t = 0.0

    def evaluate(self, node: Node, of: Float | None = None) -> Float:
        if isinstance(node, Name) and not node.quoted and node.text not in self.mesh.point_data:
            if node.text == "t":
                return np.array(self.t)
            if node.text == "pi":
                return np.array(np.pi)
            if node.text in ("u", "v"):
                return self._evaluate_texture("uv".index(node.text), node)
        if isinstance(node, Call) and node.word in _FUNCTIONS:
            if len(node.arguments) != 1:
                raise self.error(node, f"{node.word} takes 1 argument, got {len(node.arguments)}")
            return np.asarray(_FUNCTIONS[node.word](self.evaluate(node.arguments[0], of)))
        return super().evaluate(node, of)

    def _evaluate_texture(self, axis: int, node: Node) -> Float:
        """Return u (axis 0) or v (axis 1) of each point, shape (n,); nan where there is none."""
        if self.mesh.uv is None:
            raise self.error(node, "the mesh has no texture coordinates")
        values = np.full(self.mesh.n, np.nan)
        coordinates = np.asarray(self.mesh.uv.coordinates)
        for kind, corners in self.mesh.uv.corners.items():
            index = np.asarray(corners)
            has_texture = index >= 0
            points = np.asarray(self.mesh.cells[kind])[has_texture]
            values[points] = coordinates[index[has_texture], axis]
        return values
