"""`taut fit` and `taut sagfree`: parameters from observations, and rest values for a shape."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from taut.cli import _options as options
from taut.cli._help import CHECK_FAILED
from taut.errors import escape_unprintable


def fit(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY", help="A study file: scene, unknowns, experiments.")
    ],
    plot: Annotated[
        Path | None, typer.Option(help="Draw fit against data into this file, which must be new.")
    ] = None,
    allow_code: options.AllowCode = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit parameters of a scene to observations."""
    from taut.inverse.fit import fit as find
    from taut.inverse.study import load_study
    from taut.progress import Progress

    _require_new(plot)
    loaded = load_study(study, allow_code=allow_code)
    progress = Progress("taut fit", every=options.PROGRESS_SECONDS)

    def tell(evaluations: int, rms: float) -> None:
        if not quiet and not as_json:
            progress.update(evaluations, f"evaluation {evaluations}, rms residual {rms:.4g}")

    if not quiet and not as_json:
        progress.start("fit")
    try:
        found = find(loaded.experiments, loaded.unknowns, tell=tell)
    finally:
        progress.finish()
    if plot is not None:
        from taut.show.plot import fit as draw

        draw(found).savefig(plot)
    if as_json:
        print(json.dumps(_to_json(found), indent=1))
    elif not quiet:
        print(escape_unprintable_lines(str(found)))


def _require_new(path: Path | None) -> None:
    """Raise SceneError if a file that is to be written exists."""
    from taut.errors import SceneError

    if path is not None and path.exists():
        raise SceneError([f"{path} exists; name a new file"])


def escape_unprintable_lines(text: str) -> str:
    """Return text without control characters other than ends of lines."""
    return "\n".join(escape_unprintable(line) for line in text.split("\n"))


def _to_json(found: Any) -> dict[str, Any]:
    """Return a fit as plain values; an infinite standard error is null."""
    rows = zip(found.names, found.values, found.errors, found.determined, strict=True)
    return {
        "parameters": {
            name: {
                "value": float(value),
                "standard_error": float(error) if error < float("inf") else None,
                "determined": bool(known),
            }
            for name, value, error, known in rows
        },
        "evaluations": found.evaluations,
        "sigma": list(found.sigma),
    }


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
