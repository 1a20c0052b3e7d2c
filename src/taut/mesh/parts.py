"""The parts of a Mesh, checked and read-only: points, cells, groups, data, texture coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.arrays import Float, Int
from taut.errors import MeshError, did_you_mean
from taut.mesh.kinds import NAMES, find_kind, sort_key

Cells = dict[str, Int]
Groups = dict[str, dict[str, Int]]


class ReadOnlyDict(dict[str, Any]):
    """A dictionary that refuses changes: arrays derived from it are cached."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise MeshError("a mesh is immutable; with_ returns a changed copy")

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and for other processes: the default would fill an empty one."""
        return ReadOnlyDict, (dict(self),)

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _refuse


def freeze(array: NDArray[Any]) -> Any:
    """Make an array read-only: it is cached and shared with callers."""
    array.setflags(write=False)
    return array


def freeze_tables(by_name: dict[str, Any]) -> Any:
    """Make a dictionary of dictionaries read-only."""
    return ReadOnlyDict({name: ReadOnlyDict(inner) for name, inner in by_name.items()})


@dataclass(frozen=True, eq=False)
class UV:
    """Texture coordinates per corner of each face, so that a seam does not split a vertex.

    coordinates : shape (k, 2)
    corners : indices into them by kind, shaped as the cells; -1 where a corner has none

    >>> UV([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}).corners
    {'triangle': [[0, 1, 2]]}
    """

    coordinates: Any
    corners: Any


def check_points(value: ArrayLike) -> Float:
    """Return a finite, read-only copy of shape (n, 3) or (n, 2)."""
    try:
        given = np.asarray(value)
    except ValueError as error:
        raise MeshError("points must have rows of equal length") from error
    if given.size and given.dtype.kind not in "biuf":
        raise MeshError(f"points must be numbers, got {given.dtype}")
    array = np.array(given, dtype=np.float64, order="C")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise MeshError(f"points must have shape (n, 3) or (n, 2), got {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise MeshError(
            f"position must be finite, got {array[bad[0]].tolist()}", element=f"point {bad[0]}"
        )
    array.setflags(write=False)
    return array


def check_cells(cells: Mapping[str, ArrayLike], n: int) -> Cells:
    """Return read-only index arrays by kind, ordered lines, faces, solids, without empty ones."""
    if not isinstance(cells, Mapping):
        raise MeshError('cells must be a dictionary by kind, such as {"triangle": [[0, 1, 2]]}')
    found: Cells = {}
    for name, value in cells.items():
        known = find_kind(str(name))
        if known is None:
            raise MeshError(
                f"kind of cell must be one of {', '.join(NAMES)}, got '{name}'"
                f"{did_you_mean(str(name), NAMES)}"
            )
        array = _indices(value, f"{name} cells")
        if array.size == 0:
            continue
        if array.ndim != 2 or array.shape[1] != known.size:
            raise MeshError(f"{name} cells must have shape (m, {known.size}), got {array.shape}")
        outside = np.flatnonzero(((array < 0) | (array >= n)).any(axis=1))
        if len(outside):
            worst = array[outside[0]]
            point = worst[(worst < 0) | (worst >= n)][0]
            raise MeshError(
                f"point index must be from 0 to {n - 1}, got {point}",
                element=f"{name} {outside[0]}",
            )
        array.setflags(write=False)
        found[str(name)] = array
    return {name: found[name] for name in sorted(found, key=sort_key)}


def check_groups(groups: Mapping[str, Any], n: int, sizes: Mapping[str, int]) -> Groups:
    """Return sorted, distinct indices by name and by "point" or kind."""
    found: Groups = {}
    for name, members in check_mapping(groups, "groups").items():
        by_kind = members if isinstance(members, Mapping) else {"point": members}
        kept: dict[str, Int] = {}
        for what, value in by_kind.items():
            count = n if what == "point" else sizes.get(what, 0)
            array = np.unique(_indices(value, f"group '{name}'"))
            if array.size and (array[0] < 0 or array[-1] >= count):
                wrong = array[0] if array[0] < 0 else array[-1]
                raise MeshError(f"group '{name}': {what} index must be below {count}, got {wrong}")
            array.setflags(write=False)
            if array.size:
                kept[what] = array
        found[str(name)] = kept
    return found


def check_data(name: str, value: ArrayLike, count: int, what: str) -> NDArray[Any]:
    """Return a read-only copy with one row for each point or cell."""
    try:
        array = np.array(value)
    except ValueError as error:
        raise MeshError(f"data '{name}' must have rows of equal length") from error
    if array.dtype.kind not in "biuf":
        raise MeshError(f"data '{name}' must be numbers, got {array.dtype}")
    if array.ndim not in (1, 2) or len(array) != count:
        raise MeshError(
            f"data '{name}' must have a row for each of the {count} {what}, got {array.shape}"
        )
    array.setflags(write=False)
    return array


def check_cell_data(
    data: Mapping[str, Mapping[str, ArrayLike]], sizes: Mapping[str, int]
) -> dict[str, dict[str, NDArray[Any]]]:
    """Return data by name and kind, without kinds that the mesh does not have."""
    found: dict[str, dict[str, NDArray[Any]]] = {}
    for name, by_kind in check_mapping(data, "cell_data").items():
        for what in check_mapping(by_kind, f"cell_data '{name}'"):
            if find_kind(str(what)) is None:
                raise MeshError(
                    f"cell_data '{name}': unknown kind of cell '{what}'"
                    f"{did_you_mean(str(what), NAMES)}"
                )
        checked = {
            what: check_data(name, values, sizes.get(what, 0), f"{what} cells")
            for what, values in by_kind.items()
        }
        found[str(name)] = {what: values for what, values in checked.items() if what in sizes}
    return found


def check_mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return a dictionary by name, or raise."""
    if not isinstance(value, Mapping):
        raise MeshError(f"{what} must be a dictionary by name, got {type(value).__name__}")
    return value


