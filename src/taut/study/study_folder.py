"""The folder of a study: what is to be done, and what each run gave.

study.json                 the description: parameters, the values of every run, measures, versions
scene.toml, inputs/        the scene with every default, and its files
rows/000012.json           what run 12 gave; written once, whole or not at all
runs/000012/               run folders, if frames are kept
results.csv, .parquet      the table, one row a run; timings.csv: seconds and worker of each run
indices.csv                Sobol indices, if the samples allow them
study.lock                 locked by the process that writes

A row is done if its file is there and has its checksum; a damaged one is done again.
"""

from __future__ import annotations

import json
import logging
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taut.atomic_write import atomic_write
from taut.errors import ModelError, RunError
from taut.run.run_folder import (
    check_inputs_unchanged,
    make_folder,
    report_write_errors,
    write_inputs,
)
from taut.study.job import RUNS, JobResult, name_run

log = logging.getLogger("taut")
DESCRIPTION, SCENE, ROWS, LOCK = "study.json", "scene.toml", "rows", "study.lock"
TABLES = ("results.csv", "results.parquet", "timings.csv", "indices.csv")
_FORMAT = 1


class Description(BaseModel):
    """What a study is; `values` has one row a run, one column for each of `parameters`.

    parameters : name → keys of the scene, or arguments of the function, that take its value
    renamed : (key, value, value for the scene in the folder) for values that name a file
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    format: int = _FORMAT
    versions: dict[str, str]
    scene: str | None
    inputs: dict[str, str]
    renamed: list[list[Any]]
    function: str | None
    parameters: dict[str, list[str]] = Field(min_length=1)
    samples: str
    seed: int
    values: list[list[Any]]
    measures: dict[str, str]
    keep_frames: bool

    @property
    def digest(self) -> str:
        """The SHA-256 of what determines the results; versions are left out."""
        text = self.model_dump_json(exclude={"versions"})
        return sha256(text.encode()).hexdigest()

    def parameters_of(self, run: int) -> dict[str, Any]:
        """Return the values of a run, key → value."""
        found = {}
        for keys, value in zip(self.parameters.values(), self.values[run], strict=True):
            found.update(dict.fromkeys(keys, value))
        return found


def has_study(folder: Path) -> bool:
    """Whether a folder has a study."""
    return (folder / DESCRIPTION).is_file()


def create(folder: Path, description: Description, files: dict[str, bytes]) -> None:
    """Write the description of a new study, the scene and its files."""
    make_folder(folder)
    with report_write_errors(folder, "a new study"):
        for name in (ROWS, RUNS) if description.keep_frames else (ROWS,):
            (folder / name).mkdir(exist_ok=True)
    contents = dict(files)
    if description.scene is not None:
        contents[SCENE] = description.scene.encode()
    write_inputs(folder, contents)
    with report_write_errors(folder, DESCRIPTION):
        text = description.model_dump_json(indent=1) + "\n"
        atomic_write(folder / DESCRIPTION, text)  # the last one: with it there is a study


def remove(folder: Path) -> None:
    """Delete a study, and leave all other files."""
    with report_write_errors(folder, "a new study"):
        (folder / DESCRIPTION).unlink(missing_ok=True)  # first: without it the rest is no study
        for name in (*TABLES, SCENE):
            (folder / name).unlink(missing_ok=True)
        for name in (ROWS, RUNS, "inputs"):
            if (folder / name).is_dir() and not (folder / name).is_symlink():
                shutil.rmtree(folder / name)


def read_description(folder: Path) -> Description:
    """Read and check the description of a study; RunError if it cannot be used."""
    try:
        found = Description.model_validate_json((folder / DESCRIPTION).read_bytes())
    except FileNotFoundError:
        raise RunError(f"{folder}: there is no study: it has no {DESCRIPTION}") from None
    except (OSError, ValidationError, RecursionError) as error:
        first = str(error).splitlines()[0]
        raise RunError(f"{folder}: {DESCRIPTION} cannot be used: {first}") from None
    if found.format != _FORMAT:
        raise RunError(f"{folder}: the study has format {found.format}, this taut reads {_FORMAT}")
    if any(len(row) != len(found.parameters) for row in found.values):
        raise RunError(f"{folder}: a run in {DESCRIPTION} must have a value for each parameter")
    return found


def read_files(folder: Path, description: Description) -> dict[str, bytes]:
    """Return the files of the scene; RunError if one has changed since the study began."""
    check_inputs_unchanged(folder, description.inputs)
    return {name: (folder / name).read_bytes() for name in description.inputs}


def write_row(folder: Path, digest: str, result: JobResult) -> None:
    """Write what a run gave; RunError if it was there already: no run is done twice."""
    content = json.dumps(vars(result), allow_nan=False)
    document = {"study": digest, "checksum": _checksum(digest, content), "result": content}
    path = folder / ROWS / f"{name_run(result.run)}.json"
    with report_write_errors(folder, f"{ROWS}/{path.name}", "the runs before it are on the disk"):
        atomic_write(path, json.dumps(document) + "\n")


def read_rows(
    folder: Path, description: Description, *, remove_damaged: bool = False
) -> dict[int, JobResult]:
    """Return the runs that are done; those with a damaged row are not.

    remove_damaged : delete damaged rows, so that their runs can be done again
    """
    digest, found = description.digest, {}
    for path in sorted((folder / ROWS).glob("[0-9]*.json")):
        try:
            result = _read_row(path, digest)
            if path.name != f"{name_run(result.run)}.json" or result.run >= len(description.values):
                raise ModelError("it is in the wrong place")
        except (OSError, ValueError, TypeError, KeyError, ModelError, RecursionError) as error:
            log.warning("%s is damaged (%s): its run must be done again", path, error)
            if remove_damaged:
                with report_write_errors(folder, f"{ROWS}/{path.name}"):
                    path.unlink(missing_ok=True)
            continue
        found[result.run] = result
    return found


def _read_row(path: Path, digest: str) -> JobResult:
    document = json.loads(path.read_bytes())
    content = document["result"]
    if document["checksum"] != _checksum(digest, content):
        raise ModelError("wrong checksum, or of another study")
    return JobResult(**json.loads(content))


def _checksum(digest: str, content: str) -> str:
    return sha256(f"{digest}\n{content}".encode()).hexdigest()


def remove_unfinished_runs(folder: Path) -> None:
    """Delete what workers left behind that were killed while they recorded a run."""
    for part in (folder / RUNS).glob(".*.part"):
        shutil.rmtree(part, ignore_errors=True)
