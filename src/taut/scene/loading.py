"""A scene by what the user names: a built-in one, a scene file, or any mesh file."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from taut.errors import SceneError, did_you_mean
from taut.mesh.files.foreign import EXTENSIONS
from taut.mesh.reading import FORMATS
from taut.scene.any_mesh import of_mesh
from taut.scene.bounds import MOST_PARTICLES
from taut.scene.library import BUILTIN, names
from taut.scene.reading import change, text_of
from taut.scene.scene import Scene, read_text
from taut.scene.toml_text import toml


def load(
    scene: str | os.PathLike[str],
    *,
    overrides: Iterable[tuple[str, Any]] = (),
    allow_outside: bool = False,
    allow_code: bool = False,
    most: int = MOST_PARTICLES,
    **picks: Any,
) -> Scene:
    """Read a scene file, a built-in scene by its name, or a mesh file, for which laws are picked (see `of_mesh`).

    overrides : changes such as ("time.h", 0.005) or ("body.cloth.mesh.nx", 20), made before anything is checked
    allow_outside : files of the scene may lie outside of its folder
    allow_code : laws may come from Python files beside the scene, whose code is run
    most : particles at most
    picks : for mesh files alone: the options of `of_mesh`, such as fix="y > 0" or young=1e5

    All problems are told at once, in one SceneError.

    >>> load("cloth").title
    'A hanging cloth'
    >>> load("cloht")
    Traceback (most recent call last):
    taut.errors.SceneError: cloht: a problem:
      there is no built-in scene of this name, nor such a file; did you mean 'cloth'?
    """
    options: dict[str, Any] = {"allow_outside": allow_outside, "allow_code": allow_code, "most": most}
    if isinstance(scene, str) and scene in names():
        path = BUILTIN / f"{scene}.toml"
    else:
        path = _target(Path(scene))
        if "\0" in str(scene) or (not path.suffix and not os.path.lexists(path)):
            raise SceneError(
                [f"there is no built-in scene of this name, nor such a file{did_you_mean(str(scene), names())}"],
                path=repr(str(scene))[1:-1],
            )
        if path.suffix.lower() in (*FORMATS, *EXTENSIONS):
            made = of_mesh(path, most=most, **picks)
            tables = copy.deepcopy(made.tables)
            change(tables, overrides)
            text = toml(tables)
            return read_text(text, folder=path.parent, path=path, notes=made.notes, lines=False, meshes=made.meshes, **options)
    if picks:
        raise SceneError([f"{name} is for mesh files; in a scene it is a value to change" for name in picks], path=path)
    return read_text(text_of(path), folder=path.parent, path=path, overrides=overrides, **options)


def _target(path: Path) -> Path:
    """Where a link that the user names leads to; the files of a scene are then those beside that."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError, ValueError):  # it is told when the file is read
        return path
