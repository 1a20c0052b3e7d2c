"""The nodes of a glTF scene: which mesh stands where.

A node has a matrix, column by column, or a translation t, a rotation by a unit quaternion (x, y, z, w) and a scale s, together
T·R·S; a node's place is its parent's times its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.glb_document import INSTANCING, Document, Object

Float = NDArray[np.float64]

_STILL = np.eye(4).tolist()
_MOVES = ("matrix", "translation", "rotation", "scale")


@dataclass(frozen=True, eq=False)
class Place:
    """The matrix of a node and all above it, shape (4, 4); many nodes may share it, so that what follows from it is kept."""

    matrix: Float

    @cached_property
    def _rows(self) -> list[list[float]]:
        # numbers one by one, since arrays as small as these take many times longer
        return self.matrix.tolist()

    @cached_property
    def moves(self) -> bool:
        """Whether it is not the identity."""
        return self._rows != _STILL

    @cached_property
    def mirrors(self) -> bool:
        """Whether it turns things inside out."""
        size = max(abs(value) for row in self._rows[:3] for value in row[:3]) or 1.0
        (a, b, c), (d, e, f), (g, h, i) = ([value / size for value in row[:3]] for row in self._rows[:3])
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0


@dataclass(frozen=True, eq=False)
class Placed:
    """A mesh by its number, with its place and the name of its node, empty if it has none."""

    mesh: int
    place: Place
    name: str
    where: str


def placed(document: Document) -> Iterator[Placed]:
    """The meshes of the scene, parents before children; without a scene those of all nodes, without nodes all meshes."""
    nodes = document.array(document.root, "nodes", "the file")
    origin = Place(np.eye(4))
    if not nodes:
        for i in range(len(document.array(document.root, "meshes", "the file"))):
            yield Placed(i, origin, "", f"mesh {i}")
        return
    # each node has one place at most, so that a node met again is on a cycle or has two parents
    met: set[int] = set()
    stack = [(node, origin) for node in reversed(_roots(document, len(nodes)))]
    while stack:
        index, place = stack.pop()
        if index in met:
            raise document.error("it is below itself or below two nodes; a scene is a tree", f"node {index}")
        met.add(index)
        node, where = document.item("nodes", index, "the scene"), f"node {index}"
        if any(key in node for key in _MOVES):
            with np.errstate(all="ignore"):
                place = Place(place.matrix @ _matrix(document, node, where))
            if not np.isfinite(place.matrix).all():
                raise document.error("its place is not finite", where)
        if INSTANCING in document.object(node, "extensions", where):
            raise document.error(f"its instances by {INSTANCING} are not read; save them as nodes", where)
        if "mesh" in node:
            yield Placed(document.whole(node, "mesh", where), place, document.name(node), where)
        stack += [(child, place) for child in reversed(_numbers(document, node, "children", where))]


def _roots(document: Document, count: int) -> list[int]:
    if document.array(document.root, "scenes", "the file"):
        scene = document.whole(document.root, "scene", "the file", 0)
        return _numbers(document, document.item("scenes", scene, "the file"), "nodes", f"scene {scene}")
    below = {c for i in range(count) for c in _numbers(document, document.item("nodes", i, "the file"), "children", f"node {i}")}
    roots = [i for i in range(count) if i not in below]
    if not roots:
        raise document.error("every node is below another one; a scene is a tree", "node 0")
    return roots


def _numbers(document: Document, of: Object, key: str, where: str) -> list[int]:
    listed = document.array(of, key, where)
    return [document.whole({key: value}, key, where) for value in listed]


def _matrix(document: Document, node: Object, where: str) -> Float:
    """The node's own place, shape (4, 4)."""
    if "matrix" in node:
        return np.array(document.floats(node, "matrix", [0.0] * 16, where)).reshape(4, 4).T
    x, y, z, w = document.floats(node, "rotation", [0.0, 0.0, 0.0, 1.0], where)
    length = x * x + y * y + z * z + w * w
    if length == 0:
        raise document.error("its rotation is no quaternion of length 1", where)
    turn = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), w * w - x * x + y * y - z * z, 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), w * w - x * x - y * y + z * z),
    )
    a, b, c = document.floats(node, "scale", [1.0] * 3, where)
    rows = zip(turn, document.floats(node, "translation", [0.0] * 3, where), strict=True)
    return np.array([*([i / length * a, j / length * b, k / length * c, t] for (i, j, k), t in rows), [0.0, 0.0, 0.0, 1.0]])
