"""Load the scene that a user names: a built-in scene, a scene file, or a mesh file."""

from __future__ import annotations

import copy
import os
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from taut.errors import SceneError, did_you_mean
from taut.mesh.files import EXTENSIONS
from taut.scene._any_mesh import of_mesh
from taut.scene._limits import MAX_PARTICLES
from taut.scene._scene import Scene, read_text
from taut.scene.toml import apply_overrides, format_toml, read_file

_BUILTIN = Path(__file__).parent / "builtin"
_ORDER = (  # the simplest first
    "spring",
    "pendulum",
    "chain",
    "bridge",
    "cloth",
    "flag",
    "curtain",
    "cape",
    "sheet",
    "net",
    "tensegrity",
    "tower",
    "jelly",
    "beam",
    "bunny",
    "balloon",
    "tear",
    "snap",
    "drape",
    "ropes",
    "knot",
    "cards",
    "blanket",
    "catch",
    "bowl",
    "wrap",
)


@cache
def names() -> tuple[str, ...]:
    """Return the names of the built-in scenes, the simplest first.

    >>> names()[:3]
    ('spring', 'pendulum', 'chain')
    """
    files = {path.stem for path in _BUILTIN.glob("*.toml")}
    ordered = [name for name in _ORDER if name in files]
    return (*ordered, *sorted(files - set(ordered)))


def why(name: str) -> str:
    """Return one line about what a built-in scene shows.

    >>> why("pendulum")
    'its period grows with the amplitude: 1.18 times as long at 90° as at small angles'
    """
    return str(tomllib.loads(new(name))["why"])


def new(name: str = "cloth") -> str:
    """Return the commented text of a built-in scene, to start a scene of your own.

    >>> new("spring").splitlines()[0]
    '# One spring: a weight that oscillates vertically.'
    """
    if name not in names():
        raise SceneError(
            [
                f"unknown built-in scene '{name}'{did_you_mean(name, names())}; "
                f"known are {', '.join(names())}"
            ]
        )
    return (_BUILTIN / f"{name}.toml").read_text(encoding="utf-8")


def load(
    scene: str | os.PathLike[str],
    *,
    overrides: Iterable[tuple[str, Any]] = (),
    allow_outside: bool = False,
    allow_code: bool = False,
    most: int = MAX_PARTICLES,
    **picks: Any,
) -> Scene:
    """Load a built-in scene by name, a scene file, or a mesh file, for which laws are chosen.

    All errors are raised together in one SceneError.

    overrides : values to change, such as ("time.h", 0.005) or ("body.cloth.mesh.nx", 20), before
        anything is checked
    allow_outside : whether the scene may read files outside of its folder
    allow_code : whether laws may come from Python files in the scene's folder, whose code is run
    most : maximum number of particles
    picks : for mesh files only: options of `of_mesh`, such as fix="y > 0" or young=1e5

    >>> load("cloth").title
    'A hanging cloth'
    >>> load("cloht")
    Traceback (most recent call last):
    taut.errors.SceneError: cloht: 1 error:
      there is no built-in scene and no file with this name; did you mean 'cloth'?
    """
    options: dict[str, Any] = {
        "allow_outside": allow_outside,
        "allow_code": allow_code,
        "most": most,
    }
    if isinstance(scene, str) and scene in names():
        path = _BUILTIN / f"{scene}.toml"
    else:
        path = _follow_link(Path(scene))
        if "\0" in str(scene) or (not path.suffix and not os.path.lexists(path)):
            hint = did_you_mean(str(scene), names())
            raise SceneError(
                [f"there is no built-in scene and no file with this name{hint}"],
                path=repr(str(scene))[1:-1],
            )
        if path.suffix.lower() in EXTENSIONS:
            return _load_mesh(path, overrides, options, picks)
    if picks:
        raise SceneError(
            [f"{name} is an option of mesh files, not of scenes" for name in picks], path=path
        )
    return read_text(read_file(path), folder=path.parent, path=path, overrides=overrides, **options)


def _load_mesh(
    path: Path, overrides: Iterable[tuple[str, Any]], options: dict[str, Any], picks: dict[str, Any]
) -> Scene:
    scene = of_mesh(path, most=options["most"], **picks)
    tables = copy.deepcopy(scene.tables)
    apply_overrides(tables, overrides)
    return read_text(
        format_toml(tables),
        folder=path.parent,
        path=path,
        notes=scene.notes,
        lines=False,
        meshes=scene.meshes,
        **options,
    )


def _follow_link(path: Path) -> Path:
    """Return the target of a link: the files of a scene are in the folder of the target."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError, ValueError):  # reported when the file is read
        return path
