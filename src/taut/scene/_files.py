"""The files that a scene names: find them in its folder, read them, and rename their copies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import MeshError, SceneError
from taut.mesh import read
from taut.mesh.mesh import Mesh
from taut.regular_file import read_regular_file
from taut.scene._limits import MAX_TABLE_FILE_BYTES
from taut.scene._source_lines import KeyPath

_COPY_FOLDER = "inputs"  # the folder of the copies
# TetGen writes one mesh as several files; the reader opens those with the same stem too.
_COMPANIONS = {".node": (".ele", ".face", ".edge"), ".ele": (".node", ".face", ".edge")}

MeshKey = tuple[str, float, str]
"""A mesh file: its name, scale, and axis that points up."""


class SceneFolder:
    """The folder of a scene: finds files by name, and keeps a list of those that were used.

    root : the folder; None: the scene has no files
    allow_outside : whether files outside of the folder may be read
    meshes : mesh files that were read already
    """

    def __init__(
        self,
        root: Path | None,
        *,
        allow_outside: bool = False,
        meshes: dict[MeshKey, Mesh] | None = None,
    ) -> None:
        self.root = None if root is None else root.resolve()
        self.allow_outside = allow_outside
        self.meshes = {} if meshes is None else meshes
        self.used: dict[str, Path] = {}  # by the name in the scene

    def find(self, name: str) -> Path:
        """Return the path of a file that the scene names."""
        if self.root is None:
            raise SceneError(
                [f"the scene names the file '{name}', but it was not read from a folder"]
            )
        if "\0" in name or not name.strip():
            raise SceneError([f"{name!r} is not a file name"])
        try:
            path = self._resolve(name)
            path.is_symlink()  # raises here, and not later, if the name is too long
            for suffix in _COMPANIONS.get(path.suffix.lower(), ()):
                companion = path.with_suffix(suffix)
                if companion.is_file():
                    # The reader looks next to the target of a link, so that is what is checked.
                    companion_name = str(PurePosixPath(name).with_suffix(suffix))
                    self.used[companion_name] = self._reject_outside(companion_name, companion)
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name too long
            raise SceneError([f"file '{name[:100]}' cannot be found: {error}"]) from None
        self.used[name] = path
        return path

    def _resolve(self, name: str) -> Path:
        assert self.root is not None
        expanded = os.path.expanduser(name) if self.allow_outside else name
        return self._reject_outside(name, self.root / expanded)

    def _reject_outside(self, name: str, path: Path) -> Path:
        """Return the path with links followed; raise SceneError if it leads out of the folder."""
        assert self.root is not None
        resolved = path.resolve()
        if self.allow_outside:
            return resolved
        is_inside = resolved.is_relative_to(self.root)
        # A backslash separates folders on Windows: the name would mean another file there.
        if Path(name).is_absolute() or "\\" in name or not is_inside:
            raise SceneError(
                [
                    f"file '{name}' is outside of the scene's folder; "
                    "allow_outside=True (--allow-outside) permits it"
                ]
            )
        return resolved

    def read_mesh(self, name: str, scale: float, up: str) -> Mesh:
        """Return the mesh in a file; it is read once."""
        path = self.find(name)
        key = (name, scale, up)
        if key not in self.meshes:
            self.meshes[key] = read(path, scale=scale, up=up)
        return self.meshes[key]

    def read_bytes(self, name: str, limit: int | None = None) -> bytes:
        """Return the content of a file of at most `limit` bytes."""
        path = self.find(name)
        if limit is not None and path.is_file() and path.stat().st_size > limit:
            raise SceneError([f"file '{name}' has more than {limit:,} bytes"])
        try:
            return read_regular_file(path, "scene input")
        except MeshError as error:
            raise SceneError([f"file '{name}': {error.message}"]) from None


def read_table(folder: SceneFolder, name: str) -> Float:
    """Return the finite numbers of a text file, shape (rows, columns).

    Columns are separated by commas, semicolons or blanks; lines of text before the first row are
    headings, and # begins a comment.
    """
    try:
        text = folder.read_bytes(name, MAX_TABLE_FILE_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SceneError([f"file '{name}' is not UTF-8 text"]) from None
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").replace(";", " ").split()
        if not words:
            continue
        try:
            row = [float(word) for word in words]
        except ValueError:
            if not rows:
                continue  # a heading
            shown = line.strip()[:40]
            raise SceneError(
                [f"file '{name}', line {number}: must be numbers, got '{shown}'"]
            ) from None
        if rows and len(row) != len(rows[0]):
            raise SceneError(
                [
                    f"file '{name}', line {number}: must have {len(rows[0])} columns "
                    f"as the first row has, got {len(row)}"
                ]
            )
        rows.append(row)
    if not rows:
        raise SceneError([f"file '{name}' has no numbers"])
    table = np.array(rows)
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0]
        raise SceneError([f"file '{name}': row {i + 1}, column {j + 1} is not finite"])
    return table


def split_timeline(rows: Float, name: str) -> tuple[Float, Float]:
    """Return the first column as times [s], which must increase, and the other columns."""
    if rows.shape[1] < 2 or not (np.diff(rows[:, 0]) > 0).all():
        raise SceneError(
            [f"file '{name}' must have increasing times in its first column, and further columns"]
        )
    return rows[:, 0], rows[:, 1:]


def find_file_names(tables: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield the file names in tables, each with its path.

    >>> list(find_file_names({"body": [{"mesh": {"file": "a.obj"}}]}))
    [(('body', 0, 'mesh', 'file'), 'a.obj')]
    """
    if isinstance(tables, list):
        for i, value in enumerate(tables):
            yield from find_file_names(value, (*path, i))
    if not isinstance(tables, dict):
        return
    for key, value in tables.items():
        here = (*path, key)
        if key == "groups":
            continue  # its keys are chosen by the user, and may be "file"
        if key == "file" and isinstance(value, str):
            yield here, value
        elif key == "frames" and path[-1:] == ("follow",):
            for i, name in enumerate(value):
                yield (*here, i), name
        elif key == "law" and isinstance(value, str) and ":" in value:
            yield here, value.partition(":")[0]
        else:
            yield from find_file_names(value, here)


