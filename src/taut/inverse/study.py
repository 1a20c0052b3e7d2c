"""Study files: a scene, its unknown parameters and what was observed, as TOML.

    scene = "cloth.toml"              # a scene file next to the study, or a built-in scene

    [[unknown]]
    name = "spring.k"                 # and start, low, high, log, prior = [value, deviation]
    each = false                      # true: one number for each element

    [[experiment]]
    kind = "motion"                   # "motion", "shape", "deflection", "forces" or "frequencies"
    data = "points.csv"               # CSV, NPZ, a run folder, or mesh files: "frames/*.obj"
    rate = 24.0                       # of a sequence of mesh files [1/s]; the first is at t = 0
    law = "spring"                    # of forces: the law of the members
    sigma = 1e-3                      # standard deviation, if it is known
    set = {"time.h" = 0.01}           # values of the scene that differ in this experiment
    scene = "loaded.toml"             # another scene for this experiment

`taut.inverse._study_data` says what the data files contain.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taut.errors import MeshError, ModelError, SceneError
from taut.inverse._study_data import (
    check_numbers,
    digest_data,
    read_columns,
    read_forces,
    read_motion,
    read_shape,
)
from taut.inverse.observations import Experiment, Motion
from taut.inverse.rest_observations import Forces, Frequencies, Shape
from taut.inverse.unknown import Unknown
from taut.regular_file import read_regular_file
from taut.scene import Built, load, names


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Unknown(_Table):
    name: str
    start: float | None = None
    low: float = 0.0
    high: float = float("inf")
    log: bool | None = None
    prior: list[float] | None = Field(default=None, min_length=2, max_length=2)
    each: bool = False


class _Experiment(_Table):
    kind: Literal["motion", "shape", "deflection", "forces", "frequencies"]
    data: str
    scene: str | None = None
    rate: float | None = Field(default=None, gt=0.0)
    law: str | None = None
    sigma: float | None = Field(default=None, gt=0.0)
    set: dict[str, Any] = Field(default_factory=dict)


class _StudyFile(_Table):
    scene: str
    unknown: list[_Unknown] = Field(min_length=1)
    experiment: list[_Experiment] = Field(min_length=1)


@dataclass(frozen=True, eq=False)
class Study:
    """What a study file asks for: experiments with their models, and the unknowns.

    digest : of the study, its scenes and its data
    """

    experiments: list[Experiment]
    unknowns: list[Unknown]
    digest: str


def load_study(path: Path, *, allow_code: bool = False) -> Study:
    """Read a study file and the scene and data that it names, all inside its folder.

    allow_code : whether laws may come from Python files in the scene's folder, whose code is run
    """
    try:
        text = read_regular_file(path, "study")
        found = _StudyFile.model_validate(tomllib.loads(text.decode("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, MeshError) as error:
        raise SceneError([str(error)], path=path) from error
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise SceneError(problems, path=path) from error
    digest = sha256(text)
    experiments: list[Experiment] = []
    for k, table in enumerate(found.experiment):
        name = table.scene or found.scene
        scene = name if name in names() else _inside(path.parent, name, path)
        loaded = load(scene, overrides=list(table.set.items()), allow_code=allow_code)
        digest.update(loaded.resolved().encode())
        for content in loaded.inputs().values():
            digest.update(content)
        files = _find_data(path.parent, table.data, path)
        try:
            for file in files:
                digest.update(digest_data(file))
            experiments.append(_make_experiment(table, loaded.build(), files))
        except (KeyError, ValueError, OSError, MeshError, ModelError) as error:
            problem = f"experiment {k}: {table.data} cannot be read as {table.kind}: {error}"
            raise SceneError([problem], path=path) from error
    unknowns = [_make_unknown(table) for table in found.unknown]
    return Study(experiments, unknowns, digest.hexdigest())


def _find_data(folder: Path, name: str, study: Path) -> list[Path]:
    """Return the files of data, several if the name is a pattern such as "frames/*.obj"."""
    if "*" not in name:
        return [_inside(folder, name, study)]
    try:
        found = sorted(folder.glob(name), key=lambda p: (len(p.name), p.name))
    except (ValueError, NotImplementedError) as error:
        raise SceneError([f"{name} is not a pattern of file names: {error}"], path=study) from error
    if not found:
        raise SceneError([f"no file matches {name}"], path=study)
    return [_inside(folder, os.path.relpath(file, folder), study) for file in found]


def _inside(folder: Path, name: str, study: Path) -> Path:
    """Return the path of a file that a study names, which must be inside the study's folder."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise SceneError([f"{name} must be inside the folder of the study"], path=study)
    if not path.exists():
        raise SceneError([f"there is no file {name}"], path=study)
    return path


def _make_unknown(table: _Unknown) -> Unknown:
    prior = None if table.prior is None else (table.prior[0], table.prior[1])
    return Unknown(table.name, table.start, table.low, table.high, table.log, prior, table.each)


def _make_experiment(table: _Experiment, built: Built, files: list[Path]) -> Experiment:
    system, sigma = built.system, table.sigma
    if table.kind == "motion":
        times, observed, positions = read_motion(files, table.rate)
        if times.ndim != 1 or not (times >= 0.0).all() or len(positions) != len(times):
            raise ValueError("times must be a list of numbers from 0 on, one for each observation")
        later = times > 0.0  # the first state is given
        h, seen = built.h, positions[later]
        return Motion(system, built.integrator, h, times[later], seen, observed, sigma)
    if len(files) > 1:
        raise ValueError(f"it must be one file, got {len(files)}")
    if table.kind == "frequencies":
        return Frequencies(system, read_columns(files[0], ["omega"])["omega"], sigma)
    if table.kind == "forces":
        if table.law is None:
            raise ValueError("law must name the law of the members")
        elements, forces = read_forces(files[0])
        return Forces(system, table.law, forces, elements, sigma)
    if table.kind == "deflection":
        particles, moved = read_shape(files[0], ("displacements", "ux", "uy", "uz"))
        check_numbers(particles, system.n)
        start = np.array(system.initial_state().q)
        return Shape(system, start[particles] + moved, particles, sigma)
    particles, positions = read_shape(files[0])
    return Shape(system, positions, particles, sigma)
