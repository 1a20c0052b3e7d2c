"""Scenes: read, checked, changed, written out in full, and built."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from taut.errors import SceneError, did_you_mean
from taut.mesh.files.foreign import EXTENSIONS
from taut.mesh.mesh import Mesh
from taut.mesh.reading import FORMATS
from taut.scene.bounds import MOST_PARTICLES
from taut.scene.build import Built, Part, build, meshes_of
from taut.scene.collecting import Problems
from taut.scene.folder import FileKey, Folder
from taut.scene.inputs import files_of, kept_names, renamed
from taut.scene.library import BUILTIN, names
from taut.scene.model import SceneFile
from taut.scene.places import Place, Places
from taut.scene.problems import problems
from taut.scene.reading import change, tables_of, text_of
from taut.scene.standing import standing
from taut.scene.toml_text import toml

_SEVERAL = ("stitch", "attach", "law", "hold")  # lists of tables
_FIRST = ("shape", "file", "points", "law")  # what says what a table is


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene that has been read and checked. Made by `load`, `read_text` and `of_mesh`.

    file : its tables; path : where it was read from, or None; folder : of its files, or None
    allow_outside, allow_code : whether files outside of the folder, and laws of Python files, may be used
    most : particles at most; notes : what was picked, in words
    """

    file: SceneFile
    path: Path | None = None
    folder: Path | None = None
    allow_outside: bool = False
    allow_code: bool = False
    most: int = MOST_PARTICLES
    text: str | None = None
    notes: tuple[str, ...] = ()
    changed: tuple[Place, ...] = ()
    meshes: dict[FileKey, Mesh] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<scene '{self.file.title}': {', '.join(body.name for body in self.file.body)}>"

    @property
    def title(self) -> str:
        """What it is."""
        return self.file.title

    @property
    def why(self) -> str:
        """What there is to see."""
        return self.file.why

    @cached_property
    def _places(self) -> Places | None:
        return None if self.text is None else Places(self.text, self.changed)

    def _folder(self) -> Folder:
        return Folder(self.folder, allow_outside=self.allow_outside, meshes=self.meshes)

    def build(self) -> Built:
        """The System, the state to start from, the integrator and the times; a SceneError with all problems if there are any.

        >>> built = load("spring").build()
        >>> built.system.n, built.bodies[0].name, built.h
        (2, 'spring', 0.01)
        """
        made = build(self.file, self._folder(), Problems(self._places, self.path), allow_code=self.allow_code, most=self.most)
        return replace(made, notes=(*self.notes, *made.notes))

    def look(self, found: Problems) -> None:
        """Gather what is wrong with it, as far as that can be told without running code."""
        with suppress(SceneError):  # which has what was found
            build(self.file, self._folder(), found, allow_code=None if self.allow_code else False, most=self.most)

    def parts(self) -> tuple[Part, ...]:
        """The bodies with their meshes alone: nothing else of the scene is looked at, and no code is run.

        >>> [(part.name, part.mesh.n) for part in load("chain").parts()]
        [('chain', 41)]
        """
        problems_found = Problems(self._places, self.path)
        found = meshes_of(self.file, self._folder(), problems_found, self.most)
        problems_found.refuse()
        return tuple(found.values())

    @cached_property
    def tables(self) -> dict[str, Any]:
        """Its tables with every default, as plain values."""
        found: dict[str, Any] = _tidy(self.file.model_dump(exclude_none=True))
        return found

    def resolved(self) -> str:
        """The scene as TOML with every default written out; its files are named as `inputs` has them."""
        kept = kept_names(name for _, name in files_of(self.tables))
        return toml(renamed(copy.deepcopy(self.tables), kept.__getitem__))

    def inputs(self) -> dict[str, bytes]:
        """The files that the scene uses, by the names that `resolved` has for them: copies of them make it whole elsewhere.

        >>> load("cloth").inputs()
        {}
        """
        folder = self._folder()
        problems_found = Problems(self._places, self.path)
        for place, name in files_of(self.tables):
            with problems_found.at(*place):
                folder.find(name)
        problems_found.refuse()
        return {kept: folder.bytes(name) for name, kept in kept_names(list(folder.used)).items()}


def _tidy(value: Any) -> Any:
    """Without empty tables and lists of tables, and with what a table is about first."""
    if isinstance(value, list):
        return [_tidy(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _tidy(entry) for key, entry in value.items() if entry != {} and not (key in _SEVERAL and entry == [])}
    return {key: kept[key] for key in sorted(kept, key=lambda key: key not in _FIRST)}


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
            from taut.scene.any_mesh import of_mesh

            made = of_mesh(path, **picks)
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


def read_text(
    text: str,
    *,
    folder: Path | None = None,
    path: Path | None = None,
    overrides: Iterable[tuple[str, Any]] = (),
    notes: Iterable[str] = (),
    lines: bool = True,
    **options: Any,
) -> Scene:
    """A scene from its text; `folder` is where its files are. `lines` is False for a text that nobody has seen.

    >>> read_text("[time]\\nh = 0.1\\nduration = 1\\n[[bdy]]\\nname = 'a'")
    Traceback (most recent call last):
    taut.errors.SceneError: 2 problems:
      body: it is missing
      bdy, line 4: there is no such key here; did you mean 'body'?
    """
    data = tables_of(text, path)
    places = tuple(change(data, overrides))

    def scene(tables: dict[str, Any]) -> Scene:
        known = text if lines else None
        return Scene(SceneFile.model_validate(tables), path, folder, text=known, notes=tuple(notes), changed=places, **options)

    try:
        return scene(data)
    except ValidationError as error:
        wrong = problems(error)
    found = Problems(Places(text, places) if lines else None, path)
    for place, message in wrong:
        found.add(place, message)
    rest, found.number = standing(data, (place for place, _ in wrong))
    with suppress(ValidationError):  # if nothing is left that could be built
        scene(rest).look(found)
    found.refuse()
    raise AssertionError("tables that were refused have a problem")
