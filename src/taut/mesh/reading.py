"""Any mesh file in: the format is known by the extension, and what was read is checked."""

from __future__ import annotations

import gc
import logging
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

_log = logging.getLogger("taut")
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
MOST_SCALE = 1e30  # metres per unit: more is a slip
# the rotation for each axis that may point up in a file
_TURNS = {"y": np.eye(3), "z": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]), "x": np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])}


def read(path: str | os.PathLike[str], *, scale: float = 1.0, up: str = "y") -> Mesh:
    """The mesh in a file.

    scale : metres per unit of the file; 0.001 for a file in millimetres
    up : the axis that points up in the file, "x", "y" or "z"; it becomes y (of positions, not of per-vertex maps)

    OBJ, PLY, STL, OFF, VTK, VTU, MSH (Gmsh 2 and 4), MESH (Medit), NODE and ELE (TetGen) and GLB are read by taut itself; those of
    Abaqus, Nastran, MED, XDMF, Exodus and others by the extra `taut[meshlane]`. Vertices keep their order, quads stay quads, and
    nothing is repaired: see `clean`. A file that cannot be read is a `taut.errors.MeshError`; where the extra is missing, it is
    a `taut.errors.MissingExtra`.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tile.obj"
    >>> _ = path.write_text("v 0 0 0\\nv 1000 0 0\\nv 1000 1000 0\\nv 0 1000 0\\nf 1 2 3 4\\n")
    >>> tile = read(path, scale=0.001, up="z")
    >>> tile, tile.points[2].tolist()
    (Mesh(4 points, 1 quad), [1.0, 0.0, -1.0])
    """
    file = file_path(path)
    if not isinstance(up, str) or up not in _TURNS:
        raise MeshError(f"up is 'x', 'y' or 'z', not {up!r}")
    if isinstance(scale, bool) or not isinstance(scale, (int, float, np.number)) or not 0 < scale < MOST_SCALE:
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


def file_path(path: str | os.PathLike[str]) -> Path:
    """What a user gave as a path."""
    if not isinstance(path, (str, os.PathLike)):
        raise MeshError(f"a path is a string or a Path, not {type(path).__name__}")
    if "\0" in os.fspath(path):
        raise MeshError(f"no file can have the name {os.fspath(path)!r}")
    return Path(path)


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
    own = error.at(file)
    if sign is None or FORMATS[SIGNS[sign]] == FORMATS.get(file.suffix.lower()):
        return own
    hint = f"{own.message}; its beginning is that of a {SIGNS[sign]} file"
    return MeshError(hint, path=own.path, line=own.line, element=own.element)


def _turned(mesh: Mesh, scale: float, up: str, file: Path) -> Mesh:
    """Scaled, and turned so that `up` is y."""
    if mesh.flat and up != "y":
        raise MeshError(f"a mesh in the plane has no axis {up} to turn up", path=file)
    vectors = [name for name, values in mesh.point_data.items() if name != "color" and values.shape == (mesh.n, 3)]
    if vectors and up != "y":
        _log.info("%s: turned up %s; maps with three columns are left as they are: %s", file, up, ", ".join(vectors))
    with np.errstate(over="ignore"):
        points = mesh.points * float(scale)
    try:
        return mesh.with_(points=points if up == "y" else points @ _TURNS[up].T)
    except MeshError as error:
        raise error.at(file) from None
