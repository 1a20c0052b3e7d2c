"""The Mesh: points, the cells between them, and what is known of both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import MeshError
from taut.mesh import topology
from taut.mesh.kinds import Kind, known
from taut.mesh.measure import enclosed_volume, measures
from taut.mesh.parts import (
    UV,
    Cells,
    Fixed,
    Groups,
    check_cell_data,
    check_cells,
    check_data,
    check_groups,
    check_points,
    check_uv,
    named,
)
from taut.mesh.selection.corners import corners
from taut.mesh.selection.select import select
from taut.mesh.sketch import card, sketch
from taut.mesh.triangulate import triangulate

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Mesh:
    """Points and cells: lines, faces and solids, mixed as you like. It does not change; `with_` gives a changed one.

    points : positions [m], shape (n, 3), or (n, 2) for a mesh in the plane
    cells : point indices by kind, {"line": (m, 2), "triangle": (m, 3), "quad": (m, 4), "polygon5": (m, 5)…, "tet": (m, 4),
        "pyramid": (m, 5), "wedge": (m, 6), "hex": (m, 8)}, corners in the order of Gmsh and VTK
    groups : named sets, {name: {"point" or a kind: indices}}; {name: indices} is a set of points
    point_data : per-vertex maps, {name: (n,) or (n, k)}
    cell_data : {name: {kind: (m,) or (m, k)}}
    uv : texture coordinates, `UV`, per corner of each face

    Arrays are read-only. Anything derived (`edges`, `hinges`…) is computed when first asked for.

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
        self.cells: Cells = Fixed(check_cells(cells, self.n))
        sizes = {name: len(c) for name, c in self.cells.items()}
        self.groups: Groups = _fixed(check_groups(groups or {}, self.n, sizes))
        maps = named(point_data or {}, "point_data")
        self.point_data: dict[str, NDArray[Any]] = Fixed({str(k): check_data(k, v, self.n, "points") for k, v in maps.items()})
        self.cell_data: dict[str, dict[str, NDArray[Any]]] = _fixed(check_cell_data(cell_data or {}, sizes))
        self.uv: UV | None = check_uv(uv, self.cells)

    def with_(self, **changes: Any) -> Mesh:
        """The same mesh with other `points`, `cells`, `groups`, `point_data`, `cell_data` or `uv`."""
        parts = {name: getattr(self, name) for name in ("points", "cells", "groups", "point_data", "cell_data", "uv")}
        unknown = set(changes) - set(parts)
        if unknown:
            raise MeshError(f"a mesh has no '{min(unknown)}' to change; it has {', '.join(parts)}")
        return Mesh(**(parts | changes))

    def __repr__(self) -> str:
        counts = [f"{len(c)} {name}" for name, c in self.cells.items()]
        return f"Mesh({', '.join([f'{self.n} points' + (' in the plane' if self.flat else ''), *counts])})"

    def _repr_html_(self) -> str:
        """The mesh in a notebook: what there is of it, and a drawing."""
        size = " × ".join(f"{side:.4g}" for side in np.ptp(self.points, axis=0)) if self.n else "0"
        facts: list[tuple[str, object]] = [("points", f"{self.n:,}"), *((name, f"{len(c):,}") for name, c in self.cells.items())]
        counted = {name: ", ".join(f"{len(i):,} {kind}" for kind, i in group.items()) for name, group in self.groups.items()}
        facts += [("size", f"{size} m"), *((f"group {name}", text) for name, text in list(counted.items())[:8])]
        outside = triangulate(self.positions, list(self.boundary_faces.values()))
        return card("Mesh", facts, [sketch(self.positions, faces=self.triangles, outside=outside, lines=self._of("line", 2))])

    @property
    def flat(self) -> bool:
        """Whether the points have two coordinates."""
        return self.points.shape[1] == 2

    @cached_property
    def positions(self) -> Float:
        """Positions [m] in space, shape (n, 3); z = 0 for a mesh in the plane."""
        return _kept(np.column_stack([self.points, np.zeros(self.n)])) if self.flat else self.points

    def blocks(self, *dimensions: int) -> list[tuple[Kind, Int]]:
        """The kinds with these dimensions (all without one) and their cells, in the order lines, faces, solids."""
        every = [(known(name), c) for name, c in self.cells.items()]
        return [(k, c) for k, c in every if not dimensions or k.dimension in dimensions]

    @cached_property
    def triangles(self) -> Int:
        """All faces as triangles, shape (k, 3): triangles first, then quads and polygons, cut along diagonals."""
        return _kept(triangulate(self.positions, [c for _, c in self.blocks(2)]))

    @cached_property
    def edges(self) -> Int:
        """The edges of all cells, each once, the smaller index first, sorted, shape (k, 2)."""
        return _kept(topology.unique_pairs(topology.pairs((c, k.edges) for k, c in self.blocks()), self.n))

    @cached_property
    def diagonals(self) -> Int:
        """Face diagonals, each once, shape (k, 2): pairs of corners two apart around each face, of solids too, that are no edge."""
        local = [
            (c, tuple((f[i], f[(i + 2) % len(f)]) for f in k.faces if len(f) > 3 for i in range(len(f))))
            for k, c in self.blocks(2, 3)
        ]
        return _kept(topology.without(topology.unique_pairs(topology.pairs(local), self.n), self.edges, self.n))

    @cached_property
    def body_diagonals(self) -> Int:
        """The long diagonals of hexahedra, each once, shape (k, 2)."""
        found = topology.unique_pairs(topology.pairs((c, k.body_diagonals) for k, c in self.blocks(3)), self.n)
        return _kept(topology.without(found, self.edges, self.n))

    @cached_property
    def skips(self) -> Int:
        """Skip-one pairs, each once, shape (k, 2), that are no edge.

        Along grid lines of quads and hexahedra: the ends of two successive edges, through a point where the line goes on in one way
        only. Along lines that are no edges of faces or solids: through a point where each is the other's straightest continuation,
        turned by less than 45°, or by less than 90° where only two meet. Across the edges of triangles: the two corners opposite.
        """
        grid = [(k, c) for k, c in self.blocks(2, 3) if k.name in ("quad", "hex")]
        edges = topology.unique_pairs(topology.pairs((c, k.edges) for k, c in grid), self.n)
        local = [(c, tuple((i, j) for i in range(k.size) for j in range(i))) for k, c in grid]
        together = np.unique(topology.keys(topology.pairs(local), self.n))
        of_cells = topology.unique_pairs(topology.pairs((c, k.edges) for k, c in self.blocks(2, 3)), self.n)
        lines = topology.without(topology.unique_pairs(self._of("line", 2), self.n), of_cells, self.n)
        found = [
            topology.grid_skips(edges, together, self.n),
            topology.straight_skips(self.positions, lines, self.n),
            topology.hinges(self._of("triangle", 3), self.n)[:, :2],
        ]
        return _kept(topology.without(topology.unique_pairs(np.concatenate(found), self.n), self.edges, self.n))

    def _of(self, name: str, size: int) -> Int:
        """The cells of a kind; none if there are none."""
        return self.cells.get(name, np.empty((0, size), np.int64))

    @cached_property
    def hinges(self) -> Int:
        """Pairs of triangles over an interior edge, shape (k, 4), as (c, d, a, b): the edge a→b as it runs in the first triangle,
        c opposite it there, d opposite it in the second.

        Quads and polygons count as the `triangles` they are cut into. Of an edge of k > 2 triangles come k - 1 hinges.
        """
        return _kept(topology.hinges(self.triangles, self.n))

    @cached_property
    def rod_hinges(self) -> Int:
        """Successive lines (a, v, b), shape (k, 3): one at each point v where exactly two lines meet."""
        return _kept(topology.rod_hinges(self._of("line", 2), self.n))

    @cached_property
    def boundary_edges(self) -> Int:
        """Edges of exactly one face, directed as that face runs, shape (k, 2)."""
        return _kept(topology.boundary_edges([c for _, c in self.blocks(2)], self.n))

    @cached_property
    def boundary_faces(self) -> Cells:
        """Faces of exactly one solid, facing outwards where its volume is positive: {"triangle": (k, 3), "quad": (l, 4)}."""
        faces: dict[str, list[Int]] = {"triangle": [], "quad": []}
        for k, c in self.blocks(3):
            for face in k.faces:
                faces["triangle" if len(face) == 3 else "quad"].append(c[:, list(face)])
        stacked = {name: np.concatenate(blocks) for name, blocks in faces.items() if blocks}
        found = dict(zip(stacked, topology.boundary_faces(list(stacked.values())), strict=True))
        return {name: _kept(block) for name, block in found.items() if len(block)}

    @cached_property
    def boundary(self) -> Int:
        """Points on the boundary, sorted: of the solids if there are any, else of the faces, else the free ends of lines."""
        if self.blocks(3):
            on = [f.ravel() for f in self.boundary_faces.values()]
        elif self.blocks(2):
            on = [self.boundary_edges.ravel()]
        else:
            count = np.bincount(self.edges.ravel(), minlength=self.n)
            on = [np.flatnonzero(count == 1)]
        return _kept(np.unique(np.concatenate([np.empty(0, np.int64), *on])))

    @cached_property
    def components(self) -> Int:
        """The number of the connected component of each point, shape (n,), in the order of their first points."""
        star = topology.pairs((c, tuple((0, i) for i in range(1, k.size))) for k, c in self.blocks())
        return _kept(topology.components(star, self.n))

    def select(self, what: Any) -> Int:
        """Points, distinct and sorted, by index, by mask or in words.

        what : an index, a sequence of indices (from 0; a negative one is an error), a mask of shape (n,), or a text:
            all, none, boundary, corners, corners(top), the name of a group (quoted if it is no plain word or one of these),
            a comparison of coordinates [m] and per-vertex maps, such as `y > 0.9*max`, `0.2 <= x < 0.5`, `hypot(x, z) < 0.1` or
            `weight >= 0.5`, box(x0, y0, z0, x1, y1, z1) [m], nearest(x, y, z) [m], points(0, 5, 10:20),
            and all these joined by `and`, `or`, `not` and parentheses

        In a comparison min, max and mean are those of the other side over all points; `max(y)` may stand in any number. Positions
        count as exact to 1e-9 of the size of the mesh. A text other than "none" that selects no point is an error.

        >>> Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], {"quad": [[0, 1, 3, 2]]}).select("y > 0.9*max")
        array([2, 3])
        """
        return select(self, what)

    def corners(self, side: str | None = None) -> Int:
        """The points nearest to the corners of the bounding box; `side` ("top", "left", "front"…) keeps those of one side."""
        return corners(self, side)

    def measure(self, name: str) -> Float:
        """Length [m], area [m²] or volume [m³] of each cell of a kind, shape (m,); the volume of an inverted cell is negative."""
        if name not in self.cells:
            raise MeshError(f"there are no cells of the kind '{name}'; there are {', '.join(self.cells) or 'none'}")
        return measures(self.positions, self.cells[name], known(name))

    @cached_property
    def lengths(self) -> Float:
        """Lengths [m] of `edges`, shape (k,)."""
        return _kept(np.linalg.norm(np.diff(self.positions[self.edges], axis=1)[:, 0], axis=1))

    @cached_property
    def areas(self) -> Float:
        """Areas [m²] of all faces, in the order of `cells`; of a warped quad or polygon, that of its vector area."""
        return _kept(np.concatenate([np.empty(0), *(self.measure(k.name) for k, _ in self.blocks(2))]))

    @cached_property
    def volumes(self) -> Float:
        """Volumes [m³] of all solids, in the order of `cells`; negative where inverted."""
        return _kept(np.concatenate([np.empty(0), *(self.measure(k.name) for k, _ in self.blocks(3))]))

    @cached_property
    def enclosed_volume(self) -> float:
        """The volume [m³] inside the faces, which must be closed and consistently turned; negative if they face inwards."""
        if not len(self.triangles):
            raise MeshError("the faces enclose no volume: there are none")
        edges, faces, balance = topology.edge_balance(self.triangles, self.n)
        for wrong, why in (
            (faces == 1, "have one face only"),
            (balance != 0, "are run through the same way by both faces (see oriented)"),
        ):
            if wrong.any():
                a, b = edges[wrong][0].tolist()
                raise MeshError(f"the faces enclose no volume: {wrong.sum()} edges {why}, such as {a}-{b}", element=f"edge {a}-{b}")
        return enclosed_volume(self.positions, self.triangles)


def _fixed(by_name: dict[str, Any]) -> Any:
    """Read-only, and what is in it too."""
    return Fixed({name: Fixed(inner) for name, inner in by_name.items()})


def _kept(array: NDArray[Any]) -> Any:
    """Read-only, since it is shared."""
    array.setflags(write=False)
    return array
