"""`taut run` and `taut resume`: record a scene into a run folder, and continue it later."""

from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from taut.cli import _options as options
from taut.cli._growing_cache import Cache, add_frames, open_cache
from taut.cli._help import INTERRUPTED
from taut.cli._sweep import Scheduler, Workers, resume_sweep
from taut.errors import escape_unprintable
from taut.progress import Progress

if TYPE_CHECKING:
    from taut.run.open_run import Run
    from taut.run.record import Stop, Tell, Watch
    from taut.run.summary import RunResult, StepProgress, UnfinishedStep
    from taut.scene import Built, Scene

_RUNS_FOLDER = Path("runs")  # where runs go if the user names no folder
_LONG_STEP = 2.0  # seconds after which a step shows its iterations
_REFRESH = 1.0  # seconds between two such lines on a terminal


@options.with_mesh_options
def run(
    scene: options.SceneArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Run folder (default: runs/NAME-1, -2 …).")
    ] = None,
    overrides: options.Overrides = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in the folder.")
    ] = False,
    mesh_options: options.MeshOptions = None,
    fps: options.ShotFps = None,
    frames: options.ShotFrames = None,
    substeps: Annotated[
        int | None,
        typer.Option(min=1, help="Steps from one frame of the shot to the next."),
    ] = None,
    save_scene: Annotated[
        Path | None,
        typer.Option(help="Also write the scene with all defaults to this file; it must be new."),
    ] = None,
    cache: Cache = None,
    allow_outside: options.AllowOutside = False,
    allow_code: options.AllowCode = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Run a scene into a folder: frames, reports, energy ledger.

    Ctrl-C stops within a second, at the last finished step; `taut resume` continues.
    """
    progress = Progress("taut run")
    if not quiet:
        progress.start(f"preparing {escape_unprintable(scene)}")
    loaded = options.load_scene(
        scene,
        overrides,
        allow_outside=allow_outside,
        allow_code=allow_code,
        mesh_options=mesh_options,
        shot=options.list_shot_overrides(fps, options.parse_frames(frames), substeps),
    )
    folder = options.find_free_folder(_RUNS_FOLDER, scene) if output is None else output
    _check_folder(folder, overwrite=overwrite)
    built = loaded.build()
    if not quiet:
        progress.finish()
    if save_scene is not None:
        options.write_scene(save_scene, loaded.resolved(), loaded.inputs())
    if not quiet and not as_json:
        _print_introduction(loaded, built)
    with (
        open_cache(cache, loaded, built, overwrite=overwrite) as growing,
        _run_until_signal("taut run", folder, quiet=quiet) as (tell, stop, watch),
    ):
        if growing is not None:
            growing.add(built.state.t, built.state.q)
            tell = add_frames(growing, tell)
        result = loaded.record(
            folder, built=built, tell=tell, stop=stop, watch=watch, overwrite=overwrite
        )
    _conclude(result, folder, quiet=quiet, as_json=as_json, verbose=verbose)


def resume(
    folder: options.RunFolder,
    cache: Cache = None,
    allow_code: options.AllowCode = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Continue an interrupted run, fit or study, to the same bits."""
    from taut.cli._inverse import resume_fit
    from taut.errors import ModelError
    from taut.inverse.journal import HEADER
    from taut.run.open_run import open_run
    from taut.run.record import resume as resume_run
    from taut.run.run_folder import SCENE, check_inputs_unchanged
    from taut.scene import read_text
    from taut.study.study_folder import has_study

    if cache is not None and ((folder / HEADER).exists() or has_study(folder)):
        raise ModelError(f"{folder} is no run, so there is nothing for --cache")
    if (folder / HEADER).exists():
        resume_fit(folder, allow_code=allow_code, quiet=quiet, as_json=as_json)
        return
    if has_study(folder):
        resume_sweep(
            folder,
            workers=workers,
            scheduler=scheduler,
            allow_code=allow_code,
            quiet=quiet,
            as_json=as_json,
        )
        return
    with open_run(folder) as opened:
        is_finished = opened.finished
        if is_finished and cache is None:
            _report_finished(opened, quiet=quiet, as_json=as_json)
            return
        text = opened.scene
        check_inputs_unchanged(folder, opened.inputs)  # before any of the files is read or run
    scene = read_text(text, folder=folder, path=folder / SCENE, allow_code=allow_code)
    built = scene.build()
    with (
        open_cache(cache, scene, built, overwrite=True) as growing,
        _run_until_signal("taut resume", folder, quiet=quiet) as (tell, stop, watch),
    ):
        if growing is not None:
            growing.add_recorded(folder)
            tell = add_frames(growing, tell)
        if is_finished:
            with open_run(folder) as opened:
                _report_finished(opened, quiet=quiet, as_json=as_json)
            return
        result = resume_run(
            folder, built.system, built.integrator, scene=text, tell=tell, stop=stop, watch=watch
        )
    result = replace(result, notes=(*result.notes, *built.describe_inverted(result.state)))
    _conclude(result, folder, quiet=quiet, as_json=as_json, verbose=verbose)


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    """Raise SceneError if the folder has a run (unless overwrite is set) or other files."""
    from taut.errors import SceneError
    from taut.run.run_folder import FILE, RUN_FILES

    if (folder / FILE).exists():
        if not overwrite:
            raise SceneError(
                [
                    f"the folder {folder} already contains a run; --overwrite replaces it, "
                    "taut resume continues it"
                ]
            )
        return
    for name in RUN_FILES:
        if (folder / name).exists():
            raise SceneError(
                [
                    f"the folder {folder} contains {name} but no run, so it is not changed; "
                    "choose another folder"
                ]
            )


