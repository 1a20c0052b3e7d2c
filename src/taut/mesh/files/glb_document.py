"""The two parts of a GLB file, a JSON document and the bytes it describes, with every value checked when it is asked for.

A file is `glTF`, the version and the length, 4 bytes each, then chunks: length and type, 4 bytes each, and content.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from pathlib import Path
from typing import Any

from taut.errors import MeshError
from taut.mesh.files.binary import Binary
from taut.mesh.files.numbers import LARGEST

MAGIC, JSON, BIN = 0x46546C67, 0x4E4F534A, 0x004E4942
_ROOM = 64  # bytes of mesh that each byte of a file may become, instances counted
_SPARE = 1 << 24
_PARTS, _BYTES = 10_000, 150  # meshes and primitives that a file may place, or one for so many bytes, since each costs time
DRACO, INSTANCING = "KHR_draco_mesh_compression", "EXT_mesh_gpu_instancing"
_UNREAD = (DRACO, "EXT_meshopt_compression", "KHR_meshopt_compression", INSTANCING)
_EMBEDDED = "data:"

Object = dict[str, Any]


class Document:
    """The JSON of a file, and its buffers."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        text, self.chunk = _chunks(path, data)
        self.room = _ROOM * len(data) + _SPARE
        self.parts = self.most = max(_PARTS, len(data) // _BYTES)
        try:
            self.root = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.error(f"its JSON cannot be read: {error}") from None
        if not isinstance(self.root, dict):
            raise self.error("its JSON is not an object")
        for name in self.array(self.root, "extensionsRequired", "the file"):
            if name in _UNREAD:
                raise self.error(f"it needs {name}, which is not read; save it without compression or instancing")
        self._buffers: dict[int, bytes] = {}

    def error(self, message: str, where: str | None = None) -> MeshError:
        """An error in a part of the document, such as "accessor 3"."""
        return MeshError(message, path=self.path, element=where)

    def use(self, size: int, where: str) -> None:
        """Count bytes of the mesh in, since a small file may ask for a huge one by naming its parts again and again."""
        self.room -= size
        if self.room < 0:
            raise self.error(f"the mesh would be more than {_ROOM} times as large as the file; it has too many instances", where)

    def part(self, where: str, count: int) -> None:
        """Count parts of the mesh in, since however small it is each costs time."""
        self.parts -= count
        if self.parts < 0:
            raise self.error(f"the file places more than {self.most} meshes, primitives and groups; join or split them", where)

    def array(self, of: Object, key: str, where: str) -> list[Any]:
        """A list, empty if there is none."""
        value = of.get(key, [])
        if not isinstance(value, list):
            raise self.error(f"'{key}' is not a list", where)
        return value

    def object(self, of: Object, key: str, where: str) -> Object:
        """An object, empty if there is none."""
        value = of.get(key, {})
        if not isinstance(value, dict):
            raise self.error(f"'{key}' is not an object", where)
        return value

    def whole(self, of: Object, key: str, where: str, default: int | None = None) -> int:
        """A number from 0 to 2⁵³."""
        value = of.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise self.error(f"'{key}' is missing" if value is None else f"'{key}' is not a whole number from 0 on", where)
        return value

    def item(self, key: str, index: int, where: str) -> Object:
        """The object of this number in a list of the document, named by a part of it."""
        items = self.array(self.root, key, "the file")
        if index >= len(items):
            raise self.error(f"it names number {index} of '{key}'; there are {len(items)}", where)
        if not isinstance(items[index], dict):
            raise self.error(f"number {index} of '{key}' is not an object", where)
        return items[index]

    def floats(self, of: Object, key: str, default: list[float], where: str) -> list[float]:
        """Finite numbers, as many as the default has; the default if there are none."""
        if key not in of:
            return default
        values = self.array(of, key, where)
        fits = len(values) == len(default)
        if not (fits and all(isinstance(v, (int, float)) and not isinstance(v, bool) and _finite(v) for v in values)):
            raise self.error(f"'{key}' is not {len(default)} finite numbers", where)
        return [float(v) for v in values]

    def name(self, of: Object) -> str:
        """Its name; empty if it has none."""
        value = of.get("name", "")
        return value if isinstance(value, str) else ""

    def view(self, index: int, where: str) -> tuple[bytes, int, int, int | None]:
        """A buffer view: the buffer, the first byte, the one after the last, and the stride if there is one."""
        found = self.item("bufferViews", index, where)
        own = f"bufferView {index}"
        buffer = self._buffer(self.whole(found, "buffer", own), own)
        start = self.whole(found, "byteOffset", own, 0)
        end = start + self.whole(found, "byteLength", own)
        if end > len(buffer):
            raise self.error(f"it ends at byte {end} of a buffer with {len(buffer)}", own)
        return buffer, start, end, self.whole(found, "byteStride", own) if "byteStride" in found else None

    def _buffer(self, index: int, where: str) -> bytes:
        """The bytes of a buffer: the file's own chunk, or some written into the JSON."""
        if index not in self._buffers:
            found = self.item("buffers", index, where)
            uri = found.get("uri")
            if uri is None and index == 0 and self.chunk is not None:
                self._buffers[index] = self.chunk
            elif isinstance(uri, str) and uri.startswith(_EMBEDDED) and ";base64," in uri:
                try:
                    self._buffers[index] = base64.b64decode(uri.partition(";base64,")[2], validate=True)
                except (binascii.Error, ValueError):
                    raise self.error("its data: address is not in base64", f"buffer {index}") from None
            else:
                raise self.error("its bytes are not in this file; save all in one .glb, uncompressed", f"buffer {index}")
        return self._buffers[index]


def _chunks(path: Path, data: bytes) -> tuple[bytes, bytes | None]:
    """The content of the JSON chunk and of the binary one, if there is one."""
    stream = Binary(path, data)
    magic, version, length = (stream.one("<u4", "bytes of the head") for _ in range(3))
    if magic != MAGIC:
        raise MeshError("a GLB file begins with 'glTF'; a .gltf file with its parts is not read, save it as .glb", path=path)
    if version != 2:
        raise MeshError(f"this is glTF {version}; only 2 is read", path=path)
    if length > len(data):
        raise MeshError(f"the file has {len(data)} bytes of the {length} it announces", path=path)
    text, binary = None, None
    while stream.left >= 8 and binary is None:
        size, kind = stream.one("<u4", "chunk"), stream.one("<u4", "chunk")
        content = stream.take("u1", size, "bytes of a chunk").tobytes()
        if text is None:
            if kind != JSON:
                raise stream.error("the first chunk is not JSON")
            text = content
        elif kind == BIN:
            binary = content
    if text is None:
        raise MeshError("there is no JSON chunk", path=path)
    return text, binary


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False
