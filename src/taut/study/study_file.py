"""Study files: a scene, what varies and what is measured, as TOML.

    scene = "beam.toml"                 # a scene file in the folder of the study, or a built-in one
    samples = "saltelli:64"             # grid (default), lhs:N, sobol:N or saltelli:N
    seed = 1

    [vary]
    "body.beam.material.young" = "1e5:1e6:log"
    "body.beam.mesh.ny,body.beam.mesh.nz" = [2, 4]

    [measure]
    sag = "mean(where(x0 == max(x0), y0 - y))"

    [set]                               # values that differ from those of the scene
    "time.duration" = 2.0

A study file is data, like a scene: reading one runs no code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taut.errors import SceneError
from taut.scene import names
from taut.scene.toml import parse, read_file

_MAX_ENTRIES = 100  # parameters, or measures, of a study
_Value = str | Annotated[list[Any], Field(min_length=1)]


class StudyFile(BaseModel):
    """A study of taut: a scene, what varies, and what is measured."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    scene: str = Field(
        min_length=1,
        max_length=1000,
        description="a scene file or mesh file in the folder of the study, or a built-in scene",
    )
    vary: dict[str, _Value] = Field(
        min_length=1,
        max_length=_MAX_ENTRIES,
        description="key of the scene, or several with commas in between, and its values: a list, "
        'a range such as "100:1000:5", "100:1000:log" or "1..20"',
    )
    measure: dict[str, str] = Field(
        default_factory=dict,
        max_length=_MAX_ENTRIES,
        description='name and expression, such as "max(y0 - y)"',
    )
    set: dict[str, Any] = Field(
        default_factory=dict, description="keys of the scene and values that are set in every run"
    )
    samples: str = Field(
        "grid", description="grid, lhs:N, sobol:N or saltelli:N, from which Sobol indices follow"
    )
    seed: int = Field(0, ge=0, description="of the random choices of the samples")
    keep_frames: bool = Field(False, description="whether the run folder of every run is kept")


def is_study_file(name: str) -> bool:
    """Whether a name is that of a study file: a TOML file with a table `vary`."""
    path = Path(name)
    if name in names() or path.suffix.lower() != ".toml" or not path.is_file():
        return False
    return "vary" in parse(read_file(path), path)


def read_study_file(path: Path) -> tuple[StudyFile, str]:
    """Return a study file, and the scene that it names: a built-in one or a path.

    SceneError names everything that is wrong with the file.
    """
    try:
        found = StudyFile.model_validate(parse(read_file(path), path))
    except ValidationError as error:
        problems = []
        for problem in error.errors():
            place = ".".join(str(part) for part in problem["loc"])
            problems.append(f"{place}: {problem['msg']}")
        raise SceneError(problems, path=path) from None
    if found.scene in names():
        return found, found.scene
    scene = path.parent / found.scene
    if not scene.resolve().is_relative_to(path.parent.resolve()):
        raise SceneError(
            [f"scene: {found.scene} must be inside the folder of the study"], path=path
        )
    return found, str(scene)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of study files; every field has a description.

    >>> sorted(schema()["properties"])
    ['keep_frames', 'measure', 'samples', 'scene', 'seed', 'set', 'vary']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **StudyFile.model_json_schema(),
    }
