"""Fuzz a parser, guided by code coverage (atheris): any bytes must give a value or a typed error.

    python -m benchmarks.fuzzing obj --seconds 120

Parsers: obj, ply, stl, off, vtk, vtu, msh, mesh, glb, selection, expression, scene.

Starts from the samples of the campaigns and the corpus of the tests; inputs that reach new lines
are kept during the run and mutated further. Warnings are errors. Exits with 1 at the first input
that fails or takes longer than 5 s, and keeps it. Needs atheris (`pip install atheris`; Linux).
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["taut.mesh", "taut.scene"]):
    import taut
    from benchmarks.corpus import CORPUS
    from benchmarks.reliability import hostile_meshes, hostile_scenes, scene_samples
    from taut.errors import MeshError
    from taut.mesh.files import FORMATS
    from taut.scene.expression import Expression

    for module in set(
        FORMATS.values()
    ):  # imported here to be instrumented; `read` would import them later
        import_module(f"taut.mesh.files.{module}")

EXPRESSIONS = [
    "y > 0.9*max and not near(x, 0.5, 0.1)",
    "points(0:3) or corners(top)",
    "boundary and -1 < x <= 2",
    "'weight' == max",
    "200 + 800*y^2",
    "sin(2*pi*t) * exp(-x) / hypot(y, z)",
    "mean + abs(weight) - sqrt(x^2)",
]
# TetGen is left out: it takes several files.
PARSERS = [suffix[1:] for suffix in FORMATS if FORMATS[suffix] != "tetgen"]


def make_mesh_target(suffix: str, folder: Path) -> tuple[Callable[[bytes], None], list[bytes]]:
    """Return a function that reads bytes as a mesh file, and valid files."""
    path = folder / f"x.{suffix}"

    def attempt(data: bytes) -> None:
        path.write_bytes(data)
        try:
            taut.mesh.read(path)
        except MeshError as error:
            if str(path) not in str(error) or "memory" in str(error):
                raise AssertionError(
                    f"the error must name the file and must not be about memory, got: {error}"
                ) from error

    good = [
        next(iter(files.values()))
        for name, files in hostile_meshes.samples().items()
        if name.endswith(f".{suffix}")
    ]
    return attempt, good


def make_expression_target(what: str) -> tuple[Callable[[bytes], None], list[bytes]]:
    """Return a function that evaluates bytes as a selection or expression, and valid ones."""
    sheet = taut.mesh.sheet(3, 3)
    mesh = sheet.with_(point_data={"weight": sheet.points[:, 0] + 0.5})

    def attempt(data: bytes) -> None:
        text = data.decode(errors="replace")
        try:
            if what == "selection":
                mesh.select(text)
            else:
                Expression(text, mesh).evaluate(0.3)
        except MeshError:
            return

    return attempt, [text.encode() for text in EXPRESSIONS]


def make_scene_target(folder: Path) -> tuple[Callable[[bytes], None], list[bytes]]:
    """Return a function that reads and builds bytes as a scene, and valid scenes."""
    scene_samples.write_files(folder)
    good = [text.encode() for text in scene_samples.samples()]

    def attempt(data: bytes) -> None:
        hostile_scenes.attempt(data.decode(errors="replace"), folder)

    return attempt, good


def main() -> None:
    """Fuzz one parser."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parser", choices=[*PARSERS, "selection", "expression", "scene"])
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("error")
    logging.getLogger("taut").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as name:
        folder, corpus = Path(name), Path(name) / "corpus"
        corpus.mkdir()
        if options.parser == "scene":
            attempt, good = make_scene_target(folder)
        elif options.parser in PARSERS:
            attempt, good = make_mesh_target(options.parser, folder)
        else:
            attempt, good = make_expression_target(options.parser)
        kept = CORPUS / ("toml" if options.parser == "scene" else options.parser)
        good += [file.read_bytes() for file in sorted(kept.iterdir())] if kept.exists() else []
        for number, data in enumerate(good):
            (corpus / str(number)).write_bytes(data)
        limits = {
            "timeout": 5,
            "rss_limit_mb": 3000,
            "max_len": 8000,
            "max_total_time": options.seconds,
            "seed": options.seed,
        }
        atheris.Setup(
            [sys.argv[0], *(f"-{name}={value}" for name, value in limits.items()), str(corpus)],
            attempt,
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
