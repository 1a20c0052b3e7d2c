"""The two parts of a GLB file: a JSON document and the bytes it describes. Getters check values.

A file is `glTF`, the version and the length, 4 bytes each, then chunks: length and type, 4 bytes
each, and content.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from pathlib import Path
from typing import Any

from taut.errors import MeshError
from taut.mesh.files.numbers import LARGEST_EXACT_INTEGER, ByteReader

MAGIC, JSON, BIN = 0x46546C67, 0x4E4F534A, 0x004E4942
# A small file can describe a huge mesh by naming its parts again and again: the mesh may have this
# many bytes per byte of the file, plus a fixed number.
_MAX_GROWTH = 64
_SPARE_BYTES = 1 << 24
# Each mesh and primitive that is placed costs time: a file may have 10,000, or one per 150 bytes.
_MIN_PARTS = 10_000
_BYTES_PER_PART = 150
DRACO, INSTANCING = "KHR_draco_mesh_compression", "EXT_mesh_gpu_instancing"
_UNSUPPORTED_EXTENSIONS = (DRACO, "EXT_meshopt_compression", "KHR_meshopt_compression", INSTANCING)
_EMBEDDED = "data:"

Object = dict[str, Any]


class GltfDocument:
    """The JSON of a file, and its buffers."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        text, self.chunk = _split_chunks(path, data)
        self.budget = _MAX_GROWTH * len(data) + _SPARE_BYTES
        self.max_parts = max(_MIN_PARTS, len(data) // _BYTES_PER_PART)
        self.remaining_parts = self.max_parts
        try:
            self.root = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.error(f"the JSON chunk must be valid JSON: {error}") from None
        if not isinstance(self.root, dict):
            raise self.error("the JSON chunk must be an object")
        for name in self.get_list(self.root, "extensionsRequired", "the file"):
            if name in _UNSUPPORTED_EXTENSIONS:
                raise self.error(
                    f"must not require {name}; save it without compression or instancing"
                )
        self._buffers: dict[int, bytes] = {}

    def error(self, message: str, where: str | None = None) -> MeshError:
        """Return an error in a part of the document, such as "accessor 3"."""
        return MeshError(message, path=self.path, element=where)

    def spend(self, size: int, where: str) -> None:
        """Subtract bytes of the mesh from the budget."""
        self.budget -= size
        if self.budget < 0:
            raise self.error(
                f"the mesh must be at most {_MAX_GROWTH} times as large as the file, "
                "got too many instances",
                where,
            )

    def count_parts(self, where: str, count: int) -> None:
        """Subtract parts of the mesh from those that a file may have."""
        self.remaining_parts -= count
        if self.remaining_parts < 0:
            raise self.error(
                f"there must be at most {self.max_parts} meshes, primitives and groups; join them",
                where,
            )

    def get_list(self, of: Object, key: str, where: str) -> list[Any]:
        """Return a list; an empty one if the key is missing."""
        value = of.get(key, [])
        if not isinstance(value, list):
            raise self.error(f"'{key}' must be a list, got {type(value).__name__}", where)
        return value

    def get_object(self, of: Object, key: str, where: str) -> Object:
        """Return an object; an empty one if the key is missing."""
        value = of.get(key, {})
        if not isinstance(value, dict):
            raise self.error(f"'{key}' must be an object, got {type(value).__name__}", where)
        return value

    def get_int(self, of: Object, key: str, where: str, default: int | None = None) -> int:
        """Return an integer from 0 to 2⁵³."""
        value = of.get(key, default)
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or not 0 <= value <= LARGEST_EXACT_INTEGER
        ):
            got = "none" if value is None else str(value)[:40]
            raise self.error(f"'{key}' must be a non-negative integer, got {got}", where)
        return value

    def get_item(self, key: str, index: int, where: str) -> Object:
        """Return an object of a list of the document, which the part `where` names by its index."""
        items = self.get_list(self.root, key, "the file")
        if index >= len(items):
            raise self.error(f"must name one of {len(items)} '{key}', got {index}", where)
        if not isinstance(items[index], dict):
            raise self.error(f"number {index} of '{key}' must be an object", where)
        return items[index]

    def get_floats(self, of: Object, key: str, default: list[float], where: str) -> list[float]:
        """Return finite numbers, as many as the default has; the default if the key is missing."""
        if key not in of:
            return default
        values = self.get_list(of, key, where)
        if len(values) != len(default) or not all(map(_is_finite_number, values)):
            raise self.error(f"'{key}' must be {len(default)} finite numbers", where)
        return [float(v) for v in values]

    def get_name(self, of: Object) -> str:
        """Return the name of an object; an empty string if it has none."""
        value = of.get("name", "")
        return value if isinstance(value, str) else ""

    def get_view(self, index: int, where: str) -> tuple[bytes, int, int, int | None]:
        """Return a buffer view: buffer, first byte, byte after the last, and stride (or None)."""
        found = self.get_item("bufferViews", index, where)
        own = f"bufferView {index}"
        buffer = self._get_buffer(self.get_int(found, "buffer", own), own)
        start = self.get_int(found, "byteOffset", own, 0)
        end = start + self.get_int(found, "byteLength", own)
        if end > len(buffer):
            raise self.error(
                f"must end within its buffer of {len(buffer)} bytes, got byte {end}", own
            )
        stride = None
        if "byteStride" in found:
            stride = self.get_int(found, "byteStride", own)
        return buffer, start, end, stride

    def _get_buffer(self, index: int, where: str) -> bytes:
        """Return the bytes of a buffer: the binary chunk, or base64 in the JSON."""
        if index not in self._buffers:
            found = self.get_item("buffers", index, where)
            uri = found.get("uri")
            if uri is None and index == 0 and self.chunk is not None:
                self._buffers[index] = self.chunk
            elif isinstance(uri, str) and uri.startswith(_EMBEDDED) and ";base64," in uri:
                try:
                    self._buffers[index] = base64.b64decode(
                        uri.partition(";base64,")[2], validate=True
                    )
                except (binascii.Error, ValueError):
                    raise self.error(
                        "the data: address must be valid base64", f"buffer {index}"
                    ) from None
            else:
                raise self.error(
                    "the bytes must be in this file; save all in one .glb, uncompressed",
                    f"buffer {index}",
                )
        return self._buffers[index]


def _split_chunks(path: Path, data: bytes) -> tuple[bytes, bytes | None]:
    """Return the content of the JSON chunk, and of the binary one if there is one."""
    stream = ByteReader(path, data)
    magic, version, length = (stream.take_int("<u4", "bytes of the head") for _ in range(3))
    if magic != MAGIC:
        raise MeshError("the file must start with 'glTF'; save a .gltf file as .glb", path=path)
    if version != 2:
        raise MeshError(f"the version must be 2, got {version}", path=path)
    if length > len(data):
        raise MeshError(f"the file must have {length} bytes, got {len(data)}", path=path)
    text, binary = None, None
    while stream.remaining >= 8 and binary is None:
        size, kind = stream.take_int("<u4", "chunk"), stream.take_int("<u4", "chunk")
        content = stream.take("u1", size, "bytes of a chunk").tobytes()
        if text is None:
            if kind != JSON:
                raise stream.error("the first chunk must be JSON")
            text = content
        elif kind == BIN:
            binary = content
    if text is None:
        raise MeshError("the file must have a JSON chunk, got none", path=path)
    return text, binary


def _is_finite_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer larger than any float
        return False
