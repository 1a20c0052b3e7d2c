"""Groups and data of a Mesh as the named arrays of a VTK file, on points or on cells.

`cells_and_groups` says how arrays of groups, and of data of one kind of cell, are named.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.cells_and_groups import (
    GROUP_PREFIX,
    ONE_KIND,
    is_group,
    is_uniform,
    mark_members,
    name_for_kind,
    pad_to_all_cells,
)
from taut.mesh.files.vtk.cells import CellsByKind, FlatCells, sort_by_kind
from taut.mesh.mesh import Mesh

Arrays = dict[str, NDArray[Any]]
_log = logging.getLogger("taut")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
MAX_ARRAYS = 5000  # on points, and on cells: each costs time, however small it is
# Cutting a poly-line or strip copies its data to each piece. The copies may have this many bytes,
# or this many times those of the file.
_MAX_COPIED_BYTES = 1 << 26
_MAX_GROWTH = 64


def build_mesh(
    path: Path, points: NDArray[Any], flat: FlatCells, point_arrays: Arrays, cell_arrays: Arrays
) -> Mesh:
    """Return the mesh: arrays of 0 and 1 called "group:…" become groups, other arrays data."""
    found = sort_by_kind(flat, len(points))
    _check_growth(path, found, flat, cell_arrays)
    groups: dict[str, dict[str, Any]] = {}
    point_data: Arrays = {}
    for name, values in point_arrays.items():
        if is_group(name, values):
            groups[name.removeprefix(GROUP_PREFIX)] = {"point": np.flatnonzero(values)}
        else:
            point_data[name] = values
    cell_data: dict[str, Arrays] = {}
    # Data of one kind come last: they must not replace data of all kinds with the same name.
    names = sorted(cell_arrays, key=lambda name: ONE_KIND.fullmatch(name) is not None)
    for name in names:
        values = cell_arrays[name]
        if is_group(name, values):
            _add_members(groups.setdefault(name.removeprefix(GROUP_PREFIX), {}), values, found)
            continue
        single = ONE_KIND.fullmatch(name)
        if single and single[1] in found.cells and single[1] not in cell_data.get(single[2], {}):
            cell_data.setdefault(single[2], {})[single[1]] = values[found.source[single[1]]]
        else:
            cell_data[name] = {kind: values[source] for kind, source in found.source.items()}
    if len(found.vertices):
        _log.info(
            "%s: %d vertices are kept as points only, in groups where they have one",
            path,
            len(found.vertices),
        )
    return Mesh(points, found.cells, groups=groups, point_data=point_data, cell_data=cell_data)


def make_arrays(mesh: Mesh, format_name: str) -> tuple[Arrays, Arrays]:
    """Return groups and data as arrays on points and on cells, cells in the order of mesh.cells.

    >>> points, cells = [[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}
    >>> mesh = Mesh(points, cells, groups={"ends": [0, 2]}, point_data={"T": [1, 2, 3]})
    >>> make_arrays(mesh, "VTK")[0]
    {'T': array([1, 2, 3]), 'group:ends': array([1, 0, 1], dtype=uint8)}
    """
    sizes = {kind: len(c) for kind, c in mesh.cells.items()}
    on_points: list[tuple[str, Any]] = list(mesh.point_data.items())
    on_cells: list[tuple[str, Any]] = []
    for key, by_kind in mesh.cell_data.items():
        there = {kind: v for kind, v in by_kind.items() if kind in sizes}
        if is_uniform(there, sizes):
            on_cells.append((key, np.concatenate([there[kind] for kind in sizes])))
        else:
            on_cells += [
                (name_for_kind(kind, key), pad_to_all_cells(v, kind, sizes))
                for kind, v in there.items()
            ]
    for key, members in mesh.groups.items():
        if "point" in members:
            on_points.append((GROUP_PREFIX + key, mark_members(members["point"], mesh.n)))
        if set(members) != {"point"}:
            parts = [
                mark_members(members.get(kind, np.empty(0, np.int64)), size)
                for kind, size in sizes.items()
            ]
            on_cells.append((GROUP_PREFIX + key, np.concatenate(parts)))
    return _check_arrays(on_points, format_name), _check_arrays(on_cells, format_name)


def _add_members(group: dict[str, Any], values: NDArray[Any], found: CellsByKind) -> None:
    """Add the cells marked 1 to a group, and the points of vertices marked 1."""
    for kind, source in found.source.items():
        members = np.flatnonzero(values[source])
        if len(members):
            group[kind] = members
    points = found.vertices[values[found.vertex_source] == 1]
    if len(points):
        group["point"] = np.union1d(group.get("point", []), points).astype(np.int64)


def _check_growth(path: Path, found: CellsByKind, flat: FlatCells, cell_arrays: Arrays) -> None:
    """Raise if cell data would grow too much when each line of a poly-line gets a copy."""
    if not len(flat.types):
        return
    cut = sum(map(len, found.source.values())) / len(flat.types)
    size = sum(values.nbytes for values in cell_arrays.values())
    limit = max(_MAX_COPIED_BYTES, _MAX_GROWTH * (size + flat.corners.nbytes))
    if size * cut > limit:
        raise MeshError(
            f"cell data must take at most {limit} bytes once poly-lines and strips are cut, "
            f"got {size * cut:.3g}; leave some arrays out",
            path=path,
        )


def _check_arrays(pairs: list[tuple[str, Any]], format_name: str) -> Arrays:
    """Return arrays by name in types of VTK; raise for names that it cannot hold, or twice."""
    if len(pairs) > MAX_ARRAYS:
        raise MeshError(
            f"{format_name} must have at most {MAX_ARRAYS} groups and data on points or cells, "
            f"got {len(pairs)}"
        )
    found: Arrays = {}
    for key, values in pairs:
        if not key or _FORBIDDEN.search(key):
            raise MeshError(
                f"names in {format_name} must not have control characters, got {key!r}; rename it"
            )
        if key in found:
            raise MeshError(
                f"names in {format_name} must differ, got data and a group or part called '{key}'; "
                "rename the data"
            )
        if values.ndim == 2 and not values.shape[1]:
            raise MeshError(f"data must have components in {format_name}, got none in '{key}'")
        found[key] = values.astype(find_stored_type(values.dtype), copy=False)
    return found


def to_native(values: NDArray[Any]) -> NDArray[Any]:
    """Return values in this machine's byte order."""
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def find_stored_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in which VTK stores numbers of a type.

    >>> find_stored_type(np.dtype(bool)), find_stored_type(np.dtype("f2"))
    (dtype('uint8'), dtype('float32'))
    """
    if dtype.kind == "b":
        return np.dtype("u1")
    least = 4 if dtype.kind == "f" else 1  # bytes
    return np.dtype(f"{dtype.kind}{min(max(dtype.itemsize, least), 8)}")