def check_uv(uv: UV | None, cells: Cells) -> UV | None:
    """Return texture coordinates with read-only arrays whose corners fit the cells."""
    if uv is None:
        return None
    if not isinstance(uv, UV):
        raise MeshError(f"uv must be a taut.mesh.UV, got {type(uv).__name__}")
    coordinates = check_data("uv", uv.coordinates, len(uv.coordinates), "coordinates").astype(
        np.float64
    )
    if coordinates.size and (
        coordinates.ndim != 2 or coordinates.shape[1] != 2 or not np.isfinite(coordinates).all()
    ):
        raise MeshError(f"uv coordinates must be finite, of shape (k, 2), got {coordinates.shape}")
    corners: Cells = {}
    for name, value in check_mapping(uv.corners, "uv corners").items():
        array = _indices(value, f"uv corners of {name}")
        if name not in cells:
            raise MeshError(f"uv corners of {name}: the mesh has no such cells")
        if array.shape != cells[name].shape:
            raise MeshError(
                f"uv corners of {name} must have shape {cells[name].shape}, got {array.shape}"
            )
        outside = np.flatnonzero(((array < -1) | (array >= len(coordinates))).any(axis=1))
        if len(outside):
            raise MeshError(
                f"texture index must be from -1 to {len(coordinates) - 1}",
                element=f"{name} {outside[0]}",
            )
        array.setflags(write=False)
        corners[name] = array
    coordinates.setflags(write=False)
    return UV(coordinates, corners)


def _indices(value: Any, what: str) -> Int:
    """Return a copy as int64; only whole numbers are accepted."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise MeshError(f"{what} must have rows of equal length") from error
    if array.size == 0:
        return np.empty(0, np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise MeshError(f"{what} must be integer indices, got {array.dtype}")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise MeshError(f"{what}: {array.max()} is too large for an index")
    return np.array(array, dtype=np.int64, order="C")
