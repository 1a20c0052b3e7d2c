"""Stitches and attachments between two bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taut import laws
from taut.errors import SceneError
from taut.mesh import embed
from taut.scene.model import Attach, Stitch

if TYPE_CHECKING:
    from taut.scene.build import Part


def stitched(asked: Stitch, first: Part, second: Part) -> Any:
    """Springs of length zero between points of the two, ½ k |x_j - x_i|²."""
    a, b = first.mesh.select(asked.where[0]), second.mesh.select(asked.where[1])
    if asked.pair == "nearest":
        from scipy.spatial import cKDTree

        b = b[cKDTree(second.mesh.positions[b]).query(first.mesh.positions[a])[1]]
    if len(a) != len(b):
        raise SceneError([f"{len(a)} points of '{first.name}' and {len(b)} of '{second.name}': as many, or pair = \"nearest\""])
    pairs = np.column_stack([a + first.start, b + second.start])
    return laws.zero_length_spring(pairs, k=asked.k, name=asked.name or "stitch")


def attached(asked: Attach, first: Part, second: Part) -> Any:
    """Springs from points of the first to their places in the cells of the second, ½ k |x - Σ wᵢ xᵢ|²."""
    if first is second:
        raise SceneError(["a body is not attached to itself"])
    points = first.mesh.select(asked.where)
    seat = embed(first.mesh.positions[points], second.mesh)
    rows = np.column_stack([points + first.start, seat.indices + second.start])
    return laws.attachment(rows, k=asked.k, weights=seat.weights, name=asked.name or "attach")
