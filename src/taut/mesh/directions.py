"""How far edges run along a direction: cos²φ, φ the angle between them, so that what depends on the direction in a sheet, such as
the stiffness of warp and weft, is k = k_weft + (k_warp - k_weft) cos²φ."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import MeshError
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]


def along(mesh: Mesh | ArrayLike, edges: ArrayLike, *, direction: ArrayLike) -> Float:
    """cos² of the angle between each edge and a direction, shape (k,): 1 along it, 0 across, ½ at 45°.

    mesh : a `Mesh`, or points alone [m], shape (n, 3) or (n, 2); a garment has its warp in its flat pattern, so give that
    edges : pairs of points, shape (k, 2), such as `mesh.edges`, `mesh.diagonals` or `mesh.skips`
    direction : the warp, shape (3,), or one per edge, (k, 3); two components in the plane; of any length but zero

    Edges across, along the weft, have 1 - cos² in a sheet. The sense of an edge or of the direction does not matter.

    >>> import taut
    >>> sheet = taut.mesh.sheet(1, 1)
    >>> warp = along(sheet, sheet.edges, direction=(0, 1, 0))
    >>> sheet.edges.tolist(), (200.0 + (1000.0 - 200.0) * warp).tolist()
    ([[0, 1], [0, 2], [1, 3], [2, 3]], [200.0, 1000.0, 1000.0, 200.0])
    >>> along(sheet, sheet.diagonals, direction=(0, 1, 0)).round(12).tolist()
    [0.5, 0.5]
    """
    points = mesh.points if isinstance(mesh, Mesh) else _numbers(mesh, "points are positions [m]")
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.isfinite(points).all():
        raise MeshError(f"points are finite positions [m] of shape (n, 3) or (n, 2), not of shape {points.shape}")
    pairs = _pairs(edges, len(points))
    given = _numbers(direction, "direction is a vector")
    dimension = points.shape[1]
    if given.shape not in ((dimension,), (len(pairs), dimension)):
        raise MeshError(f"direction has shape ({dimension},) or, one per edge, ({len(pairs)}, {dimension}), not {given.shape}")
    unit = np.broadcast_to(_unit(given.reshape(-1, dimension), "direction"), (len(pairs), dimension))
    run = _unit(points[pairs[:, 1]] - points[pairs[:, 0]], "edge", pairs)
    cosine = np.einsum("ij,ij->i", run, unit)
    return np.minimum(cosine * cosine, 1.0)  # rounding makes an edge along it no stiffer than the warp


def _numbers(values: ArrayLike, what: str) -> Float:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeshError(f"{what}, not {values!r}") from error


def _pairs(edges: ArrayLike, n: int) -> NDArray[np.int64]:
    """Edges as an array (k, 2) of points that are there."""
    try:
        found = np.asarray(edges)
    except ValueError as error:
        raise MeshError(f"edges are pairs of points, shape (k, 2), not {edges!r}") from error
    if found.size == 0:
        return np.empty((0, 2), np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or not np.issubdtype(found.dtype, np.integer):
        raise MeshError(f"edges are pairs of points by number, shape (k, 2), not {found.dtype} of shape {found.shape}")
    off = np.flatnonzero(((found < 0) | (found >= n)).any(axis=1))
    if len(off):
        raise MeshError(f"joins {found[off[0]].tolist()}, but there are points 0 to {n - 1}", element=f"edge {off[0]}")
    return found.astype(np.int64)


def _unit(vectors: Float, what: str, pairs: NDArray[np.int64] | None = None) -> Float:
    """Vectors (k, d) of length one; the first that has no direction is named."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    off = np.flatnonzero(~((largest > 0) & np.isfinite(largest)))
    if len(off):
        i = int(off[0])
        between = "" if pairs is None else f" (points {pairs[i, 0]} and {pairs[i, 1]} are in the same place)"
        raise MeshError(f"has no direction{between}", element=f"{what} {i}")
    scaled = vectors / largest  # first, so that squares of tiny or huge lengths are no trouble
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
