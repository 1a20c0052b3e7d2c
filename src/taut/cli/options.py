"""What several commands ask of a scene, and the scene they mean."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taut.errors import plain

if TYPE_CHECKING:
    from taut.scene import Scene

SceneArgument = Annotated[str, typer.Argument(metavar="SCENE", help="A built-in scene, a scene.toml, or any mesh file.")]
Changes = Annotated[
    list[str] | None, typer.Option("--set", metavar="A.B=VALUE", help="Change a value of the scene, such as time.h=0.005.")
]
Outside = Annotated[bool, typer.Option("--allow-outside", help="Let the scene read files outside of its folder.")]
Code = Annotated[bool, typer.Option("--allow-code", help="Let the scene take laws from Python files beside it: their code is run.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
RunFolder = Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The folder of a run.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Fix = Annotated[str | None, typer.Option(help='Of a mesh file: which points are held, such as "y > 0.95*max(y)".')]
Young = Annotated[float | None, typer.Option(help="Of a mesh file: Young's modulus [Pa].")]
Poisson = Annotated[float | None, typer.Option(help="Of a mesh file: Poisson's ratio.")]
Thickness = Annotated[float | None, typer.Option(help="Of a mesh file: thickness of its faces [m].")]
Area = Annotated[float | None, typer.Option(help="Of a mesh file: cross-section of its lines [m²].")]
Density = Annotated[float | None, typer.Option(help="Of a mesh file: density [kg/m³].")]
Scale = Annotated[float | None, typer.Option(help="Of a mesh file: metres per unit of the file.")]
Up = Annotated[str | None, typer.Option(help="Of a mesh file: the axis that points up in it: x, y or z.")]


def tell_notes(notes: Iterable[str]) -> None:
    """Print what was picked and reached, indented; nothing in it steers a terminal."""
    for note in notes:
        for line in note.splitlines():
            print(f"  {plain(line)}")


def scene_of(name: str, changes: list[str] | None, *, allow_outside: bool, allow_code: bool, **of_mesh: Any) -> Scene:
    """The scene that a command names; `of_mesh` are the options that are for mesh files."""
    from taut.scene import load, override

    given = {key: value for key, value in of_mesh.items() if value is not None}
    overrides = [override(change) for change in changes or []]
    return load(name, overrides=overrides, allow_outside=allow_outside, allow_code=allow_code, **given)
