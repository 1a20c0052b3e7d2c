"""OBJ and PLY: one file a frame, name_0000.obj, name_0001.obj …, with all bodies; float64, exactly.

Points stand in the order of the bodies and of their meshes; quads, polygons and texture coordinates as they are there. Solids
appear by their boundary, on all their points. Each of several bodies is a group.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV
from taut.mesh.reading import format_module
from taut.show.export.clip import Clip
from taut.show.export.faces import faced

Int = NDArray[np.int64]


def files(clip: Clip, name: str) -> list[str]:
    """Names of the files, numbered with four digits or more.

    >>> files(range(2), "cloth.obj")
    ['cloth_0000.obj', 'cloth_0001.obj']
    """
    path = Path(name)
    digits = max(4, len(str(len(clip) - 1)))
    return [f"{path.stem}_{i:0{digits}}{path.suffix}" for i in range(len(clip))]


def pattern(name: str) -> str:
    """What the names of the files match, whatever their number.

    >>> bool(re.fullmatch(pattern("cloth.obj"), "cloth_0123.obj"))
    True
    """
    path = Path(name)
    return rf"{re.escape(path.stem)}_\d{{4,}}{re.escape(path.suffix)}"


def write(clip: Clip, folder: Path, name: str) -> None:
    """The files of all frames."""
    module = format_module(Path(name.lower()))
    base = merged([faced(piece) for piece in clip.pieces], clip.names)
    for file, frame in zip(files(clip, name), clip, strict=True):
        x = np.concatenate([piece.positions(frame.q) for piece in clip.pieces])
        (folder / file).write_bytes(module.write(base.with_(points=x)))


def merged(meshes: list[Mesh], names: list[str]) -> Mesh:
    """Meshes as one, with points, cells and texture coordinates one mesh after the other, and a group of cells for each.

    >>> import taut
    >>> two = merged([taut.mesh.sheet(1, 1)] * 2, ["a", "b"])
    >>> two, sorted(two.groups)
    (Mesh(8 points, 2 quad), ['a', 'b'])
    """
    if len(meshes) == 1:
        return meshes[0]
    cells: dict[str, list[Int]] = {kind: [] for mesh in meshes for kind in mesh.cells}
    corners: dict[str, list[Int]] = {kind: [] for kind in cells}
    points = np.cumsum([0, *(mesh.n for mesh in meshes)]).tolist()
    coordinates = [np.empty((0, 2)) if mesh.uv is None else mesh.uv.coordinates.reshape(-1, 2) for mesh in meshes]
    texture = np.cumsum([0, *map(len, coordinates)]).tolist()
    groups: dict[str, dict[str, list[int]]] = {}
    for i, (mesh, name) in enumerate(zip(meshes, names, strict=True)):
        for kind, block in mesh.cells.items():
            before = sum(map(len, cells[kind]))
            members = {name: np.arange(len(block))} | {g: m[kind] for g, m in mesh.groups.items() if kind in m}
            for group, among in members.items():
                groups.setdefault(group, {}).setdefault(kind, []).extend((before + among).tolist())
            own = np.full(block.shape, -1) if mesh.uv is None or kind not in mesh.uv.corners else mesh.uv.corners[kind]
            cells[kind].append(block + points[i])
            corners[kind].append(np.where(own >= 0, own + texture[i], -1))
    uv = UV(np.concatenate(coordinates), {k: np.concatenate(c) for k, c in corners.items()}) if texture[-1] else None
    whole = {kind: np.concatenate(blocks) for kind, blocks in cells.items()}
    return Mesh(np.concatenate([mesh.positions for mesh in meshes]), whole, groups=groups, uv=uv)
