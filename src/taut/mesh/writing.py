"""A mesh out to a file, whole or not at all."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Collection
from errno import EISDIR
from fnmatch import fnmatchcase
from pathlib import Path
from secrets import token_hex

from taut.errors import MeshError
from taut.mesh.mesh import Mesh
from taut.mesh.reading import FORMATS, file_path, format_module

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
    if not isinstance(mesh, Mesh):
        raise MeshError(f"write(mesh, path) takes a Mesh first, not {type(mesh).__name__}")
    file = file_path(path)
    module = format_module(file)
    _fits(mesh, file, module.NAME, module.CELLS)
    held = module.held(mesh) if hasattr(module, "held") else module.KEEPS
    lost = _left_out(mesh, held)
    try:
        made = module.write(mesh)
    except MeshError as error:
        raise error.at(file) from error.__cause__
    if lost:
        _log.info("%s: left out what %s cannot hold: %s", file, module.NAME, ", ".join(lost))
    parts = made if isinstance(made, dict) else {file.suffix.lower(): made}
    if file.suffix.lower() not in parts:
        raise MeshError(f"the mesh has nothing to stand in a {file.suffix} file; write {', '.join(parts)}", path=file)
    for suffix in set(getattr(module, "SIBLINGS", ())) - set(parts):
        if file.with_suffix(suffix).exists():
            raise MeshError("this file of another mesh would be read with the new ones; move it", path=file.with_suffix(suffix))
    _replace({file if suffix == file.suffix.lower() else file.with_suffix(suffix): content for suffix, content in parts.items()})


def _left_out(mesh: Mesh, keeps: Collection[str]) -> list[str]:
    """The parts of a mesh that a format does not keep; it may keep only those with some names, such as "point_data.color"."""
    parts = ["uv"] if mesh.uv is not None else []
    parts += [f"{part}.{name}" for part in ("groups", "point_data", "cell_data") for name in getattr(mesh, part)]
    return [part for part in parts if part.partition(".")[0] not in keeps and not any(fnmatchcase(part, k) for k in keeps)]


def _fits(mesh: Mesh, file: Path, name: str, cells: frozenset[str]) -> None:
    """Whether the format has all the kinds of cell."""
    if not mesh.cells:
        raise MeshError("the mesh has no cells to write", path=file)
    for kind, array in mesh.cells.items():
        if not _has(cells, kind):
            could = [extension for extension in FORMATS if _has(format_module(Path(f"_{extension}")).CELLS, kind)]
            raise MeshError(f"{name} cannot hold the {len(array)} {kind} cells; these can: {', '.join(could)}", path=file)


def _has(cells: frozenset[str], kind: str) -> bool:
    """Whether a kind is among those of a format, where "polygon" stands for polygons of any size."""
    return kind in cells or (kind.startswith("polygon") and "polygon" in cells)


def _replace(contents: dict[Path, bytes]) -> None:
    """Write all files beside where they belong, then rename each over the old one, whose permissions and links stay."""
    ready: dict[Path, Path] = {}
    file = next(iter(contents))
    try:
        for file, content in contents.items():
            target = file.resolve()
            if target.is_dir():
                raise IsADirectoryError(EISDIR, "it is a directory")
            part = target.with_name(f".taut-{token_hex(8)}.part")
            with open(part, "xb") as stream:
                ready[part] = target
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            if target.exists():
                os.chmod(part, stat.S_IMODE(target.stat().st_mode))
        for part, target in ready.items():
            os.replace(part, target)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        raise MeshError(f"it cannot be written: {getattr(error, 'strerror', None) or error}", path=file) from error
    finally:
        for part in ready:
            part.unlink(missing_ok=True)
