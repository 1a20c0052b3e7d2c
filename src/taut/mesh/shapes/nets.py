"""Line meshes: rope, ring, net, lattice, truss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Int
from taut.errors import MeshError
from taut.mesh.arguments import (
    check_choice,
    check_count,
    check_length,
    check_lengths,
    check_point,
    check_point_count,
    place_in_plane,
)
from taut.mesh.mesh import Mesh
from taut.mesh.shapes.solids import block

BRACES = ("none", "face", "body", "all")


def rope(n: int, start: ArrayLike = (0, 0, 0), end: ArrayLike = (1, 0, 0)) -> Mesh:
    """A rope, chain or rod of n equal segments between two points.

    n : number of segments
    start, end : its ends [m]; they are the groups "start" and "end"

    >>> rope(4).rod_hinges.tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    n, a, b = check_count(n, "n"), check_point(start, "start"), check_point(end, "end")
    if (a == b).all():
        raise MeshError(f"start and end must differ, got {a.tolist()} for both")
    s = np.arange(n + 1)[:, None] / n
    return Mesh((1 - s) * a + s * b, {"line": _chain(n)}, groups={"start": [0], "end": [n]})


def _chain(n: int) -> Int:
    return np.column_stack([np.arange(n), np.arange(1, n + 1)])


def ring(n: int, radius: float = 1.0, *, plane: str = "xy") -> Mesh:
    """A closed loop of n lines around the origin.

    n : number of lines
    radius : [m]
    plane : "xy", "xz" (horizontal) or "yz"

    >>> ring(6).lengths.round(12).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    n, radius = check_count(n, "n", 3), check_length(radius, "radius")
    angle = 2 * np.pi * np.arange(n) / n
    return Mesh(
        place_in_plane(radius * np.column_stack([np.cos(angle), np.sin(angle)]), plane),
        {"line": _chain(n) % n},
    )


def net(nx: int, ny: int, size: Any = 1.0, *, plane: str = "xy") -> Mesh:
    """A net of lines with nx × ny square meshes and a corner at the origin.

    nx, ny : number of meshes along each side
    size : side lengths [m], one for both or (width, height)
    plane : "xy", "xz" (horizontal) or "yz"

    >>> net(2, 2)
    Mesh(9 points, 12 line)
    """
    nx, ny = check_count(nx, "nx"), check_count(ny, "ny")
    check_point_count((nx + 1) * (ny + 1))
    u, v = np.meshgrid(np.arange(nx + 1) / nx, np.arange(ny + 1) / ny)
    number = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)
    along = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    up = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    points = np.column_stack([u.ravel(), v.ravel()]) * check_lengths(size, "size", 2)
    return Mesh(place_in_plane(points, plane), {"line": np.concatenate([along, up])})


def lattice(nx: int, ny: int, nz: int, size: Any = 1.0, *, braces: str = "face") -> Mesh:
    """Lines along the edges of nx × ny × nz boxes with a corner at the origin, braced by diagonals.

    nx, ny, nz : number of boxes along each side
    size : side lengths [m], one for all or three
    braces : diagonals of the "face"s, of the "body", "all" of them, or "none"

    >>> lattice(1, 1, 1)
    Mesh(8 points, 24 line)
    """
    check_choice(braces, "braces", BRACES)
    box = block(nx, ny, nz, size)
    chosen = {
        "none": [],
        "face": [box.diagonals],
        "body": [box.body_diagonals],
        "all": [box.diagonals, box.body_diagonals],
    }
    return Mesh(box.points, {"line": np.concatenate([box.edges, *chosen[braces]])})


def truss(bays: int, length: float = 1.0, height: float = 0.2) -> Mesh:
    """A plane Warren truss in xy: lower chord along x from the origin, upper chord, diagonals.

    bays : number of members of the lower chord
    length, height : [m]

    It has 4·bays - 1 members on 2·bays + 1 joints: statically determinate on a hinge and a roller.
    Its ends are the groups "left" and "right".

    >>> truss(3)
    Mesh(7 points in the plane, 11 line)
    """
    n = check_count(bays, "bays")
    long, high = check_lengths((length, height), "length and height", 2)
    lower = np.column_stack([np.arange(n + 1) * long / n, np.zeros(n + 1)])
    upper = np.column_stack([(np.arange(n) + 0.5) * long / n, np.full(n, high)])
    i = np.arange(n)
    diagonals = [np.column_stack([i, n + 1 + i]), np.column_stack([n + 1 + i, i + 1])]
    lines = np.concatenate([_chain(n), n + 1 + _chain(n - 1), *diagonals])
    return Mesh(np.concatenate([lower, upper]), {"line": lines}, groups={"left": [0], "right": [n]})
