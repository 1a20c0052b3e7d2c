"""What the properties of a PLY file mean.

Further numbers at vertices become maps of their names, those at faces and edges data of cells; lists of equal length become maps
with several columns. Red, green and blue become the map "color" (0 to 1); s and t, u and v or texture_u and texture_v at vertices
and `texcoord` at faces become texture coordinates; normals are not kept. Properties named "group:NAME" hold groups.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.blocks import by_size, face_kind
from taut.mesh.files.ply_body import Columns
from taut.mesh.files.text import outside
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV, Cells, Groups

GROUP = "group:"
TEXTURE_LIST = "texcoord"
CORNERS = ("vertex_indices", "vertex_index")
COLOUR = ("red", "green", "blue")
TEXTURE = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
NORMAL = ("nx", "ny", "nz")
Int = NDArray[np.int64]
Maps = dict[str, NDArray[Any]]


class _Building:
    """The mesh so far."""

    def __init__(self, path: Path, lines: dict[str, list[int]]) -> None:
        self.path, self.lines = path, lines
        self.n = 0
        self.cells: Cells = {}
        self.uv_corners: Cells = {}
        self.groups: Groups = {}
        self.cell_data: dict[str, Maps] = {}

    def error(self, message: str, element: str, i: int) -> MeshError:
        line = self.lines[element][i] + 1 if element in self.lines else None
        return MeshError(message, path=self.path, line=line, element=f"{element} {i}")

    def add(self, element: str, which: Int, index: NDArray[Any], maps: Maps) -> None:
        """Cells of one size: rows `which` of an element, with these corners."""
        if not len(index):
            return
        if index.shape[1] < 2:
            raise self.error(f"it has {index.shape[1]} corners", element, int(which[0]))
        wrong = outside(index, self.n, 0)
        if len(wrong):
            raise self.error(f"it names a vertex that is not there; there are {self.n}", element, int(which[wrong[0]]))
        kind = face_kind(index.shape[1])
        if kind in self.cells:
            raise self.error(f"{kind} cells stand in two elements of the file", element, int(which[0]))
        self.cells[kind] = index.astype(np.int64)
        for name, values in maps.items():
            if name.startswith(GROUP):
                self.groups.setdefault(name.removeprefix(GROUP), {})[kind] = np.flatnonzero(values[which])
            else:
                self.cell_data.setdefault(name, {})[kind] = values[which]


def mesh_from(path: Path, columns: dict[str, Columns], lines: dict[str, list[int]]) -> Mesh:
    """The mesh from the columns of all elements; lines[element][i] is the line of row i, in a text file."""
    made = _Building(path, lines)
    vertex = columns.get("vertex", {})
    if not all(isinstance(vertex.get(axis), np.ndarray) for axis in "xyz"):
        raise MeshError("the header names no vertices with x, y and z", path=path)
    points = np.column_stack([vertex[axis].astype(np.float64) for axis in "xyz"])
    made.n = len(points)
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise made.error("a number is not finite", "vertex", int(bad[0]))
    point_data = _maps(vertex, {*"xyz", *NORMAL})
    for name in [name for name in point_data if name.startswith(GROUP)]:
        made.groups[name.removeprefix(GROUP)] = {"point": np.flatnonzero(point_data.pop(name))}
    face, edge = columns.get("face", {}), columns.get("edge", {})
    listed = next((face[name] for name in CORNERS if isinstance(face.get(name), tuple)), None)
    uv = None
    if listed is not None:
        maps = _maps(face, {*CORNERS, TEXTURE_LIST})
        for which, index in by_size(*listed).values():
            made.add("face", which, index, maps)
        uv = _face_uv(face.get(TEXTURE_LIST), *listed)
    if all(isinstance(edge.get(end), np.ndarray) for end in ("vertex1", "vertex2")):
        ends = np.column_stack([edge["vertex1"], edge["vertex2"]])
        made.add("edge", np.arange(len(ends)), ends, _maps(edge, {"vertex1", "vertex2"}))
    if isinstance(strips := columns.get("tristrips", {}).get("vertex_indices"), tuple):
        triangles = np.concatenate([np.empty((0, 3), np.int64), *map(_strip, np.split(strips[0], np.cumsum(strips[1])[:-1]))])
        made.add("tristrips", np.zeros(len(triangles), np.int64), triangles, {})
    vertex_uv = _vertex_uv(point_data, made.cells)
    return Mesh(points, made.cells, groups=made.groups, point_data=point_data, cell_data=made.cell_data, uv=uv or vertex_uv)


def _maps(columns: Columns, apart: set[str]) -> Maps:
    """Columns of numbers by name, with colours as one; lists whose lengths differ from row to row are none."""
    found: Maps = {}
    for name, column in columns.items():
        if name in apart:
            continue
        if isinstance(column, tuple):
            flat, counts = column
            if len(counts) and (counts == counts[0]).all() and counts[0] > 0:
                found[name] = flat.reshape(len(counts), -1)
        else:
            found[name] = column
    if all(name in found and found[name].ndim == 1 for name in COLOUR):
        color = np.column_stack([found.pop(name) for name in COLOUR])
        found["color"] = color / 255 if color.dtype.kind in "iu" or (color.size and color.max() > 1) else color.astype(np.float64)
    return found


def _vertex_uv(point_data: Maps, cells: Cells) -> UV | None:
    """Texture coordinates given at the vertices, which are then no maps any more."""
    for pair in TEXTURE:
        if all(name in point_data and point_data[name].ndim == 1 for name in pair):
            coordinates = np.column_stack([point_data.pop(name) for name in pair]).astype(np.float64)
            return UV(coordinates, {kind: c for kind, c in cells.items() if kind != "line"})
    return None


def _face_uv(column: Any, flat: NDArray[Any], counts: Int) -> UV | None:
    """Texture coordinates given at the faces: two numbers per corner, or none for a face without."""
    if not isinstance(column, tuple) or not len(column[0]):
        return None
    numbers, lengths = column
    coordinates = numbers[: len(numbers) // 2 * 2].reshape(-1, 2).astype(np.float64)
    start = (np.cumsum(lengths) - lengths) // 2
    corners: Cells = {}
    for size, (which, _) in by_size(flat, counts).items():
        if size > 2:
            whole = lengths[which] == 2 * size
            corners[face_kind(size)] = np.where(whole[:, None], start[which][:, None] + np.arange(size), -1)
    missing = ~np.isfinite(coordinates).all(axis=1)
    corners = {kind: np.where((c >= 0) & missing[c], -1, c) for kind, c in corners.items()}
    return UV(np.where(missing[:, None], 0.0, coordinates), corners)


def _strip(indices: NDArray[Any]) -> Int:
    """The triangles of strips, one after the other with -1 between them; every second one is turned."""
    found = [np.empty((0, 3), np.int64)]
    for strip in np.split(indices.astype(np.int64), np.flatnonzero(indices == -1)):
        corners = strip[strip != -1]
        if len(corners) > 2:
            triangles = np.column_stack([corners[:-2], corners[1:-1], corners[2:]])
            triangles[1::2] = triangles[1::2, [1, 0, 2]]
            found.append(triangles)
    return np.concatenate(found)
