"""Numbers as bytes, exactly: the layout of frames and checkpoints, and the checksums of rows.

Vectors are float64, little-endian, row by row: q of n particles takes 24 n bytes.

Masks of elements are

    count          uint32, number of laws; for each
        name       uint16 length, then UTF-8
        elements   uint64
        mask       one bit per element, the lowest first; the last byte is filled up with zeros

A State is

    "TAUTSTATE1"   ten bytes: the layout and its version
    count          uint32, number of arrays; for each
        name       uint16 length, then UTF-8: "t", "q", "v", "active/<law>",
                   "history/<name>" or "rest/<law>"
        kind       one byte, "d" (float64) or "?" (bool, one byte each)
        shape      uint8 number of dimensions, then a uint64 for each
        values     row by row

all little-endian, and nothing after it. Decoding runs no code and rejects what does not fit.

The checksum is BLAKE2b, 16 bytes, of the name of the table and the row's values, each preceded by
its type and length. It detects damage; it does not authenticate.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from hashlib import blake2b, sha256
from types import MappingProxyType
from typing import Any

import numpy as np

from taut.arrays import Float, Mask
from taut.errors import ModelError, RunError
from taut.system.state import State

MAGIC = b"TAUTSTATE1"
_DTYPES = {"d": np.dtype("<f8"), "?": np.dtype("?")}
_MAX_DIMENSIONS = 8  # more than any array of a State has


def checksum(table: str, *values: Any) -> bytes:
    """Return the checksum of a row of ints, floats, texts, bytes and None.

    >>> checksum("frames", 0, 0.5).hex()
    '0958b248d8080d29f280a261e2a6746b'
    """
    digest = blake2b(digest_size=16)
    for value in (table, *values):
        digest.update(_pack(value))
        if isinstance(value, bytes):
            digest.update(value)
    return digest.digest()


def _pack(value: Any) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"i" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return b"s" + struct.pack("<Q", len(text)) + text
    return b"b" + struct.pack("<Q", len(value))


def to_sql_real(value: float) -> float | None:
    """Return a number as SQLite stores it: NULL for nan, and 0 for -0.

    >>> to_sql_real(float("nan")), to_sql_real(-0.0), to_sql_real(1.5)
    (None, 0.0, 1.5)
    """
    return None if math.isnan(value) else float(value) + 0.0


def vectors_to_bytes(vectors: Float) -> bytes:
    """Encode vectors, (n, 3).

    >>> len(vectors_to_bytes(np.zeros((2, 3))))
    48
    """
    return np.ascontiguousarray(vectors, dtype="<f8").tobytes()


def vectors_from_bytes(data: bytes, n: int) -> Float:
    """Decode n vectors, (n, 3), read-only.

    >>> vectors_from_bytes(vectors_to_bytes(np.ones((1, 3))), 1)
    array([[1., 1., 1.]])
    """
    if not isinstance(data, bytes) or len(data) != 24 * n:
        raise RunError(f"{n} vectors must take {24 * n} bytes")
    vectors = np.frombuffer(data, dtype="<f8").reshape(n, 3).astype(np.float64, copy=False)
    vectors.setflags(write=False)
    return vectors


def masks_to_bytes(masks: Mapping[str, Mask]) -> bytes | None:
    """Encode masks of elements, law → (m,), with one bit per element; None if there are none.

    >>> masks_to_bytes({"spring": np.array([True, False, True])}).hex()
    '010000000600737072696e67030000000000000005'
    """
    if not masks:
        return None
    parts = [struct.pack("<I", len(masks))]
    for name, mask in masks.items():
        text = name.encode("utf-8", "surrogatepass")
        parts.append(struct.pack("<H", len(text)) + text + struct.pack("<Q", len(mask)))
        parts.append(np.packbits(mask, bitorder="little").tobytes())
    return b"".join(parts)


def masks_from_bytes(data: bytes | None) -> Mapping[str, Mask]:
    """Decode what `masks_to_bytes` encoded, as read-only arrays; RunError for anything else.

    >>> masks_from_bytes(masks_to_bytes({"spring": np.array([True, False, True])}))
    mappingproxy({'spring': array([ True, False,  True])})
    """
    if data is None:
        return MappingProxyType({})
    if not isinstance(data, bytes):
        raise RunError(f"masks must be bytes, got {type(data).__name__}")
    masks: dict[str, Mask] = {}
    try:
        (count,) = struct.unpack_from("<I", data)
        place = 4
        for _ in range(count):
            name, place = _read_name(data, place)
            (elements,) = struct.unpack_from("<Q", data, place)
            place += 8
            size = (elements + 7) // 8
            if size > len(data) - place:
                raise RunError(f"damaged masks: '{name}' is cut short")
            packed = np.frombuffer(data, dtype=np.uint8, count=size, offset=place)
            bits = np.unpackbits(packed, bitorder="little").astype(bool)
            if bits[elements:].any():
                raise RunError(f"damaged masks: '{name}' has bits beyond its {elements} elements")
            masks[name] = bits[:elements]
            masks[name].setflags(write=False)
            place += size
    except (struct.error, UnicodeDecodeError) as error:
        raise RunError(f"damaged masks: {error}") from error
    if len(masks) != count or not masks:
        raise RunError("damaged masks: a law is missing or named twice")
    if place != len(data):
        raise RunError(f"damaged masks: {len(data) - place} bytes too many")
    return MappingProxyType(masks)


def _read_name(data: bytes, place: int) -> tuple[str, int]:
    """Read a name with its length before it; return it and the place after it."""
    (length,) = struct.unpack_from("<H", data, place)
    place += 2
    text = data[place : place + length]
    return text.decode("utf-8", "surrogatepass"), place + length


def state_to_bytes(state: State) -> bytes:
    """Encode a State.

    >>> state = State(0.5, [[0, 1, 0]], [[0, 0, 0]], history={"h": 0.25})
    >>> float(state_from_bytes(state_to_bytes(state)).history["h"])
    0.25
    """
    arrays: dict[str, Any] = {"t": np.array(state.t), "q": state.q, "v": state.v}
    arrays |= {f"active/{name}": mask for name, mask in state.active.items()}
    arrays |= {f"history/{name}": value for name, value in state.history.items()}
    arrays |= {f"rest/{name}": value for name, value in state.rest.items()}
    parts = [MAGIC, struct.pack("<I", len(arrays))]
    for name, array in arrays.items():
        kind = "?" if array.dtype == bool else "d"
        text = name.encode("utf-8", "surrogatepass")
        parts.append(struct.pack("<H", len(text)) + text + kind.encode())
        parts.append(struct.pack(f"<B{array.ndim}Q", array.ndim, *array.shape))
        parts.append(np.ascontiguousarray(array, dtype=_DTYPES[kind]).tobytes())
    return b"".join(parts)


def state_from_bytes(data: bytes) -> State:
    """Decode what `state_to_bytes` encoded, to the last bit; RunError for anything else."""
    arrays: dict[str, Any] = {}
    if not isinstance(data, bytes) or not data.startswith(MAGIC):
        raise RunError("the layout of the state must be TAUTSTATE1")
    try:
        (count,) = struct.unpack_from("<I", data, len(MAGIC))
        place = len(MAGIC) + 4
        for _ in range(count):
            name, array, place = _read_array(data, place)
            arrays[name] = array
        if place != len(data):
            raise RunError(f"damaged state: {len(data) - place} bytes too many")
        groups: dict[str, dict[str, Any]] = {"active": {}, "history": {}, "rest": {}}
        for name in arrays:
            if name not in ("t", "q", "v"):
                group, _, rest = name.partition("/")
                groups[group][rest] = arrays[name]
        return State(arrays["t"].item(), arrays["q"], arrays["v"], **groups)
    except (struct.error, UnicodeDecodeError, ValueError, KeyError, ModelError) as error:
        raise RunError(f"damaged state: {error}") from error


def _read_array(data: bytes, place: int) -> tuple[str, Any, int]:
    """Read the array at a place; return its name, the array and the place after it."""
    name, place = _read_name(data, place)
    kind, dimensions = struct.unpack_from("<cB", data, place)
    dtype = _DTYPES[kind.decode("ascii")]
    if dimensions > _MAX_DIMENSIONS:
        raise RunError(f"damaged state: '{name}' has {dimensions} dimensions")
    shape = struct.unpack_from(f"<{dimensions}Q", data, place + 2)
    place += 2 + 8 * dimensions
    size = math.prod(shape)
    if size * dtype.itemsize > len(data) - place:
        raise RunError(f"damaged state: '{name}' is cut short")
    array = np.frombuffer(data, dtype=dtype, count=size, offset=place).reshape(shape)
    return name, array, place + size * dtype.itemsize


def hash_state(state: State) -> str:
    """Return the SHA-256 of a State (t, q, v, active elements, history), to compare two runs.

    >>> hash_state(State(0.0, [[0, 0, 0]], [[0, 0, 0]]))[:8]
    'bb918469'
    """
    return sha256(state_to_bytes(state)).hexdigest()
