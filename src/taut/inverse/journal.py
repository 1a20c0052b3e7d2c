"""The folder of a fit: every evaluation as it was made, so that a fit continues after a kill.

    study.json          what is fitted: where the study is, and a digest of it and of its data
    evaluation-1.npz    parameters, residuals, derivatives, and where the next search at rest begins

Least squares are deterministic: a fit that begins again with the evaluations of the first one asks
for the same parameters, is given what was found for them, and goes on with the same bits.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.atomic_write import atomic_write
from taut.errors import RunError

HEADER = "study.json"
RESULT = "fit.json"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All experiments for one set of parameters.

    x : the parameters as they are searched for, (k,)
    residuals : prediction - data of each experiment
    jacobians : their derivatives by the parameters, (m, k) each
    starts : positions from which each experiment at rest searches next [m], (n, 3), or None
    """

    x: Float
    residuals: list[Float]
    jacobians: list[Float]
    starts: list[Float | None]


class Journal:
    """The evaluations in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    def create(folder: Path, study: Path, digest: str) -> Journal:
        """Begin the folder of a fit; it must be new or empty."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise RunError(f"the folder {folder} is not empty; taut resume continues a fit")
            header = {"study": os.path.relpath(study, folder), "digest": digest}
            atomic_write(folder / HEADER, json.dumps(header, indent=1))
        except OSError as error:
            raise RunError(f"{folder}: cannot be written: {error.strerror}") from error
        return Journal(folder)

    @property
    def study(self) -> Path:
        """The file of the study."""
        return self.folder / str(self._header()["study"])

    def check(self, digest: str) -> None:
        """Raise RunError if the study or its data are not those with which the fit began."""
        if self._header()["digest"] != digest:
            raise RunError(f"{self.folder}: the study, its scene or its data have changed since")

    def _header(self) -> dict[str, Any]:
        path = self.folder / HEADER
        try:
            header = json.loads(path.read_text())
            if not {"study", "digest"} <= set(header):
                raise ValueError("study and digest are required")
        except (OSError, ValueError, TypeError) as error:
            raise RunError(f"{path}: is not the header of a fit: {error}") from error
        return dict(header)

    def _path(self, number: int) -> Path:
        return self.folder / f"evaluation-{number}.npz"

    def find(self, number: int, x: Float, experiments: int) -> Evaluation | None:
        """Return the evaluation of this number, from 1, if it was made for the parameters x."""
        path = self._path(number)
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as arrays:
                found = {name: np.array(arrays[name]) for name in arrays.files}
            kept = Evaluation(
                found["x"],
                [found[f"residual {k}"] for k in range(experiments)],
                [found[f"jacobian {k}"] for k in range(experiments)],
                [found.get(f"start {k}") for k in range(experiments)],
            )
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise RunError(f"{path}: cannot be read: {error}") from error
        if kept.x.tobytes() != x.tobytes():
            raise RunError(f"{path}: is of other parameters than this fit asks for")
        return kept

    def keep(self, number: int, made: Evaluation) -> None:
        """Write an evaluation."""
        arrays: dict[str, Any] = {"x": made.x}
        lists: Sequence[tuple[str, Sequence[Float | None]]] = (
            ("residual", made.residuals),
            ("jacobian", made.jacobians),
            ("start", made.starts),
        )
        for name, values in lists:
            for k, value in enumerate(values):
                if value is not None:
                    arrays[f"{name} {k}"] = value
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        self._write(self._path(number), buffer.getvalue())

    def conclude(self, result: dict[str, Any]) -> None:
        """Write the result of the fit."""
        self._write(self.folder / RESULT, json.dumps(result, indent=1))

    def _write(self, path: Path, content: str | bytes) -> None:
        try:
            atomic_write(path, content, overwrite=True)
        except OSError as error:
            raise RunError(f"{path}: cannot be written: {error.strerror}") from error
