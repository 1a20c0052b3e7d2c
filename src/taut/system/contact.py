"""Contact as a part of a System: what can touch, at which distance, and how strongly it repels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.collision.proximity import Primitives
from taut.errors import ModelError
from taut.mesh.mesh import Mesh

CONTACT_NAME = "contact"


@dataclass(frozen=True, eq=False)
class Contact:
    """Contact among primitives.

    primitives : what can touch
    range : gap below which two surfaces repel each other [m]
    k : stiffness of the barrier [N/m]
    radius : half the thickness of what surrounds each particle [m], (n,) or one number
    """

    primitives: Primitives
    range: float
    k: float
    radius: Float


def contact(
    surface: Mesh | ArrayLike, *, range: float, k: float, thickness: ArrayLike = 0.0
) -> Contact:
    """Let surfaces, edges and points touch."""
    if isinstance(surface, Mesh):
        triangles = np.asarray(surface.triangles, dtype=np.int64)
        edges = np.asarray(surface.edges, dtype=np.int64)
    else:
        triangles = np.array(surface, dtype=np.int64).reshape(-1, 3)
        sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges = np.unique(sides, axis=0)
    points = np.unique(np.concatenate([triangles.ravel(), edges.ravel()]))
    for name, value in (("range", range), ("k", k)):
        if not (np.isfinite(value) and value > 0.0):
            raise ModelError(f"{name} of a contact must be positive, got {value}")
    radius = np.array(thickness, dtype=np.float64) / 2.0
    return Contact(Primitives(points, edges, triangles), float(range), float(k), radius)
