"""`taut run` and `taut resume`: a scene into a run folder, with progress, and on after an interruption."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taut.cli import options
from taut.cli.codes import INTERRUPTED
from taut.cli.mesh_options import OfMesh, with_mesh_options
from taut.errors import plain

if TYPE_CHECKING:
    from taut.run.opening import Run
    from taut.run.progress import Reached, Recorded
    from taut.scene import Scene

RUNS = Path("runs")  # where runs go by themselves


@with_mesh_options
def run(
    scene: options.SceneArgument,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Run folder (default: runs/NAME-1, -2 …).")] = None,
    changes: options.Changes = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that is in the folder.")] = False,
    of_mesh: OfMesh = None,
    save_scene: Annotated[Path | None, typer.Option(help="Also write the scene, as it was understood, to this new file.")] = None,
    allow_outside: options.Outside = False,
    allow_code: options.Code = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Run a scene into a folder: frames, reports, energy ledger. Ctrl-C stops after the step; `taut resume` goes on."""
    from taut.errors import SceneError
    from taut.run.connection import FILE
    from taut.run.folder import OWN

    found = options.scene_of(scene, changes, allow_outside=allow_outside, allow_code=allow_code, of_mesh=of_mesh)
    folder = _free_folder(scene) if output is None else output
    holds = (folder / FILE).exists()
    if holds and not overwrite:
        raise SceneError([f"the folder {folder} holds a run already; --overwrite replaces it, taut resume goes on with it"])
    other = next((name for name in OWN if (folder / name).exists()), None)
    if other is not None and not holds:
        raise SceneError([f"the folder {folder} holds {other}, but no run: it is left alone; name another folder"])
    built = found.build()
    if save_scene is not None:
        _save(found, save_scene)
    if not quiet and not as_json:
        _introduce(found, built)
    with _told("taut run", folder, quiet=quiet) as (tell, stop):
        done = found.record(folder, built=built, tell=tell, stop=stop, overwrite=overwrite)
    _conclude(done, folder, quiet=quiet, as_json=as_json)


def resume(
    folder: options.RunFolder,
    allow_code: options.Code = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Go on with a run after an interruption, bit for bit."""
    from taut.run.folder import SCENE, check_unchanged
    from taut.run.opening import open_run
    from taut.run.record import resume as go_on
    from taut.scene import read_text

    with open_run(folder) as opened:
        if opened.finished:
            _say_finished(opened, quiet=quiet, as_json=as_json)
            return
        text = opened.scene
        check_unchanged(folder, opened.inputs)  # before any of them is read, or run
    found = read_text(text, folder=folder, path=folder / SCENE, allow_code=allow_code)
    built = found.build()
    with _told("taut resume", folder, quiet=quiet) as (tell, stop):
        done = go_on(folder, built.system, built.integrator, scene=text, tell=tell, stop=stop)
    _conclude(done, folder, quiet=quiet, as_json=as_json)


def _say_finished(run: Run, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        _print_json(run.folder, "finished", run.step, run.steps, run.state().t)
    elif not quiet:
        print(f"{run.folder}: the run is finished; nothing is left to do")


def _print_json(folder: Path, outcome: str, step: int, steps: int, t: float) -> None:
    print(json.dumps({"folder": str(folder), "outcome": outcome, "step": step, "steps": steps, "t_s": t}))


def _free_folder(scene: str) -> Path:
    """The first of runs/NAME-1, runs/NAME-2 … that is not there."""
    stem = Path(scene).stem
    number = 1
    while (RUNS / f"{stem}-{number}").exists():
        number += 1
    return RUNS / f"{stem}-{number}"


def _save(scene: Scene, path: Path) -> None:
    """Write the scene with every default, and the files it uses beside it; nothing that exists is overwritten."""
    from taut.errors import SceneError

    if path.exists():
        raise SceneError(["the file is there already; it is left as it is"], path=path)
    try:
        for name, data in scene.inputs().items():
            target = path.parent / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != data:
                with open(target, "xb") as stream:
                    stream.write(data)
        with open(path, "x", encoding="utf-8") as text:
            text.write(scene.resolved())
    except OSError as error:
        raise SceneError([f"it cannot be written: {error.strerror}"], path=error.filename or path) from error


def _introduce(scene: Scene, built: Any) -> None:
    how = f"{type(built.integrator).__name__}, h = {built.h:g} s, {built.until:g} s"
    print(f"{plain(scene.title)}: {built.system.n:,} particles, {how}")
    options.tell_notes(built.notes)
    sys.stdout.flush()


@contextmanager
def _told(who: str, folder: Path, *, quiet: bool) -> Iterator[tuple[Any, Any]]:
    """What tells of each step, and what asks whether to stop: after the first Ctrl-C; a second one stops at once."""
    from taut.progress import Progress

    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt(f"interrupted within a step; taut resume {folder} goes on from the last checkpoint")
        asked = True

    bar = Progress(who, every=options.LINES)

    def tell(reached: Reached) -> None:
        bar.at(reached.step, _words(reached), total=reached.steps, left=reached.left)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        if not quiet:
            bar.begin(str(folder))
        yield (None if quiet else tell), lambda: asked
        if not quiet:
            bar.done()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _words(reached: Reached) -> str:
    report = reached.report
    words = [f"t = {reached.t:.4g} s"]
    if report.outcome != "explicit":
        words.append(f"residual {report.residual:.1e} of {report.limit:.1e} N")
    if report.retries:
        words.append(f"{report.retries} retries")
    return ", ".join([*words, f"safe to step {reached.durable}"])


def _conclude(done: Recorded, folder: Path, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        _print_json(folder, done.outcome, done.step, done.steps, done.state.t)
    elif not quiet:
        print(done.summary)
        for note in done.notes:
            print(note)
        print(f"{folder}: {done.outcome} at step {done.step} of {done.steps}, t = {done.state.t:.6g} s")
    if done.outcome == "interrupted":
        if not quiet and not as_json:
            print(f"taut resume {folder} goes on from there")
        raise typer.Exit(INTERRUPTED)
