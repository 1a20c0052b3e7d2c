"""Study files: a scene, its unknown parameters and what was observed, as TOML.

    scene = "cloth.toml"              # a scene file next to the study, or a built-in scene

    [[unknown]]
    name = "spring.k"                 # and start, low, high, log, prior = [value, deviation]

    [[experiment]]
    kind = "motion"                   # "motion", "shape" or "frequencies"
    data = "points.csv"               # CSV, NPZ or a run folder
    sigma = 1e-3                      # standard deviation, if it is known
    set = {"time.h" = 0.01}           # values of the scene that differ in this experiment

A CSV file has a line of names: t, particle, x, y, z of a motion; particle, x, y, z of a shape;
omega of frequencies. An NPZ file has the arrays times (k,), positions (k, p, 3) or (p, 3) and
particles (p,); or omega. A run folder is a motion of all particles.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taut.arrays import Float, Int
from taut.errors import MeshError, SceneError
from taut.inverse.fit import Unknown
from taut.inverse.observations import Experiment, Frequencies, Motion, Shape
from taut.regular_file import read_regular_file
from taut.run.open_run import open_run
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


class _Experiment(_Table):
    kind: Literal["motion", "shape", "frequencies"]
    data: str
    sigma: float | None = Field(default=None, gt=0.0)
    set: dict[str, Any] = Field(default_factory=dict)


class _StudyFile(_Table):
    scene: str
    unknown: list[_Unknown] = Field(min_length=1)
    experiment: list[_Experiment] = Field(min_length=1)


@dataclass(frozen=True, eq=False)
class Study:
    """What a study file asks for: experiments with their models, and the unknowns."""

    experiments: list[Experiment]
    unknowns: list[Unknown]


def load_study(path: Path, *, allow_code: bool = False) -> Study:
    """Read a study file and the scene and data that it names, all inside its folder.

    allow_code : whether laws may come from Python files in the scene's folder, whose code is run
    """
    try:
        tables = tomllib.loads(read_regular_file(path, "study").decode("utf-8"))
        found = _StudyFile.model_validate(tables)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, MeshError) as error:
        raise SceneError([str(error)], path=path) from error
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise SceneError(problems, path=path) from error
    folder = path.parent
    scene: str | Path = found.scene
    if found.scene not in names():
        scene = _inside(folder, found.scene, path)
    experiments: list[Experiment] = []
    for k, table in enumerate(found.experiment):
        built = load(scene, overrides=list(table.set.items()), allow_code=allow_code).build()
        data = _inside(folder, table.data, path)
        try:
            experiments.append(_make_experiment(table, built, data))
        except (KeyError, ValueError, OSError) as error:
            problem = f"experiment {k}: {table.data} cannot be read as {table.kind}: {error}"
            raise SceneError([problem], path=path) from error
    return Study(experiments, [_make_unknown(table) for table in found.unknown])


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
    return Unknown(table.name, table.start, table.low, table.high, table.log, prior)


def _make_experiment(table: _Experiment, built: Built, path: Path) -> Experiment:
    if table.kind == "frequencies":
        return Frequencies(built.system, _read_columns(path, ["omega"])["omega"], table.sigma)
    if table.kind == "shape":
        particles, positions = _read_shape(path)
        return Shape(built.system, positions, particles, table.sigma)
    times, observed, positions = _read_motion(path)
    later = times > 0.0  # the first state is given
    return Motion(
        built.system,
        built.integrator,
        built.h,
        times[later],
        positions[later],
        observed,
        table.sigma,
    )


def _read_columns(path: Path, wanted: list[str]) -> dict[str, Float]:
    """Return columns of a CSV file with a line of names, or arrays of an NPZ file."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {name: np.array(arrays[name], dtype=np.float64) for name in wanted}
    table: Any = np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True))
    missing = [name for name in wanted if name not in (table.dtype.names or ())]
    if missing:
        raise ValueError(f"it must have a column {missing[0]}")
    return {name: np.array(table[name]) for name in wanted}


def _read_shape(path: Path) -> tuple[Int, Float]:
    if path.suffix == ".npz":
        found = _read_columns(path, ["particles", "positions"])
        return found["particles"].astype(np.int64), found["positions"]
    found = _read_columns(path, ["particle", "x", "y", "z"])
    positions = np.stack([found["x"], found["y"], found["z"]], axis=1)
    return found["particle"].astype(np.int64), positions


def _read_motion(path: Path) -> tuple[Float, Int | None, Float]:
    if path.is_dir():
        with open_run(path) as run:
            frames = list(run.frames)
        return np.array([f.t for f in frames]), None, np.array([f.q for f in frames])
    if path.suffix == ".npz":
        found = _read_columns(path, ["times", "particles", "positions"])
        return found["times"], found["particles"].astype(np.int64), found["positions"]
    found = _read_columns(path, ["t", "particle", "x", "y", "z"])
    times, row = np.unique(found["t"], return_inverse=True)
    particles, column = np.unique(found["particle"].astype(np.int64), return_inverse=True)
    positions = np.full((len(times), len(particles), 3), np.nan)
    positions[row, column] = np.stack([found["x"], found["y"], found["z"]], axis=1)
    return times, particles, positions
