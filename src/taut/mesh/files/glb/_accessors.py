"""Arrays of a glTF document (accessors), and the cells that indices draw in each mode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int
from taut.mesh.files.glb.document import GltfDocument, Object

COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
ANY_TYPE = tuple(WIDTHS)
KINDS = frozenset({"line", "triangle"})
_UNSIGNED = (5121, 5123, 5125)


def read_values(document: GltfDocument, index: int, where: str, types: tuple[str, ...]) -> Float:
    """Return an accessor of one of these types as finite numbers, shape (count, width).

    Normalised integers are scaled to -1 … 1.
    """
    accessor, own = document.get_item("accessors", index, where), f"accessor {index}"
    kind = accessor.get("type")
    if not isinstance(kind, str) or kind not in WIDTHS:
        raise document.error(
            f"the type must be one of {', '.join(WIDTHS)}, got {str(kind)[:40]!r}", own
        )
    if kind not in types:
        raise document.error(f"the type must be {' or '.join(types)}, got {kind}", own)
    raw = _read_raw(document, accessor, kind, own)
    document.spend(8 * raw.size, own)
    with np.errstate(invalid="ignore"):  # signalling NaNs are found below
        array = raw.astype(np.float64)
    if accessor.get("normalized") is True and raw.dtype.kind in "iu":
        array = np.maximum(array / np.iinfo(raw.dtype).max, -1.0)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise document.error(
            f"numbers must be finite, got {array[bad[0]][~np.isfinite(array[bad[0]])][0]}",
            f"{own}, entry {bad[0]}",
        )
    return array


def read_indices(document: GltfDocument, index: int, where: str) -> Int:
    """Return an accessor of unsigned integers, shape (count,)."""
    accessor, own = document.get_item("accessors", index, where), f"accessor {index}"
    if accessor.get("type") != "SCALAR" or accessor.get("componentType") not in _UNSIGNED:
        raise document.error("indices must be SCALAR and unsigned integers", own)
    raw = _read_raw(document, accessor, "SCALAR", own)
    document.spend(8 * raw.size, own)
    return raw[:, 0].astype(np.int64)


def _read_raw(document: GltfDocument, accessor: Object, kind: str, own: str) -> NDArray[Any]:
    """Return the array as it is stored, shape (count, width)."""
    count = document.get_int(accessor, "count", own)
    code = document.get_int(accessor, "componentType", own)
    if code not in COMPONENTS:
        raise document.error(
            f"the component type must be one of {', '.join(map(str, COMPONENTS))}, got {code}", own
        )
    dtype, width = np.dtype(COMPONENTS[code]), WIDTHS[kind]
    if kind.startswith("MAT") and dtype.itemsize < 4:
        raise document.error("matrices must be floats or 32-bit integers", own)
    if "bufferView" in accessor:
        view = document.get_int(accessor, "bufferView", own)
        array = _view_rows(
            document,
            view,
            document.get_int(accessor, "byteOffset", own, 0),
            dtype,
            count,
            width,
            own,
        )
    else:
        document.spend(count * width * dtype.itemsize, own)
        array = np.zeros((count, width), dtype)
    return _replace_sparse(document, accessor, array, own) if "sparse" in accessor else array


def _view_rows(
    document: GltfDocument,
    view: int,
    offset: int,
    dtype: np.dtype[Any],
    count: int,
    width: int,
    own: str,
) -> NDArray[Any]:
    """Return `count` rows of a buffer view from `offset` on, shape (count, width), not copied."""
    buffer, start, end, stride = document.get_view(view, own)
    row = dtype.itemsize * width
    step = row if stride is None else stride
    if step < row:
        raise document.error(f"the stride must be at least {row} bytes, got {step}", own)
    if count and start + offset + (count - 1) * step + row > end:
        raise document.error(
            f"must fit into bufferView {view} of {end - start} bytes, "
            f"got {count} entries of {row} bytes",
            own,
        )
    if not count:
        return np.empty((0, width), dtype)
    return np.ndarray((count, width), dtype, buffer, start + offset, (step, dtype.itemsize))


def _replace_sparse(
    document: GltfDocument, accessor: Object, array: NDArray[Any], own: str
) -> NDArray[Any]:
    """Return the array with some rows replaced."""
    sparse = document.get_object(accessor, "sparse", own)
    count = document.get_int(sparse, "count", own)
    where, what = (
        document.get_object(sparse, "indices", own),
        document.get_object(sparse, "values", own),
    )
    code = document.get_int(where, "componentType", own)
    if code not in _UNSIGNED:
        raise document.error("sparse indices must be unsigned integers", own)
    view = document.get_int(where, "bufferView", own)
    offset = document.get_int(where, "byteOffset", own, 0)
    rows = _view_rows(document, view, offset, np.dtype(COMPONENTS[code]), count, 1, own)[
        :, 0
    ].astype(np.int64)
    view = document.get_int(what, "bufferView", own)
    offset = document.get_int(what, "byteOffset", own, 0)
    new = _view_rows(document, view, offset, array.dtype, count, array.shape[1], own)
    if count and rows.max() >= len(array):
        raise document.error(f"sparse indices must be below {len(array)}, got {rows.max()}", own)
    changed = array.copy()
    changed[rows] = new
    return changed


def make_cells(document: GltfDocument, mode: int, order: Int, where: str) -> tuple[str, Int]:
    """Return the kind and the cells, shape (m, s), that a mode draws from points in this order."""
    if mode == 0:
        return "point", order[:, None]
    if mode in (1, 4):
        size = 2 if mode == 1 else 3
        if len(order) % size:
            raise document.error(
                f"the number of corners must be a multiple of {size}, got {len(order)}", where
            )
        return "line" if mode == 1 else "triangle", order.reshape(-1, size)
    if mode in (2, 3):
        ends = np.roll(order, -1) if mode == 2 else order[1:]
        return "line", np.column_stack([order[: len(ends)], ends])
    if mode == 5:
        return "triangle", _split_strip(order)
    if mode == 6:
        centre = order[0] if len(order) else 0
        fan = [order[1:-1], order[2:], np.full(max(len(order) - 2, 0), centre)]
        return "triangle", np.column_stack(fan)
    raise document.error(f"the mode must be 0 to 6, got {mode}", where)


def _split_strip(order: Int) -> Int:
    """Return the triangles of a strip without those with a point twice, which only join pieces."""
    i = np.arange(max(len(order) - 2, 0))
    found = np.column_stack([order[i], order[i + 1 + i % 2], order[i + 2 - i % 2]])
    return found[
        (found[:, 0] != found[:, 1]) & (found[:, 1] != found[:, 2]) & (found[:, 2] != found[:, 0])
    ]
