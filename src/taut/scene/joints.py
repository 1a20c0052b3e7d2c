"""Stitches and attachments between two bodies, where they stand at the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut import laws
from taut.errors import SceneError
from taut.mesh import embed
from taut.mesh.mesh import Mesh
from taut.scene.model import Attach, Stitch
from taut.scene.part import Part

Float = NDArray[np.float64]
Int = NDArray[np.int64]
OUTSIDE = -1.0  # a weight below this: the point lies further outside of a cell than the cell is wide


@dataclass(frozen=True, eq=False)
class Seat:
    """A body and where its points start [m], (n, 3)."""

    part: Part
    pose: Float


def chosen(mesh: Mesh, where: Any) -> Int:
    """The points of a selection, of which there must be some."""
    points = mesh.select(where)
    if not len(points):
        raise SceneError(["the selection has no points"])
    return points


def stitched(asked: Stitch, first: Seat, second: Seat) -> Any:
    """Springs of length zero between points of the two, ½ k |x_j - x_i|²."""
    a, b = chosen(first.part.mesh, asked.where[0]), chosen(second.part.mesh, asked.where[1])
    if asked.pair == "nearest":
        from scipy.spatial import cKDTree

        b = b[cKDTree(second.pose[b]).query(first.pose[a])[1]]
    if len(a) != len(b):
        names = first.part.name, second.part.name
        raise SceneError([f"{len(a)} points of '{names[0]}' and {len(b)} of '{names[1]}': as many, or pair = \"nearest\""])
    pairs = np.column_stack([a + first.part.start, b + second.part.start])
    return laws.zero_length_spring(pairs, k=asked.k, name=asked.name or "stitch")


def attached(asked: Attach, first: Seat, second: Seat) -> Any:
    """Springs from points of the first to their places in the cells of the second, ½ k |x - Σ wᵢ xᵢ|²."""
    if first.part is second.part:
        raise SceneError(["a body is not attached to itself"])
    points = chosen(first.part.mesh, asked.where)
    seat = embed(first.pose[points], second.part.mesh.with_(points=second.pose))
    far = np.flatnonzero((seat.weights < OUTSIDE).any(axis=1))
    if len(far):
        raise SceneError([f"point {points[far[0]]} of '{first.part.name}' lies far outside of '{second.part.name}'"])
    rows = np.column_stack([points + first.part.start, seat.indices + second.part.start])
    return laws.attachment(rows, k=asked.k, weights=seat.weights, name=asked.name or "attach")
