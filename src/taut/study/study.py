"""The result of a study: its table, in memory and as files.

The table has one row a run: its number, its parameters, its measures, and its certificate. It does
not depend on who did the runs, in which order, or how often they were interrupted: the same study
gives the same bytes. What does depend on it, the seconds and the worker of each run, is in a second
table, timings.csv, joined by the number of the run.
"""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, RunError
from taut.run.run_folder import absolute_folder, open_output, report_write_errors
from taut.study.job import RUNS, JobResult, name_run
from taut.study.samples import read_samples
from taut.study.sobol_indices import Indices, find_indices
from taut.study.study_folder import Description, read_description, read_rows
from taut.tables import Table, write_csv

CERTIFICATE = ("outcome", "steps", "iterations", "worst_residual_N", "worst_limit_N", "error")


class Study(Table):
    """A study, finished or not, as a table with one row for each run that is done.

    folder : where it is; None if it is only in memory
    parameters, measures : names of the columns
    samples : the design, such as "sobol:256"
    runs : number of runs of the whole study

    `pandas.DataFrame(study)` has the columns of results.csv; a loop over it yields its rows.
    """

    def __init__(
        self, folder: Path | None, description: Description, results: dict[int, JobResult]
    ) -> None:
        self.folder = folder
        self.samples = description.samples
        self.runs = len(description.values)
        self._description = description
        self._results = {run: results[run] for run in sorted(results)}
        self.parameters = [key for keys in description.parameters.values() for key in keys]
        measured = dict.fromkeys(description.measures)
        for result in self._results.values():  # functions choose the names of their results
            measured.update(dict.fromkeys(result.measures))
        self.measures = list(measured)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return (
            f"<study of {self.runs} runs, {len(self)} done, {self.failed} failed: "
            f"{', '.join(self.parameters)}>"
        )

    @property
    def failed(self) -> int:
        """Number of runs that ended in an error."""
        return sum(result.has_failed for result in self._results.values())

    @property
    def finished(self) -> bool:
        """Whether every run is done, failed or not."""
        return len(self) == self.runs

    def _rows(self) -> list[list[Any]]:
        rows = []
        for run, result in self._results.items():
            given = self._description.parameters_of(run)
            parameters = [_to_cell(given[key]) for key in self.parameters]
            measured = [result.measures.get(name) for name in self.measures]
            limits = [result.residual, result.limit]
            certificate = [result.outcome, result.steps, result.iterations, *limits, result.error]
            rows.append([run, *parameters, *measured, *certificate])
        return rows

    @property
    def header(self) -> list[str]:
        """Names of the columns."""
        return ["run", *self.parameters, *self.measures, *CERTIFICATE]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name; nan or "" where there is no value."""
        rows = self._rows()
        return {name: _to_column([row[k] for row in rows]) for k, name in enumerate(self.header)}

    def indices(self) -> Indices:
        """Return the Sobol indices of every measure; the samples must be saltelli:N.

        ModelError if they are not, if runs are missing, or if too many have failed.
        """
        if read_samples(self.samples).kind != "saltelli":
            raise ModelError(f"Sobol indices need the samples saltelli:N, got {self.samples}")
        if not self.finished:
            raise ModelError(f"Sobol indices need all {self.runs} runs, {len(self)} are done")
        names, columns = list(self._description.parameters), self.columns()
        table: dict[str, list[Any]] = {name: [] for name in Indices.__dataclass_fields__}
        for measure in self.measures:
            found = find_indices(columns[measure], len(names), self._description.seed)
            first, first_error, total, total_error, points = found
            for i, name in enumerate(names):
                row = [measure, name, first[i], first_error[i], total[i], total_error[i], points]
                for column, value in zip(table.values(), row, strict=True):
                    column.append(value)
        return Indices(**{name: np.array(values) for name, values in table.items()})

    def run_folder(self, run: int) -> Path:
        """Return the folder of a run whose frames were kept, for `taut.open_run`."""
        if self.folder is None or not (self.folder / RUNS / name_run(run)).is_dir():
            raise RunError(f"{self.folder}: run {run} has no frames: keep them with keep_frames")
        return self.folder / RUNS / name_run(run)

    def write_tables(self) -> list[Path]:
        """Write the tables into the folder of the study; return their paths."""
        assert self.folder is not None
        written = [self.folder / "results.csv", self.folder / "timings.csv"]
        write_csv(written[0], self.header, self._rows())
        timings = [[run, r.seconds, r.worker] for run, r in self._results.items()]
        write_csv(written[1], ["run", "seconds", "worker"], timings)
        parquet, indices = self.folder / "results.parquet", self.folder / "indices.csv"
        for stale in (parquet, indices):
            with report_write_errors(self.folder, stale.name):
                stale.unlink(missing_ok=True)
        if find_spec("pyarrow") is not None:
            written.append(parquet)
            _write_parquet(parquet, self.columns())
        if self.finished and read_samples(self.samples).kind == "saltelli":
            try:
                found = self.indices()
            except ModelError:  # too many failed runs; `indices` says so
                return written
            written.append(indices)
            write_csv(indices, list(found.columns()), (list(row.values()) for row in found))
        return written


def open_study(folder: Any) -> Study:
    """Open the folder of a study to read it, finished or not.

    folder : path given to `taut sweep` or `taut.sweep`

    RunError if it has no study, or a damaged one.
    """
    path = absolute_folder(folder)
    description = read_description(path)
    return Study(path, description, read_rows(path, description))


def _to_cell(value: Any) -> Any:
    """Return a value of a parameter for the table; a list or a table becomes JSON."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _to_column(values: list[Any]) -> NDArray[Any]:
    """Return an array of whole numbers, of numbers (nan for None), or of text."""
    if all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        return np.array(values, dtype=np.int64)
    if all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in values):
        return np.array([math.nan if v is None else v for v in values], dtype=np.float64)
    return np.array(["" if v is None else str(v) for v in values], dtype=np.str_)


def _write_parquet(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    import pyarrow
    from pyarrow import parquet

    arrays = {name: pyarrow.array(column.tolist()) for name, column in columns.items()}
    with open_output(path, binary=True) as stream:
        parquet.write_table(pyarrow.table(arrays), stream)
