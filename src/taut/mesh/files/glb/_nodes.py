"""The nodes of a glTF scene: which mesh is where.

A node has a matrix, column by column, or a translation t, a rotation by a unit quaternion (x, y, z,
w) and a scale s, together T·R·S; a node's transform is its parent's times its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taut.arrays import Float
from taut.mesh.files.glb.document import INSTANCING, GltfDocument, Object

_IDENTITY = np.eye(4).tolist()
_TRANSFORM_KEYS = ("matrix", "translation", "rotation", "scale")


@dataclass(frozen=True, eq=False)
class Transform:
    """The matrix of a node and its parents, shape (4, 4); nodes share it, so results are cached."""

    matrix: Float

    @cached_property
    def _rows(self) -> list[list[float]]:
        # Python numbers: arithmetic on such small arrays is slower.
        return self.matrix.tolist()

    @cached_property
    def is_identity(self) -> bool:
        """Whether it leaves points where they are."""
        return self._rows == _IDENTITY

    @cached_property
    def is_mirror(self) -> bool:
        """Whether it reverses orientation: its determinant is negative."""
        size = max(abs(value) for row in self._rows[:3] for value in row[:3]) or 1.0
        (a, b, c), (d, e, f), (g, h, i) = (
            [value / size for value in row[:3]] for row in self._rows[:3]
        )
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0


@dataclass(frozen=True, eq=False)
class MeshInstance:
    """A mesh by its number, its transform, and the name of its node (empty if it has none)."""

    mesh: int
    transform: Transform
    name: str
    where: str


def iterate_instances(document: GltfDocument) -> Iterator[MeshInstance]:
    """Yield the meshes of the scene, parents before children.

    Without a scene, those of all nodes; without nodes, all meshes.
    """
    nodes = document.get_list(document.root, "nodes", "the file")
    origin = Transform(np.eye(4))
    if not nodes:
        for i in range(len(document.get_list(document.root, "meshes", "the file"))):
            yield MeshInstance(i, origin, "", f"mesh {i}")
        return
    # A scene is a tree: a node that is visited again is on a cycle or has two parents.
    visited: set[int] = set()
    stack = [(node, origin) for node in reversed(_find_roots(document, len(nodes)))]
    while stack:
        index, transform = stack.pop()
        if index in visited:
            raise document.error(
                "a node must have one parent and no cycle, since a scene is a tree", f"node {index}"
            )
        visited.add(index)
        node, where = document.get_item("nodes", index, "the scene"), f"node {index}"
        if any(key in node for key in _TRANSFORM_KEYS):
            with np.errstate(all="ignore"):
                transform = Transform(transform.matrix @ _read_matrix(document, node, where))
            if not np.isfinite(transform.matrix).all():
                raise document.error("the transform must be finite", where)
        if INSTANCING in document.get_object(node, "extensions", where):
            raise document.error(f"instances must be nodes, got {INSTANCING}", where)
        if "mesh" in node:
            yield MeshInstance(
                document.get_int(node, "mesh", where), transform, document.get_name(node), where
            )
        stack += [
            (child, transform)
            for child in reversed(_get_indices(document, node, "children", where))
        ]


def _find_roots(document: GltfDocument, count: int) -> list[int]:
    if document.get_list(document.root, "scenes", "the file"):
        scene = document.get_int(document.root, "scene", "the file", 0)
        return _get_indices(
            document, document.get_item("scenes", scene, "the file"), "nodes", f"scene {scene}"
        )
    below = {
        c
        for i in range(count)
        for c in _get_indices(
            document, document.get_item("nodes", i, "the file"), "children", f"node {i}"
        )
    }
    roots = [i for i in range(count) if i not in below]
    if not roots:
        raise document.error("a scene must have a root, got nodes that all have parents", "node 0")
    return roots


def _get_indices(document: GltfDocument, of: Object, key: str, where: str) -> list[int]:
    listed = document.get_list(of, key, where)
    return [document.get_int({key: value}, key, where) for value in listed]


def _read_matrix(document: GltfDocument, node: Object, where: str) -> Float:
    """Return the node's own matrix, shape (4, 4)."""
    if "matrix" in node:
        return np.array(document.get_floats(node, "matrix", [0.0] * 16, where)).reshape(4, 4).T
    x, y, z, w = document.get_floats(node, "rotation", [0.0, 0.0, 0.0, 1.0], where)
    squared_length = x * x + y * y + z * z + w * w
    if squared_length == 0:
        raise document.error("the rotation must be a unit quaternion, got length 0", where)
    rotation = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), w * w - x * x + y * y - z * z, 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), w * w - x * x - y * y + z * z),
    )
    a, b, c = document.get_floats(node, "scale", [1.0] * 3, where)
    rows = zip(rotation, document.get_floats(node, "translation", [0.0] * 3, where), strict=True)
    return np.array(
        [
            *(
                [i / squared_length * a, j / squared_length * b, k / squared_length * c, t]
                for (i, j, k), t in rows
            ),
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
