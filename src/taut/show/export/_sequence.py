"""OBJ and PLY: one file per frame, name_0000.obj, name_0001.obj …, with all bodies, exactly.

Points have the order of the bodies and of their meshes; quads, polygons and texture coordinates are
kept, torn faces and lines left out. Solids are written as their boundary, on all their points. Each
of several bodies is a group. OBJ files have smooth normals.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from taut.arrays import Int
from taut.mesh.files import load_format, obj
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV
from taut.show.export._animation import Animation
from taut.show.export._bodies import surface_mesh
from taut.show.export._normals import find_obj_normals
from taut.show.export._tearing import TornCells, drop_cells, find_torn_cells, is_same


def list_files(animation: Animation, name: str) -> list[str]:
    """Return the names of the files, numbered as the frames of the shot, or else from 0.

    Numbers have four digits or more, those before frame 0 a minus sign.
    """
    path = Path(name)
    numbers = range(len(animation))
    if animation.numbers is not None:
        numbers = animation.numbers.tolist()
    digits = max(4, *(len(str(abs(number))) for number in (numbers[0], numbers[-1])))
    signed = [("-" if number < 0 else "") + f"{abs(number):0{digits}}" for number in numbers]
    return [f"{path.stem}_{number}{path.suffix}" for number in signed]


def file_pattern(name: str) -> str:
    """Return a regular expression for the names of the files, whatever their number.

    >>> bool(re.fullmatch(file_pattern("cloth.obj"), "cloth_0123.obj"))
    True
    """
    path = Path(name)
    return rf"{re.escape(path.stem)}_-?\d{{4,}}{re.escape(path.suffix)}"


def write(animation: Animation, folder: Path, name: str) -> None:
    """Write the files of all frames."""
    module = load_format(Path(name.lower()))
    meshes = [surface_mesh(piece) for piece in animation.pieces]
    before: list[TornCells] = [{} for _ in meshes]
    base = merge_meshes(meshes, animation.names)
    for file, frame in zip(list_files(animation, name), animation, strict=True):
        x = np.concatenate([piece.positions(frame.q) for piece in animation.pieces])
        pairs = animation.model.torn_pairs(frame)
        torn = [
            find_torn_cells(piece, mesh.cells, pairs)
            for piece, mesh in zip(animation.pieces, meshes, strict=True)
        ]
        if not all(map(is_same, torn, before)):
            whole = [drop_cells(*each) for each in zip(meshes, torn, strict=True)]
            base, before = merge_meshes(whole, animation.names), torn
        options = {"normals": find_obj_normals(base, x)} if module is obj else {}
        (folder / file).write_bytes(module.write(base.with_(points=x), **options))


def merge_meshes(meshes: list[Mesh], names: list[str]) -> Mesh:
    """Concatenate meshes: points, cells and texture coordinates, with a group for each mesh.

    >>> import taut
    >>> two = merge_meshes([taut.mesh.sheet(1, 1)] * 2, ["a", "b"])
    >>> two, sorted(two.groups)
    (Mesh(8 points, 2 quad), ['a', 'b'])
    """
    if len(meshes) == 1:
        return meshes[0]
    cells: dict[str, list[Int]] = {kind: [] for mesh in meshes for kind in mesh.cells}
    corners: dict[str, list[Int]] = {kind: [] for kind in cells}
    points = np.cumsum([0, *(mesh.n for mesh in meshes)]).tolist()
    coordinates = [
        np.empty((0, 2)) if mesh.uv is None else mesh.uv.coordinates.reshape(-1, 2)
        for mesh in meshes
    ]
    texture = np.cumsum([0, *map(len, coordinates)]).tolist()
    groups: dict[str, dict[str, list[int]]] = {}
    for i, (mesh, name) in enumerate(zip(meshes, names, strict=True)):
        for kind, block in mesh.cells.items():
            before = sum(map(len, cells[kind]))
            members = {name: np.arange(len(block))} | {
                g: m[kind] for g, m in mesh.groups.items() if kind in m
            }
            for group, among in members.items():
                groups.setdefault(group, {}).setdefault(kind, []).extend((before + among).tolist())
            own = (
                np.full(block.shape, -1)
                if mesh.uv is None or kind not in mesh.uv.corners
                else mesh.uv.corners[kind]
            )
            cells[kind].append(block + points[i])
            corners[kind].append(np.where(own >= 0, own + texture[i], -1))
    uv = (
        UV(np.concatenate(coordinates), {k: np.concatenate(c) for k, c in corners.items()})
        if texture[-1]
        else None
    )
    whole = {kind: np.concatenate(blocks) for kind, blocks in cells.items()}
    return Mesh(np.concatenate([mesh.positions for mesh in meshes]), whole, groups=groups, uv=uv)
