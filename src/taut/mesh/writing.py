"""Write a mesh to a file: all of it, or nothing."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

from taut.atomic_write import atomic_paths
from taut.errors import MeshError
from taut.mesh.files import FORMATS, load_format
from taut.mesh.mesh import Mesh
from taut.mesh.reading import check_path

_log = logging.getLogger("taut")


def write(mesh: Mesh, path: str | os.PathLike[str]) -> None:
    """Write a mesh in the format of the extension; an older file stays until the new is complete.

    Cells that the format cannot hold raise an error; groups, data or texture coordinates that it
    cannot hold are left out and named on the log. TetGen's .node comes with .ele, .face and .edge
    files as needed.

    >>> import tempfile, pathlib, taut
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.obj"
    >>> write(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], {"triangle": [[0, 1, 2]]}), path)
    >>> taut.mesh.read(path)
    Mesh(3 points, 1 triangle)
    """
    if not isinstance(mesh, Mesh):
        raise MeshError(f"mesh must be a Mesh, got {type(mesh).__name__}")
    file = check_path(path)
    extension = file.suffix.lower()
    module = load_format(file)
    _check_cells(mesh, file, module)
    lost = _find_lost_parts(mesh, _find_kept_parts(mesh, module))
    try:
        written = module.write(mesh)
    except MeshError as error:
        raise error.with_path(file) from error.__cause__
    if lost:
        _log.info("%s: left out what %s cannot hold: %s", file, module.NAME, ", ".join(lost))
    parts = written if isinstance(written, dict) else {extension: written}
    if extension not in parts:
        possible = ", ".join(parts)
        raise MeshError(
            f"the extension must be {possible} for this mesh, got {file.suffix}", path=file
        )
    for sibling in set(getattr(module, "SIBLINGS", ())) - set(parts):
        if file.with_suffix(sibling).exists():
            raise MeshError(
                "this file of another mesh would be read with the new ones; move it",
                path=file.with_suffix(sibling),
            )
    contents = {}
    for suffix, content in parts.items():
        # The user's own spelling of the extension stays, such as .OBJ.
        target = file if suffix == extension else file.with_suffix(suffix)
        contents[target] = content
    _replace_files(contents)


def _find_kept_parts(mesh: Mesh, module: ModuleType) -> Collection[str]:
    """Return the parts that a format keeps: "uv", "groups", patterns such as "point_data.*"."""
    if hasattr(module, "find_kept_parts"):
        kept: Collection[str] = module.find_kept_parts(mesh)
    else:
        kept = module.KEEPS
    return kept


def _find_lost_parts(mesh: Mesh, kept: Collection[str]) -> list[str]:
    """List the parts of a mesh that a format does not keep, as "uv" or "point_data.NAME"."""
    parts = [] if mesh.uv is None else ["uv"]
    for part in ("groups", "point_data", "cell_data"):
        parts += [f"{part}.{name}" for name in getattr(mesh, part)]
    return [
        part
        for part in parts
        if part.partition(".")[0] not in kept
        and not any(fnmatchcase(part, pattern) for pattern in kept)
    ]


def _check_cells(mesh: Mesh, file: Path, module: ModuleType) -> None:
    """Raise unless the format can hold every kind of cell in the mesh."""
    if not mesh.cells:
        raise MeshError("the mesh must have cells, got none", path=file)
    for kind, array in mesh.cells.items():
        if not _can_hold(module, kind):
            others = [
                extension
                for extension in FORMATS
                if _can_hold(load_format(Path(f"_{extension}")), kind)
            ]
            raise MeshError(
                f"{module.NAME} cannot hold the {len(array)} {kind} cells; "
                f"these can: {', '.join(others)}",
                path=file,
            )


def _can_hold(module: ModuleType, kind: str) -> bool:
    """Whether a format has this kind of cell."""
    cells: frozenset[str] = module.CELLS
    return kind in cells or (kind.startswith("polygon") and "polygon" in cells)


def _replace_files(contents: dict[Path, bytes]) -> None:
    """Write all files or none; permissions and links of the old files stay."""
    file = next(iter(contents))
    try:
        with atomic_paths(list(contents), overwrite=True, follow_links=True) as parts:
            for part, (file, content) in zip(parts, contents.items(), strict=True):  # noqa: B007
                part.write_bytes(content)
    except (OSError, RuntimeError) as error:  # RuntimeError: symbolic links in a circle
        reason = getattr(error, "strerror", None) or error
        named = Path(getattr(error, "filename", None) or file)
        path = named if named in contents else file  # not the name of a temporary file
        raise MeshError(f"cannot be written: {reason}", path=path) from error
