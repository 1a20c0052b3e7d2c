"""Prestress: the rest lengths l₀ = l - N/k with which members of length l and stiffness k have the forces N."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError
from taut.system.particles import positions

Float = NDArray[np.float64]


def rest_length(points: ArrayLike, edges: ArrayLike, k: ArrayLike, force: ArrayLike) -> Float:
    """The rest lengths [m] with which members are prestressed: l₀ = l - force/k, shape (m,).

    points : positions [m], (n, 3) or (n, 2), at which the members shall have these forces; edges : their particles, (m, 2)
    k : stiffness [N/m]; force : [N], tension positive; each one number or one per member
    A member whose l₀ would not be positive is refused: it needs a larger k.

    >>> rest_length([[0, 0, 0], [2, 0, 0]], [[0, 1]], k=100.0, force=50.0)
    array([1.5])
    """
    x = positions(points, "points")
    try:
        pairs = np.asarray(edges)
    except ValueError as error:
        raise ModelError(f"rest_length: edges are pairs of particle indices, not {edges!r}") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ModelError(
            f"rest_length: edges are pairs of particle indices, shape (m, 2), not {pairs.dtype} of shape {pairs.shape}"
        )
    outside = np.flatnonzero(((pairs < 0) | (pairs >= len(x))).any(axis=1))
    if len(outside):
        raise ModelError(f"rest_length: member {outside[0]} joins {pairs[outside[0]].tolist()}, but there are {len(x)} particles")
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise ModelError(f"rest_length: member {loops[0]} joins particle {pairs[loops[0], 0]} to itself")
    stiffness, tension = _per_member(k, len(pairs), "k"), _per_member(force, len(pairs), "force")
    soft = np.flatnonzero(stiffness <= 0.0)
    if len(soft):
        raise ModelError(f"rest_length: k of member {soft[0]} is {stiffness[soft[0]]:g} N/m, not positive")
    length = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
    rest = length - tension / stiffness
    bad = np.flatnonzero(rest <= 0.0)
    if len(bad):
        m = bad[0]
        raise ModelError(
            f"rest_length: member {m} (particles {pairs[m].tolist()}) of length {length[m]:g} m would need the rest length "
            f"{rest[m]:g} m for {tension[m]:g} N with k = {stiffness[m]:g} N/m"
        )
    return rest


def _per_member(value: ArrayLike, m: int, what: str) -> Float:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"rest_length: {what} is not made of numbers: {value!r}") from error
    if array.shape not in ((), (m,)):
        raise ModelError(f"rest_length: {what} is one number or one per member, shape ({m},), not {array.shape}")
    if not np.isfinite(array).all():
        raise ModelError(f"rest_length: {what} of member {int(np.argmin(np.isfinite(np.atleast_1d(array))))} is not finite")
    return np.broadcast_to(array, (m,))
