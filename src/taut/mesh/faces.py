"""Derived meshes of faces: quads and polygons cut into triangles, the surface of solids."""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Int
from taut.mesh.cleaning import clean
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV


def triangulated(mesh: Mesh) -> Mesh:
    """Cut quads and polygons into triangles.

    Groups, data and texture coordinates are carried along.

    Points keep their numbers. For formats that hold triangles only (STL, GLB).

    >>> square = Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], {"quad": [[0, 1, 2, 3]]})
    >>> triangulated(square.with_(groups={"all": {"quad": [0]}})).groups
    {'all': {'triangle': array([0, 1])}}
    """
    faces = mesh.blocks(2)
    if not faces:
        return mesh
    cuts = [np.full(len(c), k.size - 2) for k, c in faces]
    # The face that each triangle comes from, numbered over all kinds.
    face = np.repeat(np.arange(sum(map(len, cuts))), np.concatenate(cuts))
    start = dict(
        zip((k.name for k, _ in faces), np.cumsum([0, *map(len, cuts)]).tolist(), strict=False)
    )

    def others(by_kind: dict[str, Any]) -> dict[str, Any]:
        return {name: values for name, values in by_kind.items() if name not in start}

    groups = {}
    for name, by_kind in mesh.groups.items():
        members = [start[kind] + i for kind, i in by_kind.items() if kind in start]
        cut = (
            {"triangle": np.flatnonzero(np.isin(face, np.concatenate(members)))} if members else {}
        )
        groups[name] = others(by_kind) | cut
    return mesh.with_(
        cells=others(mesh.cells) | {"triangle": mesh.triangles},
        groups=groups,
        cell_data={
            name: others(by_kind) | _of_triangles(by_kind, mesh, face)
            for name, by_kind in mesh.cell_data.items()
        },
        uv=None if mesh.uv is None else _uv(mesh, mesh.uv, face),
    )


def _of_triangles(by_kind: dict[str, Any], mesh: Mesh, face: Int) -> dict[str, Any]:
    """Data of the triangles, taken from their faces; nan for kinds of face without data."""
    there = [by_kind[k.name] for k, _ in mesh.blocks(2) if k.name in by_kind]
    if not there:
        return {}
    shape = there[0].shape[1:]
    missing = len(there) < len(mesh.blocks(2))
    rows = [
        by_kind.get(k.name, np.full((len(c), *shape), np.nan)) if missing else by_kind[k.name]
        for k, c in mesh.blocks(2)
    ]
    return {"triangle": np.concatenate(rows)[face]}


def _uv(mesh: Mesh, uv: UV, face: Int) -> UV:
    """Give each corner of a triangle the texture coordinate of that corner of its face."""
    widest = max(k.size for k, _ in mesh.blocks(2))
    corners, texture = (np.full((0, widest), -1) for _ in range(2))
    for k, c in mesh.blocks(2):
        wide = ((0, 0), (0, widest - k.size))
        corners = np.concatenate([corners, np.pad(c, wide, constant_values=-1)])
        texture = np.concatenate(
            [
                texture,
                np.pad(uv.corners.get(k.name, np.full(c.shape, -1)), wide, constant_values=-1),
            ]
        )
    where = (corners[face][:, None, :] == mesh.triangles[:, :, None]).argmax(axis=2)
    return UV(uv.coordinates, {"triangle": np.take_along_axis(texture[face], where, axis=1)})


def surface(mesh: Mesh) -> Mesh:
    """The boundary of the solids, facing outwards, on the points that it uses; point groups kept.

    >>> from taut.mesh.shapes.solids import block
    >>> surface(block(3, 3, 3))
    Mesh(56 points, 54 quad)
    """
    groups = {name: by_kind["point"] for name, by_kind in mesh.groups.items() if "point" in by_kind}
    skin = Mesh(mesh.points, mesh.boundary_faces, groups=groups, point_data=mesh.point_data)
    return clean(skin, unused=True).mesh