def rename_files(tables: Any, new_name: Callable[[str], str]) -> Any:
    """Rename every file in tables, in place, and return the tables."""
    for path, name in list(find_file_names(tables)):
        container = tables
        for key in path[:-1]:
            container = container[key]
        container[path[-1]] = container[path[-1]].replace(name, new_name(name), 1)
    return tables


def name_copies(names: Iterable[str]) -> dict[str, str]:
    """Return the name of the copy of each file: in the folder "inputs", all different.

    A file in that folder already keeps its name: a resolved scene resolves to the same text.

    >>> name_copies(["a.obj", "b/c.csv", "inputs/d.obj"])
    {'a.obj': 'inputs/a.obj', 'b/c.csv': 'inputs/b/c.csv', 'inputs/d.obj': 'inputs/d.obj'}
    """
    paths = {name: PurePosixPath(name) for name in names}
    inside = {
        name: not path.is_absolute() and ".." not in path.parts and "~" not in name
        for name, path in paths.items()
    }
    copies = {
        name for name, path in paths.items() if inside[name] and path.parts[:1] == (_COPY_FOLDER,)
    }
    # Suffixes are ignored: the files of one TetGen mesh must keep a common stem.
    taken = {paths[name].with_suffix("") for name in copies}
    found = {}
    for name, path in paths.items():
        copy = path if name in copies else PurePosixPath(_COPY_FOLDER) / path
        if not inside[name] or (name not in copies and copy.with_suffix("") in taken):
            digest = sha256(str(path.parent).encode()).hexdigest()[:8]
            copy = PurePosixPath(_COPY_FOLDER) / f"{digest}-{path.name}"
        found[name] = str(copy)
    return found
