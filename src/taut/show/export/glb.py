"""Binary glTF 2.0 with the motion as morph targets, for the web and most viewers.

A body is a node with a mesh. Its points are those of the first frame, x₀; frame k ≥ 1 is the target k - 1, the offsets xₖ - x₀, and
the animation gives each target the weight 1 at the time of its frame and 0 at those of the others:

    x(t) = x₀ + Σ wₖ(t) (xₖ - x₀),

which between two frames is the straight line from one to the other. All numbers are floats of 32 bits; offsets are taken from x₀ as
it is stored, so that errors do not add up. Quads and polygons are cut into triangles, and where the corners of a point disagree on
texture coordinates it is split, its copies following after all points, as in `taut.mesh.write`.
"""

from __future__ import annotations

import json
import shutil
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import RunError
from taut.mesh.faces import triangulated
from taut.mesh.files.glb_document import BIN, JSON, MAGIC
from taut.mesh.files.glb_write import split
from taut.show.export.clip import Clip
from taut.show.export.faces import faced, normals
from taut.show.export.single import Single, single
from taut.show.subject import Piece

Int = NDArray[np.int64]
MOST = 100  # frames: each is a morph target of its own, and few programs take many
LARGEST = 2**32 - 1  # bytes: lengths in the file have 32 bits
_FLOAT, _UNSIGNED = 5126, 5125
_ARRAY, _ELEMENTS = 34962, 34963  # what a buffer view is for
_POINTS, _LINES, _TRIANGLES = 0, 1, 4
_PAINT = {"baseColorFactor": [0.8, 0.8, 0.8, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}
_MATERIAL = {"name": "plain", "doubleSided": True, "pbrMetallicRoughness": _PAINT}  # or cloth would be seen from one side only


class Stream:
    """The binary part of the file, written as it comes, and what describes it."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.size = out, 0
        self.views: list[dict[str, int]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, array: NDArray[Any], kind: str, *, target: int | None = None, bounds: bool = False) -> int:
        """The number of the accessor of an array of 4-byte numbers, (count,) or (count, width); bounds : with min and max."""
        content = array.tobytes()
        if self.size + len(content) > LARGEST:
            raise RunError("a GLB file has less than 4 GiB; take fewer frames")
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": len(content)}
        self.views.append(view if target is None else view | {"target": target})
        component = _FLOAT if array.dtype.kind == "f" else _UNSIGNED
        accessor = {"bufferView": len(self.views) - 1, "componentType": component, "count": len(array), "type": kind}
        if bounds:
            table = array.reshape(len(array), -1)
            accessor |= {"min": table.min(axis=0).tolist(), "max": table.max(axis=0).tolist()}
        self.accessors.append(accessor)
        self.out.write(content)
        self.size += len(content)
        return len(self.accessors) - 1


@dataclass
class Body:
    """A body in the file.

    origin : the point of the body that each point in the file is, (p,); triangles : of the body's points, for normals, (k, 3)
    primitives : as they stand in the file; base, normal : of the first frame, (p, 3)
    """

    piece: Piece
    origin: Int
    triangles: Int
    primitives: list[dict[str, Any]]
    base: Single
    normal: Single | None
    targets: list[dict[str, int]] = field(default_factory=list)

    def mesh(self, names: list[str]) -> dict[str, Any]:
        """As it stands in the file."""
        made: dict[str, Any] = {"name": self.piece.name, "primitives": self.primitives}
        if not self.targets:
            return made
        for primitive in self.primitives:
            keys = primitive["attributes"]
            primitive["targets"] = [{key: number for key, number in target.items() if key in keys} for target in self.targets]
        return made | {"weights": [0.0] * len(self.targets), "extras": {"targetNames": names}}


def write(clip: Clip, folder: Path, name: str) -> None:
    """The file: its binary part is written first, apart, since what describes it comes before it."""
    with open(folder / "binary.part", "x+b") as binary:
        stream = Stream(binary)
        bodies: list[Body] = []
        for frame in clip:
            if not bodies:
                bodies = [_body(stream, piece, frame.q, frame.t) for piece in clip.pieces]
                continue
            for body in bodies:
                body.targets.append(_target(stream, body, frame.q, frame.t))
        text = json.dumps(_document(clip, stream, bodies), separators=(",", ":"), ensure_ascii=True).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + stream.size
        if length > LARGEST:
            raise RunError("a GLB file has less than 4 GiB; take fewer frames")
        binary.seek(0)
        with open(folder / name, "xb") as out:
            out.write(struct.pack("<3I", MAGIC, 2, length) + struct.pack("<2I", len(text), JSON) + text)
            out.write(struct.pack("<2I", stream.size, BIN))
            shutil.copyfileobj(binary, out)


def _body(stream: Stream, piece: Piece, q: NDArray[np.float64], t: float) -> Body:
    """Everything but the motion."""
    mesh = triangulated(faced(piece))
    triangles = mesh.cells.get("triangle", np.empty((0, 3), np.int64))
    placed, origin, texture = triangles, np.arange(mesh.n), None
    if mesh.uv is not None and len(triangles):
        placed, origin, texture = split(triangles, mesh.uv, mesh.n)
    x = piece.positions(q)
    base = single(x, f"{piece.name}, t = {t:g} s")[origin]
    normal = normals(x, triangles)[origin].astype("<f4") if len(triangles) else None
    shared = {"POSITION": stream.add(base, "VEC3", target=_ARRAY, bounds=True)}
    primitives = []
    if normal is not None:
        attributes = shared | {"NORMAL": stream.add(normal, "VEC3", target=_ARRAY)}
        if texture is not None:
            attributes["TEXCOORD_0"] = stream.add(texture.astype("<f4"), "VEC2", target=_ARRAY)
        primitives.append({"attributes": attributes, "mode": _TRIANGLES, "indices": _indices(stream, placed), "material": 0})
    if len(piece.lines):
        primitives.append({"attributes": shared, "mode": _LINES, "indices": _indices(stream, piece.lines)})
    if not primitives:
        primitives.append({"attributes": shared, "mode": _POINTS})
    return Body(piece, origin, triangles, primitives, base, normal)


def _indices(stream: Stream, cells: Int) -> int:
    return stream.add(cells.astype("<u4").ravel(), "SCALAR", target=_ELEMENTS)


def _target(stream: Stream, body: Body, q: NDArray[np.float64], t: float) -> dict[str, int]:
    """The offsets of a frame from the first."""
    x = body.piece.positions(q)
    offset = single(x[body.origin] - body.base.astype(np.float64), f"{body.piece.name}, t = {t:g} s")
    target = {"POSITION": stream.add(offset, "VEC3", target=_ARRAY, bounds=True)}
    if body.normal is not None:
        turned = normals(x, body.triangles)[body.origin] - body.normal.astype(np.float64)
        target["NORMAL"] = stream.add(turned.astype("<f4"), "VEC3", target=_ARRAY)
    return target


def _document(clip: Clip, stream: Stream, bodies: list[Body]) -> dict[str, Any]:
    """What describes the binary part."""
    names = [f"t = {t:.6g} s" for t in clip.times[1:].tolist()]
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "taut"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(bodies)))}],
        "nodes": [{"name": body.piece.name, "mesh": i} for i, body in enumerate(bodies)],
        "meshes": [body.mesh(names) for body in bodies],
        "materials": [_MATERIAL],
    }
    if len(clip) > 1:
        keys = stream.add((clip.times - clip.times[0]).astype("<f4"), "SCALAR", bounds=True)
        weights = stream.add(np.eye(len(clip), dtype="<f4")[:, 1:].ravel(), "SCALAR")
        channels = [{"sampler": 0, "target": {"node": i, "path": "weights"}} for i in range(len(bodies))]
        sampler = {"input": keys, "output": weights, "interpolation": "LINEAR"}
        document["animations"] = [{"name": "run", "samplers": [sampler], "channels": channels}]
    return document | {
        "buffers": [{"byteLength": stream.size}], "bufferViews": stream.views, "accessors": stream.accessors
    }  # fmt: skip
