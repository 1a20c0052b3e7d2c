"""The corners of a mesh: its points nearest to the corners of its bounding box."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from taut.arrays import Int
from taut.errors import MeshError, did_you_mean
from taut.mesh.measure import POSITION_TOLERANCE

if TYPE_CHECKING:
    from taut.mesh.mesh import Mesh

SIDES = {
    "left": (0, 0),
    "right": (0, 1),
    "bottom": (1, 0),
    "top": (1, 1),
    "back": (2, 0),
    "front": (2, 1),
}  # axis, which end


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
