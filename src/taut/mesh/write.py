"""A mesh out to a file, whole or not at all."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

from taut.errors import MeshError
from taut.mesh.mesh import Mesh
from taut.mesh.read import FORMATS, format_module

_log = logging.getLogger("taut")


def write(mesh: Mesh, path: str | os.PathLike[str]) -> None:
    """Write a mesh in the format of the extension; an older file stays until the new one is complete.

    Cells that the format cannot hold are an error; groups, data or texture coordinates that it cannot hold are left out and named
    on the log. TetGen's .node comes with .ele, .face and .edge files as needed.

    >>> import tempfile, pathlib, taut
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.obj"
    >>> write(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], {"triangle": [[0, 1, 2]]}), path)
    >>> taut.mesh.read(path)
    Mesh(3 points, 1 triangle)
    """
    file = Path(path)
    module = format_module(file)
    _fits(mesh, file, module.NAME, module.CELLS)
    left_out = [name for name in ("groups", "point_data", "cell_data", "uv") if getattr(mesh, name) and name not in module.KEEPS]
    if left_out:
        _log.info("%s: %s holds no %s; left out", file, module.NAME, " and no ".join(left_out))
    made = module.write(mesh)
    for suffix, content in made.items() if isinstance(made, dict) else [(file.suffix, made)]:
        _replace(file.with_suffix(suffix), content)


def _fits(mesh: Mesh, file: Path, name: str, cells: frozenset[str]) -> None:
    """Whether the format has all the kinds of cell; "polygon" stands for those of any size."""
    if not mesh.cells:
        raise MeshError("the mesh has no cells to write", path=file)
    for kind, array in mesh.cells.items():
        if kind not in cells and not (kind.startswith("polygon") and "polygon" in cells):
            could = [
                e
                for e in FORMATS
                if kind in (c := format_module(Path(f"_{e}")).CELLS) or kind.startswith("polygon") and "polygon" in c
            ]
            raise MeshError(f"{name} cannot hold the {len(array)} {kind} cells; these can: {', '.join(could)}", path=file)


def _replace(file: Path, content: bytes) -> None:
    """Write next to the file, then rename over it."""
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as part:
            try:
                part.write(content)
                part.flush()
                os.fsync(part.fileno())
                umask = os.umask(0)
                os.umask(umask)
                os.chmod(part.name, 0o666 & ~umask)
                os.replace(part.name, file)
            except BaseException:
                os.unlink(part.name)
                raise
    except OSError as error:
        raise MeshError(f"it cannot be written: {error.strerror or error}", path=file) from error
