"""A scene with its files in memory: complete without the folder that it was read from."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from taut.errors import SceneError
from taut.scene._errors import ErrorCollector
from taut.scene._files import SceneFolder, find_file_names, name_copies, rename_files
from taut.scene._scene import Scene
from taut.scene.toml import apply_overrides, format_toml


@dataclass(frozen=True)
class Bundle:
    """A scene and all files that it, or one of some overrides, names.

    text : the scene as TOML with every default; its files have the names of `files`
    files : name → content
    renamed : the overrides that name a file: (key, value as given, value for `text`)
    """

    text: str
    files: dict[str, bytes]
    renamed: list[tuple[str, Any, Any]]


def bundle(scene: Scene, overrides: Iterable[tuple[str, Any]] = ()) -> Bundle:
    """Collect a scene with its files, and with those that overrides name.

    overrides : values that will be set later, one at a time or together, such as
        ("body.statue.mesh.file", "b.obj")

    >>> from taut.scene import load
    >>> bundle(load("cloth")).files
    {}
    """
    changed = []
    for key, value in overrides:
        if isinstance(value, (str, list, dict)):  # a number names no file
            tables = copy.deepcopy(scene.tables)
            (path,) = apply_overrides(tables, [(key, value)])
            changed.append((key, value, path, tables))
    folder = SceneFolder(scene.folder, allow_outside=scene.allow_outside)
    errors = ErrorCollector(None, scene.path)
    everything = [scene.tables, *(tables for *_, tables in changed)]
    for tables in everything:
        for path, name in find_file_names(tables):
            with errors.collect(*path):
                folder.find(name)
    errors.raise_errors()
    names = name_copies(list(folder.used))
    renamed = []
    for key, value, path, tables in changed:
        entry: Any = rename_files(tables, names.__getitem__)
        for part in path:
            entry = entry[part]
        if entry != value:
            renamed.append((key, value, entry))
    files = {copied: _read(folder, name, scene) for name, copied in names.items()}
    text = format_toml(rename_files(copy.deepcopy(scene.tables), names.__getitem__))
    return Bundle(text, files, renamed)


def _read(folder: SceneFolder, name: str, scene: Scene) -> bytes:
    try:
        return folder.read_bytes(name)
    except SceneError as error:
        raise SceneError(error.problems, path=scene.path) from None
