"""PC2 point caches for Blender and others, each with the OBJ of the mesh that it moves.

    "POINTCACHE2\\0", int32 version = 1, int32 points, float32 start = 0, float32 sampling, int32 samples,
    float32 x, y, z of all points, sample after sample

little-endian. `sampling` is in frames of the other program: fps times the time from frame to frame. Points are
left out of both files where no line or face has them, as inside of a solid: Blender drops them. The others keep their order.
"""

from __future__ import annotations

import logging
import struct
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files import obj_write
from taut.mesh.mesh import Mesh
from taut.show.export.clip import Clip
from taut.show.export.faces import faced
from taut.show.export.single import single

Int = NDArray[np.int64]
HEAD = struct.Struct("<12siiffi")
_log = logging.getLogger("taut")


def files(clip: Clip, name: str) -> list[str]:
    """name.pc2 and name.obj; of several bodies name_BODY.pc2 and name_BODY.obj."""
    path = Path(name)
    stems = [path.stem] if len(clip.pieces) == 1 else [f"{path.stem}_{body}" for body in clip.names]
    return [f"{stem}{suffix}" for stem in stems for suffix in (path.suffix, ".obj")]


def write(clip: Clip, folder: Path, name: str) -> None:
    """The caches, and the meshes as they are in the first frame."""
    if not clip.even:
        _log.warning("%s: the frames do not follow each other in equal times, as a point cache assumes", name)
    names = files(clip, name)
    gap = float(np.median(np.diff(clip.times))) if len(clip) > 1 else 1.0 / clip.rate
    with ExitStack() as stack:
        caches = [stack.enter_context(open(folder / cache, "xb")) for cache in names[::2]]
        meshes = [trimmed(faced(piece)) for piece in clip.pieces]
        for cache, (mesh, _) in zip(caches, meshes, strict=True):
            cache.write(HEAD.pack(b"POINTCACHE2\0", 1, mesh.n, 0.0, gap * clip.rate, len(clip)))
        for i, frame in enumerate(clip):
            for cache, base, piece, (mesh, used) in zip(caches, names[1::2], clip.pieces, meshes, strict=True):
                x = piece.positions(frame.q)[used]
                cache.write(single(x, f"{piece.name}, t = {frame.t:g} s").tobytes())
                if i == 0:
                    (folder / base).write_bytes(obj_write.write(mesh.with_(points=x)))


def trimmed(mesh: Mesh) -> tuple[Mesh, Int]:
    """The mesh on the points that its cells have, in their order, and which these are; all points if there are no cells.

    >>> mesh, used = trimmed(Mesh([[0, 0], [1, 0], [2, 0]], {"line": [[2, 1]]}))
    >>> mesh.cells["line"].tolist(), used.tolist()
    ([[1, 0]], [1, 2])
    """
    if not mesh.cells:
        return mesh, np.arange(mesh.n)
    used = np.unique(np.concatenate([cells.ravel() for cells in mesh.cells.values()]))
    place = np.empty(mesh.n, np.int64)
    place[used] = np.arange(len(used))
    return mesh.with_(points=mesh.points[used], cells={kind: place[cells] for kind, cells in mesh.cells.items()}), used
