"""The angle φ between edges and a direction, as cos²φ.

What depends on the direction in a sheet, such as the stiffness of warp and weft, is then
k = k_weft + (k_warp - k_weft) cos²φ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, to_floats
from taut.errors import MeshError
from taut.mesh.mesh import Mesh


def along(mesh: Mesh | ArrayLike, edges: ArrayLike, *, direction: ArrayLike) -> Float:
    """cos² of the angle between each edge and a direction, shape (k,): 1 along it, 0 across.

    mesh : a `Mesh`, or points alone [m], shape (n, 3) or (n, 2); for a garment,
        pass its flat pattern, where the warp is straight
    edges : pairs of points, shape (k, 2), such as `mesh.edges`, `mesh.diagonals` or `mesh.skips`
    direction : the warp, shape (3,), or one per edge, (k, 3); two components in the plane; of any
        length but zero

    The cos² with the weft is 1 - cos². Reversing an edge or the direction changes nothing.

    >>> import taut
    >>> sheet = taut.mesh.sheet(1, 1)
    >>> warp = along(sheet, sheet.edges, direction=(0, 1, 0))
    >>> sheet.edges.tolist(), (200.0 + (1000.0 - 200.0) * warp).tolist()
    ([[0, 1], [0, 2], [1, 3], [2, 3]], [200.0, 1000.0, 1000.0, 200.0])
    >>> along(sheet, sheet.diagonals, direction=(0, 1, 0)).round(12).tolist()
    [0.5, 0.5]
    """
    points = (
        mesh.points if isinstance(mesh, Mesh) else _to_numbers(mesh, "points must be positions [m]")
    )
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.isfinite(points).all():
        raise MeshError(
            f"points must be finite, of shape (n, 3) or (n, 2) [m], got shape {points.shape}"
        )
    pairs = _check_pairs(edges, len(points))
    given = _to_numbers(direction, "direction must be a vector")
    dimension = points.shape[1]
    if given.shape not in ((dimension,), (len(pairs), dimension)):
        raise MeshError(
            f"direction must have shape ({dimension},) or, one per edge, "
            f"({len(pairs)}, {dimension}), got {given.shape}"
        )
    unit = np.broadcast_to(
        _normalise(given.reshape(-1, dimension), "direction"), (len(pairs), dimension)
    )
    run = _normalise(points[pairs[:, 1]] - points[pairs[:, 0]], "edge", pairs)
    cosine = np.einsum("ij,ij->i", run, unit)
    # Clipped, so that rounding never makes an edge stiffer than the warp.
    return np.minimum(cosine * cosine, 1.0)


def _to_numbers(values: ArrayLike, what: str) -> Float:
    try:
        return to_floats(values)
    except (TypeError, ValueError) as error:
        raise MeshError(f"{what}, got {values!r}") from error


def _check_pairs(edges: ArrayLike, n: int) -> Int:
    """Return edges as an array (k, 2) of valid point indices."""
    try:
        found = np.asarray(edges)
    except ValueError as error:
        raise MeshError(
            f"edges must be pairs of point indices, shape (k, 2), got {edges!r}"
        ) from error
    if found.size == 0:
        return np.empty((0, 2), np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or not np.issubdtype(found.dtype, np.integer):
        raise MeshError(
            f"edges must be pairs of point indices, shape (k, 2), "
            f"got {found.dtype} of shape {found.shape}"
        )
    off = np.flatnonzero(((found < 0) | (found >= n)).any(axis=1))
    if len(off):
        raise MeshError(
            f"point index must be from 0 to {n - 1}, got {found[off[0]].tolist()}",
            element=f"edge {off[0]}",
        )
    return found.astype(np.int64)


def _normalise(vectors: Float, what: str, pairs: Int | None = None) -> Float:
    """Normalise vectors (k, d); raise for the first one without a direction."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    off = np.flatnonzero(~((largest > 0) & np.isfinite(largest)))
    if len(off):
        i = int(off[0])
        between = ""
        if pairs is not None:
            between = f": points {pairs[i, 0]} and {pairs[i, 1]} coincide"
        raise MeshError(f"a zero vector has no direction{between}", element=f"{what} {i}")
    # Scaled first, so that squares of tiny or huge lengths neither vanish nor overflow.
    scaled = vectors / largest
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
