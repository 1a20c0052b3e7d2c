"""Parameter studies: many runs of one scene, or many calls of one function, on Dask.

Each result is written to the disk as it arrives, by this process alone, so that a study that was
killed goes on with the runs that are missing.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taut.errors import ModelError, RunError
from taut.run.run_folder import absolute_folder, lock_run, make_folder
from taut.scene import Scene, load
from taut.study import study_folder
from taut.study.cluster import Driver, dashboard_address, local_client
from taut.study.job import JobResult
from taut.study.plan import Plan, plan_function, plan_scene
from taut.study.study import Study


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is.

    done, runs : of the whole study; failed : how many of those done have failed
    seconds : wall-clock time since it was started or resumed
    left : estimate of the wall-clock time to the end; nan before the first result
    dashboard : address of Dask's dashboard, or None
    """

    done: int
    runs: int
    failed: int
    seconds: float
    left: float
    dashboard: str | None


Tell = Callable[[StudyProgress], object]
Stop = Callable[[], bool]


def sweep(
    model: str | os.PathLike[str] | Scene | Callable[..., Any],
    parameters: Mapping[str, Any],
    measures: Mapping[str, str] | None = None,
    *,
    samples: str = "grid",
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    keep_frames: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    workers: int | None = None,
    client: Any = None,
    tell: Tell | None = None,
    stop: Stop | None = None,
) -> Study:
    """Run a scene, or call a function, for many values of its parameters, on many processes.

    model : a scene (its name, file, or from `taut.scene.load`); or a function, which is called with
        the parameters as keywords, and returns a number, a dict of numbers, or `taut.simulate(…)`
        not yet begun
    parameters : name → values: a list, or text such as "100:1000:log" or "1..20"; for a scene, a
        name is a key such as "time.h", or several keys, separated by commas, with the same value
    measures : name → expression over a run, such as "max(y0 - y)"
    samples : "grid", "lhs:N", "sobol:N" or "saltelli:N"; the latter gives Sobol indices
    seed : of the random choices of the samples
    folder : where each result is written as it arrives; None: results are in memory only
    keep_frames : also keep the run folder of every run of a scene
    overwrite : replace a study in the folder; resume : continue it, if it is the same
    workers : processes on this machine, one thread each (default: one per core)
    client : a `distributed.Client` of a cluster that runs already, instead
    tell : called with a `StudyProgress` after each run
    stop : called often; if it returns True, the study ends early, and can be resumed

    A run that fails is a row with its error. In a script, call this under
    `if __name__ == "__main__":`, as the workers import the script.

    >>> def period(k, mass):
    ...     return 2 * math.pi * math.sqrt(mass / k)
    >>> import math
    >>> study = sweep(period, {"k": [100.0, 400.0], "mass": [1.0]}, workers=1)
    >>> study.columns()["result"].round(4)
    array([0.6283, 0.3142])
    """
    options: dict[str, Any] = {"samples": samples, "seed": seed, "keep_frames": keep_frames}
    if callable(model):
        plan = plan_function(model, parameters, measures or {}, **options)
    else:
        scene = model if isinstance(model, Scene) else load(model)
        plan = plan_scene(scene, parameters, measures or {}, **options)
    path = None if folder is None else absolute_folder(folder)
    if path is None and (keep_frames or resume):
        raise ModelError("keep_frames and resume need the folder of the study")
    return carry_out(
        plan,
        path,
        overwrite=overwrite,
        resume=resume,
        workers=workers,
        client=client,
        tell=tell,
        stop=stop,
    )


def resume_study(
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    client: Any = None,
    allow_code: bool = False,
    tell: Tell | None = None,
    stop: Stop | None = None,
) -> Study:
    """Do the runs that are missing in the study of a scene; a finished one gets its tables again.

    allow_code : must be given again if the scene uses laws from Python files
    workers, client, tell, stop : as in `sweep`
    """
    path = absolute_folder(folder)
    description = study_folder.read_description(path)
    if description.scene is None:
        raise RunError(
            f"{path}: the study calls the function {description.function}: continue it in Python, "
            "with taut.sweep(…, resume=True)"
        )
    plan = Plan(description, study_folder.read_files(path, description), allow_code=allow_code)
    return carry_out(plan, path, resume=True, workers=workers, client=client, tell=tell, stop=stop)


def carry_out(
    plan: Plan,
    folder: Path | None,
    *,
    overwrite: bool = False,
    resume: bool = False,
    workers: int | None = None,
    client: Any = None,
    tell: Tell | None = None,
    stop: Stop | None = None,
) -> Study:
    """Do the runs of a plan that are not done yet; write the tables, also of a part of them."""
    description = plan.description
    with ExitStack() as stack:
        results: dict[int, JobResult] = {}
        if folder is not None:
            make_folder(folder)
            stack.enter_context(lock_run(folder, study_folder.LOCK))
            results = _open_folder(folder, plan, overwrite=overwrite, resume=resume)
        missing = [run for run in range(len(description.values)) if run not in results]
        if missing:
            if client is None:
                client = stack.enter_context(local_client(workers))
            progress = _Progress(tell, len(description.values), results, client)
            driver = Driver(client, plan.files, stop or (lambda: False))
            for result in driver.run(plan.make_job(run, folder) for run in missing):
                if folder is not None and not result.died:
                    study_folder.write_row(folder, description.digest, result)
                results[result.run] = result
                progress.show(results)
        study = Study(folder, description, results)
        if folder is not None:
            study.write_tables()
        return study


def _open_folder(
    folder: Path, plan: Plan, *, overwrite: bool, resume: bool
) -> dict[int, JobResult]:
    """Create or open the folder of a study; return the runs that are done."""
    description = plan.description
    if study_folder.has_study(folder) and not overwrite:
        if not resume:
            raise RunError(
                f"{folder}: a study exists here; overwrite replaces it, resume continues it"
            )
        if study_folder.read_description(folder).digest != description.digest:
            raise RunError(f"{folder}: the study here is another one; a changed one is a new study")
        study_folder.remove_unfinished_runs(folder)
        return study_folder.read_rows(folder, description, remove_damaged=True)
    if study_folder.has_study(folder):
        study_folder.remove(folder)
    study_folder.create(folder, description, plan.files)
    return {}


class _Progress:
    """Tells how far a study is, and estimates the time left from the runs since it was started."""

    def __init__(
        self, tell: Tell | None, runs: int, results: Mapping[int, JobResult], client: Any
    ) -> None:
        self.tell, self.runs, self.first = tell, runs, len(results)
        self.started = time.perf_counter()
        self.dashboard = dashboard_address(client)
        if tell is not None:
            tell(StudyProgress(self.first, runs, 0, 0.0, math.nan, self.dashboard))

    def show(self, results: Mapping[int, JobResult]) -> None:
        """Tell about the results so far."""
        if self.tell is None:
            return
        seconds, done = time.perf_counter() - self.started, len(results)
        left = seconds / (done - self.first) * (self.runs - done)
        failed = sum(result.has_failed for result in results.values())
        self.tell(StudyProgress(done, self.runs, failed, seconds, left, self.dashboard))
