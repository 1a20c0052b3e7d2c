"""What a Mesh is made of, checked: points, cells, groups, data and texture coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import MeshError, did_you_mean
from taut.mesh.kinds import NAMES, kind, rank

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Cells = dict[str, Int]
Groups = dict[str, dict[str, Int]]


class Fixed(dict[str, Any]):
    """A dictionary that does not change, since what follows from it is kept."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise MeshError("a mesh does not change; with_ gives a changed one")

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _refuse


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
    """An own, finite, read-only copy of shape (n, 3) or (n, 2)."""
    try:
        given = np.asarray(value)
    except ValueError as error:
        raise MeshError("points have rows of different lengths") from error
    if given.size and given.dtype.kind not in "biuf":
        raise MeshError(f"points are not numbers but {given.dtype}")
    array = np.array(given, dtype=np.float64, order="C")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise MeshError(f"points have shape {array.shape}, not (n, 3) or (n, 2)")
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise MeshError(f"its position {array[bad[0]].tolist()} is not finite", element=f"point {bad[0]}")
    array.setflags(write=False)
    return array


def check_cells(cells: Mapping[str, ArrayLike], n: int) -> Cells:
    """Own, read-only index arrays by kind, in the order lines, faces, solids; empty ones are left out."""
    if not isinstance(cells, Mapping):
        raise MeshError('cells are given by kind, such as {"triangle": [[0, 1, 2]]}')
    found: Cells = {}
    for name, value in cells.items():
        known = kind(str(name))
        if known is None:
            raise MeshError(f"there is no kind of cell '{name}'; there are {', '.join(NAMES)}{did_you_mean(str(name), NAMES)}")
        array = _indices(value, f"{name} cells")
        if array.size == 0:
            continue
        if array.ndim != 2 or array.shape[1] != known.size:
            raise MeshError(f"{name} cells have shape {array.shape}, not (m, {known.size})")
        outside = np.flatnonzero(((array < 0) | (array >= n)).any(axis=1))
        if len(outside):
            worst = array[outside[0]]
            point = worst[(worst < 0) | (worst >= n)][0]
            raise MeshError(f"it names point {point}; there are {n} (0 to {n - 1})", element=f"{name} {outside[0]}")
        array.setflags(write=False)
        found[str(name)] = array
    return {name: found[name] for name in sorted(found, key=rank)}


def check_groups(groups: Mapping[str, Any], n: int, sizes: Mapping[str, int]) -> Groups:
    """Sorted, distinct indices by name and by "point" or kind."""
    found: Groups = {}
    for name, members in named(groups, "groups").items():
        by_kind = members if isinstance(members, Mapping) else {"point": members}
        kept: dict[str, Int] = {}
        for what, value in by_kind.items():
            count = n if what == "point" else sizes.get(what, 0)
            array = np.unique(_indices(value, f"group '{name}'"))
            if array.size and (array[0] < 0 or array[-1] >= count):
                wrong = array[0] if array[0] < 0 else array[-1]
                raise MeshError(f"group '{name}' names {what} {wrong}; there are {count}")
            array.setflags(write=False)
            if array.size:
                kept[what] = array
        found[str(name)] = kept
    return found


def check_data(name: str, value: ArrayLike, count: int, what: str) -> NDArray[Any]:
    """A read-only copy with one row per point or cell."""
    try:
        array = np.array(value)
    except ValueError as error:
        raise MeshError(f"data '{name}' have rows of different lengths") from error
    if array.dtype.kind not in "biuf":
        raise MeshError(f"data '{name}' are of type {array.dtype}, not numbers")
    if array.ndim not in (1, 2) or len(array) != count:
        raise MeshError(f"data '{name}' have shape {array.shape}; there are {count} {what}")
    array.setflags(write=False)
    return array


def check_cell_data(data: Mapping[str, Mapping[str, ArrayLike]], sizes: Mapping[str, int]) -> dict[str, dict[str, NDArray[Any]]]:
    """Data by name and kind; nothing for the kinds that are not there."""
    found: dict[str, dict[str, NDArray[Any]]] = {}
    for name, by_kind in named(data, "cell_data").items():
        for what in named(by_kind, f"cell_data '{name}'"):
            if kind(str(what)) is None:
                raise MeshError(f"cell_data '{name}': there is no kind of cell '{what}'{did_you_mean(str(what), NAMES)}")
        checked = {what: check_data(name, values, sizes.get(what, 0), f"{what} cells") for what, values in by_kind.items()}
        found[str(name)] = {what: values for what, values in checked.items() if what in sizes}
    return found


def named(value: Any, what: str) -> Mapping[str, Any]:
    """Something given by name."""
    if not isinstance(value, Mapping):
        raise MeshError(f"{what} are given by name, as a dictionary, not as {type(value).__name__}")
    return value


def check_uv(uv: UV | None, cells: Cells) -> UV | None:
    """Texture coordinates whose corners have the shape of the cells and name existing coordinates."""
    if uv is None:
        return None
    if not isinstance(uv, UV):
        raise MeshError(f"uv is a taut.mesh.UV, not {type(uv).__name__}")
    coordinates = check_data("uv", uv.coordinates, len(uv.coordinates), "of them").astype(np.float64)
    if coordinates.size and (coordinates.ndim != 2 or coordinates.shape[1] != 2 or not np.isfinite(coordinates).all()):
        raise MeshError(f"uv coordinates are finite and of shape (k, 2), not {coordinates.shape}")
    corners: Cells = {}
    for name, value in named(uv.corners, "uv corners").items():
        array = _indices(value, f"uv corners of {name}")
        if name not in cells or array.shape != cells[name].shape:
            raise MeshError(f"uv corners of {name} have shape {array.shape}, not {cells[name].shape if name in cells else None}")
        outside = np.flatnonzero(((array < -1) | (array >= len(coordinates))).any(axis=1))
        if len(outside):
            raise MeshError(
                f"a corner names a texture coordinate that is not there; there are {len(coordinates)}",
                element=f"{name} {outside[0]}",
            )
        array.setflags(write=False)
        corners[name] = array
    coordinates.setflags(write=False)
    return UV(coordinates, corners)


def _indices(value: Any, what: str) -> Int:
    """An own int64 array; whole numbers only."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise MeshError(f"{what}: rows of different lengths") from error
    if array.size == 0:
        return np.empty(0, np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise MeshError(f"{what} are indices, not {array.dtype}")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise MeshError(f"{what} name {array.max()}, which is no index")
    return np.array(array, dtype=np.int64, order="C")
