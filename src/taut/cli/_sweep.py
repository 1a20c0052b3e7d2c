"""`taut sweep`: many runs of one scene, and `taut resume` of a study."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taut.cli import _options as options
from taut.cli._help import INTERRUPTED
from taut.errors import escape_unprintable

if TYPE_CHECKING:
    from taut.study import Study, StudyProgress
    from taut.study.sweep import Stop, Tell

_STUDIES_FOLDER = Path("studies")  # where studies go if the user names no folder

Workers = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Worker processes on this machine (default: one a core)."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Use the workers of a Dask scheduler that runs, such as tcp://127.0.0.1:8786.",
    ),
]


@options.with_mesh_options
def sweep(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE", help="A built-in scene, a scene.toml, a mesh file, or a study file."
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES",
            help="What varies: KEY=1,2,4 or 1..20 or 100:1000:5 or 100:1000:log; "
            "several keys with one value: KEY,KEY=VALUES.",
        ),
    ] = None,
    samples: Annotated[
        str | None,
        typer.Option(help="grid (default), lhs:N, sobol:N, or saltelli:N for Sobol indices."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=EXPRESSION", help='A column, such as "sag=max(y0 - y)".'),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the study (default: studies/NAME-1, -2 …)."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the samples (default: 0).")
    ] = None,
    keep_frames: Annotated[
        bool, typer.Option("--keep-frames", help="Keep the run folder of every run.")
    ] = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    overrides: options.Overrides = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the study in the folder.")
    ] = False,
    mesh_options: options.MeshOptions = None,
    allow_outside: options.AllowOutside = False,
    allow_code: options.AllowCode = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Run a scene for many values of its parameters.

    The runs go to many processes, and the table results.csv has one row for each. Ctrl-C stops;
    `taut resume` does what is missing.
    """
    from taut.errors import SceneError
    from taut.scene import load, override
    from taut.study.plan import plan_scene
    from taut.study.study_file import is_study_file, read_study_file
    from taut.study.study_folder import has_study
    from taut.study.sweep import carry_out

    varied: dict[str, Any] = {}
    measured: dict[str, str] = {}
    values = [override(text) for text in overrides or []]
    name, chosen, number = scene, "grid", 0
    if is_study_file(scene):
        file, name = read_study_file(Path(scene))
        varied, measured, chosen, number = file.vary, file.measure, file.samples, file.seed
        values = [*file.set.items(), *values]
        keep_frames = keep_frames or file.keep_frames
    varied |= _split(vary, "--vary")
    measured |= _split(measure, "--measure")
    folder = _find_free_folder(scene) if output is None else output
    if has_study(folder) and not overwrite:
        raise SceneError(
            [
                f"the folder {folder} already contains a study; --overwrite replaces it, "
                "taut resume continues it"
            ]
        )
    loaded = load(
        name,
        overrides=values,
        allow_outside=allow_outside,
        allow_code=allow_code,
        **(mesh_options or {}),
    )
    plan = plan_scene(
        loaded,
        varied,
        measured,
        samples=chosen if samples is None else samples,
        seed=number if seed is None else seed,
        keep_frames=keep_frames,
    )
    if not quiet and not as_json:
        runs = len(plan.description.values)
        print(f"{escape_unprintable(loaded.title)}: {runs:,} runs, {plan.description.samples}")
    with _on_workers("taut sweep", folder, scheduler, quiet=quiet) as (client, tell, stop):
        study = carry_out(
            plan,
            folder.absolute(),
            overwrite=overwrite,
            workers=workers,
            client=client,
            tell=tell,
            stop=stop,
        )
    _conclude(study, folder, quiet=quiet, as_json=as_json)


def resume_sweep(
    folder: Path,
    *,
    workers: int | None,
    scheduler: str | None,
    allow_code: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Do the runs that are missing in a study."""
    from taut.study.sweep import resume_study

    with _on_workers("taut resume", folder, scheduler, quiet=quiet) as (client, tell, stop):
        study = resume_study(
            folder, workers=workers, client=client, allow_code=allow_code, tell=tell, stop=stop
        )
    _conclude(study, folder, quiet=quiet, as_json=as_json)


def _split(texts: list[str] | None, option: str) -> dict[str, str]:
    """Return NAME=TEXT as a dict; the first equals sign ends the name."""
    from taut.errors import SceneError

    found = {}
    for text in texts or []:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise SceneError([f"{option} must have the form NAME=…, got '{text[:60]}'"])
        found[name.strip()] = value.strip()
    return found


def _find_free_folder(scene: str) -> Path:
    """Return the first of studies/NAME-1, studies/NAME-2 … that does not exist."""
    number = 1
    while (_STUDIES_FOLDER / f"{Path(scene).stem}-{number}").exists():
        number += 1
    return _STUDIES_FOLDER / f"{Path(scene).stem}-{number}"


@contextmanager
def _on_workers(
    label: str, folder: Path, scheduler: str | None, *, quiet: bool
) -> Iterator[tuple[Any, Tell | None, Stop]]:
    """Connect to a scheduler, show progress, and stop at Ctrl-C or SIGTERM.

    The first signal ends the study in order, the second one at once: both leave it resumable.
    """
    from taut.progress import Progress
    from taut.study.cluster import remote_client

    is_interrupted = False
    progress = Progress(label, every=options.PROGRESS_SECONDS)

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal is_interrupted
        if is_interrupted:
            raise KeyboardInterrupt(f"interrupted; taut resume {folder} does what is missing")
        is_interrupted = True

    def show(study: StudyProgress) -> None:
        words = [f"{study.failed} failed"] if study.failed else []
        if study.dashboard:
            words.append(study.dashboard)
        progress.update(study.done, ", ".join(words), total=study.runs, left=study.left)

    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        with ExitStack() as stack:
            client = None if scheduler is None else stack.enter_context(remote_client(scheduler))
            if not quiet:
                progress.start(str(folder))
            yield client, (None if quiet else show), lambda: is_interrupted
        if not quiet:
            progress.finish()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _conclude(study: Study, folder: Path, *, quiet: bool, as_json: bool) -> None:
    """Print how the study ended; if runs are missing, exit with `INTERRUPTED`."""
    from taut.errors import ModelError

    if as_json:
        outcome = "finished" if study.finished else "interrupted"
        counts = {"runs": study.runs, "done": len(study), "failed": study.failed}
        print(json.dumps({"folder": str(folder), "outcome": outcome, **counts}))
    elif not quiet:
        if study.samples.startswith("saltelli") and study.finished and study.measures:
            try:
                print(study.indices())
            except ModelError as error:
                print(f"no Sobol indices: {error}")
        print(
            f"{folder}: {len(study)} of {study.runs} runs done, {study.failed} failed; results.csv"
        )
    if not study.finished:
        if not quiet and not as_json:
            print(f"taut resume {folder} does what is missing")
        raise typer.Exit(INTERRUPTED)
