"""`taut scenes`, `new`, `check` and `schema`: scenes without a run."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from taut.cli import _options as options
from taut.errors import escape_unprintable


def scenes(as_json: options.AsJson = False) -> None:
    """List the built-in scenes, and what each of them shows."""
    from taut.scene import names, why

    if as_json:
        print(json.dumps({name: why(name) for name in names()}, indent=1, ensure_ascii=False))
        return
    width = max(len(name) for name in names())
    for name in names():
        print(f"{name:{width}}  {why(name)}")


@options.with_mesh_options
def new(
    name: Annotated[
        str, typer.Argument(help="The built-in scene or the mesh file to start from.")
    ] = "cloth",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the scene to this file, which must not exist."),
    ] = None,
    mesh_options: options.MeshOptions = None,
) -> None:
    """Print a scene to start from, built-in or of a mesh file."""
    from taut.atomic_write import atomic_write
    from taut.errors import SceneError
    from taut.mesh.files import EXTENSIONS
    from taut.scene import new as get_text

    if Path(name).suffix.lower() in EXTENSIONS:
        _new_of_mesh(name, output, mesh_options)
        return
    if mesh_options:
        raise SceneError([f"{next(iter(mesh_options))} is an option of mesh files, not of scenes"])
    text = get_text(name)
    if output is None:
        print(text, end="")
        return
    try:
        atomic_write(output, text)
    except OSError as error:
        raise SceneError([f"cannot be written: {error.strerror}"], path=output) from error
    print(f"wrote {output}; taut run {output}")


def _new_of_mesh(name: str, output: Path | None, mesh_options: options.MeshOptions) -> None:
    """Print or write the scene of a mesh file, with the choices that were made as comments."""
    from taut.scene.toml import format_toml

    scene = options.load_scene(
        name, None, allow_outside=False, allow_code=False, mesh_options=mesh_options
    )
    comments = "".join(f"# {escape_unprintable(note)}\n" for note in scene.notes)
    if output is None:
        print(f"{comments}\n{format_toml(scene.tables)}", end="")
        return
    options.write_scene(output, f"{comments}\n{scene.resolved()}", scene.inputs())
    print(f"wrote {output}; taut run {output}")


@options.with_mesh_options
def check(
    scene: options.SceneArgument,
    overrides: options.Overrides = None,
    mesh_options: options.MeshOptions = None,
    allow_outside: options.AllowOutside = False,
    allow_code: options.AllowCode = False,
    trial_seconds: Annotated[
        float, typer.Option("--trial", min=0.0, help="Seconds spent on trial steps; 0: none.")
    ] = 2.0,
    as_json: options.AsJson = False,
) -> None:
    """Report all errors of a scene, or the cost of a run.

    Some steps are taken, but not kept, to see how long they take on this machine. Warns of thin
    bodies that will crumple under their loads, and of contact, whose steps take longer later on.
    """
    from taut.scene import estimate, foresee, try_steps

    loaded = options.load_scene(
        scene,
        overrides,
        allow_outside=allow_outside,
        allow_code=allow_code,
        mesh_options=mesh_options,
    )
    built = loaded.build()
    cost, warnings = estimate(built), list(foresee(built))
    trial = try_steps(built, trial_seconds)
    if trial.steps:
        cost = replace(cost, seconds=trial.seconds)
    if trial.fault:
        warnings.append(f"in a trial, {trial.fault}")
    if trial.steps and built.system.contact is not None:
        warnings.append(
            "the trial steps are those before most contacts: steps may take several times as long "
            "once bodies touch"
        )
    if as_json:
        report = {
            "title": loaded.title,
            **asdict(cost),
            "notes": list(built.notes),
            "trial_steps": trial.steps,
            "warnings": warnings,
        }
        print(json.dumps(report, indent=1, ensure_ascii=False))
        return
    print(f"{escape_unprintable(loaded.title) or scene}: no errors")
    options.print_notes(built.notes)
    print(cost)
    if trial.steps:
        print(f"the time is that of {trial.steps:,} trial steps, extrapolated")
    for warning in warnings:
        print(f"warning: {warning}")


def schema(
    kind: Annotated[str, typer.Argument(help="Of which files: scene or study.")] = "scene",
) -> None:
    """Print the JSON Schema of scene or study files, for editors."""
    from taut.errors import ModelError, did_you_mean
    from taut.scene import schema as get_scene_schema
    from taut.study.study_file import schema as get_study_schema

    found = {"scene": get_scene_schema, "study": get_study_schema}
    if kind not in found:
        hint = did_you_mean(kind, found)
        raise ModelError(f"the kind of files must be scene or study, got '{kind}'{hint}")
    get_schema = found[kind]
    print(json.dumps(get_schema(), indent=1, ensure_ascii=False))
