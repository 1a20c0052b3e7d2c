"""The nodes of a glTF scene: which mesh stands where.

A node has a matrix, column by column, or a translation t, a rotation by a unit quaternion (x, y, z, w) and a scale s, together
T·R·S; a node's place is its parent's times its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.glb_document import Document, Object

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Placed:
    """A mesh by its number, with the matrix that places it, shape (4, 4), and the name of its node, empty if it has none."""

    mesh: int
    matrix: Float
    name: str
    where: str


def placed(document: Document) -> Iterator[Placed]:
    """The meshes of the scene, parents before children; without a scene those of all nodes, without nodes all meshes."""
    nodes = document.array(document.root, "nodes", "the file")
    if not nodes:
        for i in range(len(document.array(document.root, "meshes", "the file"))):
            yield Placed(i, np.eye(4), "", f"mesh {i}")
        return
    # each node has one place at most, so that a node met again is on a cycle or has two parents
    met: set[int] = set()
    stack = [(node, np.eye(4)) for node in reversed(_roots(document, len(nodes)))]
    while stack:
        index, above = stack.pop()
        if index in met:
            raise document.error("it is below itself or below two nodes; a scene is a tree", f"node {index}")
        met.add(index)
        node, where = document.item("nodes", index, "the scene"), f"node {index}"
        with np.errstate(all="ignore"):
            matrix = above @ _matrix(document, node, where)
        if not np.isfinite(matrix).all():
            raise document.error("its place is not finite", where)
        if "EXT_mesh_gpu_instancing" in document.object(node, "extensions", where):
            raise document.error("its instances by EXT_mesh_gpu_instancing are not read; save them as nodes", where)
        if "mesh" in node:
            yield Placed(document.whole(node, "mesh", where), matrix, document.name(node), where)
        stack += [(child, matrix) for child in reversed(_numbers(document, node, "children", where))]


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
    x, y, z, w = rotation = np.array(document.floats(node, "rotation", [0.0, 0.0, 0.0, 1.0], where))
    length = float(rotation @ rotation)
    if length == 0:
        raise document.error("its rotation is no quaternion of length 1", where)
    turn = np.array([
        [w * w + x * x - y * y - z * z, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), w * w - x * x + y * y - z * z, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), w * w - x * x - y * y + z * z],
    ])  # fmt: skip
    matrix = np.eye(4)
    matrix[:3, :3] = turn / length * document.floats(node, "scale", [1.0] * 3, where)
    matrix[:3, 3] = document.floats(node, "translation", [0.0] * 3, where)
    return matrix
