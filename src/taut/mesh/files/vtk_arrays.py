"""Groups and data of a mesh as the named arrays of a VTK file.

A group is an array of 0 and 1 called "group:NAME", on points or on cells. Cell data that only some kinds have, or that differ in
type between kinds, become one array for each kind, called "only:KIND:NAME", not a number (or 0) elsewhere.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.vtk_cells import Blocks, Flat, blocks
from taut.mesh.files.vtk_numbers import stored
from taut.mesh.mesh import Mesh

Arrays = dict[str, NDArray[Any]]
_log = logging.getLogger("taut")
_GROUP = "group:"
_ONLY = re.compile(r"only:([a-z]+\d*):(.+)", re.DOTALL)
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
        if _is_group(name, values):
            groups[name.removeprefix(_GROUP)] = {"point": np.flatnonzero(values)}
        else:
            point_data[name] = values
    cell_data: dict[str, Arrays] = {}
    for name, values in sorted(cell_arrays.items(), key=lambda item: _ONLY.fullmatch(item[0]) is not None):
        if _is_group(name, values):
            _add_members(groups.setdefault(name.removeprefix(_GROUP), {}), values, found)
            continue
        only = _ONLY.fullmatch(name)
        if only and only[1] in found.cells and only[1] not in cell_data.get(only[2], {}):
            cell_data.setdefault(only[2], {})[only[1]] = values[found.source[only[1]]]
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
        on_cells += _whole_or_parts(key, {kind: v for kind, v in by_kind.items() if kind in sizes}, sizes)
    for key, members in mesh.groups.items():
        if "point" in members:
            on_points.append((_GROUP + key, _marks(members["point"], mesh.n)))
        if set(members) != {"point"}:
            parts = [_marks(members.get(kind, np.empty(0, np.int64)), size) for kind, size in sizes.items()]
            on_cells.append((_GROUP + key, np.concatenate(parts)))
    return _named(on_points, name), _named(on_cells, name)


def _is_group(name: str, values: NDArray[Any]) -> bool:
    """Whether the array marks the members of a group."""
    return (
        name.startswith(_GROUP) and values.ndim == 1 and values.dtype.kind in "biu" and bool(((values == 0) | (values == 1)).all())
    )


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


def _whole_or_parts(key: str, by_kind: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]) -> list[tuple[str, NDArray[Any]]]:
    """One array for all cells if each kind has data of the same type, else one for each kind that has any."""
    if set(by_kind) == set(sizes) and len({(v.dtype, v.shape[1:]) for v in by_kind.values()}) == 1:
        return [(key, np.concatenate([by_kind[kind] for kind in sizes]))]
    parts = []
    begin = dict(zip(sizes, np.cumsum([0, *sizes.values()])[:-1].tolist(), strict=True))
    for kind, values in by_kind.items():
        whole = np.full((sum(sizes.values()), *values.shape[1:]), np.nan if values.dtype.kind == "f" else 0, values.dtype)
        whole[begin[kind] : begin[kind] + sizes[kind]] = values
        parts.append((f"only:{kind}:{key}", whole))
    return parts


def _marks(members: NDArray[Any], count: int) -> NDArray[np.uint8]:
    """1 for members, 0 for others."""
    marks = np.zeros(count, np.uint8)
    marks[members] = 1
    return marks


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
