"""Run a system into a folder, and continue bit-identically after an interruption.

Frames, reports, ledger and checkpoints are written as the steps are taken (`taut.run.writer`), so
that memory does not grow with the run; the results at the end are computed from the file
(`taut.run.results`).

A checkpoint is the whole State, and the steps of a run were fixed at its start. So a run that was
stopped or killed ends bit-identical to one that was not: frames after the last undamaged checkpoint
are computed again, and must equal those on the disk.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Literal

from taut.errors import ModelError, NotConverged, RunError, TautError
from taut.run.energy_balance import balance_energy
from taut.run.metadata import (
    Metadata,
    check_same_system,
    describe_integrator,
    fingerprint,
    library_versions,
)
from taut.run.results import write_results
from taut.run.run_folder import (
    SCENE,
    absolute_folder,
    check_input_names,
    check_inputs_unchanged,
    clear_folder,
    lock_run,
    make_folder,
    write_inputs,
)
from taut.run.simulate import TimeSteps, check_arguments
from taut.run.summary import RunResult, StepProgress, Summary, UnfinishedStep
from taut.run.writer import RunWriter, StepRow
from taut.step.integrator import Integrator, seconds
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System
from taut.watch import Work, watching

# steps without a frame or checkpoint after which a checkpoint is written, to bound memory and loss
MAX_PENDING_ROWS = 1000
Tell = Callable[[StepProgress], object]
Stop = Callable[[], bool]
Watch = Callable[[UnfinishedStep], object]


def record(
    folder: str | os.PathLike[str],
    system: System,
    integrator: Integrator,
    *,
    h: float,
    until: float,
    every: int = 1,
    checkpoint_every: int | None = None,
    state: State | None = None,
    scene: str = "",
    inputs: Mapping[str, bytes] | None = None,
    tell: Tell | None = None,
    stop: Stop | None = None,
    watch: Watch | None = None,
    overwrite: bool = False,
) -> RunResult:
    """Run a system and record everything in a folder.

    h : step [s]
    until : end time [s]; if the span is not a whole number of steps, the last one is shorter
    every : steps from frame to frame
    checkpoint_every : steps from checkpoint to checkpoint (default: one with each frame)
    state : where to begin (default: the system's initial state)
    scene : text for scene.toml
    inputs : the files that the scene names, name → bytes
    tell : called with a `StepProgress` (see `taut.run.summary`) after each step
    stop : called after each step; if it returns True, a checkpoint is written and the run ends as
        "interrupted"
    watch : called with an `UnfinishedStep` (see `taut.run.summary`) when a step begins, and often
        within one that takes long; it may raise KeyboardInterrupt
    overwrite : replace an existing run

    KeyboardInterrupt within a step, by Ctrl-C or by `watch`, leaves that step out: a checkpoint of
    the state before it is written. The run ends as "interrupted" if `stop` then returns True;
    otherwise the exception is raised again.

    RunError if something cannot be written; what was on the disk before stays. NotConverged and
    other errors of a step are raised after a checkpoint of the state before the step.

    >>> import tempfile, taut
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> done = record(folder, ball, taut.ImplicitEuler(), h=0.1, until=1.0)
    >>> done.outcome, done.steps, round(float(done.state.v[0, 1]), 9)
    ('finished', 10, -9.81)
    """
    path = absolute_folder(folder)
    files = dict(inputs or {})
    check_arguments("record", system, integrator, state)
    start = system.initial_state() if state is None else state
    end = seconds("end time", until)
    time_steps = TimeSteps.between(start.t, seconds("step h", h), end)
    if checkpoint_every is None:
        checkpoint_every = every
    _check_count("every", every)
    _check_count("checkpoint_every", checkpoint_every)
    system._check(start)
    check_input_names(path, files)
    metadata = Metadata(
        versions=library_versions(),
        begun=datetime.now(UTC).isoformat(timespec="seconds"),
        scene=scene,
        inputs={name: sha256(data).hexdigest() for name, data in files.items()},
        n=system.n,
        t0=start.t,
        until=end,
        h=time_steps.h,
        last=time_steps.last,
        steps=time_steps.steps,
        every=every,
        checkpoint_every=checkpoint_every,
        integrator=describe_integrator(integrator),
        system=fingerprint(system, start.t, end),
    )
    if scene:
        files[SCENE] = scene.encode()
    make_folder(path)
    with lock_run(path):
        clear_folder(path, files, overwrite=overwrite)
        write_inputs(path, files)
        writer = RunWriter.create(path, metadata, start)
        return _Recording(writer, system, integrator, tell, stop, watch).run(0, start)


def _check_count(name: str, value: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ModelError(f"{name} must be a positive whole number of steps, got {value!r}")


def resume(
    folder: str | os.PathLike[str],
    system: System,
    integrator: Integrator,
    *,
    scene: str | None = None,
    tell: Tell | None = None,
    stop: Stop | None = None,
    watch: Watch | None = None,
) -> RunResult:
    """Continue a run from its last undamaged checkpoint; the results are bit-identical.

    system, integrator : must be those of the run
    scene : the text from which the system was built, if any; must be that of the run
    tell, stop, watch : as in `record`

    RunError if the run is finished, is being written by another process, or differs.

    >>> import tempfile, taut
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> record(folder, ball, taut.ImplicitEuler(), h=0.1, until=1.0, stop=lambda: True).step
    1
    >>> resume(folder, ball, taut.ImplicitEuler()).outcome
    'finished'
    """
    path = absolute_folder(folder)
    check_arguments("resume", system, integrator, None)
    if not path.is_dir():
        raise RunError(f"{path}: there is no such folder")
    with lock_run(path):
        writer = RunWriter(path)
        try:
            _check_same_run(writer, system, integrator, scene)
            step, state = writer.database.read_last_checkpoint(writer.metadata.n)
        except TautError:
            writer.close()
            raise
        return _Recording(writer, system, integrator, tell, stop, watch).run(step, state)


def _check_same_run(
    writer: RunWriter, system: System, integrator: Integrator, scene: str | None
) -> None:
    """Raise RunError unless scene, system and integrator are those the run was begun with."""
    metadata, folder = writer.metadata, writer.folder
    if writer.status == "finished":
        raise RunError(f"{folder}: the run is finished; there is nothing to resume")
    if scene is not None and scene != metadata.scene:
        raise RunError(
            f"{folder}: the scene differs from that of the run; a changed scene is a new run"
        )
    check_inputs_unchanged(folder, metadata.inputs)
    if metadata.scene:
        check_inputs_unchanged(folder, {SCENE: sha256(metadata.scene.encode()).hexdigest()})
    check_same_system(folder, metadata, system, integrator)


class _Recording:
    """Takes the steps of a run and writes them."""

    def __init__(
        self,
        writer: RunWriter,
        system: System,
        integrator: Integrator,
        tell: Tell | None,
        stop: Stop | None,
        watch: Watch | None,
    ) -> None:
        self.writer = writer
        self.system = system
        self.integrator = integrator
        self.tell = tell
        self.stop = stop
        self.watch = watch
        self.summary = Summary()

    def run(self, step: int, state: State) -> RunResult:
        """Take the steps that are left after `step`, write the results and close the file."""
        try:
            step, state, is_stopped = self._take_steps(step, state)
            if is_stopped:
                return self._make_result("interrupted", step, state)
            notes = write_results(self.writer, state)
            self.writer.finish()
            return self._make_result("finished", step, state, notes)
        finally:
            self.writer.close()

    def _take_steps(self, step: int, state: State) -> tuple[int, State, bool]:
        """Take steps; return the last one, its state, and whether `stop` ended the run early."""
        metadata, time_steps = self.writer.metadata, self.writer.metadata.time_steps
        rows: list[StepRow] = []
        last_checkpoint = step
        clock = _Clock(step, time_steps.steps)
        while step < time_steps.steps:
            try:
                with watching(self._watch_step(step + 1)):
                    done = self.integrator.advance(self.system, state, time_steps.length(step))
                    entry = balance_energy(self.system, done)
            except (TautError, KeyboardInterrupt) as error:
                status = "not converged" if isinstance(error, NotConverged) else "interrupted"
                has_new = step != last_checkpoint
                self.writer.save(step, state, rows, checkpoint=has_new, status=status)
                if isinstance(error, TautError) or self.stop is None or not self.stop():
                    raise
                return step, state, True
            self.integrator.warn(done)
            self.summary.add(done.report)
            state = done.state
            step += 1
            rows.append((step, done.report, entry))
            is_stopped = self.stop is not None and self.stop() and step < time_steps.steps
            checkpoint = metadata.is_checkpoint(step) or is_stopped or len(rows) >= MAX_PENDING_ROWS
            if metadata.is_frame(step) or checkpoint:
                status = "interrupted" if is_stopped else "running"
                self.writer.save(step, state, rows, checkpoint=checkpoint, status=status)
                rows = []
            if checkpoint:
                last_checkpoint = step
            if self.tell is not None:
                self.tell(self._make_progress(step, state, done.report, *clock.read(step)))
            if is_stopped:
                return step, state, True
        return step, state, False

    def _watch_step(self, step: int) -> Callable[[Work], object]:
        """Return what is called within a step."""
        watch, steps, started = self.watch, self.writer.metadata.steps, time.perf_counter()
        if watch is None:
            return lambda work: None
        return lambda work: watch(UnfinishedStep(step, steps, time.perf_counter() - started, work))

    def _make_progress(
        self, step: int, state: State, report: Report, elapsed: float, left: float
    ) -> StepProgress:
        metadata, durable = self.writer.metadata, self.writer.durable
        is_frame = metadata.is_frame(step)
        return StepProgress(
            step, metadata.steps, state.t, report, durable, is_frame, elapsed, left, state
        )

    def _make_result(
        self,
        outcome: Literal["finished", "interrupted"],
        step: int,
        state: State,
        notes: tuple[str, ...] = (),
    ) -> RunResult:
        writer = self.writer
        steps = writer.metadata.steps
        return RunResult(writer.folder, outcome, step, steps, state, self.summary, notes)


class _Clock:
    """Estimates the time to the end of a run from the steps taken since it was started."""

    def __init__(self, first: int, steps: int) -> None:
        self.first, self.steps = first, steps
        self.start = self.second = time.perf_counter()

    def read(self, step: int) -> tuple[float, float]:
        """Return the seconds so far and those left (nan after the first step)."""
        now = time.perf_counter()
        if step == self.first + 1:  # left out of the estimate: it may have compiled
            self.second = now
            return now - self.start, math.nan
        seconds_per_step = (now - self.second) / (step - self.first - 1)
        return now - self.start, seconds_per_step * (self.steps - step)
