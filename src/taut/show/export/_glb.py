"""Binary glTF 2.0 with the motion as morph targets, for the web and most viewers.

A body is a node with a mesh. Its points are those of the first frame, x₀; frame k ≥ 1 is the target
k - 1, the offsets xₖ - x₀, and the animation gives each target the weight 1 at the time of its
frame and 0 at those of the others:

    x(t) = x₀ + Σ wₖ(t) (xₖ - x₀),

which interpolates linearly between two frames. All numbers are 32-bit floats; offsets are taken
from the stored x₀, so that rounding errors do not add up. Quads and polygons are cut into
triangles. A point whose corners have different normals or texture coordinates is split; the copies
follow after all points, as in `taut.mesh.write`. Faces that tear shrink (`_tearing`).
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
from taut.mesh.parts import UV
from taut.run.open_run import Frame
from taut.show.export._animation import Animation
from taut.show.export._bodies import (
    Polygons,
    choose_colour,
    list_polygons,
    surface_mesh,
    to_float32,
)
from taut.show.export._normals import group_by_kind
from taut.show.export._tearing import SplitMesh, TornCells, find_torn_cells, split_cells
from taut.show.smooth_normals import SmoothNormals
from taut.show.visual_model import VisualBody

MAX_FRAMES = 100  # each frame is a morph target, and few programs accept many
_MAX_BYTES = 2**32 - 1  # lengths in the file have 32 bits
_FLOAT, _UNSIGNED = 5126, 5125
_ARRAY, _ELEMENTS = 34962, 34963  # what a buffer view is for
_POINTS, _LINES, _TRIANGLES = 0, 1, 4
_UP = np.array([0.0, 1.0, 0.0])  # normal of points without a face
_ROUGHNESS = 0.8  # of cloth, paper and rubber: hardly a highlight


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

    split : its mesh; origin : for each point in the file, the point of that mesh, (p,)
    polygons, normals : its faces, and their normals, of which each point in the file has the one
        with the number `normal`, (p,), or -1
    primitives : as in the file
    base, base_normal : positions and normals of the first frame, (p, 3)
    """

    piece: VisualBody
    split: SplitMesh
    origin: Int
    polygons: Polygons
    normals: SmoothNormals
    normal: Int
    primitives: list[dict[str, Any]] = field(default_factory=list)
    base: Single = field(default_factory=lambda: np.empty((0, 3), np.float32))
    base_normal: Single = field(default_factory=lambda: np.empty((0, 3), np.float32))
    targets: list[dict[str, int]] = field(default_factory=list)

    def place(self, frame: Frame, torn: TornCells) -> tuple[Float, Float]:
        """Return positions [m] and normals of the points in the file, both (p, 3)."""
        x = self.piece.positions(frame.q)
        whole = self.polygons.find_whole(torn)
        found = self.normals.at(x, whole)
        normals = np.where(
            (self.normal >= 0)[:, None], np.vstack([found, [0.0, 1.0, 0.0]])[self.normal], _UP
        )
        return x[self.split.follow(torn)[self.origin]], normals

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
            torn = animation.model.torn_pairs(frame)
            if not bodies:
                bodies = [
                    _write_body(buffer, animation, i, frame) for i in range(len(animation.pieces))
                ]
                animation.warn_of_splits(name, sum(body.split.count for body in bodies))
                continue
            for body in bodies:
                cells = find_torn_cells(body.piece, surface_mesh(body.piece).cells, torn)
                body.targets.append(_write_target(buffer, body, frame, cells))
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


