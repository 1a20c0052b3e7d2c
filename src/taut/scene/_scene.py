"""Scenes: read and check them, write them out in full, build and record them."""

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
from taut.scene._body import Part, build_parts
from taut.scene._errors import ErrorCollector, drop_invalid, list_errors
from taut.scene._files import MeshKey, SceneFolder, find_file_names, name_copies, rename_files
from taut.scene._limits import LISTS_OF_TABLES, MAX_PARTICLES
from taut.scene._scene_file import Built, SceneFile, build
from taut.scene._source_lines import KeyPath, SourceLines
from taut.scene.toml import apply_overrides, format_toml, parse

if TYPE_CHECKING:
    from taut.run.record import Stop, Tell, Watch
    from taut.run.summary import RunResult

_FIRST_KEYS = ("shape", "file", "points", "law")  # these keys determine what a table is


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene that was read and checked; `load`, `read_text` and `of_mesh` create it.

    file : its tables
    path : the file it was read from, or None
    folder : the folder of its files, or None
    allow_outside : whether files outside of the folder may be read
    allow_code : whether laws in Python files may be run
    most : maximum number of particles
    text : the text it was read from, for line numbers in errors; None if taut generated it
    notes : choices that were made, in words
    changed : paths of overridden values
    meshes : mesh files that were read already, by name, scale and up axis
    """

    file: SceneFile
    path: Path | None = None
    folder: Path | None = None
    allow_outside: bool = False
    allow_code: bool = False
    most: int = MAX_PARTICLES
    text: str | None = None
    notes: tuple[str, ...] = ()
    changed: tuple[KeyPath, ...] = ()
    meshes: dict[MeshKey, Mesh] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<scene '{self.file.title}': {', '.join(body.name for body in self.file.body)}>"

    @property
    def title(self) -> str:
        """The title."""
        return self.file.title

    @cached_property
    def _source_lines(self) -> SourceLines | None:
        return None if self.text is None else SourceLines(self.text, self.changed)

    def _open_folder(self) -> SceneFolder:
        return SceneFolder(self.folder, allow_outside=self.allow_outside, meshes=self.meshes)

    def build(self) -> Built:
        """Build the System, its start, the integrator and the times; raise all errors together.

        >>> from taut.scene import load
        >>> built = load("spring").build()
        >>> built.system.n, built.bodies[0].name, built.h
        (2, 'spring', 0.01)
        """
        errors = ErrorCollector(self._source_lines, self.path)
        built = build(
            self.file, self._open_folder(), errors, allow_code=self.allow_code, limit=self.most
        )
        return replace(built, notes=(*self.notes, *built.notes))

    def record(
        self,
        folder: str | os.PathLike[str],
        *,
        built: Built | None = None,
        tell: Tell | None = None,
        stop: Stop | None = None,
        watch: Watch | None = None,
        overwrite: bool = False,
    ) -> RunResult:
        """Run the scene into a folder, as `taut run` does.

        The folder receives frames, reports, ledger and checkpoints, and the scene with its files.

        built : the result of `build`, if there is one
        tell, stop, watch, overwrite : see `taut.run.record.record`

        >>> import tempfile
        >>> from taut.scene import load
        >>> load("spring").record(tempfile.mkdtemp()).outcome
        'finished'
        """
        from taut.run.record import record

        built = self.build() if built is None else built
        result = record(
            folder,
            built.system,
            built.integrator,
            h=built.h,
            until=built.until,
            every=built.every,
            state=built.state,
            scene=self.resolved(),
            inputs=self.inputs(),
            tell=tell,
            stop=stop,
            watch=watch,
            overwrite=overwrite,
        )
        return replace(result, notes=(*result.notes, *built.describe_inverted(result.state)))

    def _collect_errors(self, errors: ErrorCollector) -> None:
        """Build the scene to collect its errors. Laws in Python files are not run."""
        # Where code is allowed, its laws are left out; where it is not, each is an error.
        allow_code = None if self.allow_code else False
        with suppress(SceneError):  # its messages are in `errors`
            build(self.file, self._open_folder(), errors, allow_code=allow_code, limit=self.most)

    def parts(self) -> tuple[Part, ...]:
        """Return the bodies with their meshes; laws are not built, and no code is run.

        >>> from taut.scene import load
        >>> [(part.name, part.mesh.n) for part in load("chain").parts()]
        [('chain', 41)]
        """
        errors = ErrorCollector(self._source_lines, self.path)
        bodies, dimensions = self.file.body, self.file.dimensions
        parts = build_parts(bodies, dimensions, self._open_folder(), errors, self.most)
        errors.raise_errors()
        return tuple(parts.values())

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The tables with every default, as plain values."""
        tables: dict[str, Any] = _tidy(self.file.model_dump(exclude_none=True))
        return tables

    def resolved(self) -> str:
        """Return the scene as TOML with every default; its files have the names of `inputs`."""
        names = name_copies(name for _, name in find_file_names(self.tables))
        return format_toml(rename_files(copy.deepcopy(self.tables), names.__getitem__))

    def inputs(self) -> dict[str, bytes]:
        """Return the files that the scene uses, by the names that `resolved` has for them.

        With copies of them the resolved scene is complete in any folder.

        >>> from taut.scene import load
        >>> load("cloth").inputs()
        {}
        """
        folder = self._open_folder()
        errors = ErrorCollector(self._source_lines, self.path)
        for path, name in find_file_names(self.tables):
            with errors.collect(*path):
                folder.find(name)
        errors.raise_errors()
        names = name_copies(list(folder.used))
        return {copied: folder.read_bytes(name) for name, copied in names.items()}


