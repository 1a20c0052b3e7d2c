"""The files of a scene: inside its folder, unless more is allowed."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from taut.errors import MeshError, SceneError
from taut.mesh import read
from taut.mesh.files.source import load
from taut.mesh.mesh import Mesh

MOST_TABLE_BYTES = 64_000_000
FileKey = tuple[str, float, str]  # name, scale, axis that points up
_BESIDE = {".node": (".ele", ".face", ".edge"), ".ele": (".node", ".face", ".edge")}  # files that belong to one mesh


class Folder:
    """Where the files of a scene are looked up; remembers which were."""

    def __init__(self, root: Path | None, *, allow_outside: bool = False, meshes: dict[FileKey, Mesh] | None = None) -> None:
        self.meshes = {} if meshes is None else meshes  # that have been read already
        self.root = None if root is None else root.resolve()
        self.allow_outside = allow_outside
        self.used: dict[str, Path] = {}  # as the scene names them

    def find(self, name: str) -> Path:
        """The path of a file that the scene names."""
        if self.root is None:
            raise SceneError([f"it names the file '{name}', but the scene was not read from a folder"])
        if "\0" in name or not name.strip():
            raise SceneError([f"no file can have the name {name!r}"])
        try:
            found = self._inside(name)
            found.is_symlink()  # a name that is too long is an error here, and not later
            for suffix in _BESIDE.get(found.suffix.lower(), ()):
                if found.with_suffix(suffix).is_file():  # that is what is read, wherever the name leads
                    beside = str(PurePosixPath(name).with_suffix(suffix))
                    self.used[beside] = self._inside(beside, found.with_suffix(suffix))
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name that is too long
            raise SceneError([f"the file '{name[:100]}' cannot be looked up: {error}"]) from None
        self.used[name] = found
        return found

    def _inside(self, name: str, path: Path | None = None) -> Path:
        """Where a name leads, or a path that it stands for, with links followed."""
        assert self.root is not None
        found = (path or self.root / (os.path.expanduser(name) if self.allow_outside else name)).resolve()
        if not self.allow_outside and (Path(name).is_absolute() or "\\" in name or not found.is_relative_to(self.root)):
            raise SceneError(
                [f"the file '{name}' is outside of the scene's folder; allow_outside=True (--allow-outside) permits it"]
            )
        return found

    def mesh(self, name: str, scale: float, up: str) -> Mesh:
        """The mesh in a file, read once."""
        path = self.find(name)
        if (name, scale, up) not in self.meshes:
            self.meshes[name, scale, up] = read(path, scale=scale, up=up)
        return self.meshes[name, scale, up]

    def bytes(self, name: str, most: int | None = None) -> bytes:
        """What is in a file."""
        path = self.find(name)
        if most is not None and path.is_file() and path.stat().st_size > most:
            raise SceneError([f"the file '{name}' has more than {most:,} bytes"])
        try:
            return load(path)
        except MeshError as error:
            raise SceneError([f"the file '{name}': {error.message}"]) from None
