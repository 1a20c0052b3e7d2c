"""Any mesh file in: the format is known by the extension, and what was read is checked."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np

from taut.errors import MeshError, did_you_mean
from taut.mesh.files import foreign
from taut.mesh.files.foreign import EXTENSIONS
from taut.mesh.files.source import load
from taut.mesh.mesh import Mesh

FORMATS = {
    ".obj": "obj", ".ply": "ply", ".stl": "stl", ".off": "off", ".vtk": "vtk", ".vtu": "vtu", ".msh": "gmsh", ".mesh": "medit",
    ".node": "tetgen", ".ele": "tetgen", ".glb": "glb",
}  # fmt: skip
# signs by which a file's beginning gives its format away
SIGNS = {
    b"ply\n": ".ply", b"ply\r": ".ply", b"solid ": ".stl", b"OFF": ".off", b"COFF": ".off", b"NOFF": ".off",
    b"# vtk DataFile": ".vtk", b"<VTKFile": ".vtu", b"<?xml": ".vtu", b"$MeshFormat": ".msh", b"MeshVersionFormatted": ".mesh",
    b"glTF": ".glb",
}  # fmt: skip
# the rotation for each axis that may point up in a file
_TURNS = {"y": np.eye(3), "z": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]), "x": np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])}


def read(path: str | os.PathLike[str], *, scale: float = 1.0, up: str = "y") -> Mesh:
    """The mesh in a file.

    scale : metres per unit of the file; 0.001 for a file in millimetres
    up : the axis that points up in the file, "x", "y" or "z"; it becomes y

    OBJ, PLY, STL, OFF, VTK, VTU, MSH (Gmsh 2 and 4), MESH (Medit), NODE and ELE (TetGen) and GLB are read by taut itself; those of
    Abaqus, Nastran, MED, XDMF, Exodus and others by the extra `taut[meshlane]`. Vertices keep their order, quads stay quads, and
    nothing is repaired: see `clean`. A file that cannot be read is a `taut.MeshError`.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tile.obj"
    >>> _ = path.write_text("v 0 0 0\\nv 1000 0 0\\nv 1000 1000 0\\nv 0 1000 0\\nf 1 2 3 4\\n")
    >>> tile = read(path, scale=0.001, up="z")
    >>> tile, tile.points[2].tolist()
    (Mesh(4 points, 1 quad), [1.0, 0.0, -1.0])
    """
    file = Path(path)
    if up not in _TURNS:
        raise MeshError(f"up is 'x', 'y' or 'z', not {up!r}")
    if not (isinstance(scale, (int, float)) and np.isfinite(scale) and scale > 0):
        raise MeshError(f"scale is a positive number of metres per unit, not {scale!r}")
    module = format_module(file)
    data = load(file)
    try:
        with _no_collection():
            mesh: Mesh = module.read(file, data)
    except MeshError as error:
        raise _placed(error, file, data) from error.__cause__
    except MemoryError:
        raise MeshError("there is not enough memory for it", path=file) from None
    if not mesh.cells:
        raise MeshError(f"the file holds {mesh.n} points but no cells", path=file)
    return mesh if scale == 1.0 and up == "y" else _turned(mesh, scale, up, file)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Parsing makes millions of small lists, none of them garbage; the collector would walk them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def format_module(file: Path) -> ModuleType:
    """The module that reads and writes files with this extension."""
    extension = file.suffix.lower()
    if extension in EXTENSIONS:
        return foreign
    if extension not in FORMATS:
        known = ", ".join((*FORMATS, *EXTENSIONS))
        raise MeshError(f"no format has the extension '{file.suffix}'; known: {known}{did_you_mean(extension, FORMATS)}", path=file)
    return import_module(f"taut.mesh.files.{FORMATS[extension]}")


def _placed(error: MeshError, file: Path, data: bytes) -> MeshError:
    """The error with its file, and with a hint if the extension does not fit the contents."""
    sign = next((s for s in SIGNS if data.lstrip().startswith(s)), None)
    own = error if error.path is not None else MeshError(str(error), path=file)
    if sign is None or FORMATS[SIGNS[sign]] == FORMATS.get(file.suffix.lower()):
        return own
    hint = MeshError(f"{own}; its beginning is that of a {SIGNS[sign]} file")
    hint.path, hint.line, hint.element = own.path, own.line, own.element
    return hint


def _turned(mesh: Mesh, scale: float, up: str, file: Path) -> Mesh:
    """Scaled, and turned so that `up` is y."""
    if mesh.flat and up != "y":
        raise MeshError(f"a mesh in the plane has no axis {up} to turn up", path=file)
    points = mesh.points * scale
    return mesh.with_(points=points if up == "y" else points @ _TURNS[up].T)
