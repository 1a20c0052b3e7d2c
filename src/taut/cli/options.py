"""What several commands have in common: their options, how they tell, and the scene they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taut.errors import plain

if TYPE_CHECKING:
    from taut.scene import Scene

LINES = 5.0  # seconds between lines of progress where there is no terminal
SceneArgument = Annotated[str, typer.Argument(metavar="SCENE", help="A built-in scene, a scene.toml, or any mesh file.")]
Changes = Annotated[
    list[str] | None, typer.Option("--set", metavar="A.B=VALUE", help="Change a value of the scene, such as time.h=0.005.")
]
Outside = Annotated[bool, typer.Option("--allow-outside", help="Let the scene read files outside of its folder.")]
Code = Annotated[bool, typer.Option("--allow-code", help="Let the scene take laws from Python files beside it: their code is run.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
RunFolder = Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The folder of a run.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]


def tell_notes(notes: Iterable[str]) -> None:
    """Print what was picked and reached, indented; nothing in it steers a terminal."""
    for note in notes:
        for line in note.splitlines():
            print(f"  {plain(line)}")


def scene_of(
    name: str, changes: list[str] | None, *, allow_outside: bool, allow_code: bool, of_mesh: Mapping[str, Any] | None = None
) -> Scene:
    """The scene that a command names; `of_mesh` are the options that are for mesh files."""
    from taut.scene import load, override

    overrides = [override(change) for change in changes or []]
    return load(name, overrides=overrides, allow_outside=allow_outside, allow_code=allow_code, **(of_mesh or {}))
