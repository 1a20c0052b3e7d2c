"""Groups and data of a mesh as the named arrays of a VTK file, on points or on cells (`over_all_cells`)."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.over_all_cells import GROUP, ONLY, alike, is_group, marks, only, padded
from taut.mesh.files.vtk_cells import Blocks, Flat, blocks
from taut.mesh.files.vtk_types import stored
from taut.mesh.mesh import Mesh

Arrays = dict[str, NDArray[Any]]
_log = logging.getLogger("taut")
_UNSPEAKABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
MOST = 5000  # arrays on points, and on cells, since each costs time however small it is
GROWTH, ALWAYS = 64, 1 << 26  # data of poly-lines and strips may grow this many times, or to this many bytes, when these are cut


def assemble(path: Path, points: NDArray[Any], flat: Flat, point_arrays: Arrays, cell_arrays: Arrays) -> Mesh:
    """The mesh: cells by kind, arrays of 0 and 1 called "group:…" as groups, other arrays as data."""
    found = blocks(flat, len(points))
    _check_growth(path, found, flat, cell_arrays)
    groups: dict[str, dict[str, Any]] = {}
    point_data: Arrays = {}
    for name, values in point_arrays.items():
        if is_group(name, values):
            groups[name.removeprefix(GROUP)] = {"point": np.flatnonzero(values)}
        else:
            point_data[name] = values
    cell_data: dict[str, Arrays] = {}
    for name, values in sorted(cell_arrays.items(), key=lambda item: ONLY.fullmatch(item[0]) is not None):
        if is_group(name, values):
            _add_members(groups.setdefault(name.removeprefix(GROUP), {}), values, found)
            continue
        single = ONLY.fullmatch(name)
        if single and single[1] in found.cells and single[1] not in cell_data.get(single[2], {}):
            cell_data.setdefault(single[2], {})[single[1]] = values[found.source[single[1]]]
        else:
            cell_data[name] = {kind: values[source] for kind, source in found.source.items()}
    if len(found.vertices):
        _log.info("%s: %d vertices are kept as points only, in groups where they have one", path, len(found.vertices))
    return Mesh(points, found.cells, groups=groups, point_data=point_data, cell_data=cell_data)


def arrays(mesh: Mesh, name: str) -> tuple[Arrays, Arrays]:
    """All groups and data as arrays on points and on cells, the cells in the order of `mesh.cells`; `name` is the format's.

    >>> mesh = Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}, groups={"ends": [0, 2]}, point_data={"T": [1, 2, 3]})
    >>> arrays(mesh, "VTK")[0]
    {'T': array([1, 2, 3]), 'group:ends': array([1, 0, 1], dtype=uint8)}
    """
    sizes = {kind: len(c) for kind, c in mesh.cells.items()}
    on_points: list[tuple[str, Any]] = list(mesh.point_data.items())
    on_cells: list[tuple[str, Any]] = []
    for key, by_kind in mesh.cell_data.items():
        there = {kind: v for kind, v in by_kind.items() if kind in sizes}
        if alike(there, sizes):
            on_cells.append((key, np.concatenate([there[kind] for kind in sizes])))
        else:
            on_cells += [(only(kind, key), padded(v, kind, sizes)) for kind, v in there.items()]
    for key, members in mesh.groups.items():
        if "point" in members:
            on_points.append((GROUP + key, marks(members["point"], mesh.n)))
        if set(members) != {"point"}:
            parts = [marks(members.get(kind, np.empty(0, np.int64)), size) for kind, size in sizes.items()]
            on_cells.append((GROUP + key, np.concatenate(parts)))
    return _named(on_points, name), _named(on_cells, name)


def _add_members(group: dict[str, Any], values: NDArray[Any], found: Blocks) -> None:
    """Add the cells marked 1 to a group; of a vertex, its point."""
    for kind, source in found.source.items():
        members = np.flatnonzero(values[source])
        if len(members):
            group[kind] = members
    points = found.vertices[values[found.vertex_source] == 1]
    if len(points):
        group["point"] = np.union1d(group.get("point", []), points).astype(np.int64)


def _check_growth(path: Path, found: Blocks, flat: Flat, cell_arrays: Arrays) -> None:
    """Refuse cell data that would outgrow the file by far when each line of a poly-line gets its own copy."""
    if not len(flat.types):
        return
    cut = sum(map(len, found.source.values())) / len(flat.types)
    size = sum(values.nbytes for values in cell_arrays.values())
    if size * cut > max(ALWAYS, GROWTH * (size + flat.corners.nbytes)):
        why = "its poly-lines and strips are too long to give each line and triangle a copy of so much cell data"
        raise MeshError(f"{why} ({size * cut:.3g} bytes); leave some arrays out", path=path)


def _named(pairs: list[tuple[str, Any]], name: str) -> Arrays:
    """The arrays by name, in types that VTK has; a name that it cannot hold, or twice the same, is an error."""
    if len(pairs) > MOST:
        raise MeshError(f"{name} files have {MOST} groups and data at most, on points and on cells; here are {len(pairs)}")
    found: Arrays = {}
    for key, values in pairs:
        if not key or _UNSPEAKABLE.search(key):
            raise MeshError(f"{name} cannot hold a name such as {key!r}; give the data or group another")
        if key in found:
            raise MeshError(f"data called '{key}' and a group or part that {name} calls so too; give the data another name")
        if values.ndim == 2 and not values.shape[1]:
            raise MeshError(f"{name} cannot hold the data '{key}': they have no components")
        found[key] = values.astype(stored(values.dtype), copy=False)
    return found
