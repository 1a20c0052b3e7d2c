"""The mesh of a body, made or read, with everything done to it that its table asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.constraints.rigid import rodrigues
from taut.errors import MeshError
from taut.mesh import clean, fill, oriented, surface, triangulated
from taut.mesh.filling.stuffing import MOST_POINTS as LATTICE
from taut.mesh.mesh import Mesh
from taut.scene.catalogue import shape_arguments, shape_names
from taut.scene.folder import Folder
from taut.scene.meshes_model import FileMesh, InlineMesh, MeshBase
from taut.scene.numbers_of import parameter_of
from taut.scene.room import Room, refuse_many

Float = NDArray[np.float64]


def mesh_of(asked: MeshBase, folder: Folder, room: Room) -> Mesh:
    """The mesh that a table asks for, if there is room for its points.

    >>> from taut.scene.meshes_model import MESHES
    >>> mesh_of(MESHES["mesh:sheet"](shape="sheet", nx=2, ny=2), Folder(None), Room())
    Mesh(9 points, 4 quad)
    """
    mesh = _raw(asked, folder, room)
    if asked.clean is not None:
        mesh = clean(mesh, **asked.clean.model_dump()).mesh
    if asked.orient:
        mesh = oriented(mesh)
    if asked.fill is not None:
        room.take(_inside(mesh, asked.fill.spacing))
        mesh = fill(mesh, asked.fill.spacing)
    if asked.surface:
        mesh = surface(mesh)
    if asked.triangulate:
        mesh = triangulated(mesh)
    refuse_many(mesh.n, room.most)
    points = mesh.positions
    if asked.displace is not None:
        every = np.arange(mesh.n)[:, None]
        moved = parameter_of(asked.displace, mesh, every, folder, vector=True)
        if callable(moved):
            raise MeshError("the rest shape does not depend on time")
        points = points + moved
    points = turned(asked, points)
    if points is not mesh.positions:
        mesh = mesh.with_(points=points)
    if asked.groups:
        mesh = mesh.with_(groups={**mesh.groups, **{name: mesh.select(what) for name, what in asked.groups.items()}})
    return mesh


def turned(asked: MeshBase, points: Float) -> Float:
    """Points (n, 3) [m] turned and moved as a table asks for."""
    if asked.rotate is not None:
        points = points @ rodrigues(np.array(asked.rotate)).T
    return points if asked.translate is None else points + np.array(asked.translate)


def _raw(asked: MeshBase, folder: Folder, room: Room) -> Mesh:
    if isinstance(asked, FileMesh):
        mesh = folder.mesh(asked.file, asked.scale, asked.up)
        room.take(mesh.n)
        return mesh
    if isinstance(asked, InlineMesh):
        width = {len(row) for row in asked.points}
        if len(width) > 1:
            raise MeshError("some points have two coordinates, some three")
        return Mesh(asked.points, {kind: np.array(cells, dtype=np.int64) for kind, cells in asked.cells.items()})
    name = asked.shape  # type: ignore[attr-defined]
    shape = shape_names()[name]
    given: dict[str, Any] = {a.name: getattr(asked, a.name) for a in shape_arguments(shape)}
    room.take(_points(name, given))
    return shape(**given)


def _inside(mesh: Mesh, spacing: float | None) -> float:
    """About how many points a filling at a spacing that is given [m] takes: a quarter of the lattice in the box, at most."""
    sides = np.ptp(mesh.positions, axis=0) if mesh.n else np.zeros(3)
    return 0.0 if spacing is None else min(float(np.prod(np.minimum(sides / spacing, 1e6) + 3.0)) / 2, LATTICE / 4)


def _points(name: str, given: dict[str, Any]) -> float:
    """About how many points a generator will make, before it makes them; never far too few."""
    counts = [value for value in given.values() if isinstance(value, int) and not isinstance(value, bool)]
    if name == "sphere":
        return 10.0 * given["n"] ** 2 + 2
    if name == "disc":
        return 1.0 + 3.0 * given["rings"] * (given["rings"] + 1)
    if given.get("spacing") is not None:  # solids made by stuffing: two points for each cube of the lattice
        size = 2.0 * given["radius"] if "radius" in given else given.get("height", 1.0)
        return float(min(size / given["spacing"], 1e6)) ** 3
    return float(np.prod([value + 1.0 for value in counts]))
