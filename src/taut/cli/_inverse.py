"""`taut fit` and `taut sagfree`: parameters from observations, and rest values for a shape."""

from __future__ import annotations

import json
import math
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taut.cli import _options as options
from taut.cli._help import CHECK_FAILED
from taut.errors import escape_unprintable

if TYPE_CHECKING:
    from taut.inverse.journal import Journal
    from taut.inverse.study import Study

_FITS_FOLDER = Path("fits")  # where fits go if the user names no folder


def fit(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY", help="A study file: scene, unknowns, experiments.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the fit (default: fits/NAME-1, -2 …)."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw fit against data into this file, which must be new.")
    ] = None,
    allow_code: options.AllowCode = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit parameters of a scene to observations.

    Every evaluation is kept: after Ctrl-C or a kill, `taut resume FOLDER` continues.
    """
    from taut.inverse.journal import Journal
    from taut.inverse.study import load_study

    _require_new(plot)
    loaded = load_study(study, allow_code=allow_code)
    folder = options.find_free_folder(_FITS_FOLDER, study.stem) if output is None else output
    journal = Journal.create(folder, study, loaded.digest)
    _fit("taut fit", loaded, journal, plot, quiet=quiet, as_json=as_json)


def resume_fit(folder: Path, *, allow_code: bool, quiet: bool, as_json: bool) -> None:
    """Continue a fit; the results are those of one that was not interrupted."""
    from taut.inverse.journal import Journal
    from taut.inverse.study import load_study

    journal = Journal(folder)
    loaded = load_study(journal.study, allow_code=allow_code)
    journal.check(loaded.digest)
    _fit("taut resume", loaded, journal, None, quiet=quiet, as_json=as_json)


def _fit(
    label: str, study: Study, journal: Journal, plot: Path | None, *, quiet: bool, as_json: bool
) -> None:
    from taut.inverse.fit import fit as find
    from taut.progress import Progress

    progress = Progress(label, every=options.PROGRESS_SECONDS)

    def tell(evaluations: int, rms: float) -> None:
        if not quiet:
            progress.update(evaluations, f"evaluation {evaluations}, rms residual {rms:.4g}")

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt(
            f"interrupted; taut resume {journal.folder} continues from the last evaluation"
        )

    handlers = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        if not quiet:
            progress.start(str(journal.folder))
        found = find(study.experiments, study.unknowns, tell=tell, journal=journal)
        if not quiet:
            progress.finish()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    result = _to_json(found)
    journal.conclude(result)
    if plot is not None:
        from taut.show.output import save_figure
        from taut.show.plot import fit as draw

        save_figure(draw(found), plot)
    if as_json:
        print(json.dumps({"folder": str(journal.folder), **result}, indent=1))
    elif not quiet:
        print(escape_unprintable_lines(str(found)))
        print(f"{journal.folder}: finished after {found.evaluations} evaluations")


def _require_new(path: Path | None) -> None:
    """Raise SceneError if a file that is to be written exists."""
    from taut.errors import SceneError

    if path is not None and path.exists():
        raise SceneError([f"{path} exists; name a new file"])


def escape_unprintable_lines(text: str) -> str:
    """Return text without control characters other than ends of lines."""
    return "\n".join(escape_unprintable(line) for line in text.split("\n"))


def _to_json(found: Any) -> dict[str, Any]:
    """Return a fit as plain values; what is infinite or has no value is null."""
    rows = zip(found.names, found.values, found.errors, found.determined, strict=True)
    return {
        "parameters": {
            name: {
                "value": float(value),
                "standard_error": _to_number(float(error)),
                "determined": bool(known),
            }
            for name, value, error, known in rows
        },
        "correlations": [[_to_number(c) for c in row] for row in found.correlations.tolist()],
        "evaluations": found.evaluations,
        "sigma": list(found.sigma),
    }


def _to_number(value: float) -> float | None:
    return value if math.isfinite(value) else None


@options.with_mesh_options
def sagfree(
    scene: options.SceneArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the scene with these rest values to this file, which must be new.",
        ),
    ] = None,
    overrides: options.Overrides = None,
    mesh_options: options.MeshOptions = None,
    allow_outside: options.AllowOutside = False,
    allow_code: options.AllowCode = False,
    quiet: options.Quiet = False,
) -> None:
    """Find rest lengths and angles for which a scene starts at rest."""
    from taut.inverse.sag_free import sag_free
    from taut.inverse.targets import read_value
    from taut.scene import write_rest_values

    _require_new(output)
    loaded = options.load_scene(
        scene,
        overrides,
        allow_outside=allow_outside,
        allow_code=allow_code,
        mesh_options=mesh_options,
    )
    found = sag_free(loaded.build().system)
    if output is not None:
        values = {name: read_value(found.system, name) for name in found.changes}
        options.write_scene(output, *write_rest_values(loaded, values))
        if not quiet:
            print(f"taut sagfree: wrote {output}", file=sys.stderr)
    if not quiet:
        print(escape_unprintable_lines(str(found)))
    if not (found.balanced and found.stability.stable):
        raise typer.Exit(CHECK_FAILED)
