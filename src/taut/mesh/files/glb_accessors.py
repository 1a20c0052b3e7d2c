"""Accessors of glTF: arrays in the bytes of a buffer, with strides, normalised integers and sparse changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.glb_document import Document, Object

Float = NDArray[np.float64]
Int = NDArray[np.int64]

COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
ANY = tuple(WIDTHS)
_UNSIGNED = (5121, 5123, 5125)


def values(document: Document, index: int, where: str, types: tuple[str, ...]) -> Float:
    """An accessor of one of these types as numbers, shape (count, width), each finite; normalised integers are divided."""
    accessor, own = document.item("accessors", index, where), f"accessor {index}"
    kind = accessor.get("type")
    if not isinstance(kind, str) or kind not in WIDTHS:
        raise document.error(f"its type {str(kind)[:40]!r} is none of {', '.join(WIDTHS)}", own)
    if kind not in types:
        raise document.error(f"it is {kind}, not {' or '.join(types)}", own)
    raw = _raw(document, accessor, kind, own)
    document.use(8 * raw.size, own)
    with np.errstate(invalid="ignore"):  # a signalling NaN is found below
        array = raw.astype(np.float64)
    if accessor.get("normalized") is True and raw.dtype.kind in "iu":
        array = np.maximum(array / np.iinfo(raw.dtype).max, -1.0)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise document.error("a number is not finite", f"{own}, entry {bad[0]}")
    return array


def indices(document: Document, index: int, where: str) -> Int:
    """An accessor of unsigned integers, shape (count,)."""
    accessor, own = document.item("accessors", index, where), f"accessor {index}"
    if accessor.get("type") != "SCALAR" or accessor.get("componentType") not in _UNSIGNED:
        raise document.error("indices are SCALAR and unsigned integers", own)
    raw = _raw(document, accessor, "SCALAR", own)
    document.use(8 * raw.size, own)
    return raw[:, 0].astype(np.int64)


def _raw(document: Document, accessor: Object, kind: str, own: str) -> NDArray[Any]:
    """The array as it is stored, shape (count, width)."""
    count = document.whole(accessor, "count", own)
    code = document.whole(accessor, "componentType", own)
    if code not in COMPONENTS:
        raise document.error(f"its component type {code} is none of {', '.join(map(str, COMPONENTS))}", own)
    dtype, width = np.dtype(COMPONENTS[code]), WIDTHS[kind]
    if kind.startswith("MAT") and dtype.itemsize < 4:
        raise document.error("matrices of small integers are not read; save them as floats", own)
    if "bufferView" in accessor:
        view = document.whole(accessor, "bufferView", own)
        array = _strided(document, view, document.whole(accessor, "byteOffset", own, 0), dtype, count, width, own)
    else:
        document.use(count * width * dtype.itemsize, own)
        array = np.zeros((count, width), dtype)
    return _sparse(document, accessor, array, own) if "sparse" in accessor else array


def _strided(document: Document, view: int, offset: int, dtype: np.dtype[Any], count: int, width: int, own: str) -> NDArray[Any]:
    """`count` rows of a buffer view from `offset` on, shape (count, width)."""
    buffer, start, end, stride = document.view(view, own)
    row = dtype.itemsize * width
    step = row if stride is None else stride
    if step < row:
        raise document.error(f"a stride of {step} bytes is too small for {row}", own)
    if count and start + offset + (count - 1) * step + row > end:
        raise document.error(f"its {count} entries of {row} bytes do not fit into bufferView {view}, {end - start} bytes", own)
    if not count:
        return np.empty((0, width), dtype)
    return np.ndarray((count, width), dtype, buffer, start + offset, (step, dtype.itemsize))


def _sparse(document: Document, accessor: Object, array: NDArray[Any], own: str) -> NDArray[Any]:
    """The array with some rows replaced."""
    sparse = document.object(accessor, "sparse", own)
    count = document.whole(sparse, "count", own)
    where, what = document.object(sparse, "indices", own), document.object(sparse, "values", own)
    code = document.whole(where, "componentType", own)
    if code not in _UNSIGNED:
        raise document.error("sparse indices are unsigned integers", own)
    view, offset = document.whole(where, "bufferView", own), document.whole(where, "byteOffset", own, 0)
    rows = _strided(document, view, offset, np.dtype(COMPONENTS[code]), count, 1, own)[:, 0].astype(np.int64)
    view, offset = document.whole(what, "bufferView", own), document.whole(what, "byteOffset", own, 0)
    new = _strided(document, view, offset, array.dtype, count, array.shape[1], own)
    if count and rows.max() >= len(array):
        raise document.error(f"a sparse index is {rows.max()}; there are {len(array)} entries", own)
    changed = array.copy()
    changed[rows] = new
    return changed
