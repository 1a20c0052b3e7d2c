"""PC2 point caches for Blender and others, each with the OBJ of the mesh that it moves.

The interval of samples is in frames of the other program: fps times the time from frame to frame.
Points without a line or face, such as those inside a solid, are left out of both files, because
Blender drops them. The others keep their order.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from taut.arrays import Int
from taut.mesh.files import obj
from taut.mesh.mesh import Mesh
from taut.mesh.point_cache import PointCacheWriter
from taut.show.export._animation import Animation
from taut.show.export._bodies import surface_mesh, to_float32
from taut.show.export._normals import find_obj_normals
from taut.show.export._tearing import SplitMesh, find_torn_cells, split_cells
from taut.show.visual_model import VisualBody

_log = logging.getLogger("taut")


def list_files(animation: Animation, name: str) -> list[str]:
    """Return name.pc2 and name.obj; for several bodies name_BODY.pc2 and name_BODY.obj."""
    caches = list_caches(animation.names, name)
    return [file for cache in caches for file in (cache, str(Path(cache).with_suffix(".obj")))]


def list_caches(bodies: list[str], name: str) -> list[str]:
    """Return the names of the caches of bodies with these identifiers.

    >>> list_caches(["flag"], "x.pc2"), list_caches(["flag", "pole"], "x.pc2")
    (['x.pc2'], ['x_flag.pc2', 'x_pole.pc2'])
    """
    if len(bodies) == 1:
        return [name]
    path = Path(name)
    return [f"{path.stem}_{body}{path.suffix}" for body in bodies]


def write(animation: Animation, folder: Path, name: str) -> None:
    """Write the caches, and the meshes as they are in the first frame."""
    if not animation.is_even:
        _log.warning("%s: a point cache assumes equal times between frames, but they differ", name)
    names = list_files(animation, name)
    gap = float(np.median(np.diff(animation.times))) if len(animation) > 1 else 1.0 / animation.rate
    splits = [split_surface(animation, piece) for piece in animation.pieces]
    animation.warn_of_splits(name, sum(split.count for split in splits))
    with ExitStack() as stack:
        files = [stack.enter_context(open(folder / cache, "xb")) for cache in names[::2]]
        meshes = [drop_unused_points(split.mesh) for split in splits]
        caches = [
            PointCacheWriter(file, mesh.n, gap * animation.rate)
            for file, (mesh, _) in zip(files, meshes, strict=True)
        ]
        for i, frame in enumerate(animation):
            pairs = animation.model.torn_pairs(frame)
            for body, piece in enumerate(animation.pieces):
                torn = find_torn_cells(piece, surface_mesh(piece).cells, pairs)
                mesh, used = meshes[body]
                x = piece.positions(frame.q)[splits[body].follow(torn)][used]
                caches[body].add(to_float32(x, f"{piece.name}, t = {frame.t:g} s"))
                if i == 0:
                    (folder / names[2 * body + 1]).write_bytes(
                        obj.write(mesh.with_(points=x), normals=find_obj_normals(mesh, x))
                    )


def split_surface(animation: Animation, piece: VisualBody) -> SplitMesh:
    """Return the surface of a body, in which cells that tear have points of their own."""
    mesh = surface_mesh(piece)
    return split_cells(mesh, find_torn_cells(piece, mesh.cells, animation.torn_at_the_end))


def drop_unused_points(mesh: Mesh) -> tuple[Mesh, Int]:
    """Return the mesh without points that no cell has, and the points that are left, in order.

    All points are left if there are no cells.

    >>> mesh, used = drop_unused_points(Mesh([[0, 0], [1, 0], [2, 0]], {"line": [[2, 1]]}))
    >>> mesh.cells["line"].tolist(), used.tolist()
    ([[1, 0]], [1, 2])
    """
    if not mesh.cells:
        return mesh, np.arange(mesh.n)
    used = np.unique(np.concatenate([cells.ravel() for cells in mesh.cells.values()]))
    place = np.empty(mesh.n, np.int64)
    place[used] = np.arange(len(used))
    return mesh.with_(
        points=mesh.points[used], cells={kind: place[cells] for kind, cells in mesh.cells.items()}
    ), used
