"""Numbers as bytes, exactly: the layout of frames and checkpoints, and the checksum that each row of a run carries.

Vectors are float64, little-endian, row after row: q of n particles takes 24 n bytes. A State is

    "TAUTSTATE1"   ten bytes: the layout and its version
    count          uint32, of the arrays that follow; each is
        name       uint16 length, then UTF-8: "t", "q", "v", "active/<law>" or "history/<name>"
        kind       one byte, "d" (float64) or "?" (bool, one byte each)
        shape      uint8 number of dimensions, then a uint64 each
        values     row after row

all little-endian, and nothing after it. Reading it runs no code: what does not fit is refused.

The checksum is BLAKE2b, 16 bytes, of the name of the table and of the row's values, each with its kind and length before it.
"""

from __future__ import annotations

import math
import struct
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, RunError
from taut.system.state import State

Float = NDArray[np.float64]
MAGIC = b"TAUTSTATE1"
KINDS = {"d": np.dtype("<f8"), "?": np.dtype("?")}
DIMENSIONS = 8  # more than any array of a State has


def checksum(table: str, *values: Any) -> bytes:
    """The checksum of a row: ints, floats, text, bytes and None.

    >>> checksum("frames", 0, 0.5).hex()
    '0958b248d8080d29f280a261e2a6746b'
    """
    digest = blake2b(digest_size=16)
    for value in (table, *values):
        digest.update(_packed(value))
        if isinstance(value, bytes):
            digest.update(value)
    return digest.digest()


def _packed(value: Any) -> bytes:
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


def stored(value: float) -> float | None:
    """A number as SQLite keeps it: it knows neither NaN nor -0.

    >>> stored(float("nan")), stored(-0.0), stored(1.5)
    (None, 0.0, 1.5)
    """
    return None if math.isnan(value) else float(value) + 0.0


def vectors_to_bytes(vectors: Float) -> bytes:
    """Vectors (n, 3) as bytes.

    >>> len(vectors_to_bytes(np.zeros((2, 3))))
    48
    """
    return np.ascontiguousarray(vectors, dtype="<f8").tobytes()


def vectors_from_bytes(data: bytes, n: int) -> Float:
    """n vectors, (n, 3), read-only.

    >>> vectors_from_bytes(vectors_to_bytes(np.ones((1, 3))), 1)
    array([[1., 1., 1.]])
    """
    if not isinstance(data, bytes) or len(data) != 24 * n:
        raise RunError(f"expected {24 * n} bytes for {n} vectors")
    vectors = np.frombuffer(data, dtype="<f8").reshape(n, 3).astype(np.float64, copy=False)
    vectors.setflags(write=False)
    return vectors


def state_to_bytes(state: State) -> bytes:
    """A State as bytes; see above.

    >>> state = State(0.5, [[0, 1, 0]], [[0, 0, 0]], history={"h": 0.25})
    >>> float(state_from_bytes(state_to_bytes(state)).history["h"])
    0.25
    """
    arrays: dict[str, Any] = {"t": np.array(state.t), "q": state.q, "v": state.v}
    arrays |= {f"active/{name}": mask for name, mask in state.active.items()}
    arrays |= {f"history/{name}": value for name, value in state.history.items()}
    parts = [MAGIC, struct.pack("<I", len(arrays))]
    for name, array in arrays.items():
        kind = "?" if array.dtype == bool else "d"
        text = name.encode("utf-8", "surrogatepass")
        parts.append(struct.pack("<H", len(text)) + text + kind.encode())
        parts.append(struct.pack(f"<B{array.ndim}Q", array.ndim, *array.shape))
        parts.append(np.ascontiguousarray(array, dtype=KINDS[kind]).tobytes())
    return b"".join(parts)


def state_from_bytes(data: bytes) -> State:
    """The State that `state_to_bytes` wrote, to the last bit; RunError for anything else."""
    arrays: dict[str, Any] = {}
    if not isinstance(data, bytes) or not data.startswith(MAGIC):
        raise RunError("not a state in a layout that this version reads")
    try:
        (count,), place = struct.unpack_from("<I", data, len(MAGIC)), len(MAGIC) + 4
        for _ in range(count):
            name, array, place = _array(data, place)
            arrays[name] = array
        if place != len(data):
            raise RunError(f"a state with {len(data) - place} bytes too many")
        groups: dict[str, dict[str, Any]] = {"active": {}, "history": {}}
        for name in arrays:
            if name not in ("t", "q", "v"):
                group, _, rest = name.partition("/")
                groups[group][rest] = arrays[name]
        return State(arrays["t"].item(), arrays["q"], arrays["v"], **groups)
    except (struct.error, UnicodeDecodeError, ValueError, KeyError, ModelError) as error:
        raise RunError(f"a damaged state: {error}") from error


def _array(data: bytes, place: int) -> tuple[str, Any, int]:
    """The array that begins at a place: its name, itself, and where it ends."""
    (length,) = struct.unpack_from("<H", data, place)
    place += 2
    name = data[place : place + length].decode("utf-8", "surrogatepass")
    place += length
    kind, dimensions = struct.unpack_from("<cB", data, place)
    dtype = KINDS[kind.decode("ascii")]
    if dimensions > DIMENSIONS:
        raise RunError(f"a damaged state: '{name}' has {dimensions} dimensions")
    shape = struct.unpack_from(f"<{dimensions}Q", data, place + 2)
    place += 2 + 8 * dimensions
    size = math.prod(shape)
    if size * dtype.itemsize > len(data) - place:
        raise RunError(f"a damaged state: '{name}' is cut short")
    array = np.frombuffer(data, dtype=dtype, count=size, offset=place).reshape(shape)
    return name, array, place + size * dtype.itemsize


def sha256_of(state: State) -> str:
    """SHA-256 of a State, to compare the ends of two runs: t, q, v, active elements and history.

    >>> sha256_of(State(0.0, [[0, 0, 0]], [[0, 0, 0]]))[:8]
    'bb918469'
    """
    return sha256(state_to_bytes(state)).hexdigest()
