"""Solids: a block of hexahedra or tetrahedra, a ball and a bunny.

Ball and bunny are interiors of implicit surfaces, filled by `filling.stuffing`. The bunny is a
smooth union of ellipsoids. One with semi-axes r has

    d = k (k - 1) / |x / r²|,  k = |x / r|,

which is near the distance close to its surface. Two are joined by min(a, b) - (w - |a - b|)₊² / 4w,
which rounds the seam between them over a width w.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taut.arrays import Float
from taut.errors import MeshError
from taut.mesh.arguments import (
    check_choice,
    check_count,
    check_length,
    check_lengths,
    check_point_count,
)
from taut.mesh.filling.stuffing import stuff
from taut.mesh.mesh import Mesh


def ball(radius: float = 1.0, *, spacing: float | None = None) -> Mesh:
    """A ball of tetrahedra about the origin.

    radius : [m]
    spacing : length of the longest edges inside [m]; a quarter of the radius if not given, which
        makes some 3500 tetrahedra

    >>> ball(0.1)
    Mesh(821 points, 3480 tet)
    """
    radius = check_length(radius, "radius")
    corner = np.full(3, radius)
    return stuff(
        lambda x: np.linalg.norm(x, axis=1) - radius,
        -corner,
        corner,
        radius / 4 if spacing is None else spacing,
    )


def bunny(height: float = 0.18, *, spacing: float | None = None) -> Mesh:
    """A bunny that sits on the plane y = 0 and looks along x, of tetrahedra.

    height : from the ground to the tips of the ears [m], to a few per cent: stuffing rounds tips
    spacing : length of the longest edges inside [m], at most a twelfth of the height, or the ears
        are lost; by default a seventeenth, which gives some 7700 tetrahedra

    The points of the ears are the group "ears", those on the ground "feet".

    >>> bunny()
    Mesh(1836 points, 7669 tet)
    """
    height = check_length(height, "height")
    if spacing is not None and check_length(spacing, "spacing") > height / 12:
        raise MeshError(
            f"spacing must be at most {height / 12:.3g} m, or the ears are lost; got {spacing:g} m"
        )
    low, high = height * _LOW, height * _HIGH
    mesh = stuff(
        lambda x: _bunny(x / height), low, high, height / 17 if spacing is None else spacing
    )
    points = mesh.points.copy()
    # Cut points near the ground are put exactly on it, so that "feet" is well defined.
    points[:, 1] = np.where(points[:, 1] < 1e-6 * height, 0.0, points[:, 1])
    ears = np.flatnonzero(_distance(_fold(points / height), _EAR) < 0.01)
    feet = np.flatnonzero(points[:, 1] == 0.0)
    return mesh.with_(points=points, groups={"ears": {"point": ears}, "feet": {"point": feet}})


class _Ellipsoid(NamedTuple):
    """A part of the bunny one unit high; one that is off the plane z = 0 has a mirror image."""

    centre: tuple[float, float, float]
    radii: tuple[float, float, float]
    lean: float = 0.0  # about z [degrees]: its second axis leans back by so much
    splay: float = 0.0  # about x, after that: outwards by so much
    seam: float = 0.08  # width over which it joins the parts before it


_EAR = _Ellipsoid((0.085, 0.812, 0.122), (0.06, 0.202, 0.076), lean=17, splay=13, seam=0.03)
_PARTS = (
    _Ellipsoid((-0.11, 0.24, 0.0), (0.26, 0.25, 0.2)),  # body
    _Ellipsoid((0.07, 0.28, 0.0), (0.16, 0.22, 0.15)),  # chest
    _Ellipsoid((0.05, 0.1, 0.0), (0.19, 0.12, 0.17), seam=0.06),  # belly
    _Ellipsoid((0.18, 0.54, 0.0), (0.18, 0.155, 0.155), lean=-8, seam=0.05),  # head
    _Ellipsoid((0.31, 0.49, 0.05), (0.085, 0.07, 0.075), seam=0.05),  # cheeks
    _Ellipsoid((0.37, 0.53, 0.0), (0.035, 0.03, 0.04), seam=0.03),  # nose
    _Ellipsoid((-0.14, 0.2, 0.15), (0.18, 0.17, 0.1), lean=-15, seam=0.025),  # haunches
    _Ellipsoid((0.03, 0.045, 0.195), (0.17, 0.06, 0.07), seam=0.03),  # hind feet
    _Ellipsoid((0.17, 0.14, 0.085), (0.06, 0.15, 0.06), lean=-12, seam=0.03),  # fore legs
    _Ellipsoid((0.22, 0.04, 0.09), (0.09, 0.055, 0.063), seam=0.03),  # fore feet
    _Ellipsoid((-0.37, 0.2, 0.0), (0.095, 0.095, 0.095), seam=0.03),  # tail
    _EAR,
)
_LOW, _HIGH = np.array([-0.5, 0.0, -0.3]), np.array([0.45, 1.05, 0.3])


def _bunny(x: Float) -> Float:
    """Negative inside the bunny one unit high, shape (m,); x is (m, 3)."""
    x = _fold(x)
    value = np.full(len(x), np.inf)
    for part in _PARTS:
        value = _join(value, _distance(x, part), part.seam)
    return value


def _fold(x: Float) -> Float:
    """Mirror the left half onto the right one: the bunny is symmetric in z."""
    return np.column_stack([x[:, :2], np.abs(x[:, 2])])


def _distance(x: Float, part: _Ellipsoid) -> Float:
    lean, splay = np.radians(part.lean), np.radians(part.splay)
    back = np.array([[np.cos(lean), -np.sin(lean), 0], [np.sin(lean), np.cos(lean), 0], [0, 0, 1]])
    out = np.array(
        [[1, 0, 0], [0, np.cos(splay), -np.sin(splay)], [0, np.sin(splay), np.cos(splay)]]
    )
    r = np.array(part.radii)
    own = (x - part.centre) @ (out @ back)
    k = np.linalg.norm(own / r, axis=1)
    tiny = 1e-9  # at the centre the formula is 0 / 0
    return (k - 1) * (k + tiny) / (np.linalg.norm(own / r**2, axis=1) + tiny / r.min())


def _join(a: Float, b: Float, seam: float) -> Float:
    return np.minimum(a, b) - np.maximum(seam - np.abs(a - b), 0.0) ** 2 / (4 * seam)


# a cube as five tetrahedra, and its mirror image: neighbours in a chequerboard share the diagonals
# of their faces
_EVEN = ((0, 1, 2, 5), (0, 2, 3, 7), (0, 5, 7, 4), (2, 7, 5, 6), (0, 2, 7, 5))
_ODD = ((1, 2, 3, 6), (0, 1, 3, 4), (1, 6, 4, 5), (3, 4, 6, 7), (1, 3, 4, 6))


def block(nx: int, ny: int, nz: int, size: Any = 1.0, *, cells: str = "hex") -> Mesh:
    """A box of nx × ny × nz cubes with a corner at the origin.

    nx, ny, nz : number of cubes along each side
    size : side lengths [m], one for all or three
    cells : "hex", or "tet" for five tetrahedra in each cube, mirrored from one to the next

    >>> block(2, 1, 1, size=(2.0, 1.0, 1.0)).volumes.tolist()
    [1.0, 1.0]
    >>> block(2, 2, 2, cells="tet")
    Mesh(27 points, 40 tet)
    """
    n = [check_count(value, name) for value, name in ((nx, "nx"), (ny, "ny"), (nz, "nz"))]
    check_point_count((n[0] + 1) * (n[1] + 1) * (n[2] + 1))
    check_choice(cells, "cells", ("hex", "tet"))
    k, j, i = (
        a.ravel() for a in np.meshgrid(*(np.arange(m + 1) for m in reversed(n)), indexing="ij")
    )
    points = np.column_stack([i, j, k]) / n * check_lengths(size, "size", 3)
    k, j, i = (a.ravel() for a in np.meshgrid(*(np.arange(m) for m in reversed(n)), indexing="ij"))
    corner = (
        (0, 0, 0),
        (1, 0, 0),
        (1, 1, 0),
        (0, 1, 0),
        (0, 0, 1),
        (1, 0, 1),
        (1, 1, 1),
        (0, 1, 1),
    )
    hexes = np.stack(
        [((k + c) * (n[1] + 1) + j + b) * (n[0] + 1) + i + a for a, b, c in corner], axis=1
    )
    if cells == "hex":
        return Mesh(points, {"hex": hexes})
    odd = (i + j + k) % 2 == 1
    tets = np.where(odd[:, None, None], hexes[:, np.array(_ODD)], hexes[:, np.array(_EVEN)])
    return Mesh(points, {"tet": tets.reshape(-1, 4)})
