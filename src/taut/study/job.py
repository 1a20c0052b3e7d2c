"""One run of a study, as a worker does it: from a job, which is plain data, to its result.

A scene keeps its rules on a worker: its files are those that came with the study, in a folder of
the worker's own, and code is run only if the user has allowed it. What the run itself raises
becomes part of the result. What is wrong with the machine, such as a full disk or a missing
package, is raised: it would be the same for the runs that follow, and says nothing about this one.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import (
    CacheError,
    MissingExtra,
    ModelError,
    NotConverged,
    RunError,
    escape_unprintable,
)
from taut.run.simulate import Simulation, simulate
from taut.run.summary import Summary
from taut.scene import Built, Scene, read_text
from taut.study.measures import Measure
from taut.study.quantities import Quantities
from taut.system.state import State
from taut.system.system import System

_FAULTS_OF_THE_MACHINE = (RunError, MissingExtra, CacheError, OSError)
RUNS = "runs"  # folder of kept runs in the folder of the study


@dataclass(frozen=True)
class Job:
    """What a worker needs for one run.

    run : its number
    parameters : name → value, for the table and for measures
    measures : name → expression
    overrides : values to set in the scene, or arguments of the function
    scene : text of the scene, or None
    function : what to call, or None
    allow_code : whether laws in Python files may be run
    keep : folder of the study, if frames are kept in it
    """

    run: int
    parameters: dict[str, Any]
    measures: dict[str, str]
    overrides: list[tuple[str, Any]]
    scene: str | None = None
    function: Callable[..., Any] | None = None
    allow_code: bool = False
    keep: str | None = None


@dataclass
class JobResult:
    """What a run gave; everything but `seconds` and `worker` is the same wherever it is done.

    outcome : "converged", "rounding floor" (at least one step), "explicit", "finished" (a function
        that returned numbers), "not converged" or "failed"
    measures : name → value, without those that have none
    steps, iterations : totals of the run
    residual, limit : of the step that came closest to its limit [N], or of the one that missed it
    error : type and message of the error, or why measures are missing
    """

    run: int
    outcome: str = "finished"
    measures: dict[str, float] = field(default_factory=dict)
    steps: int | None = None
    iterations: int | None = None
    residual: float | None = None
    limit: float | None = None
    error: str = ""
    seconds: float = 0.0
    worker: str = ""

    @property
    def has_failed(self) -> bool:
        """Whether the run ended in an error."""
        return self.outcome in ("failed", "not converged")

    @property
    def died(self) -> bool:
        """Whether its workers died: that is not recorded, and `resume` tries it again."""
        return self.has_failed and not self.worker


def do_job(job: Job, files: str | None = None) -> dict[str, Any]:
    """Do one run, and return its `JobResult` as a dict.

    files : folder of the scene's files, if it has any

    >>> scene = 'dimensions = 2\\n[time]\\nh = 0.1\\nduration = 1.0\\n' + (
    ...     '[[body]]\\nname = "a"\\nmesh = {points = [[0, 0, 0]]}\\nmass = 1.0\\n'
    ...     '[[law]]\\nlaw = "gravity"')
    >>> found = do_job(Job(0, {}, {"fall": "max(y0 - y)"}, [("time.h", 0.5)], scene))
    >>> found["outcome"], round(found["measures"]["fall"], 4), found["steps"]
    ('converged', 7.3575, 2)
    """
    started = time.perf_counter()
    result = JobResult(job.run)
    try:
        _do(job, files, result)
    except Exception as error:  # whatever it is, it ends this run, and not the study
        if isinstance(error, _FAULTS_OF_THE_MACHINE) and job.function is None:
            raise
        result.outcome = "not converged" if isinstance(error, NotConverged) else "failed"
        result.measures = {}
        if isinstance(error, NotConverged) and error.report is not None:
            result.residual, result.limit = error.report.residual, error.report.limit
        result.error = _describe(error, files)
    result.seconds = time.perf_counter() - started
    result.worker = f"{socket.gethostname()}:{os.getpid()}"
    return asdict(result)


def _describe(error: Exception, files: str | None) -> str:
    """Return type and message on one line, without the folder, which differs between workers."""
    text = str(error) if files is None else str(error).replace(f"{files}{os.sep}", "")
    lines = [line.strip() for line in text.splitlines()]
    return escape_unprintable(f"{type(error).__name__}: {' '.join(lines)}")


def _do(job: Job, files: str | None, result: JobResult) -> None:
    if job.function is None:
        assert job.scene is not None
        scene = load_scene(job.scene, job.overrides, files, allow_code=job.allow_code)
        built = scene.build()
        observer = Observer(job, built.system, built.state, list_bodies(built))
        if job.keep is None:
            run = simulate(built.system, built.integrator, built.h, built.until, state=built.state)
            _take_steps(run, observer, result)
        else:
            summary = _record(scene, built, Path(job.keep), job.run, observer)
            _certify(summary, result)
        observer.measure(result)
        return
    found = job.function(**dict(job.overrides))
    if isinstance(found, Simulation):
        _, start = found.plan
        observer = Observer(job, found.system, start, {})
        _take_steps(found, observer, result)
        observer.measure(result)
        return
    if job.measures:
        raise ModelError(
            "with measures, the function must return taut.simulate(…), not yet begun; "
            f"got {type(found).__name__}"
        )
    numbers = found if isinstance(found, Mapping) else {"result": found}
    for name, value in numbers.items():
        number = np.asarray(value)
        if number.ndim or number.dtype.kind not in "biuf" or not np.isfinite(number):
            raise ModelError(f"the function must return finite numbers, got {name} = {value!r}")
        if name in job.parameters:
            raise ModelError(f"the result '{name}' has the name of a parameter")
        result.measures[str(name)] = float(number)


def load_scene(
    text: str, overrides: list[tuple[str, Any]], files: str | None, *, allow_code: bool
) -> Scene:
    """Read the scene of one run; its files are in a folder of their own, and nowhere else."""
    folder = None if files is None else Path(files)
    return read_text(text, folder=folder, overrides=overrides, lines=False, allow_code=allow_code)


def list_bodies(built: Built) -> dict[str, tuple[int, int]]:
    """Return the particles of each body: name → first, and one after the last."""
    return {part.name: (part.start, part.stop) for part in built.bodies}


class Observer:
    """Evaluates the measures of a run as its states go by."""

    def __init__(
        self, job: Job, system: System, start: State, bodies: Mapping[str, tuple[int, int]]
    ) -> None:
        self.system, self.bodies = system, bodies
        self.start: Float = np.asarray(start.q)
        self.measures = [Measure(name, text) for name, text in job.measures.items()]
        self.numbers = {
            name: float(value)
            for name, value in job.parameters.items()
            if isinstance(value, (int, float))
        }
        self.observe(start)

    def observe(self, state: State) -> None:
        """Take in the next state."""
        self.now = Quantities(self.system, state, self.start, self.bodies, self.numbers)
        for measure in self.measures:
            measure.observe(self.now)

    def measure(self, result: JobResult) -> None:
        """Fill in the measures at the end; one without a value is left out, and said."""
        missing = []
        for measure in self.measures:
            try:
                result.measures[measure.name] = measure.evaluate(self.now)
            except ModelError as error:
                missing.append(f"{measure.name}: {error}")
        result.error = escape_unprintable("; ".join(missing))


def _take_steps(run: Simulation, observer: Observer, result: JobResult) -> None:
    try:
        for state, _ in run:
            observer.observe(state)
    finally:
        _certify(run.summary, result)


def _certify(summary: Summary, result: JobResult) -> None:
    """Fill in how well the steps were solved."""
    result.steps, result.iterations = summary.steps, summary.iterations
    if summary.worst is None:
        result.outcome = "explicit"
        return
    result.outcome = "rounding floor" if summary.floors else "converged"
    result.residual, result.limit = summary.worst.residual, summary.worst.limit


def _record(scene: Scene, built: Built, study: Path, run: int, observer: Observer) -> Summary:
    """Record the run into the study's folder, whole or not at all.

    It is written under another name first: a worker that was lost, but goes on, does no harm.
    """
    folder = study / RUNS
    if not folder.is_dir():
        raise RunError(
            f"{folder}: a worker must see the study's folder to keep frames; it is not there"
        )
    part, target = folder / f".{name_run(run)}-{token_hex(8)}.part", folder / name_run(run)
    try:
        result = scene.record(part, built=built, tell=lambda step: observer.observe(step.state))
    except NotConverged:
        _move_folder(part, target)  # its frames show how it came to that
        raise
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    _move_folder(part, target)
    return result.summary


def _move_folder(part: Path, target: Path) -> None:
    """Rename a folder; if another worker was first, with the same bits, delete it."""
    try:
        os.rename(part, target)
    except OSError:
        if not target.is_dir():
            raise
        shutil.rmtree(part, ignore_errors=True)


def name_run(run: int) -> str:
    """Return the name of a run's folder or file: its number with six digits.

    >>> name_run(12)
    '000012'
    """
    return f"{run:06d}"