def _write_body(buffer: _Buffer, animation: Animation, number: int, frame: Frame) -> _Body:
    """Write the first frame of a body: everything except its motion."""
    piece = animation.pieces[number]
    mesh = surface_mesh(piece)
    split = split_cells(mesh, find_torn_cells(piece, mesh.cells, animation.torn_at_the_end))
    cut = triangulated(split.mesh)
    triangles = cut.cells.get("triangle", np.empty((0, 3), np.int64))
    # Normals are those of the whole mesh: the same on both sides of what will tear. The numbers of
    # corners follow them into triangles as texture coordinates do.
    normals, numbers = group_by_kind(mesh)
    carrier = split.mesh.with_(uv=UV(np.zeros((len(normals.points), 2)), numbers))
    carried = triangulated(carrier).uv if numbers else None
    groups = np.empty(0, np.int64) if carried is None else carried.corners["triangle"].ravel()
    placed, origin, normal = split_at_creases(triangles, groups, cut.n)
    texture = None
    if cut.uv is not None and len(triangles):
        placed, again, texture = split_at_seams(placed, cut.uv, len(origin))
        origin, normal = origin[again], normal[again]
    body = _Body(piece, split, origin, list_polygons(piece), normals, normal)
    torn = find_torn_cells(piece, mesh.cells, animation.model.torn_pairs(frame))
    x, turned = body.place(frame, torn)
    body.base = to_float32(x, f"{piece.name}, t = {frame.t:g} s")
    body.base_normal = turned.astype("<f4")
    shared = {"POSITION": buffer.add(body.base, "VEC3", target=_ARRAY, bounds=True)}
    if len(triangles):
        attributes = shared | {"NORMAL": buffer.add(body.base_normal, "VEC3", target=_ARRAY)}
        if texture is not None:
            attributes["TEXCOORD_0"] = buffer.add(texture.astype("<f4"), "VEC2", target=_ARRAY)
        indices = _write_indices(buffer, placed)
        body.primitives.append(
            {"attributes": attributes, "mode": _TRIANGLES, "indices": indices, "material": number}
        )
    if "line" in cut.cells:
        indices = _write_indices(buffer, cut.cells["line"])
        body.primitives.append(
            {"attributes": shared, "mode": _LINES, "indices": indices, "material": number}
        )
    if not body.primitives:
        body.primitives.append({"attributes": shared, "mode": _POINTS, "material": number})
    return body


def split_at_creases(triangles: Int, groups: Int, n: int) -> tuple[Int, Int, Int]:
    """Copy points so that each has one normal, which is all that glTF can store.

    triangles : (k, 3); groups : the normal of each corner, (3 k,); n : points
    Returns triangles on the new points, the old point of each new one, and its normal or -1.

    >>> split_at_creases(np.array([[0, 1, 2], [0, 2, 3]]), np.array([0, 1, 2, 4, 2, 3]), 4)
    (array([[0, 1, 2],
           [4, 2, 3]]), array([0, 1, 2, 3, 0]), array([0, 1, 2, 3, 4]))
    """
    count = int(groups.max(initial=0)) + 1
    pairs, which = np.unique(triangles.ravel() * count + groups, return_inverse=True)
    owner, group = pairs // count, pairs % count
    is_copy = np.concatenate([[False], owner[1:] == owner[:-1]])[: len(owner)]
    place = owner.copy()
    place[is_copy] = n + np.arange(int(is_copy.sum()))
    normal = np.full(n, -1)
    normal[owner[~is_copy]] = group[~is_copy]
    return (
        place[which.reshape(-1)].reshape(triangles.shape),
        np.concatenate([np.arange(n), owner[is_copy]]),
        np.concatenate([normal, group[is_copy]]),
    )


def _write_indices(buffer: _Buffer, cells: Int) -> int:
    return buffer.add(cells.astype("<u4").ravel(), "SCALAR", target=_ELEMENTS)


def _write_target(buffer: _Buffer, body: _Body, frame: Frame, torn: TornCells) -> dict[str, int]:
    """Write the offsets of a frame from the first; return their accessors."""
    x, normals = body.place(frame, torn)
    offset = to_float32(x - body.base.astype(np.float64), f"{body.piece.name}, t = {frame.t:g} s")
    target = {"POSITION": buffer.add(offset, "VEC3", target=_ARRAY, bounds=True)}
    if len(body.normals.points):
        turned = normals - body.base_normal.astype(np.float64)
        target["NORMAL"] = buffer.add(turned.astype("<f4"), "VEC3", target=_ARRAY)
    return target


def _make_material(piece: VisualBody, number: int) -> dict[str, Any]:
    paint = {
        "baseColorFactor": [*choose_colour(piece, number), 1.0],
        "metallicFactor": 0.0,
        "roughnessFactor": _ROUGHNESS,
    }
    # double-sided: otherwise cloth would be seen from one side only
    return {"name": piece.name, "doubleSided": True, "pbrMetallicRoughness": paint}


def _make_document(animation: Animation, buffer: _Buffer, bodies: list[_Body]) -> dict[str, Any]:
    """Return the JSON that describes the binary part."""
    names = [f"t = {t:.6g} s" for t in animation.times[1:].tolist()]
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "taut"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(bodies)))}],
        "nodes": [{"name": body.piece.name, "mesh": i} for i, body in enumerate(bodies)],
        "meshes": [body.mesh(names) for body in bodies],
        "materials": [_make_material(body.piece, i) for i, body in enumerate(bodies)],
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
