"""Scenes: read from a text, checked, written out in full, and built."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from taut.errors import SceneError
from taut.mesh.mesh import Mesh
from taut.scene.bounds import MOST_PARTICLES
from taut.scene.build import Built, build, meshes_of
from taut.scene.folder import FileKey, Folder
from taut.scene.inputs import files_of, kept_names, renamed
from taut.scene.model import LISTS, SceneFile
from taut.scene.part import Part
from taut.scene.places import Place, Places
from taut.scene.problems import Problems
from taut.scene.reading import change, tables_of
from taut.scene.standing import standing
from taut.scene.toml_text import toml
from taut.scene.wording import problems

if TYPE_CHECKING:
    from taut.run.progress import Recorded
    from taut.run.record import Stop, Tell

_FIRST = ("shape", "file", "points", "law")  # what says what a table is


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene that has been read and checked. Made by `load`, `read_text` and `of_mesh`.

    file : its tables; path : where it was read from, or None; folder : of its files, or None
    allow_outside, allow_code : whether files outside of the folder, and laws of Python files, may be used
    most : particles at most; notes : what was picked, in words
    text : as it was read, for the lines of problems, or None if nobody has seen it; changed : places with overridden values
    meshes : of its files, by name, scale and axis that points up, as far as they have been read
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

    @cached_property
    def _places(self) -> Places | None:
        return None if self.text is None else Places(self.text, self.changed)

    def _folder(self) -> Folder:
        return Folder(self.folder, allow_outside=self.allow_outside, meshes=self.meshes)

    def build(self) -> Built:
        """The System, the state to start from, the integrator and the times; a SceneError with all problems if there are any.

        >>> from taut.scene import load
        >>> built = load("spring").build()
        >>> built.system.n, built.bodies[0].name, built.h
        (2, 'spring', 0.01)
        """
        made = build(self.file, self._folder(), Problems(self._places, self.path), allow_code=self.allow_code, most=self.most)
        return replace(made, notes=(*self.notes, *made.notes))

    def record(
        self, folder: str | os.PathLike[str], *, built: Built | None = None, tell: Tell | None = None, stop: Stop | None = None,
        overwrite: bool = False,
    ) -> Recorded:  # fmt: skip
        """Run it into a folder, as `taut run` does: frames, reports, ledger and checkpoints, and the scene with its files.

        built : what `build` has given, if it has; tell, stop, overwrite : as of `taut.run.record.record`

        >>> import tempfile
        >>> from taut.scene import load
        >>> load("spring").record(tempfile.mkdtemp()).outcome
        'finished'
        """
        made = self.build() if built is None else built
        from taut.run.record import record

        return record(
            folder, made.system, made.integrator, h=made.h, until=made.until, every=made.every, state=made.state,
            scene=self.resolved(), inputs=self.inputs(), tell=tell, stop=stop, overwrite=overwrite,
        )  # fmt: skip

    def look(self, found: Problems) -> None:
        """Gather what is wrong with it, as far as that can be told without running code."""
        with suppress(SceneError):  # which has what was found
            build(self.file, self._folder(), found, allow_code=None if self.allow_code else False, most=self.most)

    def parts(self) -> tuple[Part, ...]:
        """The bodies with their meshes alone: nothing else of the scene is looked at, and no code is run.

        >>> from taut.scene import load
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

        >>> from taut.scene import load
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
    kept = {key: _tidy(entry) for key, entry in value.items() if entry != {} and not (key in LISTS and entry == [])}
    return {key: kept[key] for key in sorted(kept, key=lambda key: key not in _FIRST)}


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
