"""Binary glTF 2.0 with the motion as morph targets, for the web and most viewers.

A body is a node with a mesh. Its points are those of the first frame, x₀; frame k ≥ 1 is the target
k - 1, the offsets xₖ - x₀, and the animation gives each target the weight 1 at the time of its
frame and 0 at those of the others:

    x(t) = x₀ + Σ wₖ(t) (xₖ - x₀),

which interpolates linearly between two frames. All numbers are 32-bit floats; offsets are taken
from the stored x₀, so that rounding errors do not add up. Quads and polygons are cut into
triangles. A point whose corners have different texture coordinates is split; the copies follow
after all points, as in `taut.mesh.write`.
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

from taut.arrays import Float, Int, Single
from taut.errors import RunError
from taut.mesh.faces import triangulated
from taut.mesh.files.glb.document import BIN, JSON, MAGIC
from taut.mesh.files.glb.writer import split_at_seams
from taut.show.export._animation import Animation
from taut.show.export._bodies import point_normals, surface_mesh, to_float32
from taut.show.visual_model import VisualBody

MAX_FRAMES = 100  # each frame is a morph target, and few programs accept many
_MAX_BYTES = 2**32 - 1  # lengths in the file have 32 bits
_FLOAT, _UNSIGNED = 5126, 5125
_ARRAY, _ELEMENTS = 34962, 34963  # what a buffer view is for
_POINTS, _LINES, _TRIANGLES = 0, 1, 4
_PAINT = {"baseColorFactor": [0.8, 0.8, 0.8, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}
# double-sided: otherwise cloth would be seen from one side only
_MATERIAL = {"name": "plain", "doubleSided": True, "pbrMetallicRoughness": _PAINT}


class _Buffer:
    """The binary part of the file, and the views and accessors that describe it."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.size = out, 0
        self.views: list[dict[str, int]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(
        self, array: NDArray[Any], kind: str, *, target: int | None = None, bounds: bool = False
    ) -> int:
        """Append an array of 4-byte numbers, (count,) or (count, width); return its accessor.

        target : what the buffer view is for; bounds : whether the accessor has min and max
        """
        content = array.tobytes()
        if self.size + len(content) > _MAX_BYTES:
            raise RunError("a GLB file must be smaller than 4 GiB; write fewer frames")
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": len(content)}
        self.views.append(view if target is None else view | {"target": target})
        component = _FLOAT if array.dtype.kind == "f" else _UNSIGNED
        accessor = {
            "bufferView": len(self.views) - 1,
            "componentType": component,
            "count": len(array),
            "type": kind,
        }
        if bounds:
            table = array.reshape(len(array), -1)
            accessor |= {"min": table.min(axis=0).tolist(), "max": table.max(axis=0).tolist()}
        self.accessors.append(accessor)
        self.out.write(content)
        self.size += len(content)
        return len(self.accessors) - 1


@dataclass
class _Body:
    """A body in the file.

    origin : for each point in the file, the point of the body, (p,)
    triangles : points of the body, for normals, (k, 3)
    primitives : as in the file
    base, normal : positions and normals of the first frame, (p, 3)
    """

    piece: VisualBody
    origin: Int
    triangles: Int
    primitives: list[dict[str, Any]]
    base: Single
    normal: Single | None
    targets: list[dict[str, int]] = field(default_factory=list)

    def mesh(self, names: list[str]) -> dict[str, Any]:
        """Return the mesh as it is in the file; names : of the morph targets."""
        mesh: dict[str, Any] = {"name": self.piece.name, "primitives": self.primitives}
        if not self.targets:
            return mesh
        for primitive in self.primitives:
            keys = primitive["attributes"]
            primitive["targets"] = [
                {key: number for key, number in target.items() if key in keys}
                for target in self.targets
            ]
        return mesh | {"weights": [0.0] * len(self.targets), "extras": {"targetNames": names}}


def write(animation: Animation, folder: Path, name: str) -> None:
    """Write the file; the binary part goes to a temporary file, as the JSON precedes it."""
    with open(folder / "binary.part", "x+b") as binary:
        buffer = _Buffer(binary)
        bodies: list[_Body] = []
        for frame in animation:
            if not bodies:
                bodies = [
                    _write_body(buffer, piece, frame.q, frame.t) for piece in animation.pieces
                ]
                continue
            for body in bodies:
                body.targets.append(_write_target(buffer, body, frame.q, frame.t))
        text = json.dumps(
            _make_document(animation, buffer, bodies), separators=(",", ":"), ensure_ascii=True
        ).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + buffer.size
        if length > _MAX_BYTES:
            raise RunError("a GLB file must be smaller than 4 GiB; write fewer frames")
        binary.seek(0)
        with open(folder / name, "xb") as out:
            out.write(
                struct.pack("<3I", MAGIC, 2, length) + struct.pack("<2I", len(text), JSON) + text
            )
            out.write(struct.pack("<2I", buffer.size, BIN))
            shutil.copyfileobj(binary, out)


def _write_body(buffer: _Buffer, piece: VisualBody, q: Float, t: float) -> _Body:
    """Write the first frame of a body: everything except its motion."""
    mesh = triangulated(surface_mesh(piece))
    triangles = mesh.cells.get("triangle", np.empty((0, 3), np.int64))
    placed, origin, texture = triangles, np.arange(mesh.n), None
    if mesh.uv is not None and len(triangles):
        placed, origin, texture = split_at_seams(triangles, mesh.uv, mesh.n)
    x = piece.positions(q)
    base = to_float32(x, f"{piece.name}, t = {t:g} s")[origin]
    normal = point_normals(x, triangles)[origin].astype("<f4") if len(triangles) else None
    shared = {"POSITION": buffer.add(base, "VEC3", target=_ARRAY, bounds=True)}
    primitives = []
    if normal is not None:
        attributes = shared | {"NORMAL": buffer.add(normal, "VEC3", target=_ARRAY)}
        if texture is not None:
            attributes["TEXCOORD_0"] = buffer.add(texture.astype("<f4"), "VEC2", target=_ARRAY)
        primitives.append(
            {
                "attributes": attributes,
                "mode": _TRIANGLES,
                "indices": _write_indices(buffer, placed),
                "material": 0,
            }
        )
    if len(piece.lines):
        primitives.append(
            {"attributes": shared, "mode": _LINES, "indices": _write_indices(buffer, piece.lines)}
        )
    if not primitives:
        primitives.append({"attributes": shared, "mode": _POINTS})
    return _Body(piece, origin, triangles, primitives, base, normal)


def _write_indices(buffer: _Buffer, cells: Int) -> int:
    return buffer.add(cells.astype("<u4").ravel(), "SCALAR", target=_ELEMENTS)


def _write_target(buffer: _Buffer, body: _Body, q: Float, t: float) -> dict[str, int]:
    """Write the offsets of a frame from the first; return their accessors."""
    x = body.piece.positions(q)
    offset = to_float32(
        x[body.origin] - body.base.astype(np.float64), f"{body.piece.name}, t = {t:g} s"
    )
    target = {"POSITION": buffer.add(offset, "VEC3", target=_ARRAY, bounds=True)}
    if body.normal is not None:
        turned = point_normals(x, body.triangles)[body.origin] - body.normal.astype(np.float64)
        target["NORMAL"] = buffer.add(turned.astype("<f4"), "VEC3", target=_ARRAY)
    return target


def _make_document(animation: Animation, buffer: _Buffer, bodies: list[_Body]) -> dict[str, Any]:
    """Return the JSON that describes the binary part."""
    names = [f"t = {t:.6g} s" for t in animation.times[1:].tolist()]
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "taut"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(bodies)))}],
        "nodes": [{"name": body.piece.name, "mesh": i} for i, body in enumerate(bodies)],
        "meshes": [body.mesh(names) for body in bodies],
        "materials": [_MATERIAL],
    }
    if len(animation) > 1:
        keys = buffer.add(
            (animation.times - animation.times[0]).astype("<f4"), "SCALAR", bounds=True
        )
        weights = buffer.add(np.eye(len(animation), dtype="<f4")[:, 1:].ravel(), "SCALAR")
        channels = [
            {"sampler": 0, "target": {"node": i, "path": "weights"}} for i in range(len(bodies))
        ]
        sampler = {"input": keys, "output": weights, "interpolation": "LINEAR"}
        document["animations"] = [{"name": "run", "samplers": [sampler], "channels": channels}]
    return document | {
        "buffers": [{"byteLength": buffer.size}],
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    }
