"""What the properties of a PLY file mean.

Further numbers at vertices become maps of their names, those at faces and edges cell data; lists of
equal length become maps with several columns. Red, green and blue become the map "color" (0 to 1);
s and t, u and v or texture_u and texture_v at vertices and `texcoord` at faces become texture
coordinates; normals are not kept. Groups, and data of one kind of cell, are known by their names
(see `cells_and_groups`). What is not kept is named on the log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Int
from taut.errors import MeshError
from taut.mesh.files.cells_and_groups import (
    GROUP_PREFIX,
    ONE_KIND,
    group_by_length,
    is_group,
    name_face_kind,
)
from taut.mesh.files.ply._header import Columns, Table, decode_name
from taut.mesh.files.text_reader import explain_unknown_point, find_cells_outside
from taut.mesh.kinds import find_kind
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV, Cells, Groups

CORNER_LISTS = ("vertex_indices", "vertex_index")
TEXTURE_LIST = "texcoord"
ENDS = ("vertex1", "vertex2")
COLOUR = ("red", "green", "blue")
NORMAL = ("nx", "ny", "nz")
TEXTURE_PAIRS = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
_MAX_LOGGED = 20  # names of what is left out
# Data and groups are stored by kind of cell. A file may have this many such parts, or one per 24
# bytes, so that many properties times many kinds cannot fill the memory.
_MAX_PARTS = 2**16
_BYTES_PER_PART = 24
_Maps = dict[str, NDArray[Any]]
_log = logging.getLogger("taut")


class _Builder:
    """Collects cells, groups and data; `n` is the number of points."""

    def __init__(self, path: Path, file_size: int, tables: dict[str, Table]) -> None:
        self.path, self.file_size, self.tables = path, file_size, tables
        self.n = 0
        self.cells: Cells = {}
        self.groups: Groups = {}
        self.cell_data: dict[str, _Maps] = {}
        self.left_out: list[str] = []

    def get_columns(self, element: str) -> Columns:
        """Return the columns of an element; none if the file does not have it."""
        if element not in self.tables:
            return {}
        return self.tables[element].columns

    def add_cells(
        self, element: str, sized: Iterable[tuple[Int, NDArray[Any]]], maps: _Maps
    ) -> None:
        """Add the cells of an element, with their data and groups.

        sized : for each number of corners, the rows of the element and their corners
        maps : data of all rows
        """
        blocks = {
            name_face_kind(corners.shape[1]): (rows, corners)
            for rows, corners in sized
            if len(corners)
        }
        limit = max(_MAX_PARTS, self.file_size // _BYTES_PER_PART)
        if len(blocks) * len(maps) > limit:
            raise MeshError(
                f"properties times kinds of cell must be at most {limit} in a file of this size, "
                f"got {len(maps)} properties of {len(blocks)} kinds",
                path=self.path,
                element=f"element {element}",
            )
        single = _find_data_of_one_kind(maps, set(blocks))
        groups = {name for name, values in maps.items() if is_group(name, values)}
        for kind, (rows, corners) in blocks.items():
            self._add_kind(element, kind, rows, corners)
            for name, values in maps.items():
                part = values[rows]
                if name in groups:
                    group = decode_name(name.removeprefix(GROUP_PREFIX))
                    self.groups.setdefault(group, {})[kind] = np.flatnonzero(part)
                elif name not in single:
                    self.cell_data.setdefault(decode_name(name), {})[kind] = part
                elif single[name][0] == kind:
                    self.cell_data.setdefault(single[name][1], {})[kind] = part

    def _add_kind(self, element: str, kind: str, rows: Int, corners: NDArray[Any]) -> None:
        """Add cells of one kind: these rows of an element, with these corners."""
        error = self.tables[element].error
        if find_kind(kind) is None:
            raise error(f"must have at least 2 corners, got {corners.shape[1]}", int(rows[0]))
        if corners.dtype.kind == "f":
            fractional = np.flatnonzero((corners != np.round(corners)).any(axis=1))
            if len(fractional):
                i = int(fractional[0])
                got = corners[i][corners[i] != np.round(corners[i])][0]
                raise error(f"corners must be integers, got {got}", int(rows[i]))
        wrong = find_cells_outside(corners, self.n)
        if len(wrong):
            i = int(wrong[0])
            point = next(v for v in corners[i].tolist() if not 0 <= v < self.n)
            raise error(explain_unknown_point(point, self.n), int(rows[i]))
        if kind in self.cells:
            raise error(f"{kind} cells must be in one element, got them in two", int(rows[0]))
        self.cells[kind] = corners.astype(np.int64)

    def make_maps(self, element: str, excluded: set[str]) -> _Maps:
        """Return columns of numbers by name, with red, green and blue as one map "color"."""
        maps: _Maps = {}
        for name, column in self.get_columns(element).items():
            if name in excluded:
                continue
            if not isinstance(column, tuple):
                maps[name] = column
                continue
            flat, counts = column
            if len(counts) and (counts == counts[0]).all() and counts[0] > 0:
                maps[name] = flat.reshape(len(counts), -1)
            elif len(flat):
                self.left_out.append(f"{element}.{name} (lists of different lengths)")
            elif len(counts):
                self.left_out.append(f"{element}.{name}")
        if "color" not in maps and all(name in maps and maps[name].ndim == 1 for name in COLOUR):
            color = np.column_stack([maps.pop(name) for name in COLOUR])
            if color.dtype.kind in "iu" or (color.size and color.max() > 1):
                maps["color"] = color / 255
            else:
                maps["color"] = color.astype(np.float64)
        return maps


def build_mesh(path: Path, file_size: int, tables: dict[str, Table]) -> Mesh:
    """Return the mesh from the columns of all elements.

    file_size : [bytes]
    """
    builder = _Builder(path, file_size, tables)
    vertex = builder.get_columns("vertex")
    if not all(isinstance(vertex.get(axis), np.ndarray) for axis in "xyz"):
        raise MeshError("the header must name vertices with x, y and z", path=path)
    points = np.column_stack([vertex[axis].astype(np.float64) for axis in "xyz"])
    builder.n = len(points)
    infinite = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(infinite):
        i = int(infinite[0])
        got = points[i][~np.isfinite(points[i])][0]
        raise tables["vertex"].error(f"numbers must be finite, got {got}", i)
    builder.left_out += [f"vertex.{name}" for name in NORMAL if name in vertex]
    point_data: _Maps = {}
    for name, values in builder.make_maps("vertex", {*"xyz", *NORMAL}).items():
        if is_group(name, values):
            group = decode_name(name.removeprefix(GROUP_PREFIX))
            builder.groups[group] = {"point": np.flatnonzero(values)}
        else:
            point_data[decode_name(name)] = values
    uv = _add_all_cells(builder)
    if uv is None:
        uv = _take_vertex_uv(point_data, builder.cells)
    if builder.left_out:
        names = ", ".join(builder.left_out[:_MAX_LOGGED])
        if len(builder.left_out) > _MAX_LOGGED:
            names += f" and {len(builder.left_out) - _MAX_LOGGED} more"
        _log.info("%s: left out what a mesh does not hold: %s", path, names)
    return Mesh(
        points,
        builder.cells,
        groups=builder.groups,
        point_data=point_data,
        cell_data=builder.cell_data,
        uv=uv,
    )


def _add_all_cells(builder: _Builder) -> UV | None:
    """Add faces, edges and strips; return the texture coordinates of the faces, if any."""
    uv = None
    used = {"vertex"}
    face, edge = builder.get_columns("face"), builder.get_columns("edge")
    strips = builder.get_columns("tristrips").get(CORNER_LISTS[0])
    corner_list = next((name for name in CORNER_LISTS if isinstance(face.get(name), tuple)), None)
    if corner_list is not None:
        used.add("face")
        flat, counts = face[corner_list]
        has_texture = isinstance(face.get(TEXTURE_LIST), tuple)
        excluded = {corner_list, TEXTURE_LIST} if has_texture else {corner_list}
        maps = builder.make_maps("face", excluded)
        builder.add_cells("face", group_by_length(flat, counts).values(), maps)
        if has_texture:
            numbers, lengths = face[TEXTURE_LIST]
            uv, odd = _read_face_uv(numbers, lengths, flat, counts)
            if odd:
                builder.left_out.append(
                    f"face.{TEXTURE_LIST} of {odd} faces without two numbers for each corner"
                )
    if all(isinstance(edge.get(end), np.ndarray) for end in ENDS):
        used.add("edge")
        ends = np.column_stack([edge[end] for end in ENDS])
        maps = builder.make_maps("edge", {*ENDS})
        builder.add_cells("edge", [(np.arange(len(ends)), ends)], maps)
    if isinstance(strips, tuple):
        used.add("tristrips")
        triangles, rows = split_strips(*strips)
        builder.add_cells("tristrips", [(rows, triangles)], {})
        names = builder.get_columns("tristrips")
        builder.left_out += [f"tristrips.{name}" for name in names if name != CORNER_LISTS[0]]
    builder.left_out += [f"the element {name}" for name in builder.tables if name not in used]
    return uv


def _find_data_of_one_kind(maps: _Maps, kinds: set[str]) -> dict[str, tuple[str, str]]:
    """Return kind and name of the properties "only:KIND:NAME", unless there is a property NAME."""
    single = {}
    for name in maps:
        match = ONE_KIND.fullmatch(name)
        if match is not None and match[1] in kinds and match[2] not in maps:
            single[name] = (match[1], decode_name(match[2]))
    return single


def _take_vertex_uv(point_data: _Maps, cells: Cells) -> UV | None:
    """Remove texture coordinates at vertices from the point data and return them."""
    for pair in TEXTURE_PAIRS:
        if not all(name in point_data and point_data[name].ndim == 1 for name in pair):
            continue
        coordinates = np.column_stack([point_data[name] for name in pair]).astype(np.float64)
        if np.isfinite(coordinates).all():
            for name in pair:
                del point_data[name]
            return UV(coordinates, {kind: c for kind, c in cells.items() if kind != "line"})
    return None


def _read_face_uv(
    numbers: NDArray[Any], lengths: Int, flat: NDArray[Any], counts: Int
) -> tuple[UV | None, int]:
    """Return the texture coordinates of faces, and how many faces have an odd number of them.

    numbers, lengths : the lists of texture coordinates: two per corner, or none
    flat, counts : the lists of corners
    """
    complete = (lengths == 2 * counts) & (counts > 2)
    odd = int(((lengths > 0) & ~complete).sum())
    if not complete.any():
        return None, odd
    coordinates = numbers[np.repeat(complete, lengths)].reshape(-1, 2).astype(np.float64)
    given = np.where(complete, counts, 0)
    start = np.cumsum(given) - given
    missing = ~np.isfinite(coordinates).all(axis=1)  # NaN: a corner without coordinates
    corners: Cells = {}
    for size, (rows, _) in group_by_length(flat, counts).items():
        if size > 2:
            index = np.where(complete[rows, None], start[rows, None] + np.arange(size), -1)
            corners[name_face_kind(size)] = np.where((index >= 0) & missing[index], -1, index)
    return UV(np.where(missing[:, None], 0.0, coordinates), corners), odd


def split_strips(flat: NDArray[Any], counts: Int) -> tuple[NDArray[Any], Int]:
    """Return the triangles of strips, and the row of each. A strip ends with its row or at -1.

    >>> split_strips(np.array([0, 1, 2, 3, -1, 4, 5, 6]), np.array([8]))[0].tolist()
    [[0, 1, 2], [2, 1, 3], [4, 5, 6]]
    """
    begins = np.zeros(len(flat) + 1, bool)  # where a strip begins; each -1 is one of its own
    begins[np.cumsum(counts) - counts] = True
    ends = np.flatnonzero(flat == -1)
    begins[ends] = begins[ends + 1] = True
    first = np.maximum.accumulate(np.where(begins[:-1], np.arange(len(flat)), 0))
    at = np.empty(0, np.int64)
    if len(flat) > 2:
        at = np.flatnonzero(first[:-2] == first[2:])
    turned = (at - first[at]) % 2  # every second triangle of a strip has the other orientation
    triangles = np.column_stack([flat[at + turned], flat[at + 1 - turned], flat[at + 2]])
    return triangles, np.repeat(np.arange(len(counts)), counts)[at]