def _tidy(value: Any) -> Any:
    """Drop empty tables and empty lists of tables, and put the keys that name a table first."""
    if isinstance(value, list):
        return [_tidy(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, entry in value.items():
        is_empty = entry == {} or (key in LISTS_OF_TABLES and entry == [])
        if not is_empty:
            kept[key] = _tidy(entry)
    return {key: kept[key] for key in sorted(kept, key=lambda key: key not in _FIRST_KEYS)}


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
    """Read a scene from TOML text; raise all errors together in one SceneError.

    folder : where its files are
    path : the file of the text, for error messages
    overrides : values to change before anything is checked
    lines : whether errors name lines of the text; False for text that taut generated
    notes, options : further fields of the `Scene`

    >>> read_text("[time]\\nh = 0.1\\nduration = 1\\n[[bdy]]\\nname = 'a'")
    Traceback (most recent call last):
    taut.errors.SceneError: 2 errors:
      body: required key is missing
      bdy, line 4: unknown key; did you mean 'body'?
    """
    tables = parse(text, path)
    changed = tuple(apply_overrides(tables, overrides))

    def create_scene(tables: dict[str, Any]) -> Scene:
        return Scene(
            SceneFile.model_validate(tables),
            path,
            folder,
            text=text if lines else None,
            notes=tuple(notes),
            changed=changed,
            **options,
        )

    try:
        return create_scene(tables)
    except ValidationError as error:
        invalid = list_errors(error, SceneFile)
    errors = ErrorCollector(SourceLines(text, changed) if lines else None, path)
    for key_path, message in invalid:
        errors.add(key_path, message)
    # Building the valid tables finds further errors, which are reported together with these.
    rest, errors.restore_path = drop_invalid(tables, (key_path for key_path, _ in invalid))
    with suppress(ValidationError):  # nothing is left that could be built
        create_scene(rest)._collect_errors(errors)
    errors.raise_errors()
    raise AssertionError("an invalid scene has errors")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scene files; every field has a description with its unit.

    >>> schema()["properties"]["time"]["$ref"], "SpringLaw" in schema()["$defs"]
    ('#/$defs/Time', True)
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **SceneFile.model_json_schema(),
    }
