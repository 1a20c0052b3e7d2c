"""`taut scenes`, `new`, `check` and `schema`: scenes without running them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from taut.cli import options
from taut.cli.mesh_options import OfMesh, with_mesh_options
from taut.errors import plain


def scenes(as_json: options.AsJson = False) -> None:
    """The built-in scenes, each with what there is to see."""
    from taut.scene import names, why

    if as_json:
        print(json.dumps({name: why(name) for name in names()}, indent=1, ensure_ascii=False))
        return
    width = max(len(name) for name in names())
    for name in names():
        print(f"{name:{width}}  {why(name)}")


def new(
    name: Annotated[str, typer.Argument(help="The built-in scene to begin with.")] = "cloth",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file, which must not exist.")] = None,
) -> None:
    """Print a commented scene to begin with."""
    from taut.errors import SceneError
    from taut.scene import new as text_of

    text = text_of(name)
    if output is None:
        print(text, end="")
        return
    try:
        with open(output, "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise SceneError([f"it cannot be written: {error.strerror}"], path=output) from error
    print(f"wrote {output}; taut run {output}")


@with_mesh_options
def check(
    scene: options.SceneArgument,
    changes: options.Changes = None,
    of_mesh: OfMesh = None,
    allow_outside: options.Outside = False,
    allow_code: options.Code = False,
    as_json: options.AsJson = False,
) -> None:
    """Tell all problems of a scene, or what a run of it will take. Nothing is run."""
    from taut.scene import estimate

    found = options.scene_of(scene, changes, allow_outside=allow_outside, allow_code=allow_code, of_mesh=of_mesh)
    built = found.build()
    cost = estimate(built)
    if as_json:
        print(json.dumps({"title": found.title, **asdict(cost), "notes": list(built.notes)}, indent=1, ensure_ascii=False))
        return
    print(f"{plain(found.title) or scene}: no problems")
    options.tell_notes(built.notes)
    print(cost)


def schema() -> None:
    """The JSON Schema of scene files, for editors."""
    from taut.scene import schema as of_scenes

    print(json.dumps(of_scenes(), indent=1, ensure_ascii=False))