def _print_introduction(scene: Scene, built: Built) -> None:
    steps = f"{type(built.integrator).__name__}, h = {built.h:g} s, {built.until:g} s"
    time = scene.file.time
    if time.fps is not None and time.frames is not None:
        first, last = time.frames
        steps += f", frames {first} to {last} at {time.fps:g} fps of {time.substeps} substeps"
    print(f"{escape_unprintable(scene.title)}: {built.system.n:,} particles, {steps}")
    options.print_notes(built.notes)
    for warning in built.warnings:
        print(f"warning: {escape_unprintable(warning)}")
    sys.stdout.flush()


@contextmanager
def _run_until_signal(
    label: str, folder: Path, *, quiet: bool
) -> Iterator[tuple[Tell | None, Stop, Watch]]:
    """Show the progress of a run, and end it at Ctrl-C or SIGTERM; yields what `record` calls.

    The first signal ends the step under way, and lets files be written that are being written. The
    second one ends everything at once.
    """
    from taut.watch import is_watched

    is_interrupted = False
    shown = _ShownProgress(label)

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal is_interrupted
        is_second, is_interrupted = is_interrupted, True
        if is_second or is_watched():
            raise KeyboardInterrupt(
                f"interrupted; taut resume {folder} continues from the last checkpoint"
            )

    def watch(step: UnfinishedStep) -> None:
        # The signal may have come between two steps, or where Python ignores exceptions.
        if is_interrupted:
            raise KeyboardInterrupt
        if not quiet:
            shown.show_unfinished(step)

    handlers = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        if not quiet:
            shown.progress.start(str(folder))
        yield (None if quiet else shown.show), lambda: is_interrupted, watch
        if not quiet:
            shown.progress.finish()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


class _ShownProgress:
    """Shows each step of a run, and the iterations of one that takes long."""

    def __init__(self, label: str) -> None:
        from taut.progress import Progress

        self.progress = Progress(label, every=options.PROGRESS_SECONDS)
        self._left = math.nan  # estimated seconds to the end
        self._next = _LONG_STEP  # seconds of a step at which it is shown

    def show(self, step: StepProgress) -> None:
        """Show a finished step."""
        self._left, self._next = step.left, _LONG_STEP
        self.progress.update(step.step, _format_step(step), total=step.steps, left=step.left)

    def show_unfinished(self, step: UnfinishedStep) -> None:
        """Show a step under way, about once a second."""
        if step.seconds >= self._next:
            self._next = step.seconds + _REFRESH
            self.progress.update(step.step - 1, str(step), total=step.steps, left=self._left)


def _format_step(step: StepProgress) -> str:
    report = step.report
    words = [f"t = {step.t:.4g} s"]
    if report.outcome != "explicit":
        words.append(report.describe_residual())
    if report.retries:
        words.append(f"{report.retries} retries")
    words.append(f"saved up to step {step.durable}")
    return ", ".join(words)


def _report_finished(run: Run, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        _print_json(run.folder, "finished", run.step, run.steps, run.state().t)
    elif not quiet:
        print(f"{run.folder}: the run is finished")


def _conclude(
    result: RunResult, folder: Path, *, quiet: bool, as_json: bool, verbose: bool
) -> None:
    """Print the result; after an interrupt, exit with `INTERRUPTED`."""
    t = result.state.t
    if as_json:
        _print_json(folder, result.outcome, result.step, result.steps, t)
    elif not quiet:
        for note in result.notes:
            print(note)
        if result.outcome == "finished":
            print(f"Done: {t:.6g} s of motion, in {folder}")
            print(f"Look at it: taut view {folder}")
            print(f"            taut render {folder} -o {folder.name or 'run'}.mp4")
        else:
            print(f"Stopped at step {result.step} of {result.steps}, t = {t:.6g} s, in {folder}")
            print(f"Go on:      taut resume {folder} continues from there")
        print(result.summary if verbose else result.summary.describe_briefly())
    if result.outcome == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _print_json(folder: Path, outcome: str, step: int, steps: int, t: float) -> None:
    report = {"folder": str(folder), "outcome": outcome, "step": step, "steps": steps, "t_s": t}
    print(json.dumps(report))
