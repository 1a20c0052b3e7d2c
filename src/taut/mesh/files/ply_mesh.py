"""What the properties of a PLY file mean.

Further numbers at vertices become maps of their names, those at faces and edges data of cells; lists of equal length become maps
with several columns. Red, green and blue become the map "color" (0 to 1); s and t, u and v or texture_u and texture_v at vertices
and `texcoord` at faces become texture coordinates; normals are not kept. Groups, and data of one kind of cell, are known by their
names (`over_all_cells`). What is not kept is named on the log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.blocks import by_size, face_kind
from taut.mesh.files.over_all_cells import GROUP, ONLY, is_group
from taut.mesh.files.ply_body import Columns, Table
from taut.mesh.files.ply_corners import face_uv, strip_triangles, vertex_uv
from taut.mesh.files.ply_names import decode
from taut.mesh.files.text import outside
from taut.mesh.kinds import kind as kind_of
from taut.mesh.mesh import Mesh
from taut.mesh.parts import Cells, Groups

TEXTURE_LIST = "texcoord"
CORNERS = ("vertex_indices", "vertex_index")
ENDS = ("vertex1", "vertex2")
COLOUR = ("red", "green", "blue")
NORMAL = ("nx", "ny", "nz")
NAMED = 20  # parts that are left out, as many as the log names
# data and groups are kept by kind of cell: how many such parts there may be; larger files may have more
PARTS = 2**16
BYTES_PER_PART = 24
Int = NDArray[np.int64]
Maps = dict[str, NDArray[Any]]
_log = logging.getLogger("taut")


class _Building:
    """The mesh so far."""

    def __init__(self, path: Path, size: int, tables: dict[str, Table]) -> None:
        self.path, self.size, self.tables = path, size, tables
        self.n = 0
        self.cells: Cells = {}
        self.groups: Groups = {}
        self.cell_data: dict[str, Maps] = {}
        self.left_out: list[str] = []

    def columns(self, element: str) -> Columns:
        """The columns of an element; none if it is not there."""
        return self.tables[element].columns if element in self.tables else {}

    def add(self, element: str, sized: Iterable[tuple[Int, NDArray[Any]]], maps: Maps) -> None:
        """Cells by their size: rows of an element, and their corners."""
        blocks = {face_kind(index.shape[1]): (which, index) for which, index in sized if len(index)}
        if len(blocks) * len(maps) > max(PARTS, self.size // BYTES_PER_PART):
            message = f"{len(maps)} properties of {len(blocks)} kinds of cell are too many for a file of {self.size} bytes"
            raise MeshError(message, path=self.path, element=f"element {element}")
        single = _of_one_kind(maps, set(blocks))
        groups = {name for name, values in maps.items() if is_group(name, values)}
        for kind, (which, index) in blocks.items():
            self._add_kind(element, kind, which, index)
            for name, values in maps.items():
                part = values[which]
                if name in groups:
                    self.groups.setdefault(decode(name.removeprefix(GROUP)), {})[kind] = np.flatnonzero(part)
                elif name not in single:
                    self.cell_data.setdefault(decode(name), {})[kind] = part
                elif single[name][0] == kind:
                    self.cell_data.setdefault(single[name][1], {})[kind] = part

    def _add_kind(self, element: str, kind: str, which: Int, index: NDArray[Any]) -> None:
        """Cells of one kind: rows `which` of an element, with these corners."""
        error = self.tables[element].error
        if kind_of(kind) is None:
            raise error(f"it has {index.shape[1]} corners", int(which[0]))
        if index.dtype.kind == "f" and not (whole := (index == np.round(index)).all(axis=1)).all():
            raise error("a corner is no whole number", int(which[np.argmin(whole)]))
        wrong = outside(index, self.n, 0)
        if len(wrong):
            raise error(f"it names a vertex that is not there; there are {self.n}", int(which[wrong[0]]))
        if kind in self.cells:
            raise error(f"{kind} cells stand in two elements of the file", int(which[0]))
        self.cells[kind] = index.astype(np.int64)

    def maps(self, element: str, apart: set[str]) -> Maps:
        """Columns of numbers by name, with colours as one; lists whose lengths differ from row to row are none."""
        found: Maps = {}
        for name, column in self.columns(element).items():
            if name in apart:
                continue
            if isinstance(column, tuple):
                flat, counts = column
                if len(counts) and (counts == counts[0]).all() and counts[0] > 0:
                    found[name] = flat.reshape(len(counts), -1)
                elif len(counts):
                    self.left_out.append(f"{element}.{name} (lists of different lengths)" if len(flat) else f"{element}.{name}")
            else:
                found[name] = column
        if all(name in found and found[name].ndim == 1 for name in COLOUR) and "color" not in found:
            color = np.column_stack([found.pop(name) for name in COLOUR])
            bytewise = color.dtype.kind in "iu" or (color.size and color.max() > 1)
            found["color"] = color / 255 if bytewise else color.astype(np.float64)
        return found


def mesh_from(path: Path, size: int, tables: dict[str, Table]) -> Mesh:
    """The mesh from the columns of all elements; `size` is that of the file [bytes]."""
    made = _Building(path, size, tables)
    vertex = made.columns("vertex")
    if not all(isinstance(vertex.get(axis), np.ndarray) for axis in "xyz"):
        raise MeshError("the header names no vertices with x, y and z", path=path)
    points = np.column_stack([vertex[axis].astype(np.float64) for axis in "xyz"])
    made.n = len(points)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        raise tables["vertex"].error("a number is not finite", int(np.argmin(finite)))
    made.left_out += [f"vertex.{name}" for name in NORMAL if name in vertex]
    point_data: Maps = {}
    for name, values in made.maps("vertex", {*"xyz", *NORMAL}).items():
        if is_group(name, values):
            made.groups[decode(name.removeprefix(GROUP))] = {"point": np.flatnonzero(values)}
        else:
            point_data[decode(name)] = values
    uv = _add_cells(made)
    if uv is None:
        uv = vertex_uv(point_data, made.cells)
    if made.left_out:
        more = len(made.left_out) - NAMED
        named = ", ".join(made.left_out[:NAMED]) + (f" and {more} more" if more > 0 else "")
        _log.info("%s: left out what a mesh does not hold: %s", path, named)
    return Mesh(points, made.cells, groups=made.groups, point_data=point_data, cell_data=made.cell_data, uv=uv)


def _add_cells(made: _Building) -> Any:
    """Add faces, edges and strips; texture coordinates come back if the faces have any."""
    uv = None
    used = {"vertex"}
    face, edge, strips = made.columns("face"), made.columns("edge"), made.columns("tristrips").get(CORNERS[0])
    corners = next((name for name in CORNERS if isinstance(face.get(name), tuple)), None)
    if corners is not None:
        used.add("face")
        listed = face[corners]
        textured = isinstance(face.get(TEXTURE_LIST), tuple)
        maps = made.maps("face", {corners, TEXTURE_LIST} if textured else {corners})
        made.add("face", by_size(*listed).values(), maps)
        if textured:
            uv, odd = face_uv(*face[TEXTURE_LIST], *listed)
            made.left_out += [f"face.{TEXTURE_LIST} of {odd} faces that have not two numbers for each corner"] if odd else []
    if all(isinstance(edge.get(end), np.ndarray) for end in ENDS):
        used.add("edge")
        ends = np.column_stack([edge[end] for end in ENDS])
        made.add("edge", [(np.arange(len(ends)), ends)], made.maps("edge", {*ENDS}))
    if isinstance(strips, tuple):
        used.add("tristrips")
        triangles, which = strip_triangles(*strips)
        made.add("tristrips", [(which, triangles)], {})
        made.left_out += [f"tristrips.{name}" for name in made.columns("tristrips") if name != CORNERS[0]]
    made.left_out += [f"the element {name}" for name in made.tables if name not in used]
    return uv


def _of_one_kind(maps: Maps, kinds: set[str]) -> dict[str, tuple[str, str]]:
    """The kind and the name of data that one kind alone has, by their property; where others have such data too, it is none."""
    found = {name: only for name in maps if (only := ONLY.fullmatch(name)) is not None}
    return {name: (only[1], decode(only[2])) for name, only in found.items() if only[1] in kinds and only[2] not in maps}
