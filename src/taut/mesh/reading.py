"""Read any mesh file: the extension names the format; scale and turn what was read."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from taut.arrays import Float
from taut.errors import MeshError
from taut.mesh.files import FORMATS, SIGNATURES, load_format
from taut.mesh.mesh import Mesh
from taut.regular_file import read_regular_file

_log = logging.getLogger("taut")
_MAX_SCALE = 1e30  # metres per unit; a larger one is a typing error
# Rotation that turns an axis of the file up, onto y.
_ROTATIONS = {
    "y": np.eye(3),
    "z": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "x": np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
}


def read(path: str | os.PathLike[str], *, scale: float = 1.0, up: str = "y") -> Mesh:
    """Read the mesh in a file.

    scale : metres per unit of the file; 0.001 for a file in millimetres
    up : the axis that points up in the file, "x", "y" or "z"; it becomes y (of positions, not of
        per-vertex maps)

    OBJ, PLY, STL, OFF, VTK, VTU, MSH (Gmsh 2 and 4), MESH (Medit), NODE and ELE (TetGen) and GLB
    are read by taut itself; those of Abaqus, Nastran, MED, XDMF, Exodus and others by the extra
    `taut[meshlane]`. Vertices keep their order, quads stay quads, and nothing is repaired: see
    `clean`. A file that cannot be read raises `taut.errors.MeshError`; a missing extra raises
    `taut.errors.MissingExtra`.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tile.obj"
    >>> _ = path.write_text("v 0 0 0\\nv 1000 0 0\\nv 1000 1000 0\\nv 0 1000 0\\nf 1 2 3 4\\n")
    >>> tile = read(path, scale=0.001, up="z")
    >>> tile, tile.points[2].tolist()
    (Mesh(4 points, 1 quad), [1.0, 0.0, -1.0])
    """
    file = check_path(path)
    if not isinstance(up, str) or up not in _ROTATIONS:
        raise MeshError(f"up must be 'x', 'y' or 'z', got {up!r}")
    is_number = isinstance(scale, (int, float, np.number)) and not isinstance(scale, bool)
    if not is_number or not 0 < scale < _MAX_SCALE:
        raise MeshError(f"scale must be a positive number of metres per unit, got {scale!r}")
    module = load_format(file)
    data = read_regular_file(file)
    try:
        with _pause_garbage_collection():
            mesh: Mesh = module.read(file, data)
    except MeshError as error:
        raise _add_hint(error.with_path(file), file, data) from error.__cause__
    except MemoryError:
        raise MeshError("not enough memory for its mesh", path=file) from None
    if not mesh.cells:
        raise MeshError(f"a mesh must have cells, got {mesh.n} points and no cells", path=file)
    if scale == 1.0 and up == "y":
        return mesh
    return _transform(mesh, scale, up, file)


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Pause the collector: parsing makes millions of small lists, none of them garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that a user gave as a Path."""
    if not isinstance(path, (str, os.PathLike)):
        raise MeshError(f"path must be a string or a Path, got {type(path).__name__}")
    if "\0" in os.fspath(path):
        raise MeshError(f"path must not contain a null character, got {os.fspath(path)!r}")
    return Path(path)


def _add_hint(error: MeshError, file: Path, data: bytes) -> MeshError:
    """Add the format that the content looks like, if it is not that of the extension."""
    start = data.lstrip()
    for signature, extension in SIGNATURES.items():
        if start.startswith(signature):
            if FORMATS[extension] == FORMATS.get(file.suffix.lower()):
                return error
            message = f"{error.message}; the file starts like a {extension} file"
            return MeshError(message, path=error.path, line=error.line, element=error.element)
    return error


def _transform(mesh: Mesh, scale: float, up: str, file: Path) -> Mesh:
    """Scale the points and turn them so that the axis `up` becomes y."""
    if mesh.flat and up != "y":
        raise MeshError(f"up must be 'y' for a mesh in the plane, got {up!r}", path=file)
    if up != "y":
        # A map of three columns may hold vectors or anything else, so it cannot be turned.
        maps = [
            name
            for name, values in mesh.point_data.items()
            if name != "color" and values.shape == (mesh.n, 3)
        ]
        if maps:
            message = "%s: turned up %s; maps with three columns are left as they are: %s"
            _log.info(message, file, up, ", ".join(maps))
    points = to_metres(mesh.points, scale, up)
    try:
        return mesh.with_(points=points)
    except MeshError as error:
        raise error.with_path(file) from None


def to_metres(points: Float, scale: float, up: str) -> Float:
    """Return points of a file, (…, 3), in metres and with y up; scale and up as for `read`.

    >>> to_metres(np.array([[0.0, 0.0, 500.0]]), 0.001, "z").tolist()
    [[0.0, 0.5, 0.0]]
    """
    with np.errstate(over="ignore"):
        points = points * float(scale)
    return points if up == "y" else points @ _ROTATIONS[up].T
