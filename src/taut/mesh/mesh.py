"""The Mesh: points, the cells between them, and named groups and data of both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.mesh import topology
from taut.mesh.inversion import collect_corner_tets
from taut.mesh.kinds import Kind, get_kind
from taut.mesh.measure import enclosed_volume, measures
from taut.mesh.parts import (
    UV,
    Cells,
    Groups,
    ReadOnlyDict,
    check_cell_data,
    check_cells,
    check_data,
    check_groups,
    check_mapping,
    check_points,
    check_uv,
    freeze,
    freeze_tables,
)
from taut.mesh.selection.select import corners, select
from taut.mesh.sketch import card, sketch
from taut.mesh.triangulate import triangulate


class Mesh:
    """Points and cells: lines, faces and solids in any mixture. Immutable; `with_` makes changes.

    points : positions [m], shape (n, 3), or (n, 2) for a mesh in the plane
    cells : point indices by kind, {"line": (m, 2), "triangle": (m, 3), "quad": (m, 4), "polygon5":
        (m, 5)…, "tet": (m, 4), "pyramid": (m, 5), "wedge": (m, 6), "hex": (m, 8)}, corners in the
        order of Gmsh and VTK
    groups : named sets, {name: {"point" or a kind: indices}}; {name: indices} is a set of points
    point_data : per-vertex maps, {name: (n,) or (n, k)}
    cell_data : {name: {kind: (m,) or (m, k)}}
    uv : texture coordinates, `UV`, per corner of each face

    Arrays are read-only. Derived arrays (`edges`, `hinges`…) are computed on first access.

    >>> mesh = Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], {"triangle": [[0, 1, 2], [0, 2, 3]]})
    >>> mesh
    Mesh(4 points in the plane, 2 triangle)
    >>> mesh.edges.tolist(), mesh.hinges.tolist()
    ([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]], [[1, 3, 2, 0]])
    """

    def __init__(
        self,
        points: ArrayLike,
        cells: Mapping[str, ArrayLike],
        *,
        groups: Mapping[str, Any] | None = None,
        point_data: Mapping[str, ArrayLike] | None = None,
        cell_data: Mapping[str, Mapping[str, ArrayLike]] | None = None,
        uv: UV | None = None,
    ) -> None:
        self.points: Float = check_points(points)
        self.n = len(self.points)
        self.cells: Cells = ReadOnlyDict(check_cells(cells, self.n))
        sizes = {name: len(c) for name, c in self.cells.items()}
        self.groups: Groups = freeze_tables(check_groups(groups or {}, self.n, sizes))
        maps = check_mapping(point_data or {}, "point_data")
        self.point_data: dict[str, NDArray[Any]] = ReadOnlyDict(
            {str(k): check_data(k, v, self.n, "points") for k, v in maps.items()}
        )
        self.cell_data: dict[str, dict[str, NDArray[Any]]] = freeze_tables(
            check_cell_data(cell_data or {}, sizes)
        )
        self.uv: UV | None = check_uv(uv, self.cells)

    def with_(self, **changes: Any) -> Mesh:
        """Return a copy with other points, cells, groups, point_data, cell_data or uv."""
        parts = self._parts()
        unknown = set(changes) - set(parts)
        if unknown:
            raise MeshError(f"with_ takes {', '.join(parts)}, got '{min(unknown)}'")
        return Mesh(**(parts | changes))

    def _parts(self) -> dict[str, Any]:
        """Return the arguments from which an equal mesh can be built."""
        names = ("points", "cells", "groups", "point_data", "cell_data", "uv")
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and for other processes: without the arrays that are derived."""
        return _rebuild, (self._parts(),)

    def __repr__(self) -> str:
        points = f"{self.n} points in the plane" if self.flat else f"{self.n} points"
        counts = [f"{len(c)} {name}" for name, c in self.cells.items()]
        return f"Mesh({', '.join([points, *counts])})"

    def _repr_html_(self) -> str:
        """Show the mesh in a notebook: counts, groups and a drawing."""
        size = " × ".join(f"{side:.4g}" for side in np.ptp(self.points, axis=0)) if self.n else "0"
        facts: list[tuple[str, object]] = [("points", f"{self.n:,}")]
        facts += [(name, f"{len(c):,}") for name, c in self.cells.items()]
        facts.append(("size", f"{size} m"))
        for name, group in list(self.groups.items())[:8]:
            counts = ", ".join(f"{len(i):,} {kind}" for kind, i in group.items())
            facts.append((f"group {name}", counts))
        outside = triangulate(self.positions, list(self.boundary_faces.values()))
        lines = self._cells("line", 2)
        drawing = sketch(self.positions, faces=self.triangles, outside=outside, lines=lines)
        return card("Mesh", facts, [drawing])

    @property
    def flat(self) -> bool:
        """Whether the points have two coordinates."""
        return self.points.shape[1] == 2

    @cached_property
    def positions(self) -> Float:
        """Positions [m] in space, shape (n, 3); z = 0 for a mesh in the plane."""
        return (
            freeze(np.column_stack([self.points, np.zeros(self.n)])) if self.flat else self.points
        )

    def blocks(self, *dimensions: int) -> list[tuple[Kind, Int]]:
        """Kinds of cell and their cells, ordered lines, faces, solids; dimensions filter them."""
        every = [(get_kind(name), c) for name, c in self.cells.items()]
        return [(k, c) for k, c in every if not dimensions or k.dimension in dimensions]

    @cached_property
    def triangles(self) -> Int:
        """All faces as triangles, shape (k, 3).

        Triangles first, then quads and polygons, cut up.
        """
        return freeze(triangulate(self.positions, [c for _, c in self.blocks(2)]))

    @cached_property
    def edges(self) -> Int:
        """The edges of all cells, each once, the smaller index first, sorted, shape (k, 2)."""
        return freeze(topology.cell_edges(self.blocks(), self.n))

    @cached_property
    def diagonals(self) -> Int:
        """Face diagonals, each once, shape (k, 2).

        Pairs of corners two apart around each face, faces of solids included, that are not edges.
        """
        found = topology.face_diagonals(self.blocks(2, 3), self.n)
        return freeze(topology.exclude(found, self.edges, self.n))

    @cached_property
    def body_diagonals(self) -> Int:
        """The long diagonals of hexahedra, each once, shape (k, 2)."""
        found = topology.unique_pairs(
            topology.pairs((c, k.body_diagonals) for k, c in self.blocks(3)), self.n
        )
        return freeze(topology.exclude(found, self.edges, self.n))

    @cached_property
    def skips(self) -> Int:
        """Skip-one pairs, each once, shape (k, 2), edges excluded.

        Along grid lines of quads and hexahedra: the ends of two successive edges, where the grid
        line continues unambiguously. Along lines that are not edges of faces or solids: the ends of
        two lines, each the other's straightest continuation, turned by less than 45°, or by less
        than 90° where only two lines meet. Across edges of triangles: the two opposite corners.
        """
        found = topology.skips(self.positions, self._cells("line", 2), self.blocks(2, 3), self.n)
        return freeze(topology.exclude(found, self.edges, self.n))

    def _cells(self, name: str, size: int) -> Int:
        """The cells of a kind, (m, size); an empty array if the mesh has none."""
        return self.cells.get(name, np.empty((0, size), np.int64))

    @cached_property
    def hinges(self) -> Int:
        """Pairs of triangles that share an edge, shape (k, 4), as (c, d, a, b).

        a→b is the edge, directed as in the first triangle; c is opposite it there, d opposite it in
        the second triangle. Quads and polygons count as the `triangles` they are cut into. An edge
        of k > 2 triangles makes k - 1 hinges.
        """
        return freeze(topology.hinges(self.triangles, self.n))

    @cached_property
    def rod_hinges(self) -> Int:
        """Successive lines (a, v, b), shape (k, 3), at each v where exactly two lines meet."""
        return freeze(topology.rod_hinges(self._cells("line", 2), self.n))

    @cached_property
    def boundary_edges(self) -> Int:
        """Edges of exactly one face, directed as that face runs, shape (k, 2)."""
        return freeze(topology.boundary_edges([c for _, c in self.blocks(2)], self.n))

    @cached_property
    def boundary_faces(self) -> Cells:
        """Faces of exactly one solid, {"triangle": (k, 3), "quad": (l, 4)}.

        They face outwards where the volume of the solid is positive.
        """
        faces: dict[str, list[Int]] = {"triangle": [], "quad": []}
        for k, c in self.blocks(3):
            for face in k.faces:
                faces["triangle" if len(face) == 3 else "quad"].append(c[:, list(face)])
        stacked = {name: np.concatenate(blocks) for name, blocks in faces.items() if blocks}
        found = dict(zip(stacked, topology.boundary_faces(list(stacked.values())), strict=True))
        return {name: freeze(block) for name, block in found.items() if len(block)}

    @cached_property
    def corner_tets(self) -> Int:
        """The tetrahedra that the edges at the corners of solids span, shape (k, 4).

        A tetrahedron is its own, a hexahedron has eight. Their volumes are positive in a convex
        solid.
        """
        return freeze(collect_corner_tets(self.blocks(3))[0])

    @cached_property
    def boundary(self) -> Int:
        """Points on the boundary, sorted.

        The boundary of the solids if there are any, else of the faces, else the ends of lines.
        """
        if self.blocks(3):
            on = [f.ravel() for f in self.boundary_faces.values()]
        elif self.blocks(2):
            on = [self.boundary_edges.ravel()]
        else:
            count = np.bincount(self.edges.ravel(), minlength=self.n)
            on = [np.flatnonzero(count == 1)]
        return freeze(np.unique(np.concatenate([np.empty(0, np.int64), *on])))

    @cached_property
    def components(self) -> Int:
        """Connected component of each point, shape (n,), numbered by their first points."""
        star = topology.pairs(
            (c, tuple((0, i) for i in range(1, k.size))) for k, c in self.blocks()
        )
        return freeze(topology.components(star, self.n))

    def select(self, what: Any) -> Int:
        """Points, distinct and sorted, by index, by mask or in words.

        what : an index, a sequence of indices (negative ones are an error), a mask of shape (n,),
            or a text: all, none, boundary, corners, corners(top), the name of a group (quoted if it
            is not a plain word, or is one of these), a comparison of coordinates [m] and per-vertex
            maps, such as `y > 0.9*max`, `0.2 <= x < 0.5`, `hypot(x, z) < 0.1` or `weight >= 0.5`,
            box(x0, y0, z0, x1, y1, z1) [m], nearest(x, y, z) [m], points(0, 5, 10:20), and all
            these joined by `and`, `or`, `not` and parentheses

        In a comparison, min, max and mean refer to the other side, over all points; `max(y)` may be
        used in any number. Positions count as exact to 1e-9 of the size of the mesh. A text other
        than "none" that selects no point is an error.

        >>> Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], {"quad": [[0, 1, 3, 2]]}).select("y > 0.9*max")
        array([2, 3])
        """
        return select(self, what)

    def corners(self, side: str | None = None) -> Int:
        """The points nearest to the corners of the bounding box; side : "top", "left"… or None."""
        return corners(self, side)

    def measure(self, name: str) -> Float:
        """Length [m], area [m²] or signed volume [m³] of each cell of a kind, shape (m,)."""
        if name not in self.cells:
            raise MeshError(
                f"the mesh has no {name} cells; its kinds are {', '.join(self.cells) or 'none'}"
            )
        return measures(self.positions, self.cells[name], get_kind(name))

    @cached_property
    def lengths(self) -> Float:
        """Lengths [m] of `edges`, shape (k,)."""
        return freeze(np.linalg.norm(np.diff(self.positions[self.edges], axis=1)[:, 0], axis=1))

    @cached_property
    def areas(self) -> Float:
        """Areas [m²] of all faces, in the order of `cells`: the magnitude of the vector area."""
        return freeze(
            np.concatenate([np.empty(0), *(self.measure(k.name) for k, _ in self.blocks(2))])
        )

    @cached_property
    def volumes(self) -> Float:
        """Signed volumes [m³] of all solids, in the order of `cells`; negative where inverted."""
        return freeze(
            np.concatenate([np.empty(0), *(self.measure(k.name) for k, _ in self.blocks(3))])
        )

    @cached_property
    def enclosed_volume(self) -> float:
        """The volume [m³] inside the faces, negative if they face inwards.

        The faces must form closed, consistently oriented surfaces.
        """
        if not len(self.triangles):
            raise MeshError("a mesh without faces encloses no volume")
        topology.check_closed(self.triangles, self.n)
        return enclosed_volume(self.positions, self.triangles)


def _rebuild(parts: dict[str, Any]) -> Mesh:
    return Mesh(**parts)
