"""Expressions of the place and of time, in the language of selections: read, never executed.

Beside x, y, z [m] of the rest shape, the per-vertex maps of the mesh and the functions of selections there are t [s], pi, the
texture coordinates u and v, and sin, cos, tan, exp, log, tanh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.mesh import Mesh
from taut.mesh.selection.language import Call, Name, Node, parse, walk
from taut.mesh.selection.numbers import Numbers

Float = NDArray[np.float64]
MORE: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log, "tanh": np.tanh,
}  # fmt: skip


class _Expression(Numbers):
    """The numbers of a selection, and time, texture and a few functions more."""

    t = 0.0

    def values(self, node: Node, of: Float | None = None) -> Float:
        if isinstance(node, Name) and not node.quoted and node.text not in self.mesh.point_data:
            if node.text == "t":
                return np.array(self.t)
            if node.text == "pi":
                return np.array(np.pi)
            if node.text in ("u", "v"):
                return self._texture("uv".index(node.text), node)
        if isinstance(node, Call) and node.word in MORE:
            if len(node.arguments) != 1:
                raise self.error(node, f"{node.word} takes 1 argument, not {len(node.arguments)}")
            return np.asarray(MORE[node.word](self.values(node.arguments[0], of)))
        return super().values(node, of)

    def _texture(self, axis: int, node: Node) -> Float:
        if self.mesh.uv is None:
            raise self.error(node, "the mesh has no texture coordinates")
        found = np.full(self.mesh.n, np.nan)
        for kind, corners in self.mesh.uv.corners.items():
            c = np.asarray(corners)
            found[np.asarray(self.mesh.cells[kind])[c >= 0]] = np.asarray(self.mesh.uv.coordinates)[c[c >= 0], axis]
        return found


class Map:
    """An expression on the points of a mesh.

    >>> import taut
    >>> Map("2*x + t", taut.mesh.rope(2)).at(1.0).tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(self, text: str, mesh: Mesh) -> None:
        self._tree = parse(text)
        self._numbers = _Expression(mesh, text)
        self.text = text
        self.timed = any(isinstance(node, Name) and node.text == "t" and not node.quoted for node in walk(self._tree))
        self.timed = self.timed and "t" not in mesh.point_data
        self.at(0.0)

    def at(self, t: float) -> Float:
        """Its values at time t [s], shape () or (n,)."""
        self._numbers.t = t
        with np.errstate(all="ignore"):
            found = self._numbers.values(self._tree)
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            where = f" at point {bad[0]}" if found.ndim else ""
            raise MeshError(f"expression '{self.text[:60]}': it is not a finite number{where}")
        return found
