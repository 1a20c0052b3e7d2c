"""Surfaces: sheet, disc, cylinder, sphere, torus.

Faces point outwards, those of a sheet or disc along the normal of its plane.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.mesh.arguments import (
    check_choice,
    check_count,
    check_length,
    check_lengths,
    check_point_count,
    place_in_plane,
)
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV


def sheet(nx: int, ny: int, size: Any = 1.0, *, pattern: str = "quad", plane: str = "xy") -> Mesh:
    """A rectangle of nx × ny cells with a corner at the origin; texture coordinates 0 to 1.

    nx, ny : number of cells along each side
    size : side lengths [m], one for both or (width, height)
    pattern : "quad", "one-diagonal", "alternating", or "equilateral": ny rows of equilateral
        triangles of side width/nx, whose left and right sides are zigzag and whose height follows
    plane : "xy" (upright), "xz" (horizontal, facing up) or "yz"

    >>> sheet(2, 1, size=(2.0, 1.0))
    Mesh(6 points, 2 quad)
    >>> sheet(2, 2, pattern="equilateral").lengths.round(12).tolist()[:3]
    [0.5, 0.5, 0.5]
    """
    nx, ny = check_count(nx, "nx"), check_count(ny, "ny")
    check_point_count((nx + 1) * (ny + 1))
    check_choice(pattern, "pattern", (*PATTERNS, "equilateral"))
    if pattern == "equilateral":
        if np.ndim(size):
            raise MeshError(
                "size of an equilateral sheet must be one width [m]; its height follows from ny"
            )
        flat, cells = _equilateral(nx, ny, check_length(size, "size"))
    else:
        u, v = np.meshgrid(np.arange(nx + 1) / nx, np.arange(ny + 1) / ny)
        flat = np.column_stack([u.ravel(), v.ravel()]) * check_lengths(size, "size", 2)
        cells = grid_cells(nx, ny, pattern)
    return Mesh(place_in_plane(flat, plane), cells, uv=UV(flat / flat.max(axis=0), cells))


def _equilateral(nx: int, ny: int, width: float) -> tuple[Float, dict[str, Int]]:
    """Rows of nx + 1 and nx points in turn, joined by triangles of one shape."""
    side = width / nx
    counts = [nx + 1 - row % 2 for row in range(ny + 1)]
    starts = np.cumsum([0, *counts]).tolist()
    x = [(np.arange(c) + row % 2 / 2) * side for row, c in enumerate(counts)]
    y = np.repeat(np.arange(ny + 1) * (side * np.sqrt(3) / 2), counts)
    points = np.column_stack([np.concatenate(x), y])
    triangles = []
    for row in range(ny):
        low, high = starts[row], starts[row + 1]
        i, j = np.arange(nx), np.arange(nx - 1)
        if row % 2 == 0:
            triangles += [
                np.column_stack([low + i, low + i + 1, high + i]),
                np.column_stack([low + j + 1, high + j + 1, high + j]),
            ]
        else:
            triangles += [
                np.column_stack([low + i, high + i + 1, high + i]),
                np.column_stack([low + j, low + j + 1, high + j + 1]),
            ]
    return points, {"triangle": np.concatenate(triangles)}


def disc(rings: int, radius: float = 1.0, *, plane: str = "xy") -> Mesh:
    """A disc of triangles around the origin: ring k has 6k points at equal distances.

    rings : number of rings of triangles
    radius : [m]
    plane : as for `sheet`

    >>> disc(2)
    Mesh(19 points, 24 triangle)
    """
    rings, radius = check_count(rings, "rings"), check_length(radius, "radius")
    check_point_count(1 + 3 * rings * (rings + 1))
    k = np.repeat(np.arange(1, rings + 1), 6 * np.arange(1, rings + 1))
    i = np.concatenate([np.arange(6 * ring) for ring in range(1, rings + 1)])
    angle = 2 * np.pi * i / (6 * k)
    flat = np.concatenate(
        [
            [[0.0, 0.0]],
            (radius * k / rings)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]),
        ]
    )
    triangles = np.concatenate([_ring(ring) for ring in range(1, rings + 1)])
    return Mesh(place_in_plane(flat, plane), {"triangle": triangles})


def _ring(k: int) -> Int:
    """Triangles between ring k - 1 and ring k: in each of six sectors, k pointing in, k - 1 out."""
    inner, outer = 1 + 3 * (k - 2) * (k - 1) if k > 1 else 0, 1 + 3 * (k - 1) * k

    def within(step: Int) -> Int:
        return inner + step % max(6 * (k - 1), 1)

    def around(step: Int) -> Int:
        return outer + step % (6 * k)

    sector = np.repeat(np.arange(6), k)
    j = np.tile(np.arange(k), 6)
    inwards = np.column_stack(
        [around(sector * k + j), around(sector * k + j + 1), within(sector * (k - 1) + j)]
    )
    sector, j = np.repeat(np.arange(6), k - 1), np.tile(np.arange(k - 1), 6)
    outwards = np.column_stack(
        [around(sector * k + j + 1), within(sector * (k - 1) + j + 1), within(sector * (k - 1) + j)]
    )
    return np.concatenate([inwards, outwards])


def cylinder(
    around: int, along: int, radius: float = 1.0, height: float = 1.0, *, pattern: str = "quad"
) -> Mesh:
    """An open tube about the y axis, from y = 0 up, of around × along cells.

    around, along : number of cells
    radius, height : [m]
    pattern : "quad", "one-diagonal" or "alternating"

    >>> cylinder(12, 4).boundary_edges.shape
    (24, 2)
    """
    around, along = check_count(around, "around", 3), check_count(along, "along")
    radius, height = check_length(radius, "radius"), check_length(height, "height")
    check_point_count(around * (along + 1))
    i, j = (a.ravel() for a in np.meshgrid(np.arange(around), np.arange(along + 1)))
    # Clockwise from above, so that faces point outwards.
    angle = -2 * np.pi * i / around
    points = np.column_stack([radius * np.cos(angle), height * j / along, radius * np.sin(angle)])
    return Mesh(points, grid_cells(around, along, pattern, closed_x=True))


def torus(
    around: int, across: int, radius: float = 1.0, tube: float = 0.3, *, pattern: str = "quad"
) -> Mesh:
    """A torus about the y axis of around × across cells.

    around, across : number of cells
    radius : of the centre line [m]
    tube : radius of the tube [m], less than `radius`
    pattern : "quad", "one-diagonal" or "alternating"

    >>> torus(24, 12).boundary_edges.shape
    (0, 2)
    """
    around, across = check_count(around, "around", 3), check_count(across, "across", 3)
    check_point_count(around * across)
    radius, tube = check_length(radius, "radius"), check_length(tube, "tube")
    if tube >= radius:
        raise MeshError(
            f"tube must be less than radius, got {tube:g} m and {radius:g} m: "
            "the torus would intersect itself"
        )
    i, j = (a.ravel() for a in np.meshgrid(np.arange(around), np.arange(across)))
    u, v = -2 * np.pi * i / around, 2 * np.pi * j / across
    out = radius + tube * np.cos(v)
    points = np.column_stack([out * np.cos(u), tube * np.sin(v), out * np.sin(u)])
    return Mesh(points, grid_cells(around, across, pattern, closed_x=True, closed_y=True))


def sphere(n: int, radius: float = 1.0) -> Mesh:
    """A sphere around the origin: an icosahedron with edges divided into n parts.

    It has 20 n² triangles and 10 n² + 2 points.

    n : number of parts of each edge
    radius : [m]

    >>> sphere(4)
    Mesh(162 points, 320 triangle)
    """
    n, radius = check_count(n, "n"), check_length(radius, "radius")
    check_point_count(10 * n * n + 2)
    corners, faces = _icosahedron()
    # A point is identified by its integer weights on the twelve corners; equal weights are one
    # point, so that nothing has to be welded by distance.
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    i, j = i[i + j <= n], j[i + j <= n]
    weights = np.zeros((len(faces), len(i), 12), np.int64)
    for corner, part in enumerate((n - i - j, i, j)):
        np.put_along_axis(weights, faces[:, None, corner, None], part[None, :, None], axis=2)
    names, where = np.unique(weights.reshape(-1, 12), axis=0, return_inverse=True)
    number = where.reshape(len(faces), -1)
    at = np.full((n + 1, n + 1), -1)
    at[i, j] = np.arange(len(i))
    up = np.column_stack([at[a, b] for a, b in ((i, j), (_up(i, n), j), (i, _up(j, n)))])[i + j < n]
    down = np.column_stack([at[_up(i, n), j], at[_up(i, n), _up(j, n)], at[i, _up(j, n)]])[
        i + j < n - 1
    ]
    triangles = number[:, np.concatenate([up, down])].reshape(-1, 3)
    points = names @ corners
    return Mesh(
        radius * points / np.linalg.norm(points, axis=1, keepdims=True), {"triangle": triangles}
    )


def _up(i: Int, n: int) -> Int:
    """The next index, clipped at n: entries beyond are not used."""
    return np.minimum(i + 1, n)


def _icosahedron() -> tuple[Float, Int]:
    """Corners (12, 3) on the unit sphere, one at the top, and outward faces (20, 3)."""
    turn = 2 * np.pi * np.arange(5) / 5
    ring = np.column_stack([2 * np.cos(turn), np.ones(5), -2 * np.sin(turn)]) / np.sqrt(5)
    lower = np.column_stack(
        [2 * np.cos(turn + np.pi / 5), -np.ones(5), -2 * np.sin(turn + np.pi / 5)]
    ) / np.sqrt(5)
    a, b = np.arange(5), (np.arange(5) + 1) % 5
    top, bottom = np.zeros(5, np.int64), np.full(5, 11)
    faces = [
        (top, 1 + a, 1 + b),
        (1 + a, 6 + a, 1 + b),
        (1 + b, 6 + a, 6 + b),
        (6 + a, bottom, 6 + b),
    ]
    return np.concatenate([[[0, 1, 0]], ring, lower, [[0, -1, 0]]]), np.concatenate(
        [np.column_stack(f) for f in faces]
    )


PATTERNS = ("quad", "one-diagonal", "alternating")


def grid_cells(
    nx: int, ny: int, pattern: str, *, closed_x: bool = False, closed_y: bool = False
) -> dict[str, Int]:
    """The nx·ny cells of a grid numbered along x first; a closed direction is periodic.

    pattern : "quad", "one-diagonal" (all diagonals alike) or "alternating" (mirrored from one cell
        to the next)

    >>> grid_cells(1, 1, "one-diagonal")["triangle"].tolist()
    [[0, 1, 3], [0, 3, 2]]
    """
    check_choice(pattern, "pattern", PATTERNS)
    width, height = nx + (not closed_x), ny + (not closed_y)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(nx), np.arange(ny)))
    quads = np.stack(
        [_at(i + di, j + dj, width, height) for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1))], axis=1
    )
    if pattern == "quad":
        return {"quad": quads}
    if pattern == "alternating" and ((closed_x and nx % 2) or (closed_y and ny % 2)):
        raise MeshError("an alternating pattern closes only over an even number of cells")
    other = (i + j) % 2 == 1 if pattern == "alternating" else np.zeros(len(quads), bool)
    triangles = np.where(
        other[:, None, None], quads[:, [[0, 1, 3], [1, 2, 3]]], quads[:, [[0, 1, 2], [0, 2, 3]]]
    )
    return {"triangle": triangles.reshape(-1, 3)}


def _at(i: Int, j: Int, width: int, height: int) -> Int:
    """The number of a point, around the end where the grid is closed."""
    return (j % height) * width + i % width
